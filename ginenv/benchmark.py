"""How fast the engine is: ``python -m ginenv.benchmark``.

Everything runs on one thread, and seconds are the processor's, not the clock's: what else the
machine is busy with hardly counts.  The workloads take turns, round after round; a figure is the
median of its rounds, and the spread the range of the middle half.  Where the extra ``peers`` is
installed, other implementations take turns with ours, and a ratio is the median of the rounds'
ratios.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import ginenv
from ginenv import peers, workloads
from ginenv.workloads import Workload

__all__ = ["Figure", "machine", "main", "measure", "report"]

GAMES = 4096
SIZES = (256, 1024, 4096, 16_384, 65_536)


@dataclass(frozen=True)
class Figure:
    """What the rounds of one workload gave.

    Attributes:
        workload: what was timed.
        values: one figure a round.
    """

    workload: Workload
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return float(np.median(self.values))

    @property
    def spread(self) -> tuple[float, float]:
        """The range of the middle half."""
        low, high = np.percentile(self.values, [25, 75])
        return float(low), float(high)

    def over(self, other: Figure, goal: float | None = None) -> Figure:
        """This over another one, round by round."""
        ratios = tuple(a / b for a, b in zip(self.values, other.values, strict=True))
        name = f"{self.workload.name}, over {other.workload.name}"
        return Figure(Workload(name, "times", self.workload.run, goal), ratios)

    def as_json(self) -> dict[str, Any]:
        """All there is, for a program to read."""
        low, high = self.spread
        about = self.workload
        return {
            "name": about.name,
            "unit": about.unit,
            "median": self.median,
            "spread": [low, high],
            "rounds": list(self.values),
            "goal": about.goal,
            "reached": about.reached(self.median) if about.goal is not None else None,
        }


def measure(
    chosen: Sequence[Workload],
    rounds: int,
    seconds: float,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Figure]:
    """Time workloads in turn.

    Args:
        chosen: what to time.
        rounds: how often.
        seconds: how long each time.
        progress: told what is timed next.
    """
    for workload in chosen:
        progress(f"warming up: {workload.name}")
        workload.run(seconds / 4)
    values: list[list[float]] = [[] for _ in chosen]
    for number in range(1, rounds + 1):
        for workload, found in zip(chosen, values, strict=True):
            progress(f"round {number} of {rounds}: {workload.name}")
            found.append(workload.run(seconds))
    return [Figure(workload, tuple(v)) for workload, v in zip(chosen, values, strict=True)]


def machine() -> dict[str, str]:
    """What this was measured on."""
    return {
        "date": dt.date.today().isoformat(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "ginenv": ginenv.__version__,
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def report(
    figures: Sequence[Figure],
    title: str,
    as_json: bool,
    profile: dict[str, float] | None = None,
) -> None:
    """Print figures as one table, or as JSON."""
    if as_json:
        about: dict[str, Any] = {"machine": machine(), "figures": [f.as_json() for f in figures]}
        if profile is not None:
            about["profile_ns_per_decision"] = profile
        print(json.dumps(about, indent=2))
        return
    console = Console()
    if not console.is_terminal:
        console.width = 120
    console.print(", ".join(f"{key} {value}" for key, value in machine().items()), soft_wrap=True)
    table = Table(title=title, title_justify="left")
    table.add_column("what")
    for heading in ("median", "middle half", "goal"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    for figure in figures:
        low, high = map(shown, figure.spread)
        goal, median = figure.workload.goal, figure.median
        sign = "≥" if figure.workload.more_is_better else "≤"
        mark = "" if goal is None else " ✓" if figure.workload.reached(median) else " ✗"
        table.add_row(
            figure.workload.name,
            shown(median),
            f"{low} – {high}" if low != high else "",
            f"{sign} {shown(goal)}{mark}" if goal is not None else "",
            figure.workload.unit,
        )
    console.print(table)
    if profile is not None:
        console.print(_profile_table(profile))


def _profile_table(profile: dict[str, float]) -> Table:
    whole = sum(time for stage, time in profile.items() if stage != "settle")
    table = Table(title=f"A decision, {GAMES:,} games: {whole:.0f} ns", title_justify="left")
    table.add_column("stage")
    table.add_column("ns", justify="right")
    table.add_column("share", justify="right")
    for stage, time in profile.items():
        name = "  of which settle" if stage == "settle" else stage
        table.add_row(name, f"{time:.0f}", f"{time / whole:.0%}")
    return table


def shown(number: float) -> str:
    """Three or four significant digits, thousands separated."""
    if number >= 1000:
        digits = 3 - len(str(int(number)))
        return f"{round(number, digits + 1):,.0f}"
    return f"{number:.3g}" if number < 100 else f"{number:.0f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``python -m ginenv.benchmark``; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m ginenv.benchmark", description="How fast the engine is, on one core."
    )
    add_options(parser)
    parser.add_argument("--profile", action="store_true", help="also where a decision's time goes")
    parser.add_argument("--no-peers", action="store_true", help="leave other implementations out")
    options = parser.parse_args(arguments)
    chosen = [
        workloads.decisions(GAMES, "cards"),
        workloads.decisions(GAMES, "full"),
        workloads.deadwood(),
        workloads.settlements(),
        workloads.pettingzoo_steps(),
        workloads.state_bytes(),
        *(workloads.decisions(size, "cards") for size in SIZES if size != GAMES),
    ]
    others = [] if options.no_peers else peers.installed()
    if not others and not options.no_peers:
        print("to compare with OpenSpiel and RLCard: pip install 'ginenv[peers]'", file=sys.stderr)
    timed = [*chosen, *(workload for workload, _ in others)]
    figures = measure(timed, options.rounds, options.seconds, announce)
    ratios = [
        figures[0].over(figure, goal)
        for figure, (_, goal) in zip(figures[len(chosen) :], others, strict=True)
    ]
    profile = workloads.stages(GAMES, 4 * options.seconds) if options.profile else None
    report([*figures, *ratios], "ginenv on one core", options.json, profile)
    return 0


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that every benchmark has."""
    add = parser.add_argument
    add("--rounds", type=_positive(int), default=7, help="rounds of each workload (7)")
    add("--seconds", type=_positive(float), default=0.5, help="length of a round (0.5)")
    add("--json", action="store_true", help="print JSON instead of a table")


def _positive(kind: Callable[[str], float]) -> Callable[[str], float]:
    def parse(text: str) -> float:
        number = kind(text)
        if not 0 < number < 1e6:
            raise ValueError
        return number

    parse.__name__ = "positive number"
    return parse


def announce(message: str) -> None:
    """Show on a terminal what is going on."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{message}", end="", file=sys.stderr, flush=True)
        if not message:
            print("\r", end="", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
