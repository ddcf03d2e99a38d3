"""The interface of PettingZoo's former gin rummy, and what it had wrong."""

import copy
import pickle

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from ginenv import cards
from ginenv import gin_rummy_v4_compat as gin_rummy_v4
from ginenv.rules import Rules
from tests.hands import rich_deck, stacked_deck


def play(env, rng):
    """The loop of the old documentation; returns the rewards and the deadwoods told."""
    paid = dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        paid[agent] += reward
        legal = np.flatnonzero(observation["action_mask"])
        env.step(None if terminated or truncated else int(rng.choice(legal[-2:])))
    return paid, info["settlement"]


@pytest.mark.parametrize("visible", [False, True])
def test_api_and_seed(visible, capsys):
    api_test(gin_rummy_v4.env(opponents_hand_visible=visible), num_cycles=200)
    seed_test(gin_rummy_v4.env, num_cycles=100)


@pytest.mark.parametrize("planes", [4, 5])
def test_spaces(planes):
    env = gin_rummy_v4.env(opponents_hand_visible=planes == 5)
    assert env.observation_space("player_0")["observation"].shape == (planes, 52)
    assert env.action_space("player_1").n == 110
    env.reset(seed=1)
    for agent in env.agents:
        observed = env.observe(agent)
        assert observed in env.observation_space(agent)
        rows = observed["observation"].sum(axis=1).tolist()
        assert rows == [10, 1, 0, 0, 41][:planes]


@pytest.mark.parametrize(
    "remade", [lambda env: env, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))]
)
def test_rewards_hold_after_a_seeded_reset_and_in_copies(remade):
    env = remade(gin_rummy_v4.env(knock_reward=0.25, gin_reward=2.0))
    rng = np.random.default_rng(0)
    knocks = 0
    for seed in range(15):
        env.reset(seed=seed, options={"deck": rich_deck(rng)} if seed else None)
        paid, told = play(env, rng)
        for agent, points in told["points"].items():
            if told["result"] == "VOID":
                assert -1 <= paid[agent] < 0
            elif points > 0:
                gin = told["result"] in ("GIN", "BIG_GIN")
                assert paid[agent] == (2.0 if gin else 0.25)
                knocks += 1
            else:
                assert paid[agent] == -told["deadwood"][agent] / 100
    assert knocks > 5


def test_zero_sum():
    env = gin_rummy_v4.env(zero_sum=True)
    rng = np.random.default_rng(0)
    for seed in range(5):
        env.reset(seed=seed, options={"deck": rich_deck(rng)})
        paid, told = play(env, rng)
        assert paid == {agent: points / 100 for agent, points in told["points"].items()}


def test_gin_is_one_action():
    """Non-dealer: 2-3-4, 6-7-8 and the tens but one; the upcard is the missing one of the tens."""
    hand = "2s 3s 4s 6h 7h 8h Ts Th Td Kc"
    deck = stacked_deck(hand, "Ah 2h 4h Jd Qd 5c 7c 8c 9s Js", "Tc")
    env = gin_rummy_v4.env(rules="no_big_gin")
    env.reset(seed=0, options={"deck": deck, "dealer": 1})
    env.step(3)
    legal = np.flatnonzero(env.last()[0]["action_mask"])
    assert 5 in legal and 58 + cards.card("Kc") not in legal and 6 + cards.card("Kc") in legal
    env.step(5)
    assert env.last()[4]["settlement"]["result"] == "GIN"


def test_passing_the_upcard():
    env = gin_rummy_v4.env()
    env.reset(seed=0, options={"dealer": 1})
    for agent, legal in (("player_0", [2, 3]), ("player_1", [2, 3]), ("player_0", [2])):
        assert env.agent_selection == agent
        assert np.flatnonzero(env.last()[0]["action_mask"]).tolist() == legal
        env.step(2)
    assert env.last()[0]["observation"][0].sum() == 11


def test_observe_shows_no_one_elses_cards():
    env = gin_rummy_v4.env()
    env.reset(seed=3, options={"dealer": 0})
    mine, his = env.observe("player_1"), env.observe("player_0")
    assert mine["action_mask"].any() and not his["action_mask"].any()
    assert not (mine["observation"][0] & his["observation"][0]).any()


def test_an_illegal_action():
    env = gin_rummy_v4.raw_env(rules=Rules())
    env.reset(seed=0, options={"dealer": 1})
    for action in (0, 4, 5, 6, 110, None):
        with pytest.raises(ValueError, match=r"legal is \[2, 3\]|action mask"):
            env.step(action)
    env = gin_rummy_v4.env()
    env.reset(seed=0, options={"dealer": 1})
    env.step(4)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards["player_0"] == -1
