"""Spaces, and action spaces whose samples are legal.

Gymnasium's checkers and many a first script step an environment with ``action_space.sample()``.  In
a game where most actions are illegal at any moment, such a sample would nearly always be an error.
So the action spaces here know the mask that went with the last observation and draw within it,
unless they are given another.  What they contain stays the same: all 108 actions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from ginenv.cards import NUM_CARDS
from ginenv.rules import NUM_ACTIONS, TAKE_PILE
from ginenv.view import OBSERVATIONS, observation_size


def observation_space(observation: str = "full") -> spaces.Box:
    """The space of one encoded observation: ``(size,)`` uint8.

    Planes of cards are zeros and ones; the plane ``deadwood_after`` and the counts go to 255.
    """
    high = np.full(observation_size(observation), 255, dtype=np.uint8)
    for place, plane in enumerate(OBSERVATIONS[observation][0]):
        if plane != "deadwood_after":
            high[place * NUM_CARDS : (place + 1) * NUM_CARDS] = 1
    return spaces.Box(np.zeros_like(high), high, dtype=np.uint8)


class Actions(spaces.Discrete):
    """The 108 actions of one game.

    Attributes:
        legal: ``(108,)`` int8, the mask that unmasked samples are drawn within.  Before the first
            observation and after `seed` it is the one action that opens every episode: 105.
    """

    def __init__(self) -> None:
        super().__init__(NUM_ACTIONS)
        self.legal = _opening()

    def seed(self, *args: Any, **kwargs: Any) -> Any:
        """Seed the samples; a new sequence of them begins, and so, presumably, an episode."""
        self.legal = _opening()
        return super().seed(*args, **kwargs)

    def sample(self, mask: Any = None, *args: Any, **kwargs: Any) -> Any:
        """A random action: within the mask that is given, else a legal one."""
        if mask is None and not args and not kwargs:
            mask = self.legal
        return super().sample(mask, *args, **kwargs)


class ActionBatch(spaces.MultiDiscrete):
    """The 108 actions of N games.

    Attributes:
        legal: ``(N, 108)`` int8, the masks that unmasked samples are drawn within, as in `Actions`.
    """

    def __init__(self, num_envs: int) -> None:
        super().__init__(np.full(num_envs, NUM_ACTIONS))
        self.legal = np.tile(_opening(), (num_envs, 1))

    def seed(self, *args: Any, **kwargs: Any) -> Any:
        """Seed the samples, as in `Actions`."""
        self.legal = np.tile(_opening(), (len(self.legal), 1))
        return super().seed(*args, **kwargs)

    def sample(self, mask: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Random actions: within the masks that are given, else legal ones."""
        if mask is not None or args or kwargs:
            return super().sample(mask, *args, **kwargs)
        keys = self.np_random.random(self.legal.shape)
        return np.where(self.legal, keys, -1.0).argmax(axis=1)


def _opening() -> npt.NDArray[np.int8]:
    return np.eye(1, NUM_ACTIONS, TAKE_PILE, dtype=np.int8)[0]
