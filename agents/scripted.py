"""The scripted bots: a ladder of four levels, and two fixed yardsticks beside it.

All of them play by one procedure, `Scripted`, and differ in the numbers of their `Style`.  A bot
sees the `View` alone, decides the whole batch at once and keeps nothing between calls.

Letters: N decisions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from agents import features
from ginenv import cards, melds
from ginenv.cards import BitboardArray
from ginenv.rules import DECLARE_BIG_GIN, DRAW_STOCK, KNOCK, NO_ACTION, PASS, TAKE_PILE, Phase
from ginenv.view import View

Actions = npt.NDArray[np.int64]

ANYTHING = 10  # no rule lets a player knock with more deadwood
NOTHING = 0  # gin only
_NO_REACH = np.inf


@dataclass(frozen=True)
class Style:
    """The thresholds of a bot; the defaults are `greedy`'s.

    A turn here is a player's own: the first is turn 0.  The *worth* of a card, in points, is what
    it is hoped to bring in melds of one's own, and what it would bring the opponent in melds of
    his, less the points that it costs as deadwood: a bot throws the loose card of least worth.

    Attributes:
        overlooks: chance to overlook a pile card that it would take.
        slips: chance to throw any of its loose cards instead.
        keep: points that one expected meld of its own is worth on turn 0.
        fade: what is left of ``keep`` a turn later.
        live: chance of a card that may still come, as against one in hand, when melds are expected.
        melded: the same of a card that has its place in a meld already.
        counts_dead: knows which cards cannot come any more, instead of hoping for them all.
        danger: points that one expected meld of the opponent costs.
        reach: takes the pile card without a meld, too, if it is worth so many points more than the
            card that it would throw.
        reach_turns: the turns in which it does.
        early: most deadwood to knock with in the early turns.
        early_turns: the early turns.
        late: most deadwood to knock with after them.
        hold: waits for gin when so many live cards, or more, would give it gin.
        stock_low: knocks whenever it can when the stock has so many cards or fewer.
    """

    overlooks: float = 0.0
    slips: float = 0.0
    keep: float = 0.0
    fade: float = 1.0
    live: float = 0.2
    melded: float = 0.2
    counts_dead: bool = True
    danger: float = 0.0
    reach: float = _NO_REACH
    reach_turns: int = 0
    early: int = ANYTHING
    early_turns: int = 0
    late: int = ANYTHING
    hold: int = cards.NUM_CARDS
    stock_low: int = 0


# Measured by `python -m agents.tune`, crazy with 5,000 hands a figure.  `keep`, `fade`, `live`,
# `melded` and `danger` are flat around these values (within half a point a hand); without `danger`
# it is 0.7 weaker against itself, without `reach` 0.6.  More `keep` is better for those who wait
# for gin, less for those who knock at once.  A knock gains over waiting in the turns 0 to 4 as
# long as fewer than two live cards would give gin (+2 to +7 points), and later only with one or
# two points of deadwood (+1 to +4); with four such cards waiting gains 9 to 20 at any time.  Knocks
# when the stock is nearly gone lose to patient opponents, so only the last turn counts as that.
_NORMAL = Style(overlooks=0.1, slips=0.1, keep=30.0, fade=0.9, counts_dead=False)
_HARD = replace(
    _NORMAL, overlooks=0.0, slips=0.0, counts_dead=True, danger=6.0, reach=14.0, reach_turns=2
)
_CRAZY = replace(_HARD, keep=40.0, early_turns=5, late=3, hold=2, stock_low=3)

STYLES: dict[str, Style] = {
    "greedy": Style(),
    "patient": Style(late=NOTHING),
    "easy": Style(overlooks=0.4, slips=0.5),
    "normal": _NORMAL,
    "hard": _HARD,
    "crazy": _CRAZY,
}


@dataclass(frozen=True)
class Scripted:
    """A bot of some style: a policy."""

    style: Style

    @cached_property
    def _keep_by_turn(self) -> npt.NDArray[np.float32]:
        """`Style.keep` in each turn; beyond the last place as there."""
        return (self.style.keep * self.style.fade ** np.arange(64)).astype(np.float32)

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
        wanted = melds_upcard(view)
        if self.style.reach_turns:
            early = np.flatnonzero(~wanted & (own_turn(view) < self.style.reach_turns))
            if early.size:
                wanted[early] = self._reaches(view[early])
        if self.style.overlooks:
            wanted &= rng.random(len(view)) >= self.style.overlooks
        otherwise = np.where(view.phase == Phase.UPCARD, PASS, DRAW_STOCK)
        return np.where(wanted, TAKE_PILE, otherwise).astype(np.int64)

    def _reaches(self, view: View) -> npt.NDArray[np.bool_]:
        """Whether a pile card that makes no meld is worth much more than the least worthy card."""
        in_sets, in_runs = melds.meld_cards(view.hand)
        loose = view.hand ^ in_sets ^ in_runs
        taken = cards.bit_of(view.upcard)
        worth = self._worth(view, view.hand | taken, loose | taken)
        _, least = least_worthy(worth, loose)
        return worth[np.arange(len(view)), view.upcard] > least + self.style.reach

    def _discards(self, view: View, rng: np.random.Generator) -> Actions:
        """A discard, or the end of the hand: big gin, gin or a knock."""
        loose = loose_cards(view)
        thrown = self._throws(view, loose)
        if self.style.slips:
            slipping = np.flatnonzero(rng.random(len(view)) < self.style.slips)
            some = loose[slipping] & ~cards.bit_of(view.drawn[slipping])
            thrown[slipping] = any_of(some, thrown[slipping], rng)
        actions = thrown.astype(np.int64)
        after = view.deadwood_after
        least = after.min(axis=1)
        knocking = np.flatnonzero(self._knocks(view, least, thrown))
        actions[knocking] = KNOCK + after[knocking].argmin(axis=1)
        if view.rules.big_gin:
            actions[view.deadwood == 0] = DECLARE_BIG_GIN
        return actions

    def _throws(self, view: View, loose: BitboardArray) -> npt.NDArray[np.intp]:
        """The card to part with, ``(N,)``: the loose card of least worth.

        Without a loose card that may be thrown, the one that leaves the least deadwood.
        """
        thrown = view.deadwood_after.argmin(axis=1)
        if self.style.keep:
            worth = self._worth(view, view.hand, loose)
            card, least = least_worthy(worth, loose & ~cards.bit_of(view.drawn))
            thrown = np.where(np.isfinite(least), card, thrown)
        return thrown

    def _worth(
        self, view: View, hand: BitboardArray, loose: BitboardArray
    ) -> npt.NDArray[np.float32]:
        """The worth of each card, ``(N, 52)`` points.

        Args:
            view: N decisions.
            hand: ``(N,)`` uint64, own cards, the pile card among them if it is weighed.
            loose: ``(N,)`` uint64, those of them that are in no meld.
        """
        style = self.style
        may_come = view.unseen if style.counts_dead else cards.FULL_DECK & ~hand
        there = features.plane(hand & ~loose, style.melded)
        there += features.plane(loose)
        there += features.plane(may_come, style.live)
        worth = features.meld_chances(there)
        worth *= self._keep_by_turn.take(own_turn(view), mode="clip")[:, None, None]
        if style.danger:
            his = features.meld_chances(features.opponent_holds(view))
            worth += np.float32(style.danger) * his
        return features.by_card(worth) - cards.CARD_POINTS

    def _knocks(
        self, view: View, deadwood: npt.NDArray[np.int16], thrown: npt.NDArray[np.intp]
    ) -> npt.NDArray[np.bool_]:
        """Whether to knock with this much deadwood rather than to throw that card; gin always."""
        style = self.style
        most = np.where(own_turn(view) < style.early_turns, style.early, style.late)
        knocks = deadwood <= np.minimum(most, view.knock_limit)
        if style.hold < cards.NUM_CARDS:
            near = np.flatnonzero(knocks & (deadwood > 0))
            waiting = view.hand[near] ^ cards.CARD_BIT[thrown[near]]
            knocks[near] = features.gin_outs(waiting, view.unseen[near]) < style.hold
        return knocks | (view.stock_size <= style.stock_low) & (deadwood <= view.knock_limit)


def own_turn(view: View) -> npt.NDArray[np.int16]:
    """The turns that this player has had in the hand, ``(N,)``."""
    return view.turn // np.int16(2)


def melds_upcard(view: View) -> npt.NDArray[np.bool_]:
    """Whether the pile card enters a meld and lowers the deadwood, ``(N,)`` bool.

    Few pile cards make a meld with two of the hand, and only those rows are worked out.
    """
    wanted = np.zeros(len(view), dtype=bool)
    rows = np.flatnonzero(features.completing(view.hand) & cards.bit_of(view.upcard))
    if rows.size:
        some = view[rows]
        enlarged = melds.deadwood(some.hand | cards.bit_of(some.upcard))
        melded = enlarged < some.deadwood + cards.CARD_POINTS[some.upcard]
        wanted[rows] = melded & (some.deadwood_after.min(axis=1) < some.deadwood)
    return wanted


def loose_cards(view: View) -> BitboardArray:
    """The cards of an eleven-card hand that some best arrangement leaves out, ``(N,)`` uint64.

    Without such a card the deadwood is its points less.  The card just taken from the pile, which
    may not be thrown, is looked at by itself.
    """
    loose = features.board(view.deadwood_after + cards.CARD_POINTS == view.deadwood[:, None])
    taken = np.flatnonzero(view.drawn >= 0)
    card = view.drawn[taken]
    bit, points = cards.CARD_BIT[card], cards.CARD_POINTS[card]
    spare = melds.deadwood(view.hand[taken] ^ bit) + points == view.deadwood[taken]
    loose[taken[spare]] |= bit[spare]
    return loose


def least_worthy(
    worth: npt.NDArray[np.float32], among: BitboardArray
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float32]]:
    """The least worthy of some cards and its worth, ``(N,)`` each; infinite where there is none."""
    worth = np.where(cards.planes(among), worth, np.float32(np.inf))
    card = worth.argmin(axis=1)
    return card, worth[np.arange(len(worth)), card]


def any_of(
    some: BitboardArray, otherwise: npt.NDArray[np.intp], rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """A random card of each set, ``(N,)``; of an empty one, the other card."""
    chosen = cards.planes(some)
    card = (rng.random(chosen.shape) * chosen).argmax(axis=1)
    return np.where(some != 0, card, otherwise)


greedy, patient, easy, normal, hard, crazy = (Scripted(style) for style in STYLES.values())
