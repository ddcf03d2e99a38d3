"""Gin Rummy for Gymnasium, one game: one learner against any opponent.

| | |
|---|---|
| Creation | ``gymnasium.make("ginenv:GinRummy-v0", opponent="random")`` |
| Actions | ``Discrete(108)``, numbered as in `ginenv.rules` |
| Observations | ``Box(0, 255, (633,), uint8)``, the learner's own view (`ginenv.view.encode`) |
| Rewards | the learner's points when a hand ends, less the opponent's |

**One step** plays the learner's action and then the opponent's until the learner is to decide again
or the episode is over, so that he is paid however the hand ends.  He sits in ``player_0``.

**Action mask.**  ``info["action_mask"]``, ``(108,)`` int8; `GinRummyEnv.action_masks` gives the
same as bool, under the name that sb3-contrib's ``MaskablePPO`` looks for.  An illegal action is a
`ValueError`; ``action_space.sample()`` draws legal ones.

**Episodes** and what happens when the opponent ends a hand before the learner's first decision: as
in `ginenv.vector`, of which this is one row.

**Infos.**  ``info["settlement"]`` when a hand has ended, as in `ginenv.gin_rummy_v0`, and in it
``opponent``, the place of the one who played in the pool.

**Version history.**

* v0: the first version.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from ginenv import adapter
from ginenv.pool import Opponents
from ginenv.rules import STANDARD, Rules
from ginenv.spaces import Actions
from ginenv.vector import GinRummyVectorEnv, Infos

__all__ = ["GinRummyEnv"]


class GinRummyEnv(gymnasium.Env):
    """One learner against an opponent that is part of the environment.

    Args:
        opponent: a name, a policy, a checkpoint file, or a list or a dict with weights of such,
            from which one is drawn for each hand.
        rules: a `ginenv.Rules`, or the name of a preset.
        episode: ``"hand"`` or ``"match"``.
        observation: ``"full"``, or ``"cards"`` for what has been seen and nothing computed.
        render_mode: None, ``"human"``, ``"ansi"`` or ``"rgb_array"``.
        reveal: whether `render` shows the opponent's cards.
    """

    metadata = {  # noqa: RUF012 (Gymnasium's interface)
        "render_modes": list(adapter.RENDER_MODES),
        "render_fps": adapter.RENDER_FPS,
    }

    def __init__(
        self,
        opponent: Opponents = "random",
        rules: Rules | str = STANDARD,
        episode: str = "hand",
        observation: str = "full",
        render_mode: str | None = None,
        reveal: bool = False,
    ) -> None:
        self._row = GinRummyVectorEnv(
            1, opponent, rules, episode, observation, "Disabled", render_mode, reveal
        )
        self.rules = self._row.rules
        self.render_mode = render_mode
        self.observation_space = self._row.single_observation_space
        self.action_space: Actions = self._row.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.uint8], Infos]:
        """Start a new episode.

        Args:
            seed: of all deals and of the opponent's random numbers that follow.
            options: ``deck`` (52 card ids in the order of the deal) and ``dealer`` of the first
                hand.
        """
        super().reset(seed=seed)
        observations, infos = self._row.reset(seed=seed, options=options)
        return observations[0], self._info(infos)

    def step(self, action: int) -> tuple[npt.NDArray[np.uint8], float, bool, bool, Infos]:
        """Play the learner's action, and the opponent's until he is to move again.

        Raises:
            ValueError: if the action is not legal; nothing has changed then.
        """
        observations, rewards, ended, _, infos = self._row.step(adapter.one_action(action))
        return observations[0], float(rewards[0]), bool(ended[0]), False, self._info(infos)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The learner's legal actions now, ``(108,)`` bool."""
        return self._row.action_masks()[0]

    def render(self) -> Any:
        """The table as the render mode asks: a string, a picture, or None once it is printed."""
        frames = self._row.render()
        return None if frames is None else frames[0]

    def _info(self, infos: Infos) -> Infos:
        """The batch's infos as those of its only game; shows it, too."""
        info: Infos = {"action_mask": infos["action_mask"][0]}
        self.action_space.legal = info["action_mask"]
        if "settlement" in infos:
            last = {name: values[0] for name, values in infos["settlement"].items()}
            opponent = int(last.pop("opponent"))
            info["settlement"] = adapter.settlement(**last) | {"opponent": opponent}
        if self.render_mode == "human":
            self.render()
        return info
