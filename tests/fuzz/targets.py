"""The loaders that are tried, each with good inputs, what is done to them, and what must hold."""

import io
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
import yaml

from agents import checkpoint, config, protocol, protocol_reading
from agents.checkpoint import CheckpointError
from agents.config import Config, ConfigError
from agents.network import Network, NetworkConfig
from agents.protocol_reading import BadAnswer
from agents.table.match import DamagedMatch, Match, Terms
from ginenv import cards, engine, opponents, record, soundness
from ginenv.record import Record, RecordError
from ginenv.rules import NUM_ACTIONS, Rules, action_name, parse_action
from ginenv.state import State
from ginenv.view import encode, view
from tests.fuzz import mutations

PLACE = Path("/dev/shm" if Path("/dev/shm").is_dir() else tempfile.gettempdir())


@dataclass(frozen=True)
class Target:
    """A loader.

    Attributes:
        name: what it is called on the command line.
        share: how many of the inputs are for it.
        refuses: the one kind of error that it may raise.
        make: its good inputs.
        mutate: makes a bad one of a good one: ``(rng, data, others)``.
        load: what is tried: reads an input, and fails if what comes out is not right.
    """

    name: str
    share: float
    refuses: type[Exception]
    make: Callable
    mutate: Callable
    load: Callable

    @cached_property
    def good(self):
        """The good inputs, made at the first use."""
        return self.make()

    def input(self, rng):
        """A mutated input."""
        return self.mutate(rng, rng.choice(self.good), self.good)


def games(num_games=3, steps=20):
    """Games in the middle of play."""
    rng = np.random.default_rng(0)
    state = engine.deal(rng, num_games)
    for _ in range(steps):
        outcome = engine.step(state, opponents.random_legal(view(state), rng))
        engine.redeal(state, outcome.hand_over, rng)
    return state


def go_on(state):
    """A sound state can be seen, and played on with any legal action."""
    soundness.check(state)
    if len(state):
        encode(view(state))
        legal = engine.legal_actions(state)
        engine.step(state, np.where(legal.any(axis=1), legal.argmax(axis=1), -1))
        soundness.check(state)


class Scratch:
    """A file in memory, for loaders that take a path."""

    def __init__(self, name):
        self._directory = tempfile.TemporaryDirectory(dir=PLACE)
        self.path = Path(self._directory.name) / name

    def __call__(self, data):
        self.path.write_bytes(data)
        return self.path


# Cards and actions as text


def make_texts():
    """Hands, and the names of all actions."""
    rng = np.random.default_rng(0)
    hands = [cards.show(cards.pack(rng.permutation(52)[:size])) for size in (0, 1, 7, 11, 52)]
    return [text.encode() for text in [*hands, *map(action_name, range(NUM_ACTIONS))]]


def load_text(data):
    """Both readers of text; what one takes, it writes again."""
    text = data.decode(errors="surrogateescape")
    try:
        board = cards.parse(text)
    except ValueError:
        action = parse_action(text)
        assert action_name(action) == text
    else:
        assert sorted(cards.show(board).split()) == sorted(text.split())
        assert int(cards.count(board)) == len(text.split())


# Records and saved matches


def make_records():
    """Finished hands under several rules."""
    lines = []
    for rules in (Rules(), Rules.preset("oklahoma"), Rules(target_score=None, max_turns=9)):
        file, rng = io.StringIO(), np.random.default_rng(1)
        state = engine.deal(rng, 4, rules)
        with record.Recorder(file, ("a", "b")) as recorder:
            for _ in range(150):
                actions = opponents.random_legal(view(state), rng)
                recorder.add(state, actions, engine.step(state, actions))
                engine.redeal(state, state.result > 0, rng)
        lines += file.getvalue().encode().splitlines()[:5]
    return lines


def load_record(data):
    """What is read plays, and is written and read again the same."""
    text = data.decode(errors="surrogateescape")
    for found in record.read(io.StringIO(text)):
        assert Record.parse(found.line()) == found


def make_matches():
    """A person's match in its second hand."""
    match = Match.start(Terms("normal", seed=3), dealer=0)
    rng = np.random.default_rng(2)
    for _ in range(70):
        if match.hand_over:
            match.deal_next()
        match.act(int(opponents.random_legal(view(match.state), rng)[0]))
    return [json.dumps(match.as_dict()).encode()]


def load_match(data):
    """As the storage reads it; what plays is saved again the same."""
    try:
        saved = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise DamagedMatch(str(error)) from None
    match = Match.from_dict(saved)
    assert Match.from_dict(match.as_dict()).as_dict() == match.as_dict()


# The protocol for outside programs


REQUESTS = json.loads(json.dumps(protocol.decisions(view(games()))))
WAITING = {request["game"]: request for request in REQUESTS}


def make_answers():
    """Every legal answer."""
    return [
        json.dumps({"game": game, "action": name}).encode() + b"\n"
        for game, request in WAITING.items()
        for name in request["legal"]
    ]


def mutate_answer(rng, data, others):
    """JSON, mostly with the end of the line still there."""
    mutated = rng.choice([mutations.some_json, mutations.some_bytes])(rng, data, others)
    return mutated if rng.random() < 0.1 else mutated + b"\n"


def load_answer(data):
    """An answer is refused, or names what is legal."""
    game, action = protocol_reading.read_answer(data, WAITING)
    assert action_name(action) in WAITING[game]["legal"]


def make_messages():
    """Requests and a hello."""
    return protocol.lines([*REQUESTS, protocol.hello(Rules())]).splitlines()


def load_message(data):
    """A program that reads it knows rules, or a view that it can decide by and tell again."""
    message = protocol_reading.read_message(data)
    if message["type"] == "hello":
        assert protocol.hello(protocol_reading.read_rules(message))["rules"].keys()
        return
    seen = protocol_reading.read_view([message], Rules())
    opponents.random_legal(seen, np.random.default_rng(0))
    (again,) = protocol.decisions(seen)
    assert all(sorted(again[field]) == sorted(message[field]) for field in protocol.BOARDS)
    assert all(again[field] == message[field] for field in protocol.NUMBERS)


# Files


STATE_FILE, COPY, CHECKPOINT_FILE, CONFIG_FILE = map(
    Scratch, ("games", "copy", "policy.pt", "some.yaml")
)


def make_states():
    """Games that were saved, few of them."""
    found = []
    for some in (games(), games()[:1], games()[:0]):
        some.save(STATE_FILE.path)
        found.append(STATE_FILE.path.read_bytes())
    return found


def load_state(data):
    """What is read is saved and read again the same, and can be played on."""
    state = State.load(STATE_FILE(data))
    state.save(COPY.path)
    assert State.load(COPY.path) == state
    go_on(state)


def make_checkpoints():
    """A small policy, and a run with all its parts."""
    generator = torch.Generator().manual_seed(1)
    with torch.random.fork_rng(devices=[]):
        network = Network(NetworkConfig(hidden_size=2, hidden_layers=1))
    policy = checkpoint.pack_policy(network, "float32")
    run = {
        **policy,
        "config": {"points_scale": 50.0},
        "state": checkpoint.pack_state(games()),
        "random": {
            "deal": checkpoint.pack_rng(np.random.default_rng(1)),
            "sample": generator.get_state(),
        },
        "counters": {"decisions": 10, "best": -1.5},
    }
    found = []
    for content in (policy, run):
        checkpoint.save(CHECKPOINT_FILE.path, content)
        found.append(CHECKPOINT_FILE.path.read_bytes())
    return found


def load_checkpoint(data):
    """What is read decides, and its games can be played on."""
    path = CHECKPOINT_FILE(data)
    content = checkpoint.load(path)
    if "state" in content:
        go_on(checkpoint.unpack_state(content["state"]))
    if isinstance(content.get("random"), dict):
        checkpoint.unpack_rng(content["random"].get("deal")).random(3)
    policy = checkpoint.load_policy(path)
    seen = view(games())
    assert policy(seen, np.random.default_rng(0)).shape == (len(seen),)


def make_configs():
    """The defaults, and shorter files."""
    every = config.dump(Config()).encode()
    return [
        every,
        b"seed: 3\nopponents: [greedy, crazy]\n",
        b"rules: straight\n",
        b"num_games: 4096",
    ]


def load_config(data):
    """What is read is written and read again the same."""
    found = config.load(CONFIG_FILE(data), {})
    assert Config(**yaml.safe_load(config.dump(found))) == found


TARGETS = {
    target.name: target
    for target in (
        Target("text", 0.44, ValueError, make_texts, mutations.some_bytes, load_text),
        Target("answer", 0.3, BadAnswer, make_answers, mutate_answer, load_answer),
        Target("message", 0.1, ValueError, make_messages, mutations.some_json, load_message),
        Target("record", 0.1, RecordError, make_records, mutations.some_json, load_record),
        Target("match", 0.01, DamagedMatch, make_matches, mutations.some_json, load_match),
        Target("state", 0.03, ValueError, make_states, mutations.some_zip, load_state),
        Target(
            "checkpoint",
            0.01,
            CheckpointError,
            make_checkpoints,
            mutations.some_zip,
            load_checkpoint,
        ),
        Target("config", 0.01, ConfigError, make_configs, mutations.some_yaml, load_config),
    )
}
