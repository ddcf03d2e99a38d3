"""Random numbers for players: a stream that does not lead back to the cards."""

from __future__ import annotations

import numpy as np

__all__ = ["for_players"]


def for_players(rng: np.random.Generator) -> np.random.Generator:
    """A generator of the same numbers that has forgotten its seed.

    A generator carries the seed that it was made or spawned from, and whoever has the seed can make
    the generator that deals.  Here the seed is replaced by the stream's own next number.

    Args:
        rng: stays as it is; its stream must not be the one that deals.
    """
    bits = rng.bit_generator
    ahead = type(bits)(0)
    ahead.state = bits.state
    forgetful = type(bits)(ahead.random_raw())
    forgetful.state = bits.state
    return np.random.Generator(forgetful)
