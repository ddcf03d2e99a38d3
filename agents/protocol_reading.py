"""Lines of the protocol for outside programs, read as data that anyone may have written.

`read_answer` is our side's: what a program answered.  `read_message`, `read_rules` and `read_view`
are the program's side, for our own policies at another's table.  A line is bounded, each value is
checked, and what is wrong is a ``ValueError`` that says where.
"""

from __future__ import annotations

import functools
import json
import operator
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agents.protocol import BOARDS, CARDS, NUMBERS, PROTOCOL, Message
from ginenv import cards
from ginenv.cards import BITBOARD, NO_CARD
from ginenv.rules import HAND_SIZE, Phase, Rules, parse_action
from ginenv.view import View

LONGEST_LINE = 65_536  # bytes of a message or an answer

_RANGES = {
    "stock_size": (0, 31),
    "turn": (0, 10_000),
    "knock_limit": (0, 10),
    "dealer": (0, 1),
    "seat": (0, 1),
}
_PHASES = {phase.name.lower(): int(phase) for phase in Phase if phase != Phase.OVER}

# What a `View` is made of: each field's dtype, and its shape after N.
_COLUMNS: dict[str, tuple[Any, tuple[int, ...]]] = {
    **dict.fromkeys(BOARDS, (BITBOARD, ())),
    **dict.fromkeys((*CARDS, *NUMBERS, "phase"), (np.int8, ())),
    "turn": (np.int16, ()),
    "scores": (np.int32, (2,)),
    "game_id": (np.int64, ()),
}

_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = 100


class BadAnswer(ValueError):
    """An answer that cannot be used.

    Attributes:
        game: the game that it is about; None if it is not known which.
    """

    def __init__(self, what: str, game: int | None = None) -> None:
        self.game = game
        super().__init__(what)


def read_answer(line: bytes, waiting: Mapping[int, Message]) -> tuple[int, int]:
    """The game and action that a program's line names.

    Args:
        line: as it was read, its end included.
        waiting: the requests that it may answer, by game.

    Raises:
        BadAnswer: if it is cut off or too long, or names no legal action of such a game.
    """
    if not line.endswith(b"\n"):
        long = len(line) > LONGEST_LINE
        what = f"of more than {LONGEST_LINE} bytes" if long else "that breaks off"
        raise BadAnswer(f"wrote a line {what}")
    try:
        answer = json.loads(line.decode("utf-8", errors="replace"))
    except (ValueError, RecursionError):
        raise BadAnswer("wrote a line that is no JSON") from None
    if not isinstance(answer, dict) or not {"game", "action"} <= answer.keys():
        raise BadAnswer("wrote a line that is no object with game and action")
    game, name = answer["game"], answer["action"]
    if type(game) is not int or game not in waiting:
        raise BadAnswer(
            f"answered for game {_brief.repr(game)}, which is not waiting for an answer"
        )
    legal = waiting[game]["legal"]
    if not isinstance(name, str) or name not in legal:
        what = f"chose {_brief.repr(name)}, which is not legal; legal is: "
        raise BadAnswer(what + ", ".join(legal), game)
    return game, parse_action(name)


def read_message(line: bytes) -> Message:
    """The message that a line holds, as the program's side reads it.

    Raises:
        ValueError: if the line is cut off or too long, or is no JSON object with a type.
    """
    if len(line) > LONGEST_LINE:
        raise ValueError(f"a line of more than {LONGEST_LINE} bytes")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError(f"a line that is no JSON: {_brief.repr(line)}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ValueError(f"a line that is no object with a type: {_brief.repr(message)}")
    return message


def read_rules(message: Message) -> Rules:
    """The rules that a `hello` tells.

    Raises:
        ValueError: if it speaks another version of the protocol, or its rules are none.
    """
    version, rules = message.get("protocol"), message.get("rules")
    if type(version) is not int or version != PROTOCOL:
        raise ValueError(
            f"the other side speaks protocol {_brief.repr(version)}, this one {PROTOCOL}"
        )
    if not isinstance(rules, dict):
        raise ValueError(f"rules must be an object, got {_brief.repr(rules)}")
    try:
        return Rules(**rules)
    except TypeError as error:
        raise ValueError(f"rules: {error!s:.200}") from None


def read_view(requests: Sequence[Message], rules: Rules) -> View:
    """The view that M requests were made of.

    Raises:
        ValueError: if one of them lacks a field, or has a value that no view has; names both.
    """
    read = [_read_request(request) for request in requests]
    columns: dict[str, Any] = {
        field: np.array([row[field] for row in read], dtype=dtype).reshape(-1, *shape)
        for field, (dtype, shape) in _COLUMNS.items()
    }
    seen = columns["hand"] | columns["opponent_known"] | columns["pile"]
    seen |= cards.bit_of(columns["upcard"])
    return View(
        **columns,
        unseen=cards.FULL_DECK & ~seen,
        to_move=np.ones(len(read), dtype=bool),
        rules=rules,
    )


def _read_request(request: Message) -> dict[str, Any]:
    """The fields of a view that a request tells, each checked."""
    row: dict[str, Any] = {field: _board(request, field) for field in BOARDS}
    row |= {field: _card(request, field) for field in CARDS}
    row |= {field: _number(request.get(field), field, *_RANGES[field]) for field in NUMBERS}
    row["game_id"] = _number(request.get("game"), "game", 0, 2**62)
    scores = request.get("scores")
    if not isinstance(scores, list) or len(scores) != 2:
        raise ValueError(f"scores must be two numbers, got {_brief.repr(scores)}")
    row["scores"] = [_number(score, "scores", 0, 2**30) for score in scores]
    phase = request.get("phase")
    if not isinstance(phase, str) or phase not in _PHASES:
        raise ValueError(f"phase must be one of {', '.join(_PHASES)}, got {_brief.repr(phase)}")
    row["phase"] = _PHASES[phase]

    discarding = row["phase"] == Phase.DISCARD
    hand, drawn = row["hand"], row["drawn"]
    if hand.bit_count() != HAND_SIZE + discarding:
        raise ValueError(f"hand has {hand.bit_count()} cards, in phase {phase}")
    if drawn != NO_CARD and not (discarding and hand & int(cards.CARD_BIT[drawn])):
        raise ValueError(f"drawn must be a card of a hand to discard from, got {request['drawn']}")
    upcard = 0 if row["upcard"] == NO_CARD else int(cards.CARD_BIT[row["upcard"]])
    places = [hand, row["pile"], row["opponent_known"], upcard]
    if sum(places) != functools.reduce(operator.or_, places):
        raise ValueError("a card is in two of hand, pile, opponent_known and upcard")
    return row


def _number(value: Any, field: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise ValueError(
            f"{field} must be a whole number {low} to {high}, got {_brief.repr(value)}"
        )
    return value


def _card(request: Message, field: str) -> int:
    text = request.get(field)
    if text is None and field in request:
        return NO_CARD
    if not isinstance(text, str):
        raise ValueError(f"{field} must be a card or null, got {_brief.repr(text)}")
    return cards.card(text)


def _board(request: Message, field: str) -> int:
    names = request.get(field)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{field} must be a list of cards, got {_brief.repr(names)}")
    held = [cards.card(name) for name in names]
    if len(set(held)) < len(held):
        raise ValueError(f"{field} has a card twice: {_brief.repr(names)}")
    return int(cards.pack(held))
