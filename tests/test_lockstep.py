"""One game, four ways: the AEC environment, the batch engine, the vector environment and the slow
twin agree on every observation, mask and reward."""

import numpy as np
import pytest

from ginenv import Rules, engine, gin_rummy_v0
from ginenv.gin_rummy_v0 import AGENTS
from ginenv.rules import NO_ACTION, PASS, Result
from ginenv.vector import GinRummyVectorEnv
from ginenv.view import OBSERVATIONS, encode, view
from tests import brute
from tests.hands import rich_deck
from tests.reference import ReferenceGame
from tests.table import PRESETS, knocks_at_once, never_knocks, plays_at_random


def slowly_encoded(knowledge):
    """What the twin says a seat knows as the numbers of a full observation."""
    arrangement = brute.knockers_arrangement(frozenset(knowledge["hand"]))
    in_sets = [card for meld in arrangement if brute.is_set(meld) for card in meld]
    in_runs = [card for meld in arrangement if not brute.is_set(meld) for card in meld]
    after = knowledge["deadwood_after"]
    planes = knowledge | {"in_sets": in_sets, "in_runs": in_runs}
    for name in ("upcard", "drawn"):
        planes[name] = [knowledge[name]] if knowledge[name] >= 0 else []
    counts = knowledge | {
        "turn": min(knowledge["turn"], 255),
        "is_dealer": knowledge["dealer"] == knowledge["seat"],
        "own_score": min(knowledge["scores"][0], 255),
        "opponent_score": min(knowledge["scores"][1], 255),
        "best_deadwood_after": min(after.values(), default=255),
    }
    numbers = []
    for name in OBSERVATIONS["full"][0]:
        if name == "deadwood_after":
            numbers += [after.get(card, 255) for card in range(52)]
        else:
            numbers += [int(card in planes[name]) for card in range(52)]
    return numbers + [int(counts[name]) for name in OBSERVATIONS["full"][1]]


@pytest.mark.parametrize(
    ("preset", "style"),
    [(preset, knocks_at_once) for preset in PRESETS]
    + [("standard", plays_at_random), ("eaai", never_knocks)],
)
def test_aec_engine_and_twin(preset, style):
    """Matches that the AEC environment deals, played beside a batch and beside the twins."""
    rules = Rules(**{**Rules.preset(preset).__dict__, "target_score": 60})
    rng = np.random.default_rng(PRESETS.index(preset))
    envs = [gin_rummy_v0.env(rules=rules, episode="match") for _ in range(2)]
    for env in envs:
        env.reset(seed=int(rng.integers(2**32)), options={"deck": rich_deck(rng)})
    tables = [env.unwrapped._game for env in envs]
    batch = engine.deal(
        None,
        2,
        rules,
        np.array([t.dealer[0] for t in tables]),
        np.stack([t.deck[0] for t in tables]),
    )
    twins = [ReferenceGame(rules, t.deck[0], t.dealer[0]) for t in tables]
    finished = np.zeros(2, dtype=bool)

    for _ in range(80):
        for seat, agent in enumerate(AGENTS):
            seen = view(batch, seat)
            numbers, masks = encode(seen), seen.action_mask
            for row, (env, twin) in enumerate(zip(envs, twins, strict=True)):
                if finished[row]:
                    continue
                observed = env.observe(agent)
                np.testing.assert_array_equal(observed["observation"], numbers[row])
                np.testing.assert_array_equal(observed["action_mask"], masks[row])
                assert observed in env.observation_space(agent)
                knowledge = twin.knowledge(seat)
                assert observed["observation"].tolist() == slowly_encoded(knowledge)
                assert np.flatnonzero(observed["action_mask"]).tolist() == knowledge["action_mask"]
        if finished.all():
            break
        actions = [NO_ACTION if finished[row] else style(twins[row], rng) for row in range(2)]
        outcome = engine.step(batch, np.array(actions))
        for row, (env, twin) in enumerate(zip(envs, twins, strict=True)):
            if finished[row]:
                continue
            assert env.agent_selection == AGENTS[twin.player]
            env.step(int(actions[row]))
            twin.step(int(actions[row]))
            assert list(env.rewards.values()) == twin.points == outcome.points[row].tolist()
            finished[row] = env.terminations["player_0"]
            assert finished[row] == outcome.match_over[row] == twin.match_over
            for seat, agent in enumerate(AGENTS):
                assert ("settlement" in env.infos[agent]) >= twin.over
                if twin.over:
                    account = env.infos[agent]["settlement"]
                    assert account["result"] == twin.result == Result(outcome.result[row]).name
                    assert account["scores"][agent] == twin.scores[seat]
                    wanted = None if twin.result == "VOID" else twin.deadwood[seat]
                    assert account["deadwood"][agent] == wanted
            if twin.over and not finished[row]:
                twin.redeal(env.unwrapped._game.deck[0])
                engine.redeal(batch, [row], None, env.unwrapped._game.deck)
                assert twin.dealer == env.unwrapped._game.dealer[0] == batch.dealer[row]


def by_the_cards(seen, rng=None):
    """A legal action that follows from the cards alone; ends hands when it can."""
    masks = seen.action_mask
    can_end = masks[:, 52:104].any(axis=1)
    masks = masks & (np.arange(108) >= np.where(can_end, 52, 0)[:, None])
    place = (seen.hand % np.uint64(1009)).astype(int) % masks.sum(axis=1)
    return (masks.cumsum(axis=1) > place[:, None]).argmax(axis=1)


def test_vector_and_aec():
    """The learner of the vector environment sees and gets what player_0 does at the AEC table."""
    rng = np.random.default_rng(4)
    decks = np.stack([rich_deck(rng) for _ in range(30)])
    dealers = rng.integers(2, size=30)
    envs = GinRummyVectorEnv(30, by_the_cards)
    observations, infos = envs.reset(seed=0, options={"deck": decks, "dealer": dealers})
    history = [[] for _ in decks]
    rewards, over = np.zeros(30), np.zeros(30, dtype=bool)
    while not over.all():
        seen = view(envs._games, 0)
        rows = np.flatnonzero(seen.to_move)
        actions = np.full(30, PASS)
        actions[rows] = by_the_cards(seen[rows])
        for row in rows:
            if not over[row]:
                history[row].append((observations[row], infos["action_mask"][row]))
        observations, paid, ended, _, infos = envs.step(actions)
        rewards[~over] += paid[~over]
        over |= ended

    env = gin_rummy_v0.env()
    for deck, dealer, told, reward in zip(decks, dealers, history, rewards, strict=True):
        env.reset(options={"deck": deck, "dealer": int(dealer)})
        heard = iter(told)
        for agent in env.agent_iter():
            observed, paid, terminated, _, _ = env.last()
            if terminated:
                assert paid == (reward if agent == "player_0" else -reward)
                env.step(None)
                continue
            if agent == "player_0":
                observation, mask = next(heard)
                np.testing.assert_array_equal(observed["observation"], observation)
                np.testing.assert_array_equal(observed["action_mask"], mask)
            env.step(int(by_the_cards(view(env.unwrapped._game))[0]))
        assert not list(heard)
    assert {*np.sign(rewards)} == {-1, 0, 1}
