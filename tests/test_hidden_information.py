"""What an agent can reach says nothing about hidden cards: tried as an adversary would.

Two worlds are played side by side.  The second has the cards dealt again that one seat cannot see
(`resample_hidden`), so that the whole hand so far could have been played in it; the same actions
are played in both.  All that the seat was given on the way must be the same, byte for byte.
"""

import contextlib
import copy
import gc
import io
import json
import pickle
import types

import gymnasium
import numpy as np
import pytest

from ginenv import engine, gin_rummy_v0, opponents, replay, view
from ginenv.record import Recorder
from ginenv.rules import PRESETS, Phase, Rules
from ginenv.state import State
from ginenv.vector import GinRummyVectorEnv
from tests.players import mixed

SEATS = (0, 1)


def decks_of_two_worlds(seed, seat, num_games=10, rules="standard", steps=60):
    """Hands that are still going on, and the same with what a seat cannot see dealt again.

    Gives deck, dealer and actions by hand, and the other world's decks.
    """
    rng = np.random.default_rng(seed)
    state = engine.deal(rng, num_games, Rules.preset(rules))
    actions = np.full((num_games, steps), -1)
    stops = rng.integers(0, steps, num_games)  # a moment of its own for each game
    for step in range(steps):
        chosen = np.where(step < stops, mixed(view.view(state), rng), -1)
        tried = state.copy()
        ends = engine.step(tried, chosen).hand_over
        stops = np.where(ends, step, stops)  # the moment before its end
        chosen[ends] = -1
        engine.step(state, chosen)
        actions[:, step] = chosen
    other = view.resample_hidden(state, rng, seat)
    for row in range(num_games):
        played = actions[row][actions[row] >= 0].tolist()
        yield state.deck[row], other.deck[row], int(state.dealer[row]), played


def told(value):
    """Anything that an environment gives, as bytes that can be compared."""
    if isinstance(value, dict):
        return {key: told(entry) for key, entry in value.items()}
    if isinstance(value, (tuple, list)):
        return [told(entry) for entry in value]
    return (value.dtype.str, value.shape, value.tobytes()) if hasattr(value, "tobytes") else value


def aec_story(deck, dealer, played, seat, render_mode, rules):
    """All that an agent of the PettingZoo environment gets on the way."""
    agent = f"player_{seat}"
    env = gin_rummy_v0.env(rules=rules, render_mode=render_mode, viewer=agent)
    env.reset(seed=1, options={"deck": deck, "dealer": dealer})
    for action in [*played, None]:
        yield told([env.observe(agent), env.infos[agent], env.rewards, env.agent_selection])
        yield told([env.terminations, env.truncations])
        if render_mode and action is None:
            yield told(env.render())
        if env.agent_selection == agent:
            yield told(env.last())
        if action is not None:
            env.step(action)


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("render_mode", ["ansi", "rgb_array"])
def test_an_agent_of_pettingzoo_is_told_the_same_in_both_worlds(seat, render_mode):
    if render_mode == "rgb_array":
        pytest.importorskip("PIL")
    different = 0
    for deck, other, dealer, played in decks_of_two_worlds(seat, seat):
        one, two = (
            list(aec_story(d, dealer, played, seat, render_mode, "standard")) for d in (deck, other)
        )
        assert one == two
        different += (deck != other).any()
    assert different > 8, "the two worlds do differ"


def gymnasium_story(make, deck, dealer, played):
    """All that the learner of a Gymnasium environment gets on the way; the opponent is scripted."""
    waiting = list(played)

    def scripted(seen, rng):
        if not waiting:
            raise EndOfScript
        return np.array([waiting.pop(0)])

    env = make(opponent=scripted, render_mode="ansi")
    with contextlib.suppress(EndOfScript):
        yield told(env.reset(seed=1, options={"deck": deck, "dealer": dealer}))
        while waiting:
            yield told(env.render())
            action = waiting.pop(0)
            yield told(env.step(np.array([action]) if hasattr(env, "num_envs") else action))


class EndOfScript(Exception):
    """The opponent would have to decide something that was not played."""


def a_game(**options):
    return gymnasium.make("ginenv:GinRummy-v0", disable_env_checker=True, **options).unwrapped


def a_batch(**options):
    return GinRummyVectorEnv(1, **options)


@pytest.mark.parametrize("make", [a_game, a_batch])
def test_a_learner_of_gymnasium_is_told_the_same_in_both_worlds(make):
    stories = 0
    for deck, other, dealer, played in decks_of_two_worlds(3, seat=0):
        one, two = (list(gymnasium_story(make, d, dealer, played)) for d in (deck, other))
        assert one == two
        stories += len(one)
    assert stories > 40


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("preset", PRESETS)
def test_the_protocol_tells_an_outside_program_the_same_in_both_worlds(seat, preset):
    protocol = pytest.importorskip("agents.protocol")
    rules = Rules.preset(preset)
    for deck, other, dealer, played in decks_of_two_worlds(5, seat, rules=preset, num_games=4):
        lines = [[], []]
        for world, cards in enumerate((deck, other)):
            state = engine.deal(None, 1, rules, dealer, cards)
            for action in [*played, -1]:
                if state.player[0] == seat:
                    lines[world].append(protocol.lines(protocol.decisions(view.view(state))))
                engine.step(state, [action])
        assert lines[0] == lines[1]


def test_a_record_in_progress_holds_finished_hands_only():
    rng, file = np.random.default_rng(6), io.StringIO()
    state = engine.deal(rng, 8)
    with Recorder(file) as recorder:
        for _ in range(150):
            in_play = {state.deck[row].tobytes() for row in range(8)}
            actions = mixed(view.view(state), rng)
            written = [json.loads(line)["deck"] for line in file.getvalue().splitlines()]
            laid_open = {engine_deck(text) for text in written}
            assert in_play.isdisjoint(laid_open)
            outcome = engine.step(state, actions)
            recorder.add(state, actions, outcome)
            engine.redeal(state, outcome.hand_over, rng)
    assert recorder.hands_written > 10


def engine_deck(text):
    """A record's deck as the bytes of a row of ``State.deck``."""
    from ginenv import cards

    return np.array([cards.card(word) for word in text.split()], dtype=np.int8).tobytes()


def test_a_replay_for_one_seat_is_the_same_in_both_worlds_until_the_hands_are_laid_down():
    """Void hands are never laid down: the whole telling is the same, but for what both hold."""
    for deck, other, dealer, played in decks_of_two_worlds(7, seat=0, num_games=6):
        tables = [[], []]
        for world, cards in enumerate((deck, other)):
            state = engine.deal(None, 1, dealer=dealer, decks=cards)
            for action in [*played, -1]:
                tables[world] += replay._table(state, ["a", "b"], seat=0)
                engine.step(state, [action])
        assert tables[0] == tables[1]


# What is handed to a policy


def reachable(*roots):
    """Every object that can be reached from some, without leaving data for code.

    Arrays are followed to what they are views of.  Types, functions and modules are not entered:
    through them the whole program can be reached, whatever is handed over.
    """
    code = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.MethodType)
    found, waiting = {}, list(roots)
    while waiting:
        thing = waiting.pop()
        if id(thing) in found or isinstance(thing, code):
            continue
        found[id(thing)] = thing
        waiting += gc.get_referents(thing)
        if isinstance(thing, np.ndarray) and thing.base is not None:
            waiting.append(thing.base)
        if isinstance(thing, np.random.Generator):
            waiting.append(thing.bit_generator)
        if isinstance(thing, np.random.BitGenerator):
            waiting += [thing.state, thing.seed_seq]
        if isinstance(thing, np.random.SeedSequence):
            waiting += [thing.entropy, thing.spawn_key, thing.pool]
    return list(found.values())


class Spy:
    """A policy that keeps all it was ever handed, and plays."""

    def __init__(self):
        self.handed = []

    def __call__(self, seen, rng):
        self.handed.append((seen, rng))
        seen.melded, seen.action_mask, seen.deadwood_after  # noqa: B018 (computed at first use)
        return opponents.random_legal(seen, np.random.default_rng(len(self.handed)))

    def hand_over(self, seen, ending):
        self.handed.append((seen, ending))


def dealing_state(generator):
    """What tells a generator's stream apart, wherever it stands in it."""
    return generator.bit_generator.state["state"]["inc"]


def assert_nothing_hidden(spy, secrets, dealing, seeds):
    """No state, no deck's memory, no generator that deals, no seed that it can be made from."""
    assert len(spy.handed) > 10
    assert not any(thing is secret for thing in reachable(spy.handed) for secret in secrets)
    for thing in reachable(spy.handed):
        assert not isinstance(thing, State)
        if isinstance(thing, np.ndarray):
            shared = [
                s for s in secrets if isinstance(s, np.ndarray) and np.shares_memory(thing, s)
            ]
            assert not shared
            assert thing.shape[-1:] != (52,) or not is_permutation(thing)
        if isinstance(thing, np.random.Generator):
            assert dealing_state(thing) not in map(dealing_state, dealing)
        if isinstance(thing, np.random.SeedSequence):
            assert thing.entropy not in seeds and not thing.spawn_key
    pickled = pickle.dumps([handed[0] for handed in spy.handed])
    assert b"State" not in pickled


def is_permutation(array):
    return bool((np.sort(array, axis=-1) == np.arange(52)).all(axis=-1).any())


SEED = 123_456_789_012


def arrays_of(state):
    return [getattr(state, name) for name in ("deck", "hands", "face_down", "pile")]


@pytest.mark.parametrize("episode", ["hand", "match"])
def test_an_opponent_in_an_environment_is_handed_nothing_hidden(episode):
    spy = Spy()
    envs = GinRummyVectorEnv(6, opponent=spy, episode=episode)
    _, infos = envs.reset(seed=SEED)
    rng = np.random.default_rng(0)
    for _ in range(60):
        _, _, _, _, infos = envs.step(opponents.random_actions(infos["action_mask"] > 0, rng))
    secrets = [envs, envs._games, *arrays_of(envs._games)]
    assert_nothing_hidden(spy, secrets, [envs.np_random], {SEED})


@pytest.mark.parametrize("unit", ["hand", "match"])
def test_a_player_in_paired_games_is_handed_nothing_hidden(unit):
    players = pytest.importorskip("agents.players")
    spies = Spy(), Spy()
    players.play(*spies, num_pairs=3, seed=SEED, unit=unit, max_hands=3)
    for spy in spies:
        assert_nothing_hidden(spy, [], [], {SEED})


def test_the_opponent_at_the_table_is_handed_nothing_hidden():
    match_module = pytest.importorskip("agents.table.match")
    spy = Spy()
    match = match_module.Match.start(match_module.Terms("normal", seed=SEED), dealer=0)
    for _ in range(60):
        if match.hand_over:
            match.deal_next()
        match.act(match.opponent_action(spy) if not match.person_to_move else first_legal(match))
    assert_nothing_hidden(spy, [match, match.state, *arrays_of(match.state)], [], {SEED})


def first_legal(match):
    return int(np.flatnonzero(match.seen.action_mask[0])[0])


def test_a_guest_of_the_league_is_handed_nothing_hidden():
    league_module = pytest.importorskip("agents.league")
    from tests.tiny import tiny

    spy = Spy()
    opponents.register("spy", lambda: spy)
    config = tiny(opponents=("spy",), opponent_share=1.0, past_self_share=0.0)
    deal_rng, league_rng = np.random.default_rng(1), np.random.default_rng(2)
    league = league_module.League(config, league_rng)
    state = engine.deal(deal_rng, config.num_games)
    for _ in range(40):
        seen = view.view(state)
        actions = opponents.random_legal(seen, np.random.default_rng(0))
        _, who = league.to_move(state)
        if who is not None:
            league.act(seen, who, actions)
        engine.redeal(state, engine.step(state, actions).hand_over, deal_rng)
    assert_nothing_hidden(spy, [league, state, *arrays_of(state)], [deal_rng], set())


def test_the_trainers_players_draw_from_another_stream_than_its_deals():
    training = pytest.importorskip("agents.training")
    from tests.tiny import tiny

    run = training.Training.start(tiny())
    assert dealing_state(run.league.rng) != dealing_state(run.deal_rng)
    assert not any(thing is run.deal_rng for thing in reachable(run.league.rng))
    seeds = [rng.bit_generator.seed_seq.entropy for rng in (run.league.rng, run.deal_rng)]
    assert len({*seeds, tiny().seed}) == 3, "neither seed is the other's, or the run's"


def test_a_spy_with_more_in_hand_is_found():
    """The walk does see what it looks for."""
    state = engine.deal(np.random.default_rng(SEED), 3)
    seen, rng = view.view(state), np.random.default_rng(1)
    dealing = np.random.default_rng(SEED)
    for leak in (state, state.deck, state.deck[:1], [state.hands[:, 0]], dealing, dealing.spawn(1)):
        spy = Spy()
        spy.handed = [(seen, rng)] * 20 + [({"deep": (leak,)}, rng)]
        with pytest.raises(AssertionError):
            assert_nothing_hidden(spy, [state, *arrays_of(state)], [dealing], {SEED})


def test_the_environment_itself_is_no_present_for_an_agent():
    """An environment holds the deck, and so does its pickle: agents get observations (docs)."""
    env = gin_rummy_v0.env()
    env.reset(seed=1)
    deck = env.unwrapped._game.deck.tobytes()
    assert deck in pickle.dumps(env)
    assert deck not in pickle.dumps([env.observe("player_0"), env.infos, env.last()])
    assert deck not in pickle.dumps(view.view(env.unwrapped._game))


def test_dealing_leaves_no_trace_in_the_global_random_state():
    before = copy.deepcopy(np.random.get_state())  # noqa: NPY002
    state = engine.deal(np.random.default_rng(1), 5)
    engine.redeal(state, np.arange(5), np.random.default_rng(2))
    envs = GinRummyVectorEnv(2, opponent="random")
    envs.reset(seed=1)
    env = gin_rummy_v0.env()
    env.reset(seed=1)
    after = np.random.get_state()  # noqa: NPY002
    assert before[0] == after[0] and (before[1] == after[1]).all() and before[2:] == after[2:]


def test_phases_of_all_kinds_are_among_the_two_worlds():
    phases = set()
    for deck, _, dealer, played in decks_of_two_worlds(8, seat=0, num_games=60):
        state = engine.deal(None, 1, dealer=dealer, decks=deck)
        for action in played:
            engine.step(state, [action])
        phases.add(Phase(state.phase[0]))
    assert phases == {Phase.UPCARD, Phase.FORCED_DRAW, Phase.DRAW, Phase.DISCARD}
