"""Runs, suit by suit: what the 13 bits of a suit say.

Without sets, every stretch of three or more neighbours in a suit is wholly covered by runs, and no
shorter one is; so a table of 8,192 entries settles a suit.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ginenv import cards
from ginenv.cards import BITBOARD, BitboardArray

_ONE, _TWO = np.uint64(1), np.uint64(2)


def run_cards(hands: BitboardArray) -> BitboardArray:
    """The cards of each hand in stretches of three or more neighbours in their suit."""
    middle_up = hands & (hands >> _ONE) & (hands >> _TWO)
    return middle_up | (middle_up << _ONE) | (middle_up << _TWO)


def _tables() -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16], BitboardArray]:
    """What a suit's 13 bits say.

    Returns:
        ``(8192,)`` points; ``(8192,)`` points outside runs; ``(4, 8192, 4)`` bitboards of the runs
        by suit, ascending, 0 = none.
    """
    lanes = np.arange(cards.LANE + 1, dtype=BITBOARD)
    ranks = np.arange(13, dtype=np.uint64)
    points = (lanes[:, None] >> ranks & _ONE) @ np.minimum(ranks + _ONE, 10)
    left = run_cards(lanes)
    loose = points[lanes ^ left]
    runs = np.zeros((len(lanes), 4), dtype=BITBOARD)
    for column in range(runs.shape[1]):
        lowest = left & (~left + _ONE)
        stretch = left & ~(left + lowest)
        # The smallest tuple of runs begins with the lowest three cards, if runs cover the rest.
        length = cards.count(stretch)
        runs[:, column] = np.where((length == 3) | (length >= 6), lowest * np.uint64(7), stretch)
        left ^= runs[:, column]
    shifts = np.arange(0, 64, 16, dtype=np.uint64)
    return points.astype(np.uint16), loose.astype(np.uint16), runs << shifts[:, None, None]


POINTS, LOOSE_POINTS, RUNS = _tables()
