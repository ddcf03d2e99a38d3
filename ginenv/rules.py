"""The rules as numbers, the phases and actions of a hand, and its settlement.

The only place that scores.  Sources: the rules of gin rummy as played to 100 points with gin and
undercut bonuses of 25 and big gin at 31; where tables differ, a field of `Rules` decides.
"""

from __future__ import annotations

import dataclasses
import difflib
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from ginenv import cards, melds
from ginenv.cards import BitboardArray

HAND_SIZE = 10
UPCARD_INDEX = 20  # deck[20] is the upcard, deck[21:] the stock
STOCK_INDEX = 21

# The 108 actions: 0..51 discard that card, 52..103 knock with that card as the discard (gin when
# what is left has no deadwood), then the four below.
DISCARD = 0
KNOCK = 52
DRAW_STOCK = 104
TAKE_PILE = 105
PASS = 106
DECLARE_BIG_GIN = 107
NUM_ACTIONS = 108
NO_ACTION = -1  # in `engine.step`: leave this game as it is


class Phase(IntEnum):
    """What the player to move decides."""

    UPCARD = 0  # take the first upcard or pass: the non-dealer, then the dealer
    FORCED_DRAW = 1  # both have passed: the non-dealer draws from the stock
    DRAW = 2  # the stock or the top of the discard pile
    DISCARD = 3  # eleven cards in hand: discard, knock or big gin
    OVER = 4  # the hand has ended


class Result(IntEnum):
    """How a hand ended."""

    NONE = 0  # it has not
    KNOCK = 1
    GIN = 2
    BIG_GIN = 3
    UNDERCUT = 4
    VOID = 5


@dataclass(frozen=True)
class Rules:
    """The numbers that tables disagree on; the defaults are the standard rules.

    Raises:
        ValueError: if a field is out of range.
        TypeError: if a field has the wrong type.
    """

    knock_limit: int = 10  # most deadwood that a player may knock with, 0 to 10
    gin_bonus: int = 25
    undercut_bonus: int = 25
    big_gin: bool = True  # eleven cards in melds end the hand without a discard
    big_gin_bonus: int = 31
    stock_floor: int = 2  # a turn that ends with this many cards in the stock ends the hand void
    target_score: int | None = 100  # points that win the match; None: it never ends by itself
    max_turns: int = 100  # turns of both seats together after which the hand is void
    oklahoma: bool = False  # the first upcard's points are the knock limit; an ace: gin only
    oklahoma_faces_gin: bool = False  # with oklahoma: a face card, too, means gin only
    void_keeps_dealer: bool = False  # after a void hand the same player deals again

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if name == "target_score" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise TypeError(f"Rules.{name} must be an integer, got {value!r}")
            if not low <= value <= high:
                raise ValueError(f"Rules.{name} must lie in {low} to {high}, got {value}")
            object.__setattr__(self, name, int(value))
        for name in _SWITCHES:
            value = getattr(self, name)
            if not isinstance(value, (bool, np.bool_)):
                raise TypeError(f"Rules.{name} must be True or False, got {value!r}")
            object.__setattr__(self, name, bool(value))
        if self.oklahoma_faces_gin and not self.oklahoma:
            raise ValueError("Rules.oklahoma_faces_gin needs oklahoma=True")

    @classmethod
    def preset(cls, name: str) -> Rules:
        """The rules of a well-known table; `PRESETS` has the names."""
        if name not in PRESETS:
            near = difflib.get_close_matches(str(name), PRESETS, n=1)
            hint = f", did you mean {near[0]!r}?" if near else "."
            raise ValueError(f"unknown rules {name!r}{hint} Presets: {', '.join(PRESETS)}")
        return cls(**PRESETS[name])

    def hand_limits(self, upcards: npt.NDArray[np.integer]) -> npt.NDArray[np.int8]:
        """The knock limit of each hand, ``(N,)`` first upcards (card ids) to ``(N,)`` int8."""
        if not self.oklahoma:
            return np.full(len(upcards), self.knock_limit, dtype=np.int8)
        limits = cards.CARD_POINTS[upcards].astype(np.int8)
        gin_only = upcards % 13 == 0
        if self.oklahoma_faces_gin:
            gin_only |= upcards % 13 >= 10
        limits[gin_only] = 0
        return limits


_RANGES = {
    "knock_limit": (0, 10),
    "gin_bonus": (0, 1000),
    "undercut_bonus": (0, 1000),
    "big_gin_bonus": (0, 1000),
    "stock_floor": (0, 30),
    "target_score": (1, 1_000_000),
    "max_turns": (1, 10_000),
}
_SWITCHES = [field.name for field in dataclasses.fields(Rules) if field.name not in _RANGES]

STANDARD = Rules()

PRESETS: dict[str, dict[str, Any]] = {
    "standard": {},
    "no_big_gin": {"big_gin": False},
    "oklahoma": {"oklahoma": True},
    "oklahoma_faces": {"oklahoma": True, "oklahoma_faces_gin": True},
    "straight": {"knock_limit": 0},
    "eaai": {"big_gin": False, "void_keeps_dealer": True},
}


@dataclass(frozen=True)
class Settlement:
    """What M ended hands are worth.

    Attributes:
        result: ``(M,)`` int8 of `Result`.
        points: ``(M,)`` int16, to the winner, above zero.
        knocker_wins: ``(M,)`` bool.
        knocker_deadwood: ``(M,)`` int16.
        defender_deadwood: ``(M,)`` int16, after layoffs where there are any.
    """

    result: npt.NDArray[np.int8]
    points: npt.NDArray[np.int16]
    knocker_wins: npt.NDArray[np.bool_]
    knocker_deadwood: npt.NDArray[np.int16]
    defender_deadwood: npt.NDArray[np.int16]


def settle(
    knockers: npt.ArrayLike, defenders: npt.ArrayLike, rules: Rules = STANDARD
) -> Settlement:
    """Score M hands that a player has ended.

    Gin (no deadwood) scores 25 and big gin (eleven cards, none loose) 31, each with the other
    hand's deadwood and without layoffs.  Any other knock scores the difference after layoffs; a
    defender with the same or less undercuts it, for the difference and 25.

    Args:
        knockers: ``(M,)`` uint64, ten cards after the discard, or eleven at big gin.
        defenders: ``(M,)`` uint64, ten cards.
        rules: the bonuses.

    Raises:
        ValueError: if the shapes differ, a hand has the wrong number of cards, both hands share a
            card, or eleven cards are no big gin.
    """
    if not isinstance(rules, Rules):
        raise TypeError(f"rules must be a ginenv.Rules, got {rules!r:.80}")
    knockers, defenders = _checked_hands(knockers, defenders)
    is_big = cards.count(knockers) == HAND_SIZE + 1
    settlement = score(knockers, defenders, is_big, rules)
    loose = np.flatnonzero(is_big & (settlement.knocker_deadwood > 0))
    if loose.size:
        raise ValueError(
            f"hand {loose[0]}: eleven cards with deadwood "
            f"{settlement.knocker_deadwood[loose[0]]} are no big gin; "
            "a knocker has ten cards after the discard"
        )
    return settlement


def score(
    knockers: BitboardArray,
    defenders: BitboardArray,
    is_big: npt.NDArray[np.bool_],
    rules: Rules,
) -> Settlement:
    """`settle` for callers that know their hands: unchecked; ``is_big`` ``(M,)`` marks big gin."""
    laid_down = melds.arrangement(knockers)
    own = melds.points(knockers ^ np.bitwise_or.reduce(laid_down, axis=1))
    gin = own == 0
    open_to_layoffs = np.where(gin[:, None], np.uint64(0), laid_down)
    theirs = melds.least_after_layoffs(open_to_layoffs, defenders).astype(np.int16)
    undercut = ~gin & (theirs <= own)
    points = np.abs(theirs - own)
    points[gin] += np.int16(rules.gin_bonus)
    points[is_big] += np.int16(rules.big_gin_bonus - rules.gin_bonus)
    points[undercut] += np.int16(rules.undercut_bonus)
    result = np.full(len(own), Result.KNOCK, dtype=np.int8)
    result[gin] = Result.GIN
    result[is_big] = Result.BIG_GIN
    result[undercut] = Result.UNDERCUT
    return Settlement(result, points, ~undercut, own, theirs)


def _checked_hands(
    knockers: npt.ArrayLike, defenders: npt.ArrayLike
) -> tuple[BitboardArray, BitboardArray]:
    knockers, defenders = melds.as_hands(knockers), melds.as_hands(defenders)
    if knockers.ndim != 1 or knockers.shape != defenders.shape:
        raise ValueError(
            "settle takes two arrays of hands (M,), "
            f"got shapes {knockers.shape} and {defenders.shape}"
        )
    for who, hands, allowed in (("knocker", knockers, (10, 11)), ("defender", defenders, (10,))):
        size = cards.count(hands)
        wrong = np.flatnonzero((size < allowed[0]) | (size > allowed[-1]))
        if wrong.size:
            raise ValueError(
                f"hand {wrong[0]}: the {who} has {size[wrong[0]]} cards, "
                f"allowed is {' or '.join(map(str, allowed))}"
            )
    shared = np.flatnonzero(knockers & defenders)
    if shared.size:
        both = cards.show(knockers[shared[0]] & defenders[shared[0]])
        raise ValueError(f"hand {shared[0]}: both players hold {both}")
    return knockers, defenders


def action_name(action: int) -> str:
    """An action as text: ``discard Kd``, ``knock Kd``, ``draw``, ``take``, ``pass``, `big gin`."""
    if 0 <= action < KNOCK:
        return f"discard {cards.name(action)}"
    if KNOCK <= action < DRAW_STOCK:
        return f"knock {cards.name(action - KNOCK)}"
    if action in _SPECIAL_NAMES:
        return _SPECIAL_NAMES[action]
    raise ValueError(f"{action} is no action: actions are the integers 0 to {NUM_ACTIONS - 1}")


def parse_action(text: str) -> int:
    """The action that a text from `action_name` names.

    Raises:
        ValueError: if the text names none.
    """
    for action, special in _SPECIAL_NAMES.items():
        if text == special:
            return action
    verb, _, card = text.partition(" ")
    if verb == "discard":
        return DISCARD + cards.card(card)
    if verb == "knock":
        return KNOCK + cards.card(card)
    raise ValueError(
        f"{text!r} is no action: write 'discard Kd', 'knock Kd', "
        f"{', '.join(map(repr, _SPECIAL_NAMES.values()))}"
    )


_SPECIAL_NAMES = {DRAW_STOCK: "draw", TAKE_PILE: "take", PASS: "pass", DECLARE_BIG_GIN: "big gin"}
