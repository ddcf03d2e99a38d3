"""A played hand as one line of JSON, and back.

A line holds all that it takes to play the hand again, and what came of it (shown here on several
lines)::

    {"format": 1, "rules": {"knock_limit": 10, ...}, "players": ["crazy", "greedy"],
     "deck": "5s Kd 9c ...", "dealer": 1, "scores": [0, 0],
     "actions": ["pass", "take", "discard Kd", "draw", "knock 9c"],
     "result": "KNOCK", "points": [-12, 12]}

``scores`` are the match scores before the hand and ``points`` what it brought each seat; the deck
is in the order of the deal.  ``players`` may be missing.
"""

from __future__ import annotations

import dataclasses
import json
import reprlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ginenv import cards
from ginenv.rules import NUM_ACTIONS, Result, Rules, action_name, parse_action

__all__ = ["FORMAT_VERSION", "Broken", "Record"]

FORMAT_VERSION = 1  # rises when a field or an action changes its meaning
LONGEST_LINE = 1_000_000  # characters; the longest hand that any rules allow takes 400,000


class Broken(ValueError):
    """Why a record breaks.

    Attributes:
        step: the action at which it breaks, from 1; None where it is not a matter of one action.
        reason: what is wrong.
    """

    def __init__(self, reason: str, step: int | None = None) -> None:
        self.reason, self.step = reason, step
        super().__init__(f"step {step}: {reason}" if step else reason)


@dataclass(frozen=True)
class Record:
    """One played hand.

    Attributes:
        rules: the rules it was played by.
        deck: 52 cards in the order of the deal.
        dealer: seat 0 or 1.
        scores: match points of both seats before the hand.
        actions: the numbers of the actions in turn, both seats'.
        result: how it ended.
        points: points that the hand brought each seat, zero-sum.
        players: who sat in seat 0 and in seat 1, where that is known.
    """

    rules: Rules
    deck: tuple[int, ...]
    dealer: int
    scores: tuple[int, int]
    actions: tuple[int, ...]
    result: Result
    points: tuple[int, int]
    players: tuple[str, str] | None = None

    def line(self) -> str:
        """The record as one line of JSON, without a line break."""
        about: dict[str, Any] = {"format": FORMAT_VERSION, "rules": _rules_as_dict(self.rules)}
        if self.players is not None:
            about["players"] = self.players
        about["deck"] = " ".join(map(_CARD_NAMES.__getitem__, self.deck))
        about["dealer"] = self.dealer
        about["scores"] = self.scores
        about["actions"] = list(map(_ACTION_NAMES.__getitem__, self.actions))
        about["result"] = self.result.name
        about["points"] = self.points
        return json.dumps(about)

    @classmethod
    def parse(cls, line: str) -> Record:
        """The record that a line of JSON holds; `check` plays it again.

        Raises:
            Broken: a ValueError, if the line is no record of this version.
        """
        return _parse(line)


_KEYS = {"format", "rules", "deck", "dealer", "scores", "actions", "result", "points"}


def _parse(line: str) -> Record:
    if len(line) > LONGEST_LINE:
        raise Broken(f"a line of more than {LONGEST_LINE} characters")
    try:
        about = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Broken(f"no JSON, or truncated: {error}") from None
    if not isinstance(about, dict) or "format" not in about:
        raise Broken("no record of a hand: a record is a JSON object with a format")
    version = about["format"]
    if type(version) is not int or version != FORMAT_VERSION:
        raise Broken(
            f"a record of format {reprlib.repr(version)}; this ginenv reads {FORMAT_VERSION}"
        )
    if about.keys() - {"players"} != _KEYS:
        differing = ", ".join(sorted((about.keys() - {"players"}) ^ _KEYS))
        raise Broken(f"fields missing or unknown: {differing:.300}")
    rules = _parsed_rules(about["rules"])
    target = rules.target_score
    scores = _two_integers(about, "scores")
    if min(scores) < 0 or (target is not None and max(scores) >= target):
        raise Broken(f"scores {list(scores)} are none of a match to {target} that is still on")
    players = about.get("players")
    if players is not None and not _is_list(players, str, 2):
        raise Broken(f"players must be two names, got {reprlib.repr(players)}")
    if not isinstance(about["result"], str) or about["result"] not in Result.__members__:
        raise Broken(f"result must be one of {', '.join(Result.__members__)}")
    if type(about["dealer"]) is not int or about["dealer"] not in (0, 1):
        raise Broken(f"dealer must be seat 0 or 1, got {reprlib.repr(about['dealer'])}")
    return Record(
        rules=rules,
        deck=_parsed_deck(about["deck"]),
        dealer=int(about["dealer"]),
        scores=scores,
        actions=_parsed_actions(about["actions"], rules),
        result=Result[about["result"]],
        points=_two_integers(about, "points"),
        players=(players[0], players[1]) if players is not None else None,
    )


def _parsed_rules(about: Any) -> Rules:
    names = {field.name for field in dataclasses.fields(Rules)}
    if not isinstance(about, dict):
        raise Broken(f"rules must be an object, got {reprlib.repr(about)}")
    if about.keys() != names:
        differing = ", ".join(sorted(about.keys() ^ names))
        raise Broken(f"rules of another version, fields missing or unknown: {differing:.300}")
    try:
        return Rules(**about)
    except (TypeError, ValueError) as error:
        raise Broken(str(error)) from None


def _parsed_deck(text: Any) -> tuple[int, ...]:
    try:
        deck = tuple(cards.card(word) for word in text.split())
    except (AttributeError, ValueError) as error:
        raise Broken(f"deck: {error!s:.300}") from None
    if sorted(deck) != list(range(cards.NUM_CARDS)):
        missing = sorted(set(range(cards.NUM_CARDS)) - set(deck))
        lacks = f", without {' '.join(map(cards.name, missing))}" if missing else ""
        raise Broken(f"deck must hold each of the 52 cards once, got {len(deck)} cards{lacks}")
    return deck


def _parsed_actions(names: Any, rules: Rules) -> tuple[int, ...]:
    if not _is_list(names, str):
        raise Broken("actions must be a list of texts such as 'draw' and 'discard Kd'")
    longest = 2 * rules.max_turns + 3
    if len(names) > longest:
        raise Broken(f"{len(names)} actions, a hand of these rules has at most {longest}")
    actions = []
    for step, name in enumerate(names, start=1):
        try:
            actions.append(_ACTION_OF_NAME.get(name, -1))
            if actions[-1] < 0:
                parse_action(name)
        except ValueError as error:
            raise Broken(f"{error!s:.300}", step) from None
    return tuple(actions)


def _two_integers(about: dict[str, Any], field: str) -> tuple[int, int]:
    values = about[field]
    if not _is_list(values, int, 2) or max(map(abs, values)) > 2**30:
        raise Broken(f"{field} must be two integers, got {reprlib.repr(values)}")
    return values[0], values[1]


def _is_list(values: Any, kind: type, length: int | None = None) -> bool:
    return (
        isinstance(values, list)
        and length in (None, len(values))
        and all(isinstance(value, kind) and not isinstance(value, bool) for value in values)
    )


@lru_cache(maxsize=16)
def _rules_as_dict(rules: Rules) -> dict[str, Any]:
    return dataclasses.asdict(rules)


_CARD_NAMES = [cards.name(card) for card in range(cards.NUM_CARDS)]
_ACTION_NAMES = [action_name(action) for action in range(NUM_ACTIONS)]
_ACTION_OF_NAME = {name: action for action, name in enumerate(_ACTION_NAMES)}
