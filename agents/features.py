"""What the scripted bots look at: a few numbers for each card, for many decisions at once.

Letters: N decisions.  A *plane* is a ``(N, 4, 13)`` float32 by suit and rank: a number for each
card.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ginenv import cards
from ginenv.cards import BitboardArray
from ginenv.view import View

Plane = npt.NDArray[np.float32]

_ONE, _TWO = np.uint64(1), np.uint64(2)


def fits(hand: BitboardArray, card: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Whether a card makes a meld with two cards of the hand, ``(N,)`` bool.

    Args:
        hand: ``(N,)`` uint64.
        card: ``(N,)`` card ids, none of them in the hand; -1 = no card, which fits nothing.
    """
    bit = cards.bit_of(card)
    below, above = (hand << _ONE) & bit, (hand >> _ONE) & bit
    run = (below & (above | hand << _TWO)) | (above & hand >> _TWO)
    same_rank = hand & _SAME_RANK.take(card, mode="wrap")
    return (run != 0) | (same_rank & (same_rank - _ONE) != 0)


def plane(board: BitboardArray) -> Plane:
    """A set of cards as ones and zeros, ``(N,)`` uint64 to a plane."""
    return cards.planes(board).astype(np.float32).reshape(-1, 4, 13)


def meld_chances(held: Plane) -> Plane:
    """How many melds of three each card is expected to make with two others.

    Args:
        held: the chance that each card is there for it, independent of each other.

    Returns:
        The sum over the at most six pairs of cards that make a meld with the card, of the product
        of their chances.
    """
    total = held.sum(axis=1, keepdims=True)
    squares = np.square(held).sum(axis=1, keepdims=True)
    chances = (np.square(total) - squares) * np.float32(0.5) - held * (total - held)
    both = held[:, :, :-1] * held[:, :, 1:]
    chances[:, :, 2:] += both[:, :, :-1]
    chances[:, :, :-2] += both[:, :, 1:]
    chances[:, :, 1:-1] += held[:, :, :-2] * held[:, :, 2:]
    return chances


def keeping(view: View, live: float) -> Plane:
    """What each card is good for in my hand: melds that it can still make.

    Args:
        view: N decisions.
        live: the chance that a card which nobody has shown yet comes to me; dead cards (in the
            pile, known to be the opponent's) have none.
    """
    return meld_chances(plane(view.hand) + np.float32(live) * plane(view.unseen))


def danger(view: View, unseen: float) -> Plane:
    """What each card is good for in the opponent's hand: melds that he can make with it.

    Args:
        view: N decisions.
        unseen: the chance that he holds a card which nobody has shown; he holds what he is known
            to have taken, and nothing that lies in the pile or in my hand.
    """
    return meld_chances(plane(view.opponent_known) + np.float32(unseen) * plane(view.unseen))


_SAME_RANK = np.array([cards.EVERY_SUIT << rank for rank in range(13)] * 4 + [0], dtype=np.uint64)
