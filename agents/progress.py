"""How far an evaluation is: a bar with the time left on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

_MATCH = 9.0  # a match takes about as long as so many hands
_SECONDS_BETWEEN_LINES = 10.0


class Display:
    """Shows one pairing after another; a context manager.

    What one pairing plays may turn out shorter than expected; the rest is scaled to it.
    """

    def __init__(self, console: Console, num_pairings: int, num_hands: int, num_games: int) -> None:
        """Take note of what each of the pairings is expected to play."""
        self._console = console
        self._num_pairings = num_pairings
        self._plan = {"hand": float(num_hands), "match": _MATCH * num_games}
        self._finished = -1  # pairings
        self._label = ""
        self._bar: Progress | None = None
        if console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=console,
                transient=True,
            )
            self._task = self._bar.add_task("", total=num_pairings)
        self._started = self._last_line = time.monotonic()

    def start(self, label: str) -> None:
        """The next pairing begins."""
        self._finished += 1
        self._label = label
        self._show(self._finished, label)

    def update(self, unit: str, done: int, expected: int) -> None:
        """Of the pairing's hands or matches, so many are done of so many."""
        self._plan[unit] = float(expected) * (_MATCH if unit == "match" else 1.0)
        share = self._plan[unit] * done / expected
        if unit == "match":
            share += self._plan["hand"]
        whole = sum(self._plan.values())
        name = {"hand": "hands", "match": "games"}[unit]
        text = f"{self._label}: {done:,} of {expected:,} {name}"
        self._show(self._finished + share / whole, text)

    def _show(self, pairings: float, text: str) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=pairings, description=text)
            return
        now = time.monotonic()
        if pairings and now - self._last_line >= _SECONDS_BETWEEN_LINES:
            left = (now - self._started) * (self._num_pairings - pairings) / pairings
            self._console.print(f"{text}, about {left:.0f} s left", highlight=False, markup=False)
            self._last_line = now

    def __enter__(self) -> Display:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
