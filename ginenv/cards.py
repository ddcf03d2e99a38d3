"""Cards, sets of cards as bitboards, and both as text.

A *card* is an integer ``13 * suit + rank``: suits in the order spades, hearts, diamonds, clubs;
ranks from the ace (0) to the king (12).  As text it is rank and suit, ``"Th"`` the ten of hearts.

A *bitboard* is a ``uint64`` that holds any set of cards, one suit per 16-bit lane: the card of
suit ``s`` and rank ``r`` is bit ``16 * s + r``::

    bit   63     48 47     32 31     16 15      0
           ---KQ..A  ---KQ..A  ---KQ..A  ---KQ..A
            clubs    diamonds   hearts    spades

Three bits of each lane stay empty, so a shift by one or two never leaks into the next suit, and
``bitboard.view("<u2")`` gives the four suits as 13-bit numbers at no cost.  Rank ``r`` of all suits
is ``EVERY_SUIT << r``.  Arrays of bitboards are little-endian on every machine.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

BITBOARD = np.dtype("<u8")
LANES = np.dtype("<u2")  # a bitboard viewed as this is its four suits
BitboardArray = npt.NDArray[np.uint64]

RANKS = "A23456789TJQK"
SUITS = "shdc"
NUM_CARDS = 52
NO_CARD = -1

LANE = 0x1FFF
EVERY_SUIT = 0x0001_0001_0001_0001
FULL_DECK = np.uint64(LANE * EVERY_SUIT)

# (52,) the bitboard of each card, (64,) the card of each bit, (52,) the points of each card: ace 1,
# pip cards their value, faces 10.
CARD_BIT = np.array([1 << (16 * (c // 13) + c % 13) for c in range(NUM_CARDS)], dtype=BITBOARD)
CARD_OF_BIT = np.array([13 * (bit // 16) + bit % 16 for bit in range(64)], dtype=np.intp)
CARD_POINTS = np.array([min(c % 13 + 1, 10) for c in range(NUM_CARDS)], dtype=np.int16)

_LANE_COUNT = np.array([n.bit_count() for n in range(LANE + 1)], dtype=np.uint16)
_CARD_OF_NAME = {
    rank + suit: 13 * s + r for s, suit in enumerate(SUITS) for r, rank in enumerate(RANKS)
}
_NAME_OF_CARD = tuple(_CARD_OF_NAME)


def name(card: int) -> str:
    """The card's text, ``name(22) == "Th"``."""
    try:
        number = operator.index(card)
    except TypeError:
        number = NO_CARD
    if not 0 <= number < NUM_CARDS:
        raise ValueError(f"{card!r:.80} is no card: cards are the integers 0 to 51")
    return _NAME_OF_CARD[number]


def card(text: str) -> int:
    """The card that a text such as ``"Th"`` names."""
    try:
        return _CARD_OF_NAME[text]
    except (KeyError, TypeError):
        raise ValueError(
            f"{text!r} is no card: write a rank of {RANKS} and a suit of {SUITS}, as in 'Th'"
        ) from None


def parse(text: str) -> np.uint64:
    """The bitboard of cards written one after another, ``parse("5s 6s 7s")``.

    Raises:
        ValueError: if a word is no card or a card is written twice.
    """
    if not isinstance(text, str):
        raise ValueError(f"cards are parsed from a string such as '5s 6s 7s', not from {text!r}")
    board = 0
    for word in text.split():
        bit = int(CARD_BIT[card(word)])
        if board & bit:
            raise ValueError(f"{word} is written twice in {text!r}")
        board |= bit
    return np.uint64(board)


def show(bitboard: int | np.uint64) -> str:
    """The cards of a bitboard as text, suit by suit in ascending rank: ``"5s 6s 7s"``."""
    return " ".join(_NAME_OF_CARD[c] for c in ids(bitboard))


def ids(bitboard: int | np.uint64) -> list[int]:
    """The cards of one bitboard, ascending."""
    try:
        board = operator.index(bitboard)
    except TypeError:
        raise ValueError(f"a bitboard is one integer, not {bitboard!r:.80}") from None
    if board & ~int(FULL_DECK):
        raise ValueError(f"{board:#x} has bits that are no card: a bitboard lies within FULL_DECK")
    found = []
    while board:
        lowest = board & -board
        position = lowest.bit_length() - 1
        found.append(13 * (position // 16) + position % 16)
        board ^= lowest
    return found


def pack(card_ids: npt.ArrayLike | Sequence[int] | Iterable[int]) -> BitboardArray:
    """The bitboards of cards given as ids: ``(..., k)`` integers to ``(...)`` uint64.

    A card may stand several times in one set; it counts once.
    """
    array = np.asarray(card_ids)
    if array.ndim == 0:
        raise ValueError(f"cards are given as (..., k) ids, not as the single {card_ids!r:.80}")
    if array.size == 0:
        return np.zeros(array.shape[:-1], dtype=BITBOARD)
    if array.dtype.kind not in "iu":
        raise ValueError(f"cards are integers 0 to 51, not {array.dtype}")
    if array.min() < 0 or array.max() >= NUM_CARDS:
        raise ValueError(f"cards are integers 0 to 51, got {array.min()} to {array.max()}")
    return np.bitwise_or.reduce(CARD_BIT[array], axis=-1)


def bit_of(card_ids: npt.NDArray[np.integer]) -> BitboardArray:
    """Card ids ``(...)`` to bitboards of that one card ``(...)``; ``NO_CARD`` (-1) to none."""
    return _BIT_OR_NONE.take(card_ids, mode="wrap")


def count(bitboards: BitboardArray) -> npt.NDArray[np.intp]:
    """The number of cards in each bitboard, ``(...)`` uint64 to ``(...)`` intp."""
    return lane_sum(_LANE_COUNT, np.asarray(bitboards, dtype=BITBOARD)).astype(np.intp)


def lane_sum(table: npt.NDArray[np.uint16], bitboards: BitboardArray) -> BitboardArray:
    """Look each suit up in a table of 8,192 numbers and add the four: ``(...)`` to ``(...)``.

    The four 16-bit results lie in the lanes of one uint64, and the multiplication by
    ``EVERY_SUIT`` leaves their sum in the top lane (it must stay below 65,536).
    """
    lanes = np.ascontiguousarray(bitboards).view(LANES)
    found = table.take(lanes, mode="clip").view(BITBOARD)
    found *= _EVERY_SUIT
    found >>= _TOP_LANE
    return found.reshape(np.shape(bitboards))


def pack_bits(fields: Sequence[tuple[BitboardArray, int]]) -> npt.NDArray[np.uint8]:
    """Write bit fields one after another and spread them, a byte a bit.

    Args:
        fields: pairs of an array ``(N,)`` uint64 and the number of low bits that it gives.

    Returns:
        ``(N, B)`` uint8 of zeros and ones, B at least the sum of the widths: field after field,
        lowest bit first, and unspecified padding after the last.  One ``unpackbits`` over whole
        words is ten times as fast as one over 13-bit lanes.
    """
    num_rows, total = len(fields[0][0]), sum(width for _, width in fields)
    words = np.zeros(((total + 63) // 64, num_rows), dtype=BITBOARD)
    position = 0
    for values, width in fields:
        word, shift = divmod(position, 64)
        words[word] |= values << _SHIFT[shift]
        if shift + width > 64:
            words[word + 1] |= values >> _SHIFT[64 - shift]
        position += width
    octets = np.ascontiguousarray(words.T).view(np.uint8).ravel()
    return np.unpackbits(octets, bitorder="little").reshape(num_rows, 64 * len(words))


def squeeze(bitboards: BitboardArray) -> BitboardArray:
    """Close the gaps between the lanes, so that bit c is card c: ``(...)`` to ``(...)``."""
    spades, hearts, diamonds, clubs = _SUIT_CARDS
    dense = bitboards & spades
    dense |= (bitboards & hearts) >> _SHIFT[3]
    dense |= (bitboards & diamonds) >> _SHIFT[6]
    dense |= (bitboards & clubs) >> _SHIFT[9]
    return dense


def planes(*bitboards: BitboardArray) -> npt.NDArray[np.uint8]:
    """Sets of cards as zeros and ones by card id, one set after another.

    Args:
        bitboards: B arrays ``(N,)`` uint64.

    Returns:
        ``(N, 52 B)`` uint8.
    """
    num_rows, num_sets = len(bitboards[0]), len(bitboards)
    stacked = np.concatenate(bitboards, dtype=BITBOARD).reshape(num_sets, num_rows)
    if num_rows > _FEW_ROWS:
        return pack_bits([(dense, NUM_CARDS) for dense in squeeze(stacked)])[
            :, : NUM_CARDS * num_sets
        ]
    # Fewer calls, but a copy of 13 bytes at a time, which costs more where there are many rows.
    octets = np.ascontiguousarray(stacked.T).view(np.uint8)
    lanes = np.unpackbits(octets, axis=1, bitorder="little").reshape(-1, 16)
    return lanes[:, :13].reshape(num_rows, NUM_CARDS * num_sets)


_EVERY_SUIT = np.uint64(EVERY_SUIT)
_TOP_LANE = np.uint64(48)
_FEW_ROWS = 64
_SHIFT = [np.uint64(places) for places in range(65)]
_SUIT_CARDS = [np.uint64(LANE << (16 * suit)) for suit in range(4)]
_BIT_OR_NONE = np.append(CARD_BIT, np.zeros(1, dtype=BITBOARD))
