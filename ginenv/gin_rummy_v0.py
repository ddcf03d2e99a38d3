"""Gin Rummy for PettingZoo: two agents, one decision at a time.

| | |
|---|---|
| Import | ``from ginenv import gin_rummy_v0`` |
| Creation | ``gin_rummy_v0.env()``; from PettingZoo 1.27 also ``pettingzoo.make("aec", ID)`` |
| Agents | ``player_0``, ``player_1`` |
| Actions | ``Discrete(108)`` |
| Observations | ``Dict`` of ``observation`` ``(633,)`` uint8 and ``action_mask`` ``(108,)`` int8 |
| Rewards | points of the hand, zero-sum, paid when a hand ends |
| Parallel API | no |

**Actions.**  0..51 discard that card, 52..103 knock with that card as the discard (gin when what is
left has no deadwood), 104 draw from the stock, 105 take the top of the discard pile (or the first
upcard), 106 pass the first upcard, 107 declare big gin.  Card ``13 * suit + rank``, suits in the
order spades, hearts, diamonds, clubs, ace = rank 0.  Melds and layoffs are settled by the rules.

**Action mask.**  Ones at the legal actions of the agent to move, all zero for the other one and
after the end.  An action that is not legal raises a `ValueError` which says what is, and changes
nothing; no wrapper turns it into a loss.

**Observations.**  ``observation`` is the agent's own `ginenv.view.View` as numbers
(`ginenv.view.encode`; `ginenv.view.OBSERVATIONS` names its planes of 52 cards and its counts): his
hand and whatever happened face up.  Either agent may be observed at any time; neither observation
depends on the other's hidden cards or on the order of the stock.

**Hidden cards.**  Give an agent observations and not the environment: the environment holds both
hands and the deck, and so does its pickle.

**Rewards.**  When a hand ends, the winner is paid the points that the hand is worth and the loser
minus as many; a void hand pays nothing.  Both agents receive theirs through ``last()``.

**Episodes.**  With ``episode="hand"`` (the default) both agents terminate when the hand ends.  With
``episode="match"`` the next hand is dealt at once, the deal alternates, and they terminate when one
of them reaches ``rules.target_score``.  Nothing is ever truncated: a hand that runs past
``rules.max_turns`` is void by the rules.

**Infos.**  Empty, but for ``infos[agent]["settlement"]`` from the end of a hand until the agent's
next action: the result, who knocked, points, deadwood after layoffs and match scores
(`ginenv.adapter.settlement`).

**Reset.**  ``reset(seed=…)`` makes the deals that follow reproducible on every NumPy.  ``options``
may hold ``deck`` (52 card ids in the order of the deal: ``deck[0], deck[2], … deck[18]`` to the
non-dealer, ``deck[1], … deck[19]`` to the dealer, ``deck[20]`` the upcard, then the stock) and
``dealer`` (0, 1 or the agent's name), both for the first hand.

**Version history.**

* v0: the first version.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding

from ginenv import adapter, engine
from ginenv.adapter import AGENTS
from ginenv.rules import NUM_ACTIONS, STANDARD, Rules
from ginenv.spaces import observation_space
from ginenv.view import encode, view

adapter.require("pettingzoo", "1.24", "'pettingzoo>=1.24'")

import pettingzoo  # noqa: E402
from pettingzoo import AECEnv  # noqa: E402
from pettingzoo.utils import wrappers  # noqa: E402

__all__ = ["ID", "env", "raw_env"]

ID = "gin_rummy/GinRummy-v0"


def env(**options: Any) -> wrappers.OrderEnforcingWrapper:
    """The environment, with a check that its methods are called in order.

    Args:
        **options: those of `raw_env`.
    """
    return wrappers.OrderEnforcingWrapper(raw_env(**options))


class raw_env(AECEnv):
    """The environment without wrappers.

    Args:
        render_mode: None, ``"human"`` (prints to the terminal after each step), ``"ansi"`` (a
            string) or ``"rgb_array"`` (a picture, 800 x 600; needs the extra ``render``).
        rules: a `ginenv.Rules`, or the name of a preset.
        episode: ``"hand"`` or ``"match"``.
        observation: ``"full"``, or ``"cards"`` for what has been seen and nothing computed.
        viewer: whose knowledge `render` shows, ``"player_0"`` or ``"player_1"``.
        reveal: whether `render` shows both hands.
    """

    metadata = {  # noqa: RUF012 (PettingZoo's interface)
        "name": "gin_rummy_v0",
        "render_modes": list(adapter.RENDER_MODES),
        "render_fps": adapter.RENDER_FPS,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        render_mode: str | None = None,
        rules: Rules | str = STANDARD,
        episode: str = "hand",
        observation: str = "full",
        viewer: str = "player_0",
        reveal: bool = False,
    ) -> None:
        super().__init__()
        self.render_mode = adapter.checked_render_mode(render_mode)
        self.rules = adapter.checked_rules(rules)
        self.episode = adapter.checked_choice("episode", episode, ("hand", "match"))
        self.observation = observation
        self.viewer = adapter.checked_seat("viewer", viewer)
        self.reveal = reveal
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": observation_space(observation),
                    "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self.action_spaces = {agent: spaces.Discrete(NUM_ACTIONS) for agent in AGENTS}
        self._rng: np.random.Generator | None = None

    def observation_space(self, agent: str) -> spaces.Dict:
        """The agent's observation space, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The agent's action space, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal the first hand of a new episode.

        Args:
            seed: of this deal and all that follow; without one, the deals before go on.
            options: ``deck`` and ``dealer`` of the first hand.
        """
        given = adapter.checked_options(options, ("deck", "dealer"))
        dealer, deck = given.get("dealer"), given.get("deck")
        if dealer is not None:
            dealer = adapter.checked_seat("options['dealer']", dealer)
        rng = self._rng
        if seed is not None or rng is None:
            rng, _ = seeding.np_random(seed)
        self._game = engine.deal(rng, 1, self.rules, dealer, deck)
        self._rng = rng
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self._skip_agent_selection = None
        self.agent_selection = AGENTS[self._game.player[0]]
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        """What the agent may know now, and his mask: all zero unless he is to move."""
        seen = view(self._game, AGENTS.index(agent))
        numbers = encode(seen, self.observation)[0]
        return {"observation": numbers, "action_mask": seen.action_mask[0].view(np.int8)}

    def step(self, action: int | None) -> None:
        """Play an action for the agent to move; None for one that has terminated.

        Raises:
            ValueError: if the action is not legal; nothing has changed then.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        outcome = engine.step(self._game, adapter.one_action(action))
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self.infos[agent] = {}
        if outcome.hand_over[0]:
            self._end_hand(outcome)
        self.agent_selection = AGENTS[self._game.player[0]]
        self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def _end_hand(self, outcome: engine.Outcome) -> None:
        self.rewards = self._rewards(outcome)
        self._accumulate_rewards()
        for agent in AGENTS:  # an account each: whoever writes into his own changes no other
            account = adapter.settlement(
                outcome.result[0],
                outcome.knocker[0],
                outcome.points[0],
                outcome.deadwood[0],
                self._game.scores[0],
            )
            self.infos[agent] = {"settlement": account}
        if self.episode == "hand" or outcome.match_over[0]:
            self.terminations = dict.fromkeys(AGENTS, True)
            return
        if self.render_mode == "human":
            self.render()
        engine.redeal(self._game, [0], self._rng)

    def _rewards(self, outcome: engine.Outcome) -> dict[str, float]:
        return dict(zip(AGENTS, map(float, outcome.points[0]), strict=True))

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """The table as the render mode asks: a string, a picture, or None once it is printed."""
        from ginenv import render

        if self.render_mode is None:
            return None
        return render.frame(self._game, self.render_mode, self.viewer, self.reveal)


def _register() -> None:
    """Enter the environment into PettingZoo's registry, which exists from 1.27 on."""
    registry = getattr(pettingzoo, "aec_registry", None)
    if registry is not None and ID not in registry:
        pettingzoo.register("aec", ID, entry_point="ginenv.gin_rummy_v0:env")


_register()
