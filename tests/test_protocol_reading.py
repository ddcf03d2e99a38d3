"""Lines from the other side of the protocol: a right value, or an error that says where."""

import io
import json

import numpy as np
import pytest

from agents import external, protocol, protocol_reading
from agents.protocol_reading import LONGEST_LINE, BadAnswer
from ginenv import engine, opponents
from ginenv.rules import Rules
from ginenv.view import view


def requests(num_games=4):
    """What a program is asked in the middle of some games, as it reads it."""
    rng = np.random.default_rng(0)
    state = engine.deal(rng, num_games)
    for moment in range(num_games):
        actions = opponents.random_legal(view(state), rng)
        actions[:moment] = -1
        engine.step(state, actions)
    return json.loads(json.dumps(protocol.decisions(view(state))))


WAITING = {request["game"]: request for request in requests()}
LEGAL = {"game": 1, "action": WAITING[1]["legal"][0]}


def test_a_good_answer():
    game, action = protocol_reading.read_answer(json.dumps(LEGAL).encode() + b"\n", WAITING)
    assert (game, protocol.action_name(action)) == (1, LEGAL["action"])


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"", "breaks off"),
        (b'{"game": 1, "action": "draw"}', "breaks off"),
        (b"x" * (LONGEST_LINE + 1), f"more than {LONGEST_LINE} bytes"),
        (b"\n", "no JSON"),
        (b"\xff\xfe{}\n", "no JSON"),
        (b"\x00\n", "no JSON"),
        (b"[" * 60_000 + b"\n", "no JSON"),
        (b"1" * 60_000 + b"\n", "no JSON"),
        (b"NaN\n", "no object"),
        (b'["game", "action"]\n', "no object"),
        (b'{"game": 1}\n', "no object"),
        (b'{"game": NaN, "action": "draw"}\n', "game nan"),
        (b'{"game": 1.0, "action": "draw"}\n', "game 1.0"),
        (b'{"game": true, "action": "draw"}\n', "game True"),
        (b'{"game": 99, "action": "draw"}\n', "game 99"),
        (b'{"game": [[[[1]]]], "action": "draw"}\n', "game [[[[1]]]]"),
        (b'{"game": 1, "action": 104}\n', "chose 104"),
        (b'{"game": 1, "action": ["draw"]}\n', "chose ['draw']"),
        (b'{"game": 1, "action": "Draw"}\n', "chose 'Draw'"),
        (b'{"game": 1, "action": "' + b"d" * 60_000 + b'"}\n', "chose 'ddd"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_an_answer_that_cannot_be_used(line, complaint):
    with pytest.raises(BadAnswer) as caught:
        protocol_reading.read_answer(line, WAITING)
    assert complaint in str(caught.value)
    assert len(str(caught.value)) < 2_000


def changed(**changes):
    return [{**requests()[2], **changes}]


HAND = requests()[2]["hand"]
NOT_IN_HAND = next(card for card in ("2s", "2h", "2d") if card not in HAND)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"hand": HAND[:-1]}, "hand has"),
        ({"hand": [f"{rank}{suit}" for suit in "shdc" for rank in "A23456789TJQK"]}, "hand has 52"),
        ({"hand": [HAND[0], HAND[0], *HAND[2:]]}, "hand has a card twice"),
        ({"hand": "5s"}, "hand must be a list of cards"),
        ({"hand": [5] * 10}, "hand must be a list of cards"),
        ({"hand": None}, "hand must be a list of cards"),
        ({"pile": ["5x"]}, "'5x' is no card"),
        ({"pile": ["5s 6s"]}, "'5s 6s' is no card"),
        ({"pile": [HAND[0]]}, "a card is in two of"),
        ({"opponent_known": [HAND[0]]}, "a card is in two of"),
        ({"upcard": HAND[0]}, "a card is in two of"),
        ({"upcard": 3}, "upcard must be a card or null"),
        (
            {"drawn": next(c for c in ("2s", "2h", "2d") if c not in HAND)},
            "drawn must be a card of a hand to discard from",
        ),
        ({"phase": "over"}, "phase must be one of upcard, forced_draw, draw, discard"),
        ({"phase": ["draw"]}, "phase must be one of"),
        ({"stock_size": 32}, "stock_size must be a whole number 0 to 31, got 32"),
        ({"stock_size": float("nan")}, "stock_size must be a whole number"),
        ({"turn": -1}, "turn must be"),
        ({"turn": True}, "turn must be"),
        ({"knock_limit": 10**400}, "knock_limit must be"),
        ({"seat": 2}, "seat must be"),
        ({"game": "1"}, "game must be"),
        ({"game": 2**64}, "game must be"),
        ({"scores": [1]}, "scores must be two numbers"),
        ({"scores": [1, 2**40]}, "scores must be a whole number"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_request_with_a_wrong_value_is_named(changes, complaint):
    with pytest.raises(ValueError) as caught:
        protocol_reading.read_view(changed(**changes), Rules())
    assert complaint in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("field", [*protocol.BOARDS, *protocol.NUMBERS, *protocol.CARDS, "game"])
def test_a_request_without_a_field_is_named(field):
    (request,) = changed()
    del request[field]
    with pytest.raises(ValueError, match=field):
        protocol_reading.read_view([request], Rules())


@pytest.mark.parametrize(
    "hello",
    [
        {"protocol": True, "rules": {}},
        {"protocol": 2, "rules": {}},
        {"rules": {}},
        {"protocol": 1},
        {"protocol": 1, "rules": []},
        {"protocol": 1, "rules": {"trumps": 3}},
        {"protocol": 1, "rules": {"knock_limit": "ten"}},
        {"protocol": 1, "rules": {"knock_limit": 11}},
    ],
    ids=str,
)
def test_a_hello_that_is_none(hello):
    with pytest.raises(ValueError, match=r"protocol|rules|Rules"):
        protocol_reading.read_rules(hello)


class Flood(io.RawIOBase):
    """Bytes without end, and how many of them were read."""

    def __init__(self, text):
        self.text, self.read_so_far = text, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        size = len(buffer)
        buffer[:] = (self.text * (size // len(self.text) + 1))[:size]
        self.read_so_far += size
        return size


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"x", f"a line of more than {LONGEST_LINE} bytes"),
        (b"\n", "no JSON"),
        (b"{}\n", "no object with a type"),
        (b'{"type": "decision", "more": 1}\n', "at most 100000 requests"),
    ],
)
def test_a_flood_is_not_collected(text, complaint):
    flood = Flood(text)
    with pytest.raises(ValueError, match=complaint):
        external.serve(opponents.random_legal, 0, io.BufferedReader(flood), io.BytesIO())
    assert flood.read_so_far < 10_000_000


def test_messages_of_kinds_to_come_are_passed_over():
    source = io.BytesIO(b'{"type": "applause"}\n' + protocol.lines(requests()[-1:]))
    sink = io.BytesIO()
    external.serve(opponents.random_legal, 0, source, sink)
    game, _ = protocol_reading.read_answer(sink.getvalue(), WAITING)
    assert game == 3
