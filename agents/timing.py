"""Where the time goes: a stopwatch with named laps."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator


class Stopwatch:
    """Adds up the seconds spent under each name since the last `take`."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Count the time of a ``with`` block under ``name``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + time.perf_counter() - start

    def take(self) -> dict[str, float]:
        """The seconds by name; counting starts anew."""
        taken, self._seconds = self._seconds, {}
        return taken
