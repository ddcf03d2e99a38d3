"""`gin_rummy_v0` under PettingZoo's own tests, and what they do not look at."""

import copy
import pickle

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, seed_test

from ginenv import Rules, gin_rummy_v0
from ginenv.view import OBSERVATIONS, split

EPISODES = ["hand", "match"]


def random_legal(observation, rng):
    return int(rng.choice(np.flatnonzero(observation["action_mask"])))


def knocks_when_he_can(observation, rng):
    """Throws the card that leaves the least deadwood; draws from the stock."""
    legal = np.flatnonzero(observation["action_mask"])
    if 52 <= legal[-1] < 104:
        return int(legal[-1])
    if legal[0] < 52:
        planes, _ = split(observation["observation"])
        return int(planes[OBSERVATIONS["full"][0].index("deadwood_after")].argmin())
    return int(legal[legal != 105][0])


def play(env, rng, steps=10**9, policy=random_legal):
    """Yields (agent, observation, reward, terminated, info) and plays on."""
    for agent in env.agent_iter(steps):
        observation, reward, terminated, truncated, info = env.last()
        assert not truncated
        yield agent, observation, reward, terminated, info
        env.step(None if terminated else policy(observation, rng))


@pytest.mark.parametrize("episode", EPISODES)
@pytest.mark.parametrize("observation", ["full", "cards"])
def test_api(episode, observation, capsys):
    env = gin_rummy_v0.env(episode=episode, observation=observation, rules="no_big_gin")
    api_test(env, num_cycles=300)
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.parametrize("episode", EPISODES)
def test_seed(episode):
    seed_test(lambda: gin_rummy_v0.env(episode=episode), num_cycles=200)


def test_a_match_shows_the_end_of_each_hand_before_the_next_deal(capsys):
    env = gin_rummy_v0.env(
        episode="match", rules=Rules(max_turns=2, target_score=None), render_mode="human"
    )
    env.reset(seed=0)
    shown = ""
    while "settlement" not in env.infos["player_0"]:
        capsys.readouterr()
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[-1]))
        shown = capsys.readouterr().out
    assert shown.index("the hand is void") < shown.index("takes the upcard or passes")


def test_nothing_is_drawn_unless_it_was_asked_for():
    env = gin_rummy_v0.raw_env()
    env.reset(seed=0)
    assert env.render() is None


def test_registered():
    if not hasattr(pettingzoo, "make"):
        pytest.skip("PettingZoo has a registry from 1.27 on")
    env = pettingzoo.make("aec", gin_rummy_v0.ID, rules=Rules(knock_limit=5))
    assert env.unwrapped.rules.knock_limit == 5
    assert str(env) == "gin_rummy_v0"


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("wrapped", [gin_rummy_v0.env, gin_rummy_v0.raw_env])
def test_a_copy_keeps_options_and_plays_on_alike(copied, wrapped):
    env = wrapped(rules="oklahoma", episode="match", observation="cards")
    env.reset(seed=3)
    for _ in play(env, np.random.default_rng(0), steps=40):
        pass
    twin = copied(env)
    assert twin.unwrapped.rules == Rules.preset("oklahoma")
    assert twin.unwrapped.episode == "match"
    ours = list(play(env, np.random.default_rng(1), steps=300))
    theirs = list(play(twin, np.random.default_rng(1), steps=300))
    for mine, yours in zip(ours, theirs, strict=True):
        assert mine[0] == yours[0] and mine[2:] == yours[2:]
        np.testing.assert_equal(mine[1], yours[1])


@pytest.mark.parametrize("wrapped", [gin_rummy_v0.env, gin_rummy_v0.raw_env])
@pytest.mark.parametrize("action", [104, 108, -1, -2, 1.5, None, "draw", [105, 106], True])
def test_an_illegal_action_is_an_error_and_changes_nothing(wrapped, action):
    env = wrapped()
    env.reset(seed=0)
    before = copy.deepcopy(env.unwrapped._game)
    with pytest.raises(ValueError, match=r"105|action mask"):
        env.step(action)
    assert env.unwrapped._game == before
    env.step(105)


@pytest.mark.parametrize("episode", EPISODES)
def test_both_seats_are_paid_the_settlement(episode):
    """Whoever ends a hand, `last()` pays either seat what the settlement says."""
    env = gin_rummy_v0.env(episode=episode, rules=Rules(target_score=30))
    rng = np.random.default_rng(5)
    results = set()
    for seed in range(10):
        env.reset(seed=seed)
        paid, told = dict.fromkeys(env.agents, 0.0), dict.fromkeys(env.agents, 0.0)
        for agent, _, reward, _, info in play(env, rng, policy=knocks_when_he_can):
            paid[agent] += reward
            if "settlement" in info:
                told[agent] += info["settlement"]["points"][agent]
                results.add((agent, info["settlement"]["knocker"]))
                assert sum(info["settlement"]["points"].values()) == 0
        assert paid == told
        assert paid["player_0"] == -paid["player_1"] != 0
    assert len(results) == 4, "each seat was told of knocks of its own and of the other's"


def test_reset_options():
    env = gin_rummy_v0.env()
    deck = np.random.default_rng(1).permutation(52)
    for dealer in (0, 1, "player_0", "player_1"):
        env.reset(options={"deck": deck, "dealer": dealer})
        assert env.agent_selection == f"player_{1 - int(str(dealer)[-1])}"
        hand = np.flatnonzero(env.observe(env.agent_selection)["observation"][:52])
        assert hand.tolist() == sorted(deck[:20:2])
    with pytest.raises(ValueError, match="each card 0 to 51 once"):
        env.reset(options={"deck": [0] * 52})
    with pytest.raises(ValueError, match="'player_1'"):
        env.reset(options={"dealer": 2})
    with pytest.raises(ValueError, match="did you mean 'deck'"):
        env.reset(options={"decks": deck})
    with pytest.raises(TypeError, match="dict"):
        env.reset(options=[deck])


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"rules": {"knock_limit": 5}}, TypeError, r"Rules\(knock_limit=5\)"),
        ({"rules": "oklahomo"}, ValueError, "oklahoma"),
        ({"episode": "game"}, ValueError, "hand, match"),
        ({"render_mode": "ascii"}, ValueError, "ansi"),
        ({"observation": "all"}, ValueError, "cards, full"),
        ({"viewer": 2}, ValueError, "player_1"),
    ],
)
def test_wrong_arguments(wrong, error, says):
    with pytest.raises(error, match=says):
        gin_rummy_v0.env(**wrong)
