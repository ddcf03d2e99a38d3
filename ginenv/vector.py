"""Gin Rummy for Gymnasium, many games at once: one learner against any opponent.

| | |
|---|---|
| Creation | ``gymnasium.make_vec("ginenv:GinRummy-v0", num_envs=64, opponent="random")`` |
| Actions | ``Discrete(108)`` a game, numbered as in `ginenv.rules` |
| Observations | ``Box(0, 255, (633,), uint8)`` a game: the learner's view (`ginenv.view.encode`) |
| Rewards | the learner's points when a hand ends, less the opponent's |
| Autoreset | ``AutoresetMode.SAME_STEP``, or as asked |

**One step** plays the learner's action in every game and then the opponents' until the learner is
to decide again or his episode is over, all games side by side.  The learner sits in ``player_0``.

**Action mask.**  ``infos["action_mask"]``, ``(N, 108)`` int8, belongs to the observation beside it;
`GinRummyVectorEnv.action_masks` gives the same as bool.  An illegal action is a `ValueError`.

**Hidden cards.**  An opponent is handed its `View` and a generator that does not lead back to the
seed.  The environment itself holds the deck, and so does its pickle: it is no present for an agent.

**Episodes.**  A hand (the default), or a match to ``rules.target_score`` in which the deal
alternates.  The dealer of an episode's first hand is drawn uniformly.  Nothing is truncated.

**No hand goes missing.**  An opponent may take the upcard and knock before the learner has decided
anything.  The episode then has one step, whose only legal action is 106 and does nothing, and which
pays the reward.  Within a match such a hand's points come with the next step's.

**Autoreset.**  In ``SAME_STEP`` the observation returned with ``terminated`` is the next episode's;
``infos["final_obs"]`` has the last one of the old.  In ``NEXT_STEP`` it is the old one's last, with
106 as the only legal action, and the next step deals without looking at it.  With ``DISABLED`` the
caller resets, ``reset(options={"reset_mask": (N,) bool})``.

**Infos.**  When a hand has ended in some game, ``infos["settlement"]`` has arrays by game, valid
where ``infos["_settlement"]`` is True: ``result`` (of `rules.Result`), ``knocker`` (0 = learner,
1 = opponent, -1 = none), ``points``, ``deadwood`` (after layoffs) and ``scores`` as ``(N, 2)``,
learner first, and ``opponent``, the place of the one who played in the pool.

**Version history.**

* v0: the first version.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import error
from gymnasium.utils import seeding

from ginenv import adapter, engine, streams
from ginenv.pool import Opponents, Pool
from ginenv.rules import NO_ACTION, NUM_ACTIONS, PASS, STANDARD, Phase, Rules
from ginenv.spaces import ActionBatch, Actions, observation_space
from ginenv.state import State
from ginenv.view import encode, view

adapter.require("gymnasium", "1.1", "'gymnasium>=1.1'")

from gymnasium.vector import AutoresetMode, VectorEnv  # noqa: E402
from gymnasium.vector.utils import batch_space  # noqa: E402

__all__ = ["GinRummyVectorEnv"]

LEARNER, OPPONENT = 0, 1  # their seats

Infos = dict[str, Any]
Step = tuple[
    npt.NDArray[np.uint8],
    npt.NDArray[np.float64],
    npt.NDArray[np.bool_],
    npt.NDArray[np.bool_],
    Infos,
]


class GinRummyVectorEnv(VectorEnv):
    """N games of one learner against opponents that are part of the environment.

    Args:
        num_envs: N.
        opponent: a name, a policy, a checkpoint file, or a list or a dict with weights of such,
            from which one is drawn for each hand.
        rules: a `ginenv.Rules`, or the name of a preset.
        episode: ``"hand"`` or ``"match"``.
        observation: ``"full"``, or ``"cards"`` for what has been seen and nothing computed.
        autoreset_mode: an `AutoresetMode` or its value.
        render_mode: None, ``"human"``, ``"ansi"`` or ``"rgb_array"``.
        reveal: whether `render` shows the opponent's cards.
    """

    def __init__(
        self,
        num_envs: int = 1,
        opponent: Opponents = "random",
        rules: Rules | str = STANDARD,
        episode: str = "hand",
        observation: str = "full",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        render_mode: str | None = None,
        reveal: bool = False,
    ) -> None:
        if isinstance(num_envs, bool) or num_envs != int(num_envs) or num_envs < 1:
            raise ValueError(f"num_envs must be a whole number of 1 or more, got {num_envs!r}")
        self.num_envs = int(num_envs)
        self.pool = Pool(opponent)
        self.rules = adapter.checked_rules(rules)
        self.episode = adapter.checked_choice("episode", episode, ("hand", "match"))
        self.observation = observation
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.render_mode = adapter.checked_render_mode(render_mode)
        self.reveal = reveal
        self.metadata = {
            "render_modes": list(adapter.RENDER_MODES),
            "render_fps": adapter.RENDER_FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space = observation_space(observation)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.single_action_space: Actions = Actions()
        self.action_space: ActionBatch = ActionBatch(self.num_envs)
        self._has_reset = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.uint8], Infos]:
        """Start a new episode in every game.

        Args:
            seed: of all deals and of the opponents' random numbers that follow.
            options: ``deck`` ``(52,)`` or ``(N, 52)`` and ``dealer``, one seat or ``(N,)``, of the
                first hands; ``reset_mask`` ``(N,)`` bool, the games to start (all by default).
        """
        given = adapter.checked_options(options, ("deck", "dealer", "reset_mask"))
        rows = self._rows_to_reset(given.get("reset_mask"))
        if seed is not None or not self._has_reset:
            self._np_random, self._np_random_seed = seeding.np_random(seed)
            self._opponent_rng = streams.for_players(self._np_random.spawn(1)[0])
        if not self._has_reset:
            self._lay_table()
        self._start(rows, given.get("dealer"), given.get("deck"))
        self._has_reset = True
        return self._look(np.arange(self.num_envs)), self._infos()

    def step(self, actions: npt.ArrayLike) -> Step:
        """Play the learner's actions, ``(N,)``, and the opponents' until he is to move again.

        Returns:
            Observations ``(N, size)`` uint8, rewards ``(N,)`` float64, terminated and truncated
            ``(N,)`` bool, infos.

        Raises:
            ValueError: if an action is not legal; nothing has changed then.
        """
        self._check_reset()
        everyone = np.arange(self.num_envs)
        self._note(everyone, engine.step(self._games, self._checked_actions(actions)))
        restarted = self._reported.copy()
        self._start(np.flatnonzero(restarted))

        rewards = np.where(restarted, 0.0, self._unpaid)
        settled = self._untold & ~restarted
        ended = self._over & ~restarted
        self._unpaid -= rewards
        self._untold &= restarted
        self._reported |= ended
        infos: Infos = {}
        if settled.any():
            infos["settlement"] = {name: values.copy() for name, values in self._last.items()}
            infos["_settlement"] = settled
        observations = self._look(everyone)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and ended.any():
            rows = np.flatnonzero(ended)
            final_obs = np.zeros_like(observations)
            final_obs[rows] = observations[rows]
            infos |= {"final_info": infos | self._infos(), "_final_info": ended.copy()}
            infos |= {"final_obs": final_obs, "_final_obs": ended.copy()}
            self._start(rows)
            observations[rows] = self._look(rows)
        return observations, rewards, ended, np.zeros_like(ended), infos | self._infos()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The learner's legal actions now, ``(N, 108)`` bool (the name that sb3-contrib uses)."""
        self._check_reset()
        return self._mask.astype(bool)

    def render(self) -> tuple[Any, ...] | None:
        """One frame a game, as the render mode asks."""
        from ginenv import render

        self._check_reset()
        if self.render_mode is None:
            return None
        games = [self._games[row] for row in range(self.num_envs)]
        return tuple(render.frame(g, self.render_mode, LEARNER, self.reveal) for g in games)

    # The table, by game:
    #
    #   _games     State of N games
    #   _who       (N,) intp, the opponent's place in the pool
    #   _over      (N,) bool, the episode is over
    #   _reported  (N,) bool, and the learner has been told so
    #   _unpaid    (N,) float64, points that he has not been paid yet
    #   _untold    (N,) bool, a hand ended and he has not been told
    #   _last      what came of the last hand, arrays (N, ...)
    #   _mask      (N, 108) int8, what goes with the last observations

    def _lay_table(self) -> None:
        n = self.num_envs
        self._games = State.empty(n, self.rules)
        self._who = np.zeros(n, dtype=np.intp)
        self._over = np.zeros(n, dtype=bool)
        self._reported = np.zeros(n, dtype=bool)
        self._unpaid = np.zeros(n)
        self._untold = np.zeros(n, dtype=bool)
        self._mask = np.zeros((n, NUM_ACTIONS), dtype=np.int8)
        self._last: dict[str, npt.NDArray[Any]] = {
            "result": np.zeros(n, dtype=np.int8),
            "knocker": np.full(n, -1, dtype=np.int8),
            "points": np.zeros((n, 2), dtype=np.int16),
            "deadwood": np.full((n, 2), -1, dtype=np.int16),
            "scores": np.zeros((n, 2), dtype=np.int32),
            "opponent": np.zeros(n, dtype=np.intp),
        }

    def _start(self, rows: npt.NDArray[np.intp], dealer: Any = None, deck: Any = None) -> None:
        """Start a new episode in some games; then let the opponents play, in all of them."""
        if rows.size:
            fresh = engine.deal(self._np_random, len(rows), self.rules, dealer, deck)
            fresh.game_id += self._games.next_game_id
            fresh.next_game_id += self._games.next_game_id
            self._games[rows] = fresh
            self._who[rows] = self.pool.draw(len(rows), self._opponent_rng)
            self._unpaid[rows] = 0.0
            for flag in (self._over, self._reported, self._untold):
                flag[rows] = False
        while True:
            waiting = (self._games.player == OPPONENT) & (self._games.phase != Phase.OVER)
            rows = np.flatnonzero(waiting)
            if not rows.size:
                return
            games = self._games[rows]
            actions = self.pool.act(view(games), self._who[rows], self._opponent_rng)
            outcome = engine.step(games, actions)
            self._games[rows] = games
            self._note(rows, outcome)

    def _note(self, rows: npt.NDArray[np.intp], outcome: engine.Outcome) -> None:
        """Keep account of the hands that ended in some games, and deal the next ones of a match."""
        over = np.flatnonzero(outcome.hand_over)
        if not over.size:
            return
        rows = rows[over]
        self._unpaid[rows] += outcome.points[over, LEARNER]
        self._untold[rows] = True
        for name in ("result", "knocker", "points", "deadwood"):
            self._last[name][rows] = getattr(outcome, name)[over]
        self._last["scores"][rows] = self._games.scores[rows]
        self._last["opponent"][rows] = self._who[rows]
        if self.episode == "match":
            goes_on = rows[~outcome.match_over[over]]
            engine.redeal(self._games, goes_on, self._np_random)
            self._who[goes_on] = self.pool.draw(len(goes_on), self._opponent_rng)
        self._over[rows] = self._games.phase[rows] == Phase.OVER

    def _look(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        """The learner's observations of some games; takes their masks, too."""
        seen = view(self._games if len(rows) == self.num_envs else self._games[rows], LEARNER)
        observations = encode(seen, self.observation)
        mask = seen.action_mask.view(np.int8)
        told = self._reported[rows] & (self.autoreset_mode != AutoresetMode.NEXT_STEP)
        mask[self._over[rows] & ~told, PASS] = 1
        self._mask = self._mask.copy()  # the one before belongs to the caller
        self._mask[rows] = mask
        self.action_space.legal = self._mask
        return observations

    def _infos(self) -> Infos:
        every = np.ones(self.num_envs, dtype=bool)
        return {"action_mask": self._mask, "_action_mask": every}

    def _check_reset(self) -> None:
        if not self._has_reset:
            raise error.ResetNeeded("call reset() before anything else")

    def _checked_actions(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The actions as the engine takes them; -1 where there is nothing to decide."""
        array = np.asarray(actions)
        if array.shape != (self.num_envs,) or array.dtype.kind not in "iu":
            raise ValueError(
                f"step takes one integer action a game, ({self.num_envs},), "
                f"got {array.dtype} {array.shape}"
            )
        done = np.flatnonzero(self._reported)
        if done.size and self.autoreset_mode == AutoresetMode.DISABLED:
            raise error.ResetNeeded(
                f"game {done[0]} is over: call reset(), in a batch with options={{'reset_mask': …}}"
            )
        to_confirm = self._over & ~self._reported
        wrong = (array == NO_ACTION) & ~self._over | (array != PASS) & to_confirm
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            legal = np.flatnonzero(self._mask[row]).tolist()
            raise ValueError(f"game {row}: action {array[row]} is illegal; legal is {legal}")
        return np.where(self._over, NO_ACTION, array)

    def _rows_to_reset(self, mask: Any) -> npt.NDArray[np.intp]:
        if mask is None:
            return np.arange(self.num_envs)
        mask = np.asarray(mask)
        if mask.shape != (self.num_envs,) or mask.dtype != bool or not mask.any():
            raise ValueError(
                f"options['reset_mask'] must be ({self.num_envs},) bool with a True in it, "
                f"got {mask!r}"
            )
        if not self._has_reset and not mask.all():
            raise error.ResetNeeded("the first reset is of all games")
        return np.flatnonzero(mask)
