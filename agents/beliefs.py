"""What a learned policy expects while it plays, and what came of it.

`Believer` wraps a policy that has ``explain``; it plays what it finds likeliest and notes its value
of each position, which meets the hand's points when the hand ends::

    believer = Believer(policy)
    play(believer, crazy, 500, seed=0)
    believer.calibration()

Letters: M decisions in a call, K decisions whose hand has ended, B bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.players import Ending
from ginenv.view import View

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """Decisions in B bins, from those with the lowest value to those with the highest.

    Attributes:
        expected: ``(B,)``, the mean value in points.
        came: ``(B,)``, the mean of the points that those hands brought.
        decisions: ``(B,)``, how many.
    """

    expected: Numbers
    came: Numbers
    decisions: npt.NDArray[np.int64]


class Believer:
    """A policy that remembers what it expected."""

    def __init__(self, policy: Any, points_scale: float | None = None) -> None:
        """Listen to a policy; ``points_scale``, a unit of value in points, it may know itself."""
        self.policy = policy
        self.points_scale = points_scale or getattr(policy, "points_scale", None) or 1.0
        self._waiting: list[npt.NDArray[Any]] = []  # (3, M): hand and seat, own turn, value
        self._known: list[Numbers] = []  # (3, M): own turn, value, points that came

    def __call__(self, view: View, rng: np.random.Generator) -> npt.NDArray[np.intp]:
        """The likeliest action of each row, ``(M,)``."""
        probabilities, value = self.policy.explain(view)
        self._waiting.append(
            np.stack([_key(view), view.turn // 2, self.points_scale * value.astype(np.float64)])
        )
        return np.asarray(probabilities.argmax(axis=1))

    def hand_over(self, view: View, ending: Ending) -> None:
        """Takes the points of the hands that ended to what was expected of them."""
        waiting = np.concatenate(self._waiting, axis=1)
        over = _key(view)
        order = np.argsort(over)
        place = order.take(np.searchsorted(over, waiting[0], sorter=order), mode="clip")
        ended = over[place] == waiting[0]
        came = ending.points[place[ended]].astype(np.float64)
        self._known.append(np.stack([waiting[1, ended], waiting[2, ended], came]))
        self._waiting = [waiting[:, ~ended]]

    @property
    def known(self) -> Numbers:
        """``(3, K)``: own turn, value in points, and the points that the hand brought."""
        return np.concatenate([np.zeros((3, 0)), *self._known], axis=1)

    def calibration(self, bins: int = 10) -> Calibration:
        """Whether the hands of which it expects much do bring much."""
        _, value, came = self.known
        order = np.array_split(np.argsort(value, kind="stable"), bins)
        order = [some for some in order if some.size]
        return Calibration(
            expected=np.array([value[some].mean() for some in order]),
            came=np.array([came[some].mean() for some in order]),
            decisions=np.array([some.size for some in order]),
        )

    def explained_variance(self, turns: int = 10) -> Numbers:
        """How much of the points' variance the value foretells at each own turn, ``(turns,)``.

        1 - Var(points - value) / Var(points): 1 knows the end, 0 knows no more than the mean, below
        0 it misleads.  NaN for turns with fewer than two decisions or no variance.
        """
        turn, value, came = self.known
        found = np.full(turns, np.nan)
        for number in range(turns):
            rows = turn == number
            if rows.sum() > 1 and came[rows].var() > 0:
                found[number] = 1 - (came[rows] - value[rows]).var() / came[rows].var()
        return found


def _key(view: View) -> npt.NDArray[np.int64]:
    """One number for a seat of a hand, ``(M,)``."""
    return 2 * view.game_id + view.seat
