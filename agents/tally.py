"""What paired play adds up to: the counts of a comparison, and the figures that follow from them.

Every deck is played twice with the seats swapped, so the two results of a pair are no independent
samples; the pair is.  All intervals here are over pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ginenv.rules import Result

Z95 = 1.959963984540054  # the 97.5 % point of the normal distribution: 95 % lies within ± Z95


@dataclass(frozen=True)
class Estimate:
    """A figure and its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the interval's length."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Tally:
    """The results of player A against player B over P pairs of games.

    A game is one hand, or one match of many.  Arrays ``(P, 2)`` hold a pair's two games: A in seat
    0, then A in seat 1.  Where a player is an axis, 0 is A and 1 is B.

    Attributes:
        unit: ``"hand"`` or ``"match"``, what a game is.
        points: ``(P, 2)`` int32, the points that A won, less those that B won.
        won: ``(P, 2)`` int8, 1 where A won the game, 0 for a draw, -1 where B did.
        hands: ``(P, 2)`` int16, hands that the game took.
        turns: ``(P, 2)`` int32, turns of these hands, of both seats together.
        endings: ``(3, 6)`` int64, hands by who knocked or went gin (2: nobody) and `Result`.
        gained: ``(3, 6)`` int64, points that these hands were worth to their winners.
        knock_deadwood: ``(2,)`` int64, sum of a player's deadwood over his knocks, gins left out.
    """

    unit: str
    points: npt.NDArray[np.int32]
    won: npt.NDArray[np.int8]
    hands: npt.NDArray[np.int16]
    turns: npt.NDArray[np.int32]
    endings: npt.NDArray[np.int64]
    gained: npt.NDArray[np.int64]
    knock_deadwood: npt.NDArray[np.int64]

    @classmethod
    def empty(cls, unit: str, num_pairs: int) -> Tally:
        """Zeros everywhere, to count into."""
        return cls(
            unit=unit,
            points=np.zeros((num_pairs, 2), dtype=np.int32),
            won=np.zeros((num_pairs, 2), dtype=np.int8),
            hands=np.zeros((num_pairs, 2), dtype=np.int16),
            turns=np.zeros((num_pairs, 2), dtype=np.int32),
            endings=np.zeros((3, len(Result)), dtype=np.int64),
            gained=np.zeros((3, len(Result)), dtype=np.int64),
            knock_deadwood=np.zeros(2, dtype=np.int64),
        )

    @staticmethod
    def merge(tallies: Sequence[Tally]) -> Tally:
        """Several tallies of one unit as one, pairs in their order."""
        if not tallies:
            raise ValueError("there is nothing to merge: give one tally or more")
        if len({tally.unit for tally in tallies}) > 1:
            raise ValueError("tallies of hands and of matches do not mix")
        return Tally(
            unit=tallies[0].unit,
            points=np.concatenate([t.points for t in tallies]),
            won=np.concatenate([t.won for t in tallies]),
            hands=np.concatenate([t.hands for t in tallies]),
            turns=np.concatenate([t.turns for t in tallies]),
            endings=np.sum([t.endings for t in tallies], axis=0),
            gained=np.sum([t.gained for t in tallies], axis=0),
            knock_deadwood=np.sum([t.knock_deadwood for t in tallies], axis=0),
        )

    def swapped(self) -> Tally:
        """The same games as B's results against A."""
        return Tally(
            unit=self.unit,
            points=-self.points[:, ::-1],
            won=-self.won[:, ::-1],
            hands=self.hands[:, ::-1],
            turns=self.turns[:, ::-1],
            endings=self.endings[[1, 0, 2]],
            gained=self.gained[[1, 0, 2]],
            knock_deadwood=self.knock_deadwood[::-1],
        )

    @property
    def num_pairs(self) -> int:
        """P."""
        return len(self.points)

    @property
    def num_hands(self) -> int:
        """All hands played."""
        return int(self.hands.sum(dtype=np.int64))

    @property
    def points_a_hand(self) -> Estimate:
        """A's net points a hand, from paired hands."""
        if self.unit != "hand":
            raise ValueError("points a hand and their interval come from hands, not from matches")
        return mean_estimate(self.points.mean(axis=1))

    @property
    def games_won(self) -> Estimate:
        """The share of games that A won, draws as halves."""
        return share_estimate((self.won.sum(axis=1) + 2) / 4)

    @property
    def draws(self) -> int:
        """Games that nobody won."""
        return int((self.won == 0).sum())

    def rates(self, player: int = 0) -> dict[str, float]:
        """What one player's hands look like, 0 for A and 1 for B, as shares of all hands.

        ``knocks`` counts every knock with deadwood, the undercut ones too; ``undercuts_suffered``
        are those of them that lost; ``undercuts_made`` are the opponent's.  ``knock_deadwood`` is
        the mean deadwood of those knocks (NaN without one), ``turns`` the mean turns of a hand.
        """
        own, other = self.endings[player], self.endings[1 - player]
        knocks = int(own[Result.KNOCK] + own[Result.UNDERCUT])
        hands = max(self.num_hands, 1)
        return {
            "knocks": knocks / hands,
            "gins": int(own[Result.GIN]) / hands,
            "big_gins": int(own[Result.BIG_GIN]) / hands,
            "undercuts_made": int(other[Result.UNDERCUT]) / hands,
            "undercuts_suffered": int(own[Result.UNDERCUT]) / hands,
            "voids": int(self.endings[2].sum()) / hands,
            "turns": int(self.turns.sum(dtype=np.int64)) / hands,
            "knock_deadwood": int(self.knock_deadwood[player]) / knocks if knocks else math.nan,
        }


def mean_estimate(samples: npt.NDArray[np.floating]) -> Estimate:
    """The mean of independent samples ``(P,)`` and its normal 95 % interval, mean ± z s / √P.

    One sample tells nothing about its spread: its interval is infinite.
    """
    if not len(samples):
        raise ValueError("there is no mean of no samples")
    mean = float(samples.mean())
    half = math.inf
    if len(samples) > 1:
        half = Z95 * float(samples.std(ddof=1)) / math.sqrt(len(samples))
    return Estimate(mean, mean - half, mean + half)


def share_estimate(pair_shares: npt.NDArray[np.floating]) -> Estimate:
    """A share of games and its 95 % interval, from the share won in each pair ``(P,)``.

    Wilson's score interval (E. B. Wilson, "Probable inference, the law of succession, and
    statistical inference", 1927): unlike mean ± z s it stays within 0 and 1 and does not shrink to
    nothing when every game was won.  Its number of independent games is the effective one,
    p (1 - p) / Var(p), with the variance taken over the pairs (Kish's design effect).
    """
    num_pairs = len(pair_shares)
    if not num_pairs:
        raise ValueError("there is no share of no games")
    share = float(pair_shares.mean())
    if num_pairs == 1:
        return Estimate(share, 0.0, 1.0)
    variance = float(pair_shares.var(ddof=1)) / num_pairs
    if variance == 0:
        if 0 < share < 1:  # every pair ended alike: the same player on both sides
            return Estimate(share, share, share)
        games = 2.0 * num_pairs
    else:
        games = share * (1 - share) / variance
    stretch = 1 + Z95**2 / games
    centre = (share + Z95**2 / (2 * games)) / stretch
    half = Z95 / stretch * math.sqrt(share * (1 - share) / games + (Z95 / (2 * games)) ** 2)
    return Estimate(share, max(0.0, centre - half), min(1.0, centre + half))
