"""Ratings from games won: a Bradley-Terry fit on the Elo scale, with bootstrap intervals.

The model (R. A. Bradley and M. E. Terry, "Rank analysis of incomplete block designs: I. The method
of paired comparisons", 1952): player i beats player j with probability 1 / (1 + e^(s_j - s_i)),
s the strengths.  A rating is ``anchor + 400 / ln 10 * s``, so that 400 points are odds of ten to
one (A. E. Elo, "The Rating of Chessplayers", 1978).  A draw counts as half a win for either side.

The prior is one virtual draw in every pairing that was played: half a win for either side, as
F. J. Anscombe's correction of the log odds has it (1956).  It keeps one-sided pairings finite and
weighs next to nothing against hundreds of games.

Letters: n players, P pairs of games a pairing, S resamples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

ANCHOR = 1000.0
ELO = 400 / math.log(10)
PRIOR = 0.5  # virtual wins of either side in each pairing
_LARGEST_STEP = 2.0  # of Newton's method, in units of log odds


@dataclass(frozen=True)
class Ratings:
    """Ratings of n players and their 95 % bootstrap intervals, each ``(n,)``."""

    rating: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]


def strengths(
    wins: npt.NDArray[np.floating], played: npt.NDArray[np.floating]
) -> npt.NDArray[np.float64]:
    """The most probable strengths, by Newton's method on the concave log likelihood.

    Args:
        wins: ``(..., n, n)``, games that player i won against player j, draws as halves.
        played: ``(n, n)``, games between them.

    Returns:
        ``(..., n)`` strengths in units of log odds, the first player's 0.

    Raises:
        ValueError: if some players are not compared with the others, directly or through third
            ones.
    """
    met = played > 0
    if not _connected(met):
        raise ValueError("ratings need players who are all compared, directly or through others")
    wins = wins + PRIOR * met
    games = played + 2 * PRIOR * met
    n = len(played)
    strength = np.zeros((*wins.shape[:-2], n))
    for _ in range(100):
        chance = 1 / (1 + np.exp(strength[..., None, :] - strength[..., :, None]))
        slope = (wins - games * chance).sum(axis=-1)
        weight = games * chance * (1 - chance)
        curvature = np.eye(n) * weight.sum(axis=-1)[..., None] - weight
        # The first player stands still: without him the system has one solution.
        move = np.linalg.solve(curvature[..., 1:, 1:], slope[..., 1:, None])[..., 0]
        strength[..., 1:] += np.clip(move, -_LARGEST_STEP, _LARGEST_STEP)
        if np.abs(move).max(initial=0) < 1e-10:
            break
    return strength


def rate(
    pair_wins: dict[tuple[int, int], npt.NDArray[np.floating]],
    num_players: int,
    anchor: int | None = None,
    num_resamples: int = 1000,
    seed: int = 0,
) -> Ratings:
    """Ratings of players from their paired games.

    The bootstrap (B. Efron, 1979) draws pairs of games with replacement, the same ones in every
    pairing: they were played with the same cards.

    Args:
        pair_wins: for players (i, j), ``(P,)``: the games of each pair that i won, 0 to 2, draws as
            halves.  Each pairing once; P may differ between pairings.
        num_players: n.
        anchor: the player who is rated 1000; by default the mean of all is 1000.
        num_resamples: S; the intervals span the middle 95 % of the resamples.
        seed: of the bootstrap.
    """
    shape = (num_resamples + 1, num_players, num_players)
    wins, played = np.zeros(shape), np.zeros(shape[1:])
    for num_pairs in {len(won) for won in pair_wins.values()}:
        pairings = [key for key, won in pair_wins.items() if len(won) == num_pairs]
        rows, columns = np.array(pairings).T
        won = np.stack([pair_wins[key] for key in pairings])
        rng = np.random.default_rng(seed)
        for resample in range(num_resamples + 1):
            drawn = rng.integers(num_pairs, size=num_pairs) if resample else np.arange(num_pairs)
            times = np.bincount(drawn, minlength=num_pairs)
            wins[resample, rows, columns] = won @ times
            wins[resample, columns, rows] = 2 * num_pairs - won @ times
        played[rows, columns] = played[columns, rows] = 2 * num_pairs
    strength = strengths(wins, played)
    level = strength.mean(axis=1) if anchor is None else strength[:, anchor]
    rating = ANCHOR + ELO * (strength - level[:, None])
    low, high = np.quantile(rating[1:], [0.025, 0.975], axis=0)
    return Ratings(rating=rating[0], low=low, high=high)


def _connected(met: npt.NDArray[np.bool_]) -> bool:
    """Whether every player is reached from the first one, ``(n, n)`` bool."""
    reached = np.arange(len(met)) == 0
    for _ in met:
        reached |= met[reached].any(axis=0)
    return bool(reached.all())
