"""The scripted bots: a ladder of four levels, and two fixed yardsticks beside it.

All of them play by one procedure, `Scripted`, and differ in the numbers of their `Style`.  A bot
sees the `View` alone, decides the whole batch at once and keeps nothing between calls.

Letters: N decisions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agents import features
from ginenv import cards, melds
from ginenv.rules import (
    DECLARE_BIG_GIN,
    DRAW_STOCK,
    KNOCK,
    NO_ACTION,
    PASS,
    TAKE_PILE,
    Phase,
)
from ginenv.view import NOT_HELD, View

Actions = npt.NDArray[np.int64]

_NEVER = -1  # a knock threshold that no deadwood reaches


@dataclass(frozen=True)
class Style:
    """The thresholds of a scripted bot; the defaults are `greedy`'s.

    Attributes:
        overlooks: chance to overlook a pile card that it would take.
        slips: chance that a discard is any loose card instead of the best.
        keep: points of deadwood that one expected meld of its own is worth, in the first turn.
        fade: what is left of ``keep`` a turn later.
        danger: points of deadwood that one expected meld of the opponent costs.
        live: chance, to weigh own melds with, that an unseen card comes.
        unseen: chance, to weigh his melds with, that the opponent holds an unseen card.
        early: knocks with this much deadwood or less in the first ``early_turns`` own turns.
        early_turns: how many own turns are early.
        late: knocks with this much deadwood or less after that.
        stock_low: with so many cards in the stock or fewer it knocks whenever it can.
    """

    overlooks: float = 0.0
    slips: float = 0.0
    keep: float = 0.0
    fade: float = 0.9
    danger: float = 0.0
    live: float = 0.25
    unseen: float = 0.3
    early: int = 10
    early_turns: int = 0
    late: int = 10
    stock_low: int = 0


@dataclass(frozen=True)
class Scripted:
    """A bot of some style: a policy."""

    style: Style

    def __call__(self, view: View, rng: np.random.Generator) -> Actions:
        """One action for each row, ``(N,)``; -1 where this seat is not to move."""
        actions = np.where(view.to_move, np.int64(DRAW_STOCK), np.int64(NO_ACTION))
        offered = np.flatnonzero(view.offered)
        if offered.size:
            actions[offered] = self._draws(view[offered], rng)
        discarding = np.flatnonzero(view.to_move & (view.phase == Phase.DISCARD))
        if discarding.size:
            actions[discarding] = self._discards(view[discarding], rng)
        return actions

    def _draws(self, view: View, rng: np.random.Generator) -> Actions:
        """The pile card if it is wanted; else the stock, or a pass on the first upcard."""
        wanted = wants_upcard(view)
        if self.style.overlooks:
            wanted &= rng.random(len(view)) >= self.style.overlooks
        otherwise = np.where(view.phase == Phase.UPCARD, PASS, DRAW_STOCK)
        return np.where(wanted, TAKE_PILE, otherwise).astype(np.int64)

    def _discards(self, view: View, rng: np.random.Generator) -> Actions:
        """A discard, or the end of the hand: big gin, gin or a knock."""
        after = view.deadwood_after
        least = after.min(axis=1)
        actions = self._thrown(view, rng).astype(np.int64)
        knocking = np.flatnonzero(self._knocks(view, least))
        actions[knocking] = KNOCK + after[knocking].argmin(axis=1)
        if view.rules.big_gin:
            gin = np.flatnonzero(least == 0)
            big = gin[melds.deadwood(view.hand[gin]) == 0]
            actions[big] = DECLARE_BIG_GIN
        return actions

    def _thrown(self, view: View, rng: np.random.Generator) -> npt.NDArray[np.intp]:
        style = self.style
        cost: npt.NDArray[np.floating] | npt.NDArray[np.int16] = view.deadwood_after
        if style.keep or style.danger:
            cost = cost + style.danger * _flat(features.danger(view, style.unseen))
            weight = style.keep * style.fade ** (view.turn // 2)
            cost += weight[:, None] * _flat(features.keeping(view, style.live))
            cost[view.deadwood_after == NOT_HELD] = np.inf
        best = cost.argmin(axis=1)
        if style.slips:
            slipping = np.flatnonzero(rng.random(len(view)) < style.slips)
            best[slipping] = any_loose_card(view[slipping], rng)
        return best

    def _knocks(self, view: View, deadwood: npt.NDArray[np.int16]) -> npt.NDArray[np.bool_]:
        """Whether to knock with this much deadwood, ``(N,)``; gin always."""
        style = self.style
        most = np.where(view.turn // 2 < style.early_turns, style.early, style.late)
        most = np.where(view.stock_size <= style.stock_low, 10, most)
        return (deadwood == 0) | (deadwood <= np.minimum(most, view.knock_limit))


def wants_upcard(view: View) -> npt.NDArray[np.bool_]:
    """Whether the pile card enters a meld and lowers the deadwood, ``(N,)`` bool.

    Few pile cards fit anything, and only those rows are worked out.
    """
    wanted = np.zeros(len(view), dtype=bool)
    rows = np.flatnonzero(features.fits(view.hand, view.upcard))
    if rows.size:
        some = view[rows]
        enlarged = melds.deadwood(some.hand | cards.bit_of(some.upcard))
        melded = enlarged < some.deadwood + cards.CARD_POINTS[some.upcard]
        wanted[rows] = melded & (some.deadwood_after.min(axis=1) < some.deadwood)
    return wanted


def any_loose_card(view: View, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """A random card that is in no meld, ``(N,)``; any that may be thrown if there is none."""
    in_sets, in_runs = melds.meld_cards(view.hand)
    throwable = view.deadwood_after != NOT_HELD
    loose = throwable & (cards.planes(view.hand & ~(in_sets | in_runs)) != 0)
    weight = loose + throwable * 1e-9
    keys = rng.random(weight.shape) * weight
    return np.asarray(keys.argmax(axis=1))


def _flat(plane: features.Plane) -> features.Plane:
    return plane.reshape(len(plane), cards.NUM_CARDS)


_HARD = Style(keep=8.0, live=0.1, danger=4.0, unseen=0.2)

STYLES: dict[str, Style] = {
    "greedy": Style(),
    "patient": Style(late=_NEVER),
    "easy": Style(overlooks=0.4, slips=0.5),
    "normal": Style(overlooks=0.1, slips=0.1),
    "hard": _HARD,
    "crazy": replace(_HARD, early_turns=4, late=_NEVER, stock_low=6),
}

greedy, patient, easy, normal, hard, crazy = (Scripted(style) for style in STYLES.values())
