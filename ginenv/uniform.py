"""One legal action of each game, all with the same probability, without a pass over the mask.

The mask becomes two 64-bit words a game, and the wanted bit is found by counting: bits by byte,
their running sums by one multiplication, and the bit within its byte from a table.  (Select, as in
S. Vigna, "Broadword implementation of rank/select queries", 2008.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_EACH_BYTE = np.uint64(0x0101_0101_0101_0101)
_HIGH_BITS = _EACH_BYTE << np.uint64(7)
_PAIRS, _FOURS, _EIGHTS = (_EACH_BYTE * np.uint64(n) for n in (0x55, 0x33, 0x0F))
_U = [np.uint64(n) for n in range(9)]
_BYTE = np.uint64(255)
_TOP_BYTE = np.uint64(56)

# (256, 8) uint8: the place of the n-th set bit of a byte.
_NTH_BIT = np.zeros((256, 8), dtype=np.uint8)
for _byte in range(256):
    _set = [place for place in range(8) if _byte >> place & 1]
    _NTH_BIT[_byte, : len(_set)] = _set


def random_actions(mask: npt.NDArray[np.bool_], rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """A random legal action of each game.

    Args:
        mask: ``(N, A)`` bool with A at most 128, one True or more in every row.
        rng: draws one number a row.

    Returns:
        ``(N,)`` intp.
    """
    packed = np.zeros((len(mask), 16), dtype=np.uint8)
    packed[:, : (mask.shape[1] + 7) // 8] = np.packbits(mask, axis=1, bitorder="little")
    words = packed.view("<u8")
    up_to = _bits_by_byte(words) * _EACH_BYTE  # in byte k: the bits set in bytes 0 to k
    first, second = (up_to >> _TOP_BYTE).T
    wanted = (rng.random(len(mask)) * (first + second)).astype(np.uint64)
    column = (wanted >= first).astype(np.intp)
    wanted -= first * column.astype(np.uint64)
    rows = np.arange(len(mask))
    word, up_to = words[rows, column], up_to[rows, column]

    passed = ((wanted * _EACH_BYTE | _HIGH_BITS) - up_to) & _HIGH_BITS  # bytes with up_to <= wanted
    shift = ((passed >> _U[7]) * _EACH_BYTE >> _TOP_BYTE) * _U[8]
    before = (up_to << _U[8] >> shift) & _BYTE
    place = _NTH_BIT[(word >> shift & _BYTE).astype(np.intp), (wanted - before).astype(np.intp)]
    return 64 * column + shift.astype(np.intp) + place


def _bits_by_byte(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """How many bits each byte has, in that byte."""
    words = words - (words >> _U[1] & _PAIRS)
    words = (words & _FOURS) + (words >> _U[2] & _FOURS)
    return (words + (words >> _U[4])) & _EIGHTS
