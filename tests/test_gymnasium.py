"""The Gymnasium environments: what the checkers ask, and every step around a hand's end."""

import copy
import pickle
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from ginenv import Result, Rules, cards, opponents, registration
from ginenv.rules import KNOCK, PASS, TAKE_PILE, Phase
from ginenv.vector import GinRummyVectorEnv
from ginenv.view import split, view

ID = "ginenv:GinRummy-v0"
MODES = list(AutoresetMode)


def knocks(view, rng):
    """Throws what leaves the least deadwood, takes what helps, knocks as soon as it can."""
    after, ends = view.deadwood_after, view.action_mask[:, KNOCK : KNOCK + 52]
    chosen = opponents.random_legal(view, rng)
    chosen[view.offered & (after.min(axis=1) < view.deadwood - 5)] = TAKE_PILE
    throws = view.action_mask[:, :52].any(axis=1)
    chosen[throws] = after[throws].argmin(axis=1)
    return np.where(ends.any(axis=1), KNOCK + after.argmin(axis=1), chosen)


def random_actions(masks, rng):
    return np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)


def deck_of(first, second, upcard):
    """A deck that gives the non-dealer the first hand and the dealer the second."""
    first, second = cards.ids(cards.parse(first)), cards.ids(cards.parse(second))
    dealt = [card for pair in zip(first, second, strict=True) for card in pair]
    dealt.append(cards.card(upcard))
    return np.array(dealt + [card for card in range(52) if card not in dealt])


READY = "As 2s 3s 5h 6h 7h 9c 9d 9h Kd"  # knocks at once with any low card for the king
ROUGH = "5s 7s 8s Js Ks 2d 4d 6d 8d Td"  # 70 points, no meld, nothing to lay off on READY
ENDS_AT_ONCE = deck_of(READY, ROUGH, "4c")  # the non-dealer takes the 4 and knocks with the king
LOST = 70 - 4


# Checkers and registration


@pytest.mark.parametrize("options", [{}, {"episode": "match", "opponent": knocks}])
def test_check_env(options, capsys):
    check_env(gym.make(ID, **options).unwrapped)


@pytest.mark.parametrize("imports", ["import ginenv, gymnasium", "import gymnasium, ginenv"])
def test_registered_whatever_is_imported_first(imports):
    done = subprocess.run(
        [sys.executable, "-c", f"{imports}; print(gymnasium.make('{ID}').spec.id)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "GinRummy-v0"


def test_registering_again_changes_nothing():
    before = gym.registry["GinRummy-v0"]
    registration.register(opponent="somebody else")
    assert gym.registry["GinRummy-v0"] is before


def test_masks_of_one_game_are_those_in_its_infos():
    env = gym.make(ID).unwrapped
    _, info = env.reset(seed=1)
    assert env.action_masks().dtype == bool
    assert np.array_equal(env.action_masks(), info["action_mask"])


def test_made_in_every_way():
    assert gym.make(ID, opponent=knocks, rules="oklahoma").unwrapped.rules == Rules.preset(
        "oklahoma"
    )
    native = gym.make_vec(ID, num_envs=3, opponent="random")
    assert isinstance(native.unwrapped, GinRummyVectorEnv)
    for mode in ("sync", "async"):
        envs = gym.make_vec(ID, num_envs=2, vectorization_mode=mode, opponent="random")
        envs.reset(seed=0)
        envs.step([TAKE_PILE, TAKE_PILE])
        envs.close()


def test_each_bot_has_an_id():
    env = gym.make("agents:GinRummyCrazy-v0", rules="oklahoma")
    assert env.unwrapped.rules.oklahoma
    envs = gym.make_vec("agents:GinRummyEasy-v0", num_envs=2, opponent="hard")
    envs.reset(seed=0)
    envs.step(envs.action_space.sample())


def test_samples_are_legal():
    env, envs = gym.make(ID), gym.make_vec(ID, num_envs=5)
    env.action_space.seed(1), envs.action_space.seed(1)
    env.reset(seed=1), envs.reset(seed=1)
    for _ in range(100):
        envs.step(envs.action_space.sample())
        if env.step(env.action_space.sample())[2]:
            env.reset()


# One game


@pytest.mark.parametrize("episode", ["hand", "match"])
def test_single_is_one_row_of_the_batch(episode):
    """The same seed and the same actions: the same observations, rewards and ends."""
    env = gym.make(ID, opponent=knocks, episode=episode, rules=Rules(target_score=20))
    row = GinRummyVectorEnv(
        1, knocks, Rules(target_score=20), episode, autoreset_mode=AutoresetMode.SAME_STEP
    )
    rng = np.random.default_rng(0)
    ours, info = env.reset(seed=8)
    theirs, infos = row.reset(seed=8)
    for _ in range(150):
        np.testing.assert_array_equal(ours, theirs[0])
        np.testing.assert_array_equal(info["action_mask"], infos["action_mask"][0])
        assert ours in env.observation_space
        action = random_actions(infos["action_mask"], rng)
        ours, reward, over, truncated, info = env.step(action[0])
        theirs, rewards, ends, _, infos = row.step(action)
        assert (reward, over, truncated) == (rewards[0], ends[0], False)
        assert type(reward) is float and type(over) is bool
        if over:
            np.testing.assert_array_equal(ours, infos["final_obs"][0])
            assert not info["action_mask"].any()
            assert info["settlement"]["result"] == Result(infos["settlement"]["result"][0]).name
            ours, info = env.reset()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_plays_on_alike(copied):
    envs = GinRummyVectorEnv(6, [knocks, "random"], rules="oklahoma", episode="match")
    _, infos = envs.reset(seed=2)
    rng = np.random.default_rng(0)
    for _ in range(30):
        _, _, _, _, infos = envs.step(random_actions(infos["action_mask"], rng))
    twin = copied(envs)
    for _ in range(60):
        actions = random_actions(envs.action_masks(), rng)
        np.testing.assert_equal(envs.step(actions), twin.step(actions))


def test_the_learner_is_paid_however_the_hand_ends():
    """Both knock when they can; whoever does, and whoever wins, the learner gets his points."""
    envs = GinRummyVectorEnv(400, knocks)
    rng = np.random.default_rng(3)
    envs.reset(seed=0)
    endings = set()
    for _ in range(60):
        seen = view(envs._games, 0)
        actions = np.where(seen.to_move, knocks(seen, rng), PASS)
        _, rewards, over, _, infos = envs.step(actions)
        assert not rewards[~over].any()
        if over.any():
            last = infos["settlement"]
            np.testing.assert_array_equal(rewards[over], last["points"][over, 0])
            signs = np.sign(rewards[over]).astype(int).tolist()
            endings |= set(zip(last["knocker"][over].tolist(), signs, strict=True))
    assert endings >= {(0, 1), (0, -1), (1, -1), (1, 1)}, "each knocks and wins, or is undercut"


# The table of every step around a hand's end


@pytest.mark.parametrize("mode", MODES)
def test_every_step_around_the_end_of_a_hand(mode):
    """One game; the learner (ROUGH) passes the upcard, the opponent (READY) takes it and knocks."""
    deck = deck_of(ROUGH, READY, "4c")
    envs = GinRummyVectorEnv(1, knocks, autoreset_mode=mode)
    obs, infos = envs.reset(seed=0, options={"deck": deck, "dealer": 1})
    planes, counts = split(obs[0])
    assert planes[0].sum() == 10 and counts[0] == Phase.UPCARD
    assert np.flatnonzero(infos["action_mask"][0]).tolist() == [TAKE_PILE, PASS]

    obs, rewards, terminated, truncated, infos = envs.step([PASS])
    assert rewards.tolist() == [-LOST] and terminated.tolist() == [True]
    assert truncated.tolist() == [False]
    assert infos["_settlement"].tolist() == [True]
    assert infos["settlement"]["result"][0] == Result.KNOCK
    assert infos["settlement"]["knocker"][0] == 1
    assert infos["settlement"]["points"][0].tolist() == [-LOST, LOST]
    assert infos["settlement"]["deadwood"][0].tolist() == [70, 4]
    final, mask = obs, infos["action_mask"]
    if mode == AutoresetMode.SAME_STEP:
        assert infos["_final_obs"].tolist() == [True]
        assert split(obs[0])[1][0] in (Phase.UPCARD, Phase.DRAW), "the next episode's first"
        assert mask[0].any()
        final, mask = infos["final_obs"], infos["final_info"]["action_mask"]
    assert split(final[0])[1][0] == Phase.OVER
    legal = np.flatnonzero(mask[0]).tolist()
    assert legal == ([PASS] if mode == AutoresetMode.NEXT_STEP else [])

    if mode == AutoresetMode.DISABLED:
        with pytest.raises(gym.error.ResetNeeded, match="reset_mask"):
            envs.step([PASS])
        obs, infos = envs.reset(options={"reset_mask": np.array([True])})
    if mode == AutoresetMode.NEXT_STEP:
        obs, rewards, terminated, _, infos = envs.step([0])  # ignored
        assert rewards.tolist() == [0] and terminated.tolist() == [False]
    assert "settlement" not in infos or mode == AutoresetMode.SAME_STEP
    assert split(obs[0])[1][0] in (Phase.UPCARD, Phase.DRAW)
    assert envs.action_masks()[0].any()
    _, rewards, terminated, _, infos = envs.step([TAKE_PILE])
    assert rewards.tolist() == [0] and terminated.tolist() == [False]
    assert "settlement" not in infos


@pytest.mark.parametrize("mode", MODES)
def test_a_hand_that_ends_before_the_first_decision_is_not_lost(mode):
    """The opponent has READY and moves first; beside it a game that goes on."""
    decks = np.stack([ENDS_AT_ONCE, deck_of(ROUGH, READY, "4c")])
    envs = GinRummyVectorEnv(2, knocks, autoreset_mode=mode)
    _, infos = envs.reset(seed=0, options={"deck": decks, "dealer": np.array([0, 1])})
    assert np.flatnonzero(infos["action_mask"][0]).tolist() == [PASS]
    with pytest.raises(ValueError, match=r"game 0: action 105 is illegal; legal is \[106\]"):
        envs.step([TAKE_PILE, TAKE_PILE])
    _, rewards, terminated, _, infos = envs.step([PASS, TAKE_PILE])
    assert rewards.tolist() == [-LOST, 0] and terminated.tolist() == [True, False]
    assert infos["_settlement"].tolist() == [True, False]


def test_in_a_match_such_a_hand_is_paid_with_the_next_step():
    envs = GinRummyVectorEnv(1, knocks, episode="match")
    _, infos = envs.reset(seed=0, options={"deck": ENDS_AT_ONCE, "dealer": 0})
    _, rewards, terminated, _, infos = envs.step(
        random_actions(infos["action_mask"], envs.np_random)
    )
    assert rewards.tolist() == [-LOST] and terminated.tolist() == [False]
    assert infos["settlement"]["scores"].tolist() == [[0, LOST]]


@pytest.mark.parametrize("episode", ["hand", "match"])
def test_all_modes_tell_the_same_story(episode):
    """Many games: the sums of rewards and the settlements agree with what the seats scored."""
    for mode in (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP):
        envs = GinRummyVectorEnv(
            32, ["random", knocks], Rules(target_score=40), episode, autoreset_mode=mode
        )
        rng = np.random.default_rng(1)
        _, infos = envs.reset(seed=5)
        paid, settled, just_ended = np.zeros(32), np.zeros(32), np.zeros(32, dtype=bool)
        for _ in range(100):
            masks = envs.action_masks()
            assert masks.any(axis=1).all(), "there is always something to do"
            _, rewards, terminated, _, infos = envs.step(random_actions(masks, rng))
            if mode == AutoresetMode.NEXT_STEP:
                assert not (terminated & just_ended).any()
                assert not rewards[just_ended].any()
            just_ended = terminated
            paid += rewards
            if "settlement" in infos:
                told = infos["_settlement"]
                settled[told] += infos["settlement"]["points"][told, 0]
                assert (infos["settlement"]["result"][told] != Result.NONE).all()
                assert set(infos["settlement"]["opponent"][told]) <= {0, 1}
                if episode == "hand":
                    assert (terminated == told).all()
                else:
                    reached = infos["settlement"]["scores"].max(axis=1) >= 40
                    assert (terminated == reached & told).all()
            else:
                assert not terminated.any()
        np.testing.assert_array_equal(paid, settled)


def test_statistics_wrapper_sees_whole_episodes():
    for mode in (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP):
        envs = gym.wrappers.vector.RecordEpisodeStatistics(
            gym.make_vec(ID, num_envs=16, opponent=knocks, autoreset_mode=mode.value)
        )
        rng = np.random.default_rng(2)
        _, infos = envs.reset(seed=1)
        for _ in range(100):
            _, rewards, over, _, infos = envs.step(random_actions(infos["action_mask"], rng))
            if over.any():
                np.testing.assert_array_equal(infos["episode"]["r"][over], rewards[over])


# Seeds, pools, errors


def test_a_seed_means_the_same_deals_against_any_opponent():
    first = [GinRummyVectorEnv(8, who).reset(seed=4)[0][:, :52] for who in ("random", knocks)]
    np.testing.assert_array_equal(*first)


def test_pool_draws_each_hand_by_weight():
    seen = [0, 0]

    def member(place):
        def plays(view, rng):
            seen[place] += len(view)
            return opponents.random_legal(view, rng)

        return plays

    envs = GinRummyVectorEnv(200, {member(0): 3, member(1): 1}, rules=Rules(max_turns=2))
    rng = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    for _ in range(60):
        _, _, _, _, infos = envs.step(random_actions(infos["action_mask"], rng))
    assert 0.2 < seen[1] / sum(seen) < 0.3
    assert len(np.unique(envs._who)) == 2


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"opponent": "randon"}, ValueError, "random"),
        ({"opponent": 3}, TypeError, "name or a policy"),
        ({"opponent": []}, ValueError, "at least one"),
        ({"opponent": {"random": -1}}, ValueError, "weights"),
        ({"rules": 10}, TypeError, "Rules"),
        ({"num_envs": 0}, ValueError, "num_envs"),
        ({"episode": "round"}, ValueError, "hand, match"),
        ({"render_mode": "text"}, ValueError, "ansi"),
        ({"autoreset_mode": "Never"}, ValueError, "Never"),
    ],
)
def test_wrong_arguments(wrong, error, says):
    with pytest.raises(error, match=says):
        GinRummyVectorEnv(**wrong)


@pytest.mark.parametrize("actions", [[104, 104], [105], [105, -1], [1.0, 1.0], [105, 108], [[105]]])
def test_wrong_actions_change_nothing(actions):
    envs = GinRummyVectorEnv(2)
    with pytest.raises(gym.error.ResetNeeded):
        envs.step([105, 105])
    envs.reset(seed=0, options={"dealer": 1})
    before = copy.deepcopy(envs._games)
    with pytest.raises(ValueError, match=r"game [01]|one integer action"):
        envs.step(actions)
    assert envs._games == before


def test_an_opponent_that_answers_wrongly_is_named():
    for wrong in (lambda view, rng: np.zeros(99, int), lambda view, rng: np.full(len(view), 0.5)):
        with pytest.raises(ValueError, match="opponent 0 must return"):
            GinRummyVectorEnv(4, wrong).reset(seed=0)


def test_reset_options():
    envs = GinRummyVectorEnv(3)
    envs.reset(seed=0)
    before = envs._games.game_id.copy()
    envs.reset(options={"reset_mask": np.array([False, True, False])})
    assert (envs._games.game_id != before).tolist() == [False, True, False]
    for wrong in ([True, False], np.zeros(3, bool), np.ones(3, int)):
        with pytest.raises(ValueError, match="reset_mask"):
            envs.reset(options={"reset_mask": wrong})
    with pytest.raises(ValueError, match="dealer"):
        envs.reset(options={"dealer": 2})
    with pytest.raises(ValueError, match="did you mean 'deck'"):
        envs.reset(options={"decks": np.arange(52)})
