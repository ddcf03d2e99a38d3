"""What holds in every position: checked before games that a stranger may have made are used.

The engine trusts its `State`: it looks cards, phases and places up in tables without asking.  A
state from a file is checked here first, so that none is taken that play could not go on from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ginenv import cards
from ginenv.cards import NO_CARD, NUM_CARDS
from ginenv.rules import HAND_SIZE, STOCK_INDEX, UPCARD_INDEX, Phase, Result

if TYPE_CHECKING:
    from ginenv.state import State

__all__ = ["check"]

LARGEST_ID = 2**62  # of a hand; leaves room to count on
LARGEST_SCORE = 2**30
_AT_ONCE = 16_384  # games that are looked at together: bounds the memory that it takes

# A field of the state, which games it is right in, and what is allowed.
Claim = tuple[str, npt.NDArray[np.bool_], str]


def check(state: State) -> None:
    """Check that play can go on from each of N games.

    Raises:
        ValueError: if a number is out of its range, or the cards do not lie as they do in a hand;
            names the first game, the field and what is allowed.
    """
    if not 0 <= state.next_game_id <= LARGEST_ID:
        raise ValueError(f"next_game_id is {state.next_game_id}, allowed is 0 to {LARGEST_ID}")
    for first in range(0, len(state), _AT_ONCE):
        some = state[first : first + _AT_ONCE]
        for field, right, allowed in _claims(some):
            wrong = np.flatnonzero(~right)
            if wrong.size:
                row = int(wrong[0])
                found = getattr(some, field)[row].tolist()
                raise ValueError(f"game {first + row}: {field} is {found}, {allowed}")


def _claims(state: State) -> Iterator[Claim]:
    """All that must hold; a claim relies on those before it."""
    yield from _ranges(state)
    yield from _places(state)
    yield from _phases(state)


def _ranges(state: State) -> Iterator[Claim]:
    ranges = {
        "phase": (0, len(Phase) - 1),
        "player": (0, 1),
        "dealer": (0, 1),
        "result": (0, len(Result) - 1),
        "deck": (0, NUM_CARDS - 1),
        "pile": (NO_CARD, NUM_CARDS - 1),
        "pile_size": (0, state.pile.shape[1]),
        "upcard": (NO_CARD, NUM_CARDS - 1),
        "face_down": (NO_CARD, NUM_CARDS - 1),
        "drawn": (NO_CARD, NUM_CARDS - 1),
        "stock_start": (STOCK_INDEX, NUM_CARDS - state.rules.stock_floor),
        "turn": (0, state.rules.max_turns),
        "knock_limit": (0, HAND_SIZE),
        "scores": (0, LARGEST_SCORE),
        "game_id": (0, state.next_game_id - 1),
    }
    for field, (low, high) in ranges.items():
        values = getattr(state, field)
        right = (values >= low) & (values <= high)
        yield field, right.reshape(len(state), -1).all(axis=1), f"allowed is {low} to {high}"
    for field in ("hands", "known", "discards", "declined", "in_pile"):
        strange = getattr(state, field) & ~cards.FULL_DECK
        right = (strange == 0).reshape(len(state), -1).all(axis=1)
        yield field, right, "which has bits that are no card"


def _places(state: State) -> Iterator[Claim]:
    """Each card lies in one place, and what is told twice is told alike."""
    rows = np.arange(len(state))
    in_order = np.sort(state.deck, axis=1) == np.arange(NUM_CARDS)
    yield "deck", in_order.all(axis=1), "which does not hold each card once"

    laid = np.arange(state.pile.shape[1]) < state.pile_size[:, None]
    yield "pile", ((state.pile >= 0) == laid).all(axis=1), "which is not as long as pile_size"
    in_pile = np.bitwise_or.reduce(cards.bit_of(state.pile), axis=1)
    yield "in_pile", state.in_pile == in_pile, "which is not what pile holds"
    top = state.pile[rows, np.maximum(state.pile_size, 1) - 1]
    yield "upcard", state.upcard == top, "which is not the top of the pile"

    left = np.arange(NUM_CARDS) >= state.stock_start[:, None]
    stock = np.bitwise_or.reduce(np.where(left, cards.CARD_BIT[state.deck], np.uint64(0)), axis=1)
    places = [*state.hands.T, state.in_pile, stock, cards.bit_of(state.face_down)]
    once = (sum(map(cards.count, places)) == NUM_CARDS) & (
        np.bitwise_or.reduce(places) == cards.FULL_DECK
    )
    yield "hands", once, "and with pile, stock and face_down some card has no place or two"
    strange = state.known & ~state.hands
    yield "known", (strange == 0).all(axis=1), "which is not all in the hands"


def _phases(state: State) -> Iterator[Claim]:
    """Hands, stock, pile and result are those of the phase."""
    rows = np.arange(len(state))
    phase, over = state.phase, state.phase == Phase.OVER
    opening = (phase == Phase.UPCARD) | (phase == Phase.FORCED_DRAW)
    discarding, drawing = phase == Phase.DISCARD, phase == Phase.DRAW

    yield "result", over == (state.result != Result.NONE), "which does not go with the phase"
    eleven = discarding | (state.result == Result.BIG_GIN)
    size = cards.count(state.hands)
    mine, theirs = size[rows, state.player], size[rows, 1 - state.player]
    right = (mine == HAND_SIZE + eleven) & (theirs == HAND_SIZE)
    yield "hands", right, "which are not ten cards each, and one more before a discard"
    knocked = np.isin(state.result, (Result.KNOCK, Result.GIN, Result.UNDERCUT))
    yield "face_down", knocked == (state.face_down >= 0), "which does not go with the result"

    begun = (state.stock_start == STOCK_INDEX) & (state.turn == 0)
    begun &= state.upcard == state.deck[:, UPCARD_INDEX]
    yield "phase", begun | ~opening, "in which nothing can have been played but passes"
    forced = phase == Phase.FORCED_DRAW
    yield "player", (state.player != state.dealer) | ~forced, "but the dealer draws second"
    yield "turn", (state.turn < state.rules.max_turns) | over, "and the hand is not over"
    can_draw = (NUM_CARDS - state.stock_start > state.rules.stock_floor) & (state.upcard >= 0)
    yield "phase", can_draw | ~drawing, "in which there must be a stock and a pile to draw from"

    taken = cards.bit_of(state.drawn)
    right = taken & ~np.where(discarding, state.known[rows, state.player], np.uint64(0)) == 0
    yield "drawn", right, "which must be a known card of the player who is to discard"
