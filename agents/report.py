"""The figures of an evaluation as tables for people and as JSON and CSV for programs."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

Figures = Mapping[str, Any]

_RATES = {"knocks": "knocks", "gins": "gins", "big_gins": "big gins", "undercuts_made": "undercuts"}


def points(estimate: Figures | None) -> str:
    """Points a hand as text: ``+1.23 ±0.45``."""
    if estimate is None:
        return "–"
    half = estimate["half_width"]
    return f"{estimate['mean']:+.2f} ±{'?' if half is None else f'{half:.2f}'}"


def share(estimate: Figures | None) -> str:
    """A share as text: ``71.2 % (69.3 – 73.0)``."""
    if estimate is None:
        return "–"
    low, high = estimate["low"], estimate["high"]
    return f"{100 * estimate['mean']:.1f} % ({100 * low:.1f} – {100 * high:.1f})"


def short_share(estimate: Figures | None) -> str:
    """A share as text for a narrow column: ``71.2 ±1.9 %``."""
    if estimate is None:
        return "–"
    return f"{100 * estimate['mean']:.1f} ±{100 * estimate['half_width']:.1f}"


def rating(row: Figures) -> str:
    """A rating as text: ``1042 (1031 – 1055)``, a fixed one without an interval."""
    if row["low"] == row["high"]:
        return f"{row['rating']:.0f}"
    return f"{row['rating']:.0f} ({row['low']:.0f} – {row['high']:.0f})"


def short(name: str) -> str:
    """A player's name as a label: of a file the last two parts, of a long one the beginning."""
    if not name.startswith("cmd:"):
        name = "/".join(name.replace(os.sep, "/").split("/")[-2:])
    return name if len(name) <= 28 else f"{name[:27]}…"


def show_comparisons(console: Console, comparisons: Sequence[Figures]) -> None:
    """One player against some opponents: the result of each, then how the hands went."""
    table = _table("opponent")
    for heading in ("points a hand", "hands", "games won", "games", "drawn"):
        table.add_column(heading, justify="right")
    for row in comparisons:
        table.add_row(
            Text(row["opponent"]),
            points(row["points_a_hand"]),
            f"{row['hands']:,}",
            share(row["games_won"]),
            f"{row['games']:,}",
            f"{row['games_drawn']:,}",
        )
    _print(console, f"{comparisons[0]['player']} against", table)
    show_rates(console, comparisons)
    console.print("Each deck twice, seats swapped; ± and ( – ) are 95 % intervals over the pairs.")


def show_rates(console: Console, comparisons: Sequence[Figures]) -> None:
    """How the hands of each comparison went: the player's figure, then the opponent's."""
    name = comparisons[0]["player"]
    table = _table("opponent")
    for heading in (*_RATES.values(), "void", "turns", "deadwood\nat knock"):
        table.add_column(heading, justify="right")
    for row in comparisons:
        own, other = row["player_rates"], row["opponent_rates"]
        if own is not None:
            table.add_row(
                Text(row["opponent"]),
                *(f"{100 * own[name]:.1f}/{100 * other[name]:.1f}" for name in _RATES),
                f"{100 * own['voids']:.1f}",
                f"{own['turns']:.1f}",
                "/".join(_number(side["knock_deadwood"]) for side in (own, other)),
            )
    _print(console, f"How the hands went, {name}/opponent, in % of all hands", table)


def show_round_robin(
    console: Console, players: Sequence[str], rows: Sequence[Figures], ratings: Sequence[Figures]
) -> None:
    """Ratings and cross tables.

    Args:
        console: where to.
        players: in the order of the tables.
        rows: figures of comparisons in both directions, as far as they have been played.
        ratings: of the players in that order; empty if there are none.
    """
    if ratings:
        table = _table("player")
        table.add_column("rating", justify="right")
        for row in ratings:
            table.add_row(Text(row["player"]), rating(row))
        _print(console, "Ratings from games won (Bradley-Terry)", table)
    found = {(row["player"], row["opponent"]): row for row in rows}
    for title, field, text in (
        ("Points a hand, row against column", "points_a_hand", points),
        ("Games won in %, row against column", "games_won", short_share),
    ):
        table = _table("")
        for name in players:
            table.add_column(Text(short(name)), justify="right")
        for a in players:
            cells = [text(found[a, b][field]) if (a, b) in found else "–" for b in players]
            table.add_row(Text(a), *cells)
        _print(console, title, table)
    console.print("Each deck twice, seats swapped; ± and ( – ) are 95 % intervals over the pairs.")


def write_json(file: TextIO, content: Figures) -> None:
    """The whole evaluation as one JSON object."""
    json.dump(content, file, indent=2, allow_nan=False)
    file.write("\n")


def write_csv(file: TextIO, comparisons: Sequence[Figures]) -> None:
    """One line a comparison; nested figures get names such as ``points_a_hand.mean``."""
    flat = [_flat(row) for row in comparisons]
    columns = list(dict.fromkeys(column for row in flat for column in row))
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)


def _flat(row: Figures) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            found |= {f"{name}.{inner}": number for inner, number in value.items()}
        elif value is not None:
            found[name] = value
    return found


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _table(first: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.add_column(first, overflow="fold")
    return table


def _print(console: Console, title: str, table: Table) -> None:
    console.print(Text(title, style="bold"))
    console.print(table)
    console.print()
