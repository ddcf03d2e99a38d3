"""Decks: shuffled so that a seed means the same deal on every NumPy, or given and checked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ginenv.cards import NUM_CARDS

_CARD_FIELD = np.uint64(63)


def raw_words(rng: np.random.Generator | None, size: int) -> npt.NDArray[np.uint64]:
    """Raw random words: unlike ``Generator``'s methods, they never change between NumPys."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator, got {rng!r}")
    return np.asarray(rng.bit_generator.random_raw(size), dtype=np.uint64)


def shuffled_or_given(
    rng: np.random.Generator | None, num_decks: int, given: npt.ArrayLike | None
) -> npt.NDArray[np.int8]:
    """``(N, 52)``: the decks that were given, or shuffled ones."""
    return _shuffled(rng, num_decks) if given is None else _checked_decks(given, num_decks)


def _shuffled(rng: np.random.Generator | None, num_decks: int) -> npt.NDArray[np.int8]:
    """``(N, 52)`` decks: cards sorted by a random word each, which carries the card itself."""
    words = raw_words(rng, num_decks * NUM_CARDS).reshape(num_decks, NUM_CARDS)
    words = words & ~_CARD_FIELD | np.arange(NUM_CARDS, dtype=np.uint64)
    words.sort(axis=1)
    return (words & _CARD_FIELD).astype(np.int8)


def _checked_decks(decks: npt.ArrayLike, num_decks: int) -> npt.NDArray[np.int8]:
    array = np.asarray(decks)
    if array.shape not in ((NUM_CARDS,), (num_decks, NUM_CARDS)) or array.dtype.kind not in "iu":
        raise ValueError(
            f"decks must be integers ({num_decks}, 52) or (52,), got {array.dtype} {array.shape}"
        )
    array = np.broadcast_to(array, (num_decks, NUM_CARDS))
    wrong = np.flatnonzero((np.sort(array, axis=1) != np.arange(NUM_CARDS)).any(axis=1))
    if wrong.size:
        raise ValueError(
            f"deck {wrong[0]} is no deck: it must hold each card 0 to 51 once, "
            f"got {array[wrong[0]].tolist()}"
        )
    return array.astype(np.int8)
