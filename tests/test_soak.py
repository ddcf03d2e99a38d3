"""Soak: millions of steps with the invariants on, memory flat, and programs that fail at random.

    SOAK=1 pytest -m slow tests/test_soak.py -rP      # full size: about an hour on one core
    pytest -m slow tests/test_soak.py -rP             # a fiftieth of it

Each test prints what it counted, which -rP shows.
"""

import itertools
import os
import re
import sys
import threading
import time
from collections import Counter

import gymnasium
import numpy as np
import pytest

from agents import cli_evaluate
from agents.evaluation import Comparison, Plan, measure
from agents.players import player
from ginenv import State, engine, gin_rummy_v0, gin_rummy_v4_compat
from ginenv.rules import Result
from ginenv.uniform import random_actions
from ginenv.view import view
from tests import memory
from tests.hands import rich_deck
from tests.invariants import check_outcome, check_state
from tests.players import mixed
from tests.processes import ends
from tests.test_long_play import HOUSES

SCALE = float(os.environ.get("SOAK", "0.02"))
ENGINE_DECISIONS = round(10_000_000 * SCALE)
ENVIRONMENT_STEPS = round(1_000_000 * SCALE)
EVALUATED_HANDS = 2 * round(500_000 * SCALE)
ROUNDS_OF_FAULTS = 1 + round(35 * SCALE)

FLAT_BYTES = 8 * 2**20  # what an allocator may still add: under 9 bytes a step
FLAT_OBJECTS = 2_000  # a leak of one object a hand would be ten thousands

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(7200),
    pytest.mark.skipif(not memory.STATM.exists(), reason="memory is read from Linux's /proc"),
]


def assert_flat(watch, allowed=FLAT_BYTES):
    grown, objects = watch.growth
    print(f"growth after warm-up: {grown / 2**20:.1f} MiB, {objects} objects")
    assert grown < allowed
    assert objects < FLAT_OBJECTS


# The engine


def test_the_engine_plays_ten_million_decisions():
    decisions, results = 0, Counter()
    watch = memory.Watch(ENGINE_DECISIONS)
    for house, rules in enumerate(HOUSES):
        rng = np.random.default_rng(house)
        state = engine.deal(rng, 512, rules)
        while decisions < ENGINE_DECISIONS * (house + 1) / len(HOUSES):
            before = state.copy()
            outcome = engine.step(state, mixed(view(state), rng))
            check_state(state)
            check_outcome(before, outcome, state)
            engine.redeal(state, outcome.hand_over, rng)
            results.update(outcome.result[outcome.hand_over].tolist())
            decisions += len(state)
            watch.update(decisions)
    print(f"{decisions:,} decisions, hands: {by_name(results)}")
    assert_flat(watch)
    assert len(results) == len(Result) - 1


def by_name(results):
    return {Result(result).name: count for result, count in sorted(results.items())}


# The environments


def choose(mask, rng):
    """A random legal action, often the one with the highest number: knocks and big gin."""
    legal = np.flatnonzero(mask)
    return int(legal[-1] if rng.random() < 0.3 else legal[rng.integers(len(legal))])


def decks(rng):
    """Reset options for ever: decks with many melds, and now and then a shuffled one."""
    rich = [rich_deck(rng) for _ in range(300)]
    while True:
        yield {"deck": rich[rng.integers(len(rich))]} if rng.random() < 0.8 else {}


def aec_steps(env, points_a_reward, rng):
    """Play a PettingZoo environment for ever: the game and the results that came, by step."""
    env.reset(seed=0)
    for options in decks(rng):
        paid = dict.fromkeys(env.agents, 0.0)
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, info = env.last()
            paid[agent] += reward
            assert observation in env.observation_space(agent)
            assert not truncated
            if terminated:
                env.step(None)
                continue
            other = env.possible_agents[agent == env.possible_agents[0]]
            assert not env.observe(other)["action_mask"].any()
            env.step(choose(observation["action_mask"], rng))
            over = "settlement" in env.infos[agent]
            assert over == all(env.terminations.values())
            yield env.unwrapped._game, [env.infos[agent]["settlement"]["result"]] if over else []
        points = info["settlement"]["points"]
        assert sum(points.values()) == 0
        assert paid == {name: value / points_a_reward for name, value in points.items()}
        env.reset(options=options)


def single_steps(env, rng):
    """The same of Gymnasium's environment."""
    _, info = env.reset(seed=0)
    for options in decks(rng):
        terminated = False
        while not terminated:
            action = choose(info["action_mask"], rng)
            observation, reward, terminated, truncated, info = env.step(action)
            assert observation in env.observation_space
            assert not truncated
            assert terminated == ("settlement" in info)
            yield env.unwrapped._row._games, [info["settlement"]["result"]] if terminated else []
        assert reward == info["settlement"]["points"]["player_0"]
        _, info = env.reset(options=options)


def vector_steps(env, rng):
    """The same of the batch."""
    _, infos = env.reset(seed=0)
    while True:
        mask = infos["action_mask"].astype(bool)
        highest = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
        random = random_actions(mask, rng)
        actions = np.where(rng.random(len(mask)) < 0.3, highest, random)
        observations, rewards, terminated, truncated, infos = env.step(actions)
        assert observations in env.observation_space
        assert not truncated.any()
        settled = infos.get("_settlement", np.zeros(env.num_envs, dtype=bool))
        assert (settled == terminated).all() and not rewards[~settled].any()
        results = []
        if settled.any():
            account = infos["settlement"]
            assert (account["points"].sum(axis=1) == 0).all()
            assert (rewards == account["points"][:, 0])[settled].all()
            results = [Result(result).name for result in account["result"][settled]]
        yield env.unwrapped._games, results


ENVIRONMENTS = {
    "AEC": lambda rng: aec_steps(gin_rummy_v0.env(), 1, rng),
    "v4 compat": lambda rng: aec_steps(gin_rummy_v4_compat.env(zero_sum=True), 100, rng),
    "Gymnasium": lambda rng: single_steps(gymnasium.make("ginenv:GinRummy-v0"), rng),
    "VectorEnv": lambda rng: vector_steps(
        gymnasium.make_vec("ginenv:GinRummy-v0", num_envs=64, opponent=mixed), rng
    ),
}


@pytest.mark.parametrize("adapter", ENVIRONMENTS)
def test_an_environment_plays_a_million_steps(adapter):
    done, results, positions = 0, Counter(), []
    watch = memory.Watch(ENVIRONMENT_STEPS)
    for state, ended in ENVIRONMENTS[adapter](np.random.default_rng(1)):
        results.update(ended)
        positions.append(state.copy())
        done += len(state)
        if sum(map(len, positions)) >= 1024 or done >= ENVIRONMENT_STEPS:
            check_positions(positions)
            positions = []
            watch.update(done)
        if done >= ENVIRONMENT_STEPS:
            break
    print(f"{adapter}: {done:,} steps, hands: {dict(results)}")
    assert_flat(watch)
    assert {"KNOCK", "UNDERCUT", "VOID"} <= set(results)


def check_positions(positions):
    """All of them at once, which is much faster, as if each were a game of its own."""
    together = State.concatenate(positions)
    together.game_id[:] = np.arange(len(together))
    together.next_game_id = len(together)
    check_state(together)


# Evaluation


def test_the_evaluation_of_a_million_hands():
    watch = memory.Watch(EVALUATED_HANDS)
    comparison = Comparison("crazy", "greedy")
    policies = {name: player(name) for name in ("crazy", "greedy")}
    plan = Plan(num_hands=EVALUATED_HANDS, num_games=0)
    measure(comparison, policies, plan, progress=lambda _unit, done, _of: watch.update(done))
    hands = comparison.hands
    arrays = (hands.points, hands.won, hands.hands, hands.turns)
    print(f"{hands.num_hands:,} hands, {hands.points_a_hand.mean:+.2f} points a hand")
    assert hands.num_hands == EVALUATED_HANDS
    assert (hands.hands == 1).all()
    # The results themselves, a few bytes a pair, are kept as parts and then joined.
    assert_flat(watch, FLAT_BYTES + sum(array.nbytes for array in arrays))


# Outside programs that fail

# Plays by its rules for so many decisions, and then does what it was told to do.
PROGRAM = r"""
import json, os, signal, sys, time
fault, decisions, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
open(os.path.join(folder, str(os.getpid())), "w").close()
out = sys.stdout

def say(text):
    out.write(text + "\n")
    out.flush()

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] != "decision":
        continue
    game, legal = message["game"], message["legal"]
    decisions -= 1
    if decisions > 0 or fault == "none":
        say(json.dumps({"game": game, "action": legal[-1]}))
    elif fault == "stalls":
        time.sleep(1000)
    elif fault == "leaves":
        sys.exit(decisions % 3)
    elif fault == "is killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif fault == "crashes":
        raise RuntimeError("no more cards")
    elif fault == "falls silent":
        os.close(1)
        time.sleep(1000)
    elif fault == "floods with answers":
        while True:
            say(json.dumps({"game": game, "action": legal[0]}))
    elif fault == "floods with text":
        while True:
            say("x" * 1000)
    elif fault == "floods without end of line":
        while True:
            out.write("x" * 100_000)
    elif fault == "floods with bytes":
        while True:
            os.write(1, os.urandom(4096))
    elif fault == "leaves a child":
        if os.fork() == 0:
            open(os.path.join(folder, str(os.getpid())), "w").close()
            time.sleep(1000)
        sys.exit(3)
    elif fault == "cheats":
        say(json.dumps({"game": game, "action": "discard 1x"}))
    elif fault == "answers another game":
        say(json.dumps({"game": game + 10_000, "action": legal[0]}))
    elif fault == "complains":
        sys.stderr.write("e" * 200_000 + "\n")
        say(json.dumps({"game": game, "action": legal[-1]}))
"""

# What docs/external-players.md says will be told; None: nothing is wrong.
FAULTS = {
    "none": None,
    "complains": None,
    "stalls": r"gave no answer within 0\.5 seconds",
    "leaves": "ended with exit status [012]",
    "is killed": "ended with exit status -9",
    "crashes": r"ended with exit status 1 \(its last words: RuntimeError: no more cards\)",
    "falls silent": "closed its output|gave no answer within",
    "floods with answers": "is not waiting for an answer|which is not legal",  # of what comes next
    "floods with text": "wrote a line that is no JSON",
    "floods without end of line": "wrote a line of more than 65536 bytes",
    "floods with bytes": "wrote a line (that is no JSON|of more than|that breaks off)",
    "leaves a child": "ended with exit status 3|gave no answer within",
    "cheats": "which is not legal; legal is",
    "answers another game": "which is not waiting for an answer",
}
NEEDS_SHORT_PATIENCE = ("stalls", "falls silent", "leaves a child")


def test_programs_that_flood_stall_or_die_at_random(tmp_path, capsys):
    rng = np.random.default_rng(0)
    path, pids = tmp_path / "program.py", tmp_path / "pids"
    path.write_text(PROGRAM)
    pids.mkdir()
    seen, slowest = Counter(), 0.0
    threads = descriptors = None
    # In the first round each fault comes at once, later at a random moment.
    rounds = [rng.permutation(list(FAULTS)).tolist() for _ in range(ROUNDS_OF_FAULTS)]
    for number, fault in enumerate(itertools.chain(*rounds)):
        decisions = int(rng.integers(1, 120)) if number >= len(FAULTS) else 1
        patience = "0.5" if fault in NEEDS_SHORT_PATIENCE else "30"
        program = f"cmd:{sys.executable} -S -E {path} '{fault}' {decisions} {pids}"
        hands, games = (str(2 * rng.integers(1, 12)), str(2 * rng.integers(2)))
        words = [program, "--opponent", "greedy", "--hands", hands, "--games", games]
        began = time.monotonic()
        status = cli_evaluate.main([*words, "--time-limit", patience])
        slowest = max(slowest, time.monotonic() - began)
        told = " ".join(capsys.readouterr().err.split())
        story = f"{fault} after {decisions} decisions, {hands} hands: status {status}, {told}"
        wanted = FAULTS[fault]
        # A program that shall fail late may be through with its games before.
        assert status == (0 if wanted is None else 1) or (status == 0 and decisions > 1), story
        if status:
            assert re.search(wanted, told), story
            assert "request: {" in told and "Traceback" not in told, story
        seen[fault, status] += 1
        for pid in pids.iterdir():
            assert ends(int(pid.name)), f"{story}: a process lives on"
            pid.unlink()
        if threads is None:
            threads, descriptors = threading.active_count(), len(os.listdir("/proc/self/fd"))
    for (fault, status), count in sorted(seen.items()):
        print(f"{fault}: {count} ended with status {status}")
    print(f"{sum(seen.values())} programs, the longest evaluation {slowest:.1f} s")
    assert threading.active_count() <= threads
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    assert {fault for fault, status in seen if status} == {f for f in FAULTS if FAULTS[f]}
