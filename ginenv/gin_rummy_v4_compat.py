"""The interface of PettingZoo's former ``gin_rummy_v4``, over these rules.

Change ``from pettingzoo.classic import gin_rummy_v4`` into ::

    from ginenv import gin_rummy_v4_compat as gin_rummy_v4

and code that chooses its actions from the action mask runs as it did, with the same names, spaces
and reward arguments.  The game below is the one of `ginenv.gin_rummy_v0`; where it differs from the
old one, so does what code sees:

* **The upcard.**  The non-dealer begins with ten cards and may take the upcard (action 3) or pass
  (action 2), then the dealer; if both pass, the non-dealer draws (2 again).  The old game began
  with eleven cards and a discard.
* **Settling.**  A knock, gin or a void hand ends the episode at once.  Actions 0, 1 and 4 (score
  the players, declare a dead hand) remain in the space and are never legal.
* **Gin.**  Action 5 throws the card for you, or declares big gin.  It is offered, not forced.
* **Layoffs and undercuts.**  The loser's deadwood counts after layoffs, and the one who knocks may
  lose: the winner of the hand is paid ``knock_reward`` or ``gin_reward``.
* **No leak.**  ``observe(agent)`` shows that agent's own cards and an empty mask unless he is to
  move.  The old one showed the hand and the mask of the agent to move, whoever asked.

**Observations.**  ``(4, 52)`` int8: own hand, top of the pile, the pile below it, cards that the
opponent is known to hold; with ``opponents_hand_visible`` a fifth plane of the cards not seen.

**Rewards.**  The winner ``knock_reward`` (0.5) or ``gin_reward`` (1.0), the loser, and in a void
hand both, ``-deadwood / 100``.  With ``zero_sum=True``: the points of the hand, over 100.

**Actions** (110).  2 draw, 3 take from the pile, 5 gin, 6..57 discard, 58..109 knock.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo.utils import wrappers

from ginenv import adapter, cards, engine, gin_rummy_v0
from ginenv.adapter import AGENTS
from ginenv.rules import (
    DECLARE_BIG_GIN,
    DRAW_STOCK,
    KNOCK,
    PASS,
    STANDARD,
    TAKE_PILE,
    Result,
    Rules,
)
from ginenv.view import View, view

__all__ = ["env", "raw_env"]

NUM_ACTIONS = 110
DRAW, PICK_UP, GIN, DISCARD, OLD_KNOCK = 2, 3, 5, 6, 58


def env(**options: Any) -> wrappers.OrderEnforcingWrapper:
    """The environment in the wrappers of old: an illegal action ends it with a reward of -1.

    Args:
        **options: those of `raw_env`.
    """
    inner = wrappers.TerminateIllegalWrapper(raw_env(**options), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(inner))


class raw_env(gin_rummy_v0.raw_env):
    """The environment without wrappers.

    Args:
        knock_reward: to the winner of a hand that a knock ended.
        gin_reward: to one who goes gin or big gin.
        opponents_hand_visible: whether observations have the plane of unseen cards.
        render_mode: as in `gin_rummy_v0.raw_env`.
        screen_height: taken for the sake of old code; pictures are 800 x 600.
        rules: a `ginenv.Rules`, or the name of a preset.
        zero_sum: whether rewards are the points of the hand, over 100.
    """

    metadata = gin_rummy_v0.raw_env.metadata | {"name": "gin_rummy_v4"}

    def __init__(
        self,
        knock_reward: float = 0.5,
        gin_reward: float = 1.0,
        opponents_hand_visible: bool | None = False,
        render_mode: str | None = None,
        screen_height: int | None = 1000,
        rules: Rules | str = STANDARD,
        zero_sum: bool = False,
    ) -> None:
        super().__init__(render_mode, rules)
        self.knock_reward = knock_reward
        self.gin_reward = gin_reward
        self.opponents_hand_visible = bool(opponents_hand_visible)
        self.screen_height = screen_height
        self.zero_sum = zero_sum
        planes = 5 if self.opponents_hand_visible else 4
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, 1, (planes, cards.NUM_CARDS), np.int8),
                    "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self.action_spaces = {agent: spaces.Discrete(NUM_ACTIONS) for agent in AGENTS}

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        """What the agent may know now, and his mask: all zero unless he is to move."""
        seen = view(self._game, AGENTS.index(agent))
        boards = [seen.hand, cards.bit_of(seen.upcard), seen.pile, seen.opponent_known]
        if self.opponents_hand_visible:
            boards.append(seen.unseen)
        planes = cards.planes(np.concatenate(boards)).view(np.int8)
        return {"observation": planes, "action_mask": _mask(seen)}

    def step(self, action: int | None) -> None:
        """Play an action for the agent to move; None for one that has terminated.

        Raises:
            ValueError: if the action is not legal; nothing has changed then.
        """
        if not self.terminations[self.agent_selection]:
            action = self._translated(action)
        super().step(action)

    def _translated(self, action: Any) -> int:
        chosen = int(adapter.one_action(action)[0])
        seen = view(self._game)
        legal = np.flatnonzero(_mask(seen))
        if chosen not in legal:
            raise ValueError(
                f"action {chosen} is illegal for {self.agent_selection}; legal is {legal.tolist()}"
            )
        mask = seen.action_mask[0]
        if chosen == DRAW:
            return PASS if mask[PASS] else DRAW_STOCK
        if chosen == PICK_UP:
            return TAKE_PILE
        if chosen == GIN:
            gin = KNOCK + int(seen.deadwood_after[0].argmin())
            return DECLARE_BIG_GIN if mask[DECLARE_BIG_GIN] else gin
        return chosen - DISCARD if chosen < OLD_KNOCK else KNOCK + chosen - OLD_KNOCK

    def _rewards(self, outcome: engine.Outcome) -> dict[str, float]:
        points = outcome.points[0] / 100
        if self.zero_sum:
            return dict(zip(AGENTS, map(float, points), strict=True))
        gin = outcome.result[0] in (Result.GIN, Result.BIG_GIN)
        won = self.gin_reward if gin else self.knock_reward
        deadwood = outcome.deadwood[0]
        if outcome.result[0] == Result.VOID:
            deadwood = np.array([view(self._game, seat).deadwood[0] for seat in (0, 1)])
        return {
            agent: float(won if points[seat] > 0 else -deadwood[seat] / 100)
            for seat, agent in enumerate(AGENTS)
        }


def _mask(seen: View) -> npt.NDArray[np.int8]:
    """``(110,)``: the legal actions in the old numbers."""
    now = seen.action_mask[0]
    left = seen.deadwood_after[0]
    mask = np.zeros(NUM_ACTIONS, dtype=np.int8)
    mask[DRAW] = now[DRAW_STOCK] | now[PASS]
    mask[PICK_UP] = now[TAKE_PILE]
    mask[DISCARD:OLD_KNOCK] = now[:KNOCK]
    mask[OLD_KNOCK:] = now[KNOCK:DRAW_STOCK] & (left > 0)
    mask[GIN] = now[DECLARE_BIG_GIN] | (now[KNOCK:DRAW_STOCK] & (left == 0)).any()
    return mask
