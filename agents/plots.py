"""Pictures of an evaluation: rating bars beside the cross table, or one player's results."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure  # no pyplot: nothing is shown, no window system is needed

Figures = Mapping[str, Any]

_BAR, _LINE = "#4878a8", "#222222"


def draw_round_robin(
    path: str, players: Sequence[str], rows: Sequence[Figures], ratings: Sequence[Figures]
) -> None:
    """Rating bars with their intervals, and points a hand as a heat map.

    Args:
        path: the picture's file.
        players: from the best on.
        rows: figures of comparisons in both directions.
        ratings: of the players in that order; without any there are no bars.
    """
    n = len(players)
    figure = Figure(figsize=(5.5 + 1.35 * n, 1.9 + 0.62 * n), layout="constrained")
    names = [short(name) for name in players]
    if ratings:
        bars, cross = figure.subplots(1, 2, width_ratios=[4, 1.3 * n])
        _rating_bars(bars, names, ratings)
    else:
        cross = figure.subplots()
    _heat_map(cross, figure, players, names, rows)
    figure.savefig(path, dpi=150)


def draw_comparisons(path: str, rows: Sequence[Figures]) -> None:
    """One player against some opponents: points a hand and games won, with intervals."""
    figure = Figure(figsize=(9.5, 1.6 + 0.5 * len(rows)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    names = [short(row["opponent"]) for row in rows]
    for axes, field, scale, middle, title in (
        (left, "points_a_hand", 1.0, 0.0, "points a hand"),
        (right, "games_won", 100.0, 50.0, "games won, %"),
    ):
        for place, row in enumerate(rows):
            estimate = row[field]
            if estimate is not None and estimate["low"] is not None:
                low, mean, high = (scale * estimate[key] for key in ("low", "mean", "high"))
                axes.barh(place, mean - middle, left=middle, color=_BAR, height=0.6)
                axes.plot([low, high], [place, place], color=_LINE, linewidth=2)
        axes.axvline(middle, color=_LINE, linewidth=0.8)
        axes.set_xlabel(title)
    left.set_yticks(range(len(rows)), names)
    left.invert_yaxis()
    figure.suptitle(f"{short(rows[0]['player'])} against (95 % intervals)", fontsize="medium")
    figure.savefig(path, dpi=150)


def short(name: str) -> str:
    """A player's name as a label: of a file the last two parts, of a long one the beginning."""
    if not name.startswith("cmd:"):
        name = "/".join(name.replace(os.sep, "/").split("/")[-2:])
    return name if len(name) <= 28 else f"{name[:27]}…"


def _rating_bars(axes: Axes, names: Sequence[str], ratings: Sequence[Figures]) -> None:
    values = np.array([row["rating"] for row in ratings])
    low = np.array([row["low"] for row in ratings])
    high = np.array([row["high"] for row in ratings])
    places = np.arange(len(names))
    axes.barh(places, values, color=_BAR, height=0.65)
    axes.errorbar(
        values, places, xerr=[values - low, high - values], fmt="none", ecolor=_LINE, capsize=3
    )
    span = max(float(high.max() - low.min()), 1.0)
    axes.set_xlim(low.min() - 0.35 * span, high.max() + 0.25 * span)
    for place, (value, end) in enumerate(zip(values, high, strict=True)):
        axes.text(end + 0.03 * span, place, f"{value:.0f}", va="center", fontsize="small")
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlabel("rating from games won (95 % intervals)")
    axes.spines[["top", "right"]].set_visible(False)


def _heat_map(
    axes: Axes,
    figure: Figure,
    players: Sequence[str],
    names: Sequence[str],
    rows: Sequence[Figures],
) -> None:
    place = {name: number for number, name in enumerate(players)}
    grid = np.full((len(players), len(players)), np.nan)
    for row in rows:
        estimate = row["points_a_hand"]
        if estimate is not None:
            spot = place[row["player"]], place[row["opponent"]]
            grid[spot] = estimate["mean"]
    known = grid[np.isfinite(grid)]
    limit = float(np.abs(known).max()) if known.size and np.abs(known).max() > 0 else 1.0
    image = axes.imshow(grid, cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
    for row in rows:
        estimate = row["points_a_hand"]
        if estimate is not None:
            spot = place[row["player"]], place[row["opponent"]]
            half = estimate["half_width"]
            text = f"{estimate['mean']:+.2f}" + ("" if half is None else f"\n±{half:.2f}")
            color = "white" if abs(estimate["mean"]) > 0.6 * limit else "black"
            axes.text(spot[1], spot[0], text, ha="center", va="center", color=color, fontsize=8)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_title("points a hand, row against column", fontsize="medium")
    figure.colorbar(image, ax=axes, fraction=0.04)
