"""What is legal: the phases' actions, and the mask from what the player to move sees."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from ginenv import cards, melds
from ginenv import rules as rulebook
from ginenv.cards import BITBOARD, NUM_CARDS, BitboardArray
from ginenv.rules import NUM_ACTIONS, Phase, Rules


class Kind(IntEnum):
    """Actions by what they do: the columns of `ALLOWED`."""

    DISCARD = 0
    KNOCK = 1
    DRAW_STOCK = 2
    TAKE_PILE = 3
    PASS = 4
    BIG_GIN = 5
    WAIT = 6  # the action -1


# Which kind each action is, the last entry for -1; which kinds each phase allows (5 phases, 7
# kinds), as far as the phase alone decides; and the phase's actions 104 to 106 as bits.
KIND = np.array(
    [Kind.DISCARD] * 52
    + [Kind.KNOCK] * 52
    + [Kind.DRAW_STOCK, Kind.TAKE_PILE, Kind.PASS, Kind.BIG_GIN, Kind.WAIT],
    dtype=np.int8,
)
ALLOWED = np.zeros((len(Phase), len(Kind)), dtype=bool)
ALLOWED[:, Kind.WAIT] = True
ALLOWED[Phase.UPCARD, [Kind.TAKE_PILE, Kind.PASS]] = True
ALLOWED[Phase.FORCED_DRAW, Kind.DRAW_STOCK] = True
ALLOWED[Phase.DRAW, [Kind.DRAW_STOCK, Kind.TAKE_PILE]] = True
ALLOWED[Phase.DISCARD, [Kind.DISCARD, Kind.KNOCK, Kind.BIG_GIN]] = True
_DISCARDING = np.int8(Phase.DISCARD)  # a member of an enum takes long to look up
_DRAWS = ALLOWED[:, [Kind.DRAW_STOCK, Kind.TAKE_PILE, Kind.PASS]] @ np.array(
    [1, 2, 4], dtype=BITBOARD
)


def legal_mask(
    phase: npt.NDArray[np.int8],
    hand: BitboardArray,
    drawn: npt.NDArray[np.int8],
    knock_limit: npt.NDArray[np.int8],
    rules: Rules,
    deadwood: tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]] | None = None,
) -> npt.NDArray[np.bool_]:
    """The legal actions from what the player to move sees, ``(N, 108)`` bool.

    Args:
        phase: ``(N,)`` of `rules.Phase`.
        hand: ``(N,)`` uint64, the hand of the player to move.
        drawn: ``(N,)``, the card taken from the pile in this turn; -1 = none.
        knock_limit: ``(N,)``.
        rules: whether there is a big gin.
        deadwood: where they are known already, ``(N,)`` of the hand and ``(N, 52)`` after each
            discard.
    """
    discarding = (phase == _DISCARDING).nonzero()[0]
    throwable = throwable_cards(phase, hand, drawn)
    knocks = np.zeros(len(phase), dtype=BITBOARD)
    if deadwood is None:
        knocks[discarding], melded = melds.discards_within(
            hand[discarding], throwable[discarding], knock_limit[discarding]
        )
    else:
        melded = deadwood[0][discarding] == 0
    bits = [
        (cards.squeeze(throwable), NUM_CARDS),
        (cards.squeeze(knocks), NUM_CARDS),
        (_DRAWS.take(phase), 4),
    ]
    mask = cards.pack_bits(bits)[:, :NUM_ACTIONS].view(bool)
    if deadwood is not None:
        knocking = mask[:, rulebook.KNOCK : rulebook.DRAW_STOCK]
        np.less_equal(deadwood[1], knock_limit[:, None], out=knocking)
        knocking &= mask[:, : rulebook.KNOCK]
    if rules.big_gin:
        mask[discarding[melded], rulebook.DECLARE_BIG_GIN] = True
    return mask


def throwable_cards(
    phase: npt.NDArray[np.int8], hand: BitboardArray, drawn: npt.NDArray[np.int8]
) -> BitboardArray:
    """``(N,)`` uint64: what may be discarded now, not the card just taken from the pile."""
    return np.where(phase == _DISCARDING, hand & ~cards.bit_of(drawn), np.uint64(0))
