"""The picture of a running training: a live panel on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Table

_PLAIN_EVERY = 15.0  # seconds between plain lines


class TrainingDisplay:
    """Decisions, speed, time left, where the time goes and the points against each opponent."""

    def __init__(self, console: Console, total_decisions: int) -> None:
        self.console = console
        self.total = total_decisions
        self.points: dict[str, tuple[float, float]] = {}
        self._said = 0.0
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), console=console
        )
        self._task = self._bar.add_task("training", total=total_decisions)
        self._live = Live(console=console, refresh_per_second=4) if console.is_terminal else None

    def __enter__(self) -> TrainingDisplay:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, text: str) -> None:
        """One line above the panel, or among the plain lines."""
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def update(
        self,
        decisions: int,
        speed: float,
        seconds_left: float,
        shares: dict[str, float],
        metrics: dict[str, float],
    ) -> None:
        """Show where the run stands.

        Args:
            decisions: made so far.
            speed: decisions a second.
            seconds_left: until the schedules end.
            shares: the share of the time spent on each part.
            metrics: of the last update.
        """
        head = (
            f"{decisions / 1e6:6.2f} of {self.total / 1e6:.2f} M decisions, {speed:,.0f}/s, "
            f"{_clock(seconds_left)} left"
        )
        points = ", ".join(
            f"{name} {mean:+.2f} ± {half:.2f}" for name, (mean, half) in self.points.items()
        )
        if self._live is None:
            now = time.monotonic()
            if now - self._said >= _PLAIN_EVERY or decisions >= self.total:
                self._said = now
                self.say(f"{head}; points a hand: {points or 'not evaluated yet'}")
            return
        self._bar.update(self._task, completed=decisions)
        table = Table.grid(padding=(0, 2))
        table.add_row("points a hand", points or "not evaluated yet")
        table.add_row("time", "  ".join(f"{name} {x:.0%}" for name, x in shares.items()))
        wanted = ("losses/entropy", "losses/approx_kl", "losses/explained_variance", "play/turns")
        shown = [f"{n.split('/')[1]} {metrics[n]:.3g}" for n in wanted if n in metrics]
        table.add_row("last update", "  ".join(shown))
        self._live.update(Panel(Group(head, self._bar, table), title="ginenv"))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
