"""What the scripted bots look at: a few numbers for each card, for many decisions at once.

Letters: N decisions.  A *plane* is a ``(N, 4, 16)`` float32 by suit and rank: a number for each
card, laid out like the bits of a bitboard, the last three columns idle.  As zeros stand between
the suits, neighbours in rank are neighbours in memory, and whole planes are multiplied at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ginenv import cards, melds
from ginenv.cards import BITBOARD, BitboardArray
from ginenv.view import View

Plane = npt.NDArray[np.float32]

# How often the opponent holds a card that nobody has shown, by what he did with the cards next to
# it (same rank, or one away in the suit).  `python -m agents.tune odds` prints what the bots do:
# 0.26 to 0.43, 0.44 to 0.65 and 0.06 to 0.14, rising as the stock shrinks.
UNSHOWN = np.float32(0.3)  # nothing, or both of the following
NEAR_TAKEN = np.float32(0.5)  # took one from the pile and still has it
NEAR_THROWN = np.float32(0.1)  # threw one

_ONE, _TWO = np.uint64(1), np.uint64(2)
_LANE, _EVERY_SUIT = np.uint64(cards.LANE), np.uint64(cards.EVERY_SUIT)


def plane(board: BitboardArray, value: np.float32 | float = 1.0) -> Plane:
    """A set of cards, ``(N,)`` uint64, as a plane: the value for its cards, zero for others."""
    octets = np.ascontiguousarray(board, dtype=BITBOARD).view(np.uint8).reshape(-1, 8)
    bits = np.unpackbits(octets, axis=1, bitorder="little")
    return np.multiply(bits, np.float32(value)).reshape(-1, 4, 16)


def by_card(numbers: Plane) -> npt.NDArray[np.float32]:
    """A plane without its idle columns, ``(N, 52)`` by card id."""
    return numbers[:, :, :13].reshape(len(numbers), cards.NUM_CARDS)


def board(chosen: npt.NDArray[np.bool_]) -> BitboardArray:
    """Cards marked by id as bitboards, ``(N, 52)`` bool to ``(N,)`` uint64."""
    bits = np.zeros((len(chosen), 4, 16), dtype=bool)
    bits[:, :, :13] = chosen.reshape(-1, 4, 13)
    octets = np.packbits(bits.reshape(-1, 64), axis=1, bitorder="little")
    return octets.view(BITBOARD).reshape(-1)


def meld_chances(there: Plane) -> Plane:
    """How many melds of three each card is expected to make with two others.

    Args:
        there: the chance that each card is there to be melded, independent of each other.

    Returns:
        A plane: the sum, over the at most six pairs of cards that make a meld with the card, of
        the product of their chances.
    """
    # A set takes two of the three other suits.  For spades: hearts and clubs, or diamonds with
    # either of them; suits two apart play the same part for each other.
    low, high = there[:, :2], there[:, 2:]
    either, both = (low + high)[:, ::-1], (low * high)[:, ::-1]
    chances = np.empty_like(there)
    np.multiply(high, either, out=chances[:, :2])
    np.multiply(low, either, out=chances[:, 2:])
    chances[:, :2] += both
    chances[:, 2:] += both
    # A run takes the two below, the two above, or one of each.
    card, run = there.reshape(-1), chances.reshape(-1)
    neighbours = card[:-1] * card[1:]
    run[2:] += neighbours[:-1]
    run[:-2] += neighbours[1:]
    run[1:-1] += card[:-2] * card[2:]
    return chances


def opponent_holds(view: View) -> Plane:
    """The chance that the opponent holds each card.

    One for what he took from the pile and still has, none for what lies in the pile or in my hand;
    `UNSHOWN`, `NEAR_TAKEN` or `NEAR_THROWN` for the others.
    """
    near_taken, near_thrown = near(view.opponent_known), near(view.opponent_discards)
    chance = plane(view.opponent_known)
    chance += plane(view.unseen, UNSHOWN)
    chance += plane(view.unseen & near_taken & ~near_thrown, NEAR_TAKEN - UNSHOWN)
    chance += plane(view.unseen & near_thrown & ~near_taken, NEAR_THROWN - UNSHOWN)
    return chance


def near(board: BitboardArray) -> BitboardArray:
    """All cards of the same rank as a card of the set or next to one in its suit, ``(N,)``."""
    ranks = board | (board >> np.uint64(32))
    ranks = (ranks | (ranks >> np.uint64(16))) & _LANE
    return ((board << _ONE | board >> _ONE) & cards.FULL_DECK) | ranks * _EVERY_SUIT


def completing(hand: BitboardArray) -> BitboardArray:
    """The cards not in the hand that make a meld with two cards of it, ``(N,)`` uint64."""
    below, above = hand << _ONE, hand >> _ONE
    runs = (below & (above | hand << _TWO)) | (above & hand >> _TWO)
    one, two = hand & (hand >> np.uint64(32)), hand | (hand >> np.uint64(32))
    pairs = (one | (one >> np.uint64(16)) | (two & (two >> np.uint64(16)))) & _LANE
    return (runs | pairs * _EVERY_SUIT) & ~hand & cards.FULL_DECK


def gin_outs(hand: BitboardArray, live: BitboardArray) -> npt.NDArray[np.intp]:
    """How many live cards would give the hand gin when drawn next.

    Args:
        hand: ``(N,)`` uint64, ten cards that are not all in melds.
        live: ``(N,)`` uint64, the cards that may still come.

    Returns:
        ``(N,)`` the number of them after which some discard leaves no deadwood.
    """
    rows, drawn = np.nonzero(cards.planes(completing(hand) & live))
    eleven = hand[rows] | cards.CARD_BIT[drawn]
    lonely = eleven ^ melds.meldable(eleven)
    few = np.flatnonzero(lonely & (lonely - _ONE) == 0)  # two cards in no meld are one too many
    rows, eleven, lonely = rows[few], eleven[few], lonely[few]
    throwable = np.where(lonely == 0, eleven, lonely)
    finishing, _ = melds.discards_within(eleven, throwable, np.zeros(len(rows), dtype=np.int16))
    return np.bincount(rows[finishing != 0], minlength=len(hand))
