"""Pictures of an evaluation: rating bars beside the cross table, or one player's results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure  # no pyplot: nothing is shown, no window system is needed

from agents import report
from agents.ratings import ANCHOR
from agents.report import Figures

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
    names = [report.short(name) for name in players]
    if ratings:
        bars, cross = figure.subplots(1, 2, width_ratios=[4, 1.3 * n])
        _rating_bars(bars, names, ratings)
    else:
        cross = figure.subplots()
    _heat_map(cross, figure, players, names, rows)
    figure.savefig(path, dpi=150)


def draw_comparisons(path: str, rows: Sequence[Figures]) -> None:
    """One player against some opponents: points a hand and games won, with intervals."""
    figure = Figure(figsize=(10.5, 1.6 + 0.5 * len(rows)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    names = [report.short(row["opponent"]) for row in rows]
    _bars(left, [row["points_a_hand"] for row in rows], 0.0, report.points)
    _bars(right, [row["games_won"] for row in rows], 50.0, report.share, scale=100.0)
    left.set_xlabel("points a hand")
    right.set_xticks([tick for tick in right.get_xticks() if 0 <= tick <= 100])
    right.set_xlabel("games won, %")
    left.set_yticks(range(len(rows)), names)
    left.invert_yaxis()
    figure.suptitle(
        f"{report.short(rows[0]['player'])} against (95 % intervals)", fontsize="medium"
    )
    figure.savefig(path, dpi=150)


def _rating_bars(axes: Axes, names: Sequence[str], ratings: Sequence[Figures]) -> None:
    """Bars from the anchor on: the scale has no zero that would mean anything."""
    _bars(axes, ratings, middle=ANCHOR, label=lambda row: f"{row['rating']:.0f}", mean="rating")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("rating from games won (95 % intervals)")


def _bars(
    axes: Axes,
    rows: Sequence[Figures | None],
    middle: float,
    label: Callable[[Figures], str],
    mean: str = "mean",
    scale: float = 1.0,
) -> None:
    """One horizontal bar a row, from the middle to the mean, with interval and label."""
    reach = [middle]
    for place, row in enumerate(rows):
        if row is not None and row["low"] is not None:
            low, value, high = (scale * row[key] for key in ("low", mean, "high"))
            axes.barh(place, value - middle, left=middle, color=_BAR, height=0.65)
            axes.errorbar(
                value, place, xerr=[[value - low], [high - value]], ecolor=_LINE, capsize=3
            )
            end, side = (high, 1) if value >= middle else (low, -1)
            axes.annotate(
                label(row),
                (end, place),
                xytext=(6 * side, 0),
                textcoords="offset points",
                va="center",
                ha="left" if side > 0 else "right",
                fontsize="small",
            )
            reach += [low, high]
    span = max(max(reach) - min(reach), 1e-9)
    axes.set_xlim(
        min(reach) - (0.3 * span if min(reach) < middle else 0.02 * span),
        max(reach) + (0.3 * span if max(reach) > middle else 0.02 * span),
    )
    axes.axvline(middle, color=_LINE, linewidth=0.8)
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
            color = "white" if abs(estimate["mean"]) > 0.55 * limit else "black"
            axes.text(spot[1], spot[0], text, ha="center", va="center", color=color, fontsize=8)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_title("points a hand, row against column", fontsize="medium")
    figure.colorbar(image, ax=axes, fraction=0.04)
