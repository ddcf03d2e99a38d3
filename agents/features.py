"""What the scripted bots look at: a few numbers for each card, for many decisions at once.

Letters: N decisions.  A *plane* is a ``(N, 4, 13)`` float32 by suit and rank: a number for each
card.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ginenv import cards, melds
from ginenv.cards import BitboardArray
from ginenv.view import View

Plane = npt.NDArray[np.float32]

# How often the opponent holds a card that nobody has shown, by what he did with the cards next to
# it (same rank, or one away in the suit): hard against itself, `python -m agents.tune odds`.
UNSHOWN = np.float32(0.3)  # nothing
NEAR_TAKEN = np.float32(0.5)  # took one from the pile and still has it
NEAR_THROWN = np.float32(0.1)  # threw one, and has taken none

_ONE, _TWO = np.uint64(1), np.uint64(2)
_LANE, _EVERY_SUIT = np.uint64(cards.LANE), np.uint64(cards.EVERY_SUIT)


def plane(board: BitboardArray) -> Plane:
    """A set of cards as ones and zeros, ``(N,)`` uint64 to a plane."""
    return cards.planes(board).astype(np.float32).reshape(-1, 4, 13)


def meld_chances(there: Plane) -> Plane:
    """How many melds of three each card is expected to make with two others.

    Args:
        there: the chance that each card is there to be melded, independent of each other.

    Returns:
        A plane: the sum, over the at most six pairs of cards that make a meld with the card, of
        the product of their chances.
    """
    spades, hearts, diamonds, clubs = (there[:, suit : suit + 1] for suit in range(4))
    black, red = spades + clubs, hearts + diamonds
    both = there[:, :, :-1] * there[:, :, 1:]
    chances = np.empty_like(there)
    chances[:, 0:1] = hearts * diamonds + clubs * red
    chances[:, 1:2] = spades * clubs + diamonds * black
    chances[:, 2:3] = spades * clubs + hearts * black
    chances[:, 3:4] = hearts * diamonds + spades * red
    chances[:, :, 2:] += both[:, :, :-1]
    chances[:, :, :-2] += both[:, :, 1:]
    chances[:, :, 1:-1] += there[:, :, :-2] * there[:, :, 2:]
    return chances


def opponent_holds(view: View) -> Plane:
    """The chance that the opponent holds each card.

    One for what he took from the pile and still has, none for what lies in the pile or in my hand;
    `UNSHOWN`, `NEAR_TAKEN` or `NEAR_THROWN` for the others.
    """
    near_taken = view.unseen & near(view.opponent_known)
    near_thrown = view.unseen & near(view.opponent_discards) & ~near_taken
    chance = plane(view.opponent_known)
    chance += UNSHOWN * plane(view.unseen)
    chance += (NEAR_TAKEN - UNSHOWN) * plane(near_taken)
    chance += (NEAR_THROWN - UNSHOWN) * plane(near_thrown)
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
    finishing, _ = melds.discards_within(eleven, eleven, np.zeros(len(rows), dtype=np.int16))
    return np.bincount(rows[finishing != 0], minlength=len(hand))
