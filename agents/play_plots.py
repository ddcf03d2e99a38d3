"""Pictures of how somebody plays, from `agents.play_statistics` and `agents.beliefs`.

Each function returns a Matplotlib figure; `pixels` makes an image of one, as TensorBoard wants it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure  # no pyplot: nothing is shown, no window system is needed

from agents import report
from agents.beliefs import Believer
from agents.play_statistics import PlayStatistics
from ginenv.cards import RANKS

_MAPS = ("Blues", "Oranges")
_LINE = "#2563c9"
_DEADWOODS = ["gin", *map(str, range(1, 11))]


def knocks(statistics: PlayStatistics) -> Figure:
    """When each side knocks and with what: shares of all its knocks, by own turn and deadwood."""
    figure, axes = _side_by_side(statistics, height=3.4)
    turns = statistics.turns_played()
    for side, place in enumerate(axes):
        heat = 100 * statistics.knock_heat_map(side)[:turns]
        _heat_map(figure, place, heat, _DEADWOODS, _MAPS[side], "% of its knocks")
        place.set_ylabel("deadwood at the knock")
    return figure


def knock_rates(statistics: PlayStatistics) -> Figure:
    """How often each side knocks where it can, by own turn and deadwood; grey: it never could."""
    figure, axes = _side_by_side(statistics, height=3.4)
    turns = statistics.turns_played(0.97)  # of later ones there are hardly any chances
    for side, place in enumerate(axes):
        heat = 100 * statistics.knock_rates(side)[:turns]
        _heat_map(figure, place, heat, _DEADWOODS, _MAPS[side], "% of its chances", top=100)
        place.set_ylabel("deadwood")
        place.set_facecolor("#dddddd")
    return figure


def thrown(statistics: PlayStatistics) -> Figure:
    """What each side throws: shares of the discards of each own turn, by rank."""
    figure, axes = _side_by_side(statistics, height=3.8)
    turns = statistics.turns_played(0.97)  # the last few are noise
    for side, place in enumerate(axes):
        counts = statistics.thrown[side, :turns]
        shares = 100 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        _heat_map(figure, place, shares, list(RANKS), _MAPS[side], "% of the turn's discards")
        place.set_ylabel("rank")
    return figure


def beliefs(believer: Believer) -> Figure:
    """Whether a policy's values come true, and how early in the hand it knows."""
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    found = believer.calibration()
    reach = [*found.expected, *found.came]
    left.plot([min(reach), max(reach)], [min(reach), max(reach)], color="#999999", linewidth=1)
    left.plot(found.expected, found.came, "o-", color=_LINE)
    left.set(xlabel="expected points", ylabel="points that came", title="Does it come true?")
    known = believer.explained_variance()
    right.bar(range(1, len(known) + 1), np.nan_to_num(known), color=_LINE)
    right.axhline(0, color="black", linewidth=0.8)
    right.set(xlabel="own turn", ylabel="explained variance", title="How early does it know?")
    return figure


def pixels(figure: Figure) -> npt.NDArray[np.uint8]:
    """A figure as an image, ``(height, width, 3)`` uint8."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.array(canvas.buffer_rgba(), dtype=np.uint8)[:, :, :3]


def _side_by_side(statistics: PlayStatistics, height: float) -> tuple[Figure, list[Axes]]:
    sides = statistics.num_sides
    figure = Figure(figsize=(5.2 * sides, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(figure.subplots(1, sides, squeeze=False)[0])
    for name, place in zip(statistics.names, axes, strict=False):
        place.set_title(report.short(name), fontsize="medium")
    return figure, axes


def _heat_map(
    figure: Figure,
    axes: Axes,
    cells: npt.NDArray[np.floating],
    levels: list[str],
    colors: str,
    label: str,
    top: float | None = None,
) -> None:
    """Cells ``(turns, levels)``, turns across from the first, levels upwards; NaN is left out.

    The darkest colour is for ``top``, or for the largest cell.
    """
    turns = len(cells)
    if top is None:
        top = max(float(cells.max(initial=0)), 1e-9)
    image = axes.imshow(cells.T, origin="lower", aspect="auto", cmap=colors, vmin=0, vmax=top)
    axes.set_yticks(range(len(levels)), levels)
    axes.set_xticks(range(0, turns, 2), [str(turn + 1) for turn in range(0, turns, 2)])
    axes.set_xlabel("own turn")
    figure.colorbar(image, ax=axes, label=label)
