"""The coach: what a policy would do in the person's place, and why, in numbers.

Everything here follows from what the person may know.  Expected points come from hands that are
played to their end by the policy itself in both seats, after all unseen cards have been dealt again
at random; each choice is tried on the same deals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.table.levels import Level
from ginenv import cards, engine, melds
from ginenv.opponents import Policy
from ginenv.rules import DRAW_STOCK, KNOCK, Phase
from ginenv.state import State
from ginenv.view import View, resample_hidden, view

ASKED = 100  # how often a policy that cannot explain itself is asked
DEALS = 60  # deals that each choice is tried on
CHOICES = 3


@dataclass(frozen=True)
class Choice:
    """One thing to do.

    Attributes:
        action: its number.
        probability: how likely the policy does it.
        points: expected points of the hand after it, more than the opponent's.
    """

    action: int
    probability: float
    points: float


@dataclass(frozen=True)
class Advice:
    """What the coach has to say.

    Attributes:
        coach: who would do it.
        choices: the likeliest first.
        value: the policy's own estimate of the points to come; None where it has none.
        outs: unseen cards that would enter a meld and lower the deadwood.
        num_unseen: unseen cards in all.
        known: cards that the opponent took from the pile and still holds.
        discarded: cards that he threw.
        declined: pile cards that he let go.
    """

    coach: str
    choices: tuple[Choice, ...]
    value: float | None
    outs: tuple[int, ...]
    num_unseen: int
    known: tuple[int, ...]
    discarded: tuple[int, ...]
    declined: tuple[int, ...]


def advise(state: State, coach: Level, seat: int, rng: np.random.Generator) -> Advice:
    """Ask a policy about the decision that a seat is to make.

    Args:
        state: the game, one row; of its hidden cards nothing but their places is used.
        coach: who is asked.
        seat: who is to move.
        rng: for the policy and the deals.
    """
    seen = view(state, seat)
    probabilities, value = _asked(seen, coach.policy, rng)
    chosen = _candidates(seen, probabilities)
    points = expected_points(state, chosen, coach.policy, seat, rng)
    choices = [
        Choice(action, float(probabilities[action]), gain)
        for action, gain in zip(chosen, points.tolist(), strict=True)
    ]
    hand = int(seen.hand[0])
    if seen.phase[0] == Phase.DISCARD and choices[0].action < DRAW_STOCK:
        hand &= ~int(cards.CARD_BIT[choices[0].action % KNOCK])
    return Advice(
        coach=coach.name,
        choices=tuple(choices),
        value=None if value is None else value * coach.points_scale,
        outs=outs(hand, int(seen.unseen[0])),
        num_unseen=int(cards.count(seen.unseen)[0]),
        known=_cards(seen.opponent_known),
        discarded=_cards(seen.opponent_discards),
        declined=_cards(seen.opponent_declined & ~seen.opponent_discards),
    )


def outs(hand: int, unseen: int) -> tuple[int, ...]:
    """The unseen cards that would enter a meld of a hand, both given as bitboards."""
    waiting = np.array(cards.ids(unseen), dtype=np.intp)
    enlarged = melds.deadwood(np.uint64(hand) | cards.CARD_BIT[waiting])
    own = int(melds.deadwood(np.uint64(hand)))
    return tuple(waiting[enlarged < own + cards.CARD_POINTS[waiting]].tolist())


def expected_points(
    state: State, actions: list[int], policy: Policy, seat: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """The mean points ``(A,)`` of a hand after each of A actions, over `DEALS` re-deals."""
    dealt = resample_hidden(state[np.zeros(DEALS, dtype=np.intp)], rng, seat)
    games = State.concatenate([dealt] * len(actions))
    points = np.zeros(len(games))
    playing = np.arange(len(games))
    chosen: npt.NDArray[Any] = np.repeat(actions, DEALS)
    while playing.size:
        outcome = engine.step(games, chosen)
        points[playing] += outcome.points[:, seat]
        games, playing = games[~outcome.hand_over], playing[~outcome.hand_over]
        if playing.size:
            chosen = np.asarray(policy(view(games), rng))
    return points.reshape(len(actions), DEALS).mean(axis=1)


def _asked(
    seen: View, policy: Policy, rng: np.random.Generator
) -> tuple[npt.NDArray[np.floating], float | None]:
    """The probability of each action, ``(108,)``, and the value where the policy has one."""
    explain = getattr(policy, "explain", None)
    if explain is not None:
        probabilities, value = explain(seen)
        return probabilities[0], float(value[0])
    answers = np.asarray(policy(seen[np.zeros(ASKED, dtype=np.intp)], rng))
    return np.bincount(answers, minlength=seen.action_mask.shape[1]) / ASKED, None


def _candidates(seen: View, probabilities: npt.NDArray[np.floating]) -> list[int]:
    """The likeliest actions; among equally likely ones those that leave the least deadwood."""
    legal = np.flatnonzero(seen.action_mask[0])
    left = np.zeros(len(probabilities))
    left[: 2 * KNOCK] = np.tile(seen.deadwood_after[0], 2)
    order = np.lexsort((left[legal], -probabilities[legal]))
    return [int(action) for action in legal[order[:CHOICES]]]


def _cards(board: npt.NDArray[np.uint64]) -> tuple[int, ...]:
    return tuple(cards.ids(board[0]))
