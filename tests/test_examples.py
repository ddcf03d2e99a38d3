"""The environment under other people's trainers; and why the documented AEC wrapper will not do."""

import gymnasium as gym
import numpy as np
import pytest
from pettingzoo.utils import BaseWrapper

from examples import aec_loop
from examples.aec_to_gym import AECToGym
from ginenv import gin_rummy_v0

needs_extra = pytest.mark.examples


def knocks(observation, rng):
    return aec_loop.greedy_policy(observation, None)


def test_aec_loop(capsys):
    assert aec_loop.main(hands=6)["player_0"] > 0
    assert "points a hand" in capsys.readouterr().out


# Both seats get their terminal reward


class DocumentedWrapper(BaseWrapper, gym.Env):
    """The masking wrapper of PettingZoo's tutorial for Stable-Baselines3, in its essence.

    Its step has returned what `last()` says, and in later versions what the actor was awarded.
    """

    pays_actor = False

    def reset(self, seed=None, options=None):
        super().reset(seed, options)
        return self.observe(self.agent_selection), {}

    def step(self, action):
        actor = self.agent_selection
        super().step(action)
        told = list(super().last())
        if self.pays_actor:
            told[1] = self._cumulative_rewards[actor]
        return told


@pytest.mark.parametrize("pays_actor", [False, True])
def test_the_documented_wrapper_pays_only_one_seat(pays_actor):
    """Both seats are awarded points at a hand's end, and one of them is never told."""
    env = DocumentedWrapper(gin_rummy_v0.env())
    env.pays_actor = pays_actor
    rng = np.random.default_rng(0)
    hands_with_points = 0
    for seed in range(8):
        observation, _ = env.reset(seed=seed)
        over, returned = False, []
        while not over:
            observation, reward, over, _, _ = env.step(knocks(observation, rng))
            returned.append(reward)
        awarded = [points for points in env.unwrapped._cumulative_rewards.values() if points]
        hands_with_points += len(awarded) == 2
        assert sum(reward != 0 for reward in returned) == len(awarded) / 2
    assert hands_with_points


@pytest.mark.parametrize("seat", ["player_0", "player_1"])
def test_ours_pays_either_seat_whoever_ends_the_hand(seat):
    env = AECToGym(gin_rummy_v0.env(), knocks, seat)
    rng = np.random.default_rng(0)
    seen = set()
    for seed in range(25):
        env.reset(seed=seed)
        over, returned = False, []
        while not over:
            action = knocks(env.env.observe(seat), rng)
            _, reward, over, _, info = env.step(action)
            returned.append(reward)
        assert returned[-1] == info["settlement"]["points"][seat]
        assert not any(returned[:-1])
        seen.add((info["settlement"]["knocker"] == seat, returned[-1] > 0))
    assert {(True, True), (False, False)} <= seen


def test_our_wrapper_under_gymnasiums_checker():
    env = AECToGym(gin_rummy_v0.raw_env(), knocks)
    env.reset(seed=0)
    assert env.action_masks().any()
    with pytest.raises(ValueError, match="illegal"):
        env.step(0 if env.action_masks()[105] else 105)


# sb3-contrib


@needs_extra
def test_single_environment_with_maskable_ppo():
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
    from stable_baselines3.common.env_checker import check_env as sb3_check_env

    env = gym.make("ginenv:GinRummy-v0", opponent="random")
    sb3_check_env(env.unwrapped)
    assert is_masking_supported(env)
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=1).learn(128)
    observation, _ = env.reset(seed=0)
    for _ in range(100):
        action, _ = model.predict(observation, action_masks=get_action_masks(env))
        observation, _, over, _, _ = env.step(action)
        if over:
            observation, _ = env.reset()


@needs_extra
@pytest.mark.parametrize("single", [True, False])
def test_sb3_script_runs(single, tmp_path):
    import json

    from examples import sb3_maskable_ppo

    options = {"opponent": "easy", "num_envs": 8, "steps": 512, "hands": 20, "seed": 1}
    sb3_maskable_ppo.main(tmp_path, single=single, **options)
    rows = json.loads((tmp_path / "maskable_ppo.json").read_text())
    assert rows[0]["steps"] == 0 and rows[-1]["steps"] >= 512
    assert (tmp_path / "maskable_ppo.png").stat().st_size > 5000
    assert (tmp_path / "maskable_ppo.zip").exists()


@needs_extra
def test_maskable_ppo_learns():
    """A minute is not enough to beat `easy`, but to leave the start far behind: some 20 points."""
    from examples import sb3_maskable_ppo

    _, rows = sb3_maskable_ppo.train("easy", steps=65_000, hands=1000)
    assert rows[-1]["points"] > rows[0]["points"] + 8


@needs_extra
def test_batch_vec_env_tells_what_sb3_asks_for():
    from examples.sb3_vec_env import BatchVecEnv

    envs = BatchVecEnv(5, reward_scale=10.0, opponent="random")
    envs.seed(3)
    envs.reset()
    rng = np.random.default_rng(0)
    ended = 0
    while ended < 20:
        masks = np.stack(envs.env_method("action_masks"))
        _, rewards, done, infos = envs.step(np.where(masks, rng.random(masks.shape), -1).argmax(1))
        assert rewards.dtype == np.float32
        for row in np.flatnonzero(done):
            assert infos[row]["terminal_observation"].shape == (633,)
            assert infos[row]["episode"]["r"] == pytest.approx(10 * rewards[row])
            ended += 1
    assert envs.has_attr("action_masks") and envs.env_is_wrapped(gym.Wrapper) == [False] * 5


# CleanRL, RLCard, OpenSpiel


@needs_extra
def test_cleanrl_ppo_learns(capsys):
    from examples import cleanrl_ppo

    _, history = cleanrl_ppo.main(total_timesteps=65_536, num_envs=128)
    assert np.mean(history[-2:]) > np.mean(history[:2]) + 4


@needs_extra
def test_rlcard_agents():
    pytest.importorskip("rlcard")
    from rlcard.agents import DQNAgent, RandomAgent
    from rlcard.utils import reorganize

    from examples.rlcard_env import RLCardEnv

    env = RLCardEnv({"seed": 3})
    learner = DQNAgent(
        num_actions=env.num_actions,
        state_shape=env.state_shape[0],
        mlp_layers=[32],
        replay_memory_init_size=50,
        train_every=10,
        batch_size=8,
    )
    env.set_agents([learner, RandomAgent(env.num_actions)])
    for _ in range(3):
        trajectories, payoffs = env.run(is_training=True)
        assert payoffs.sum() == 0
        for trajectory in trajectories:
            assert len(trajectory) % 2 == 1, "state, action, ..., state"
        for transition in reorganize(trajectories, payoffs)[0]:
            learner.feed(transition)
    state, player = env.reset()
    assert set(state["legal_actions"]) == {105, 106}
    assert not env.get_state(1 - player)["legal_actions"]


@needs_extra
def test_openspiel_agents():
    pytest.importorskip("open_spiel")
    from open_spiel.python.algorithms.random_agent import RandomAgent

    from examples.openspiel_env import OpenSpielEnv

    env = OpenSpielEnv(seed=0)
    players = [RandomAgent(seat, env.action_spec()["num_actions"]) for seat in range(2)]
    for _ in range(2):
        step = env.reset()
        while not step.last():
            step = env.step([players[step.current_player()].step(step).action])
        for player in players:
            player.step(step)
        assert sum(step.rewards) == 0
