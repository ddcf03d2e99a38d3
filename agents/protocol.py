"""What an outside program is told and answers: views and endings as JSON objects.

`docs/external-players.md` describes the protocol for those who write a program.  A message holds
what a `View` holds and nothing else, so a program knows exactly what our own policies know.
`agents.protocol_reading` is the way back.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.players import Ending
from ginenv import cards, melds
from ginenv.cards import NO_CARD, NUM_CARDS, BitboardArray
from ginenv.rules import NUM_ACTIONS, Phase, Result, Rules, action_name
from ginenv.view import View

PROTOCOL = 1  # rises when a message changes its meaning or loses a field; new fields do not count

Message = dict[str, Any]

# Sets of cards and numbers of a decision, named as in `View`.
BOARDS = (
    "hand",
    "pile",
    "opponent_known",
    "opponent_discards",
    "opponent_declined",
    "known_to_opponent",
    "own_discards",
    "own_declined",
)
NUMBERS = ("stock_size", "turn", "knock_limit", "dealer", "seat")
CARDS = ("upcard", "drawn")

_CARD_NAMES = np.array([cards.name(card) for card in range(NUM_CARDS)], dtype=object)
_ACTION_NAMES = np.array([action_name(action) for action in range(NUM_ACTIONS)], dtype=object)


def hello(rules: Rules) -> Message:
    """The first line: the version of the protocol and the rules of all that follows."""
    return {
        "type": "hello",
        "protocol": PROTOCOL,
        "game": "gin rummy",
        "rules": dataclasses.asdict(rules),
    }


def decisions(view: View) -> list[Message]:
    """One request for each of M rows, all of players to move.

    ``more`` says how many requests of the same batch follow at once, so that a program may wait
    for them and decide all together; it need not.
    """
    columns: dict[str, list[Any]] = {
        "game": view.game_id.tolist(),
        "seat": view.seat.tolist(),
        "phase": [Phase(phase).name.lower() for phase in view.phase.tolist()],
    }
    columns |= {field: _card_lists(getattr(view, field)) for field in BOARDS}
    columns |= {field: getattr(view, field).tolist() for field in NUMBERS}
    for field in CARDS:
        columns[field] = [
            None if card == NO_CARD else cards.name(card) for card in getattr(view, field).tolist()
        ]
    columns["scores"] = view.scores.tolist()
    columns["legal"] = _split(view.action_mask, _ACTION_NAMES)
    columns["more"] = list(range(len(view) - 1, -1, -1))
    rows = zip(*columns.values(), strict=True)
    return [{"type": "decision"} | dict(zip(columns, row, strict=True)) for row in rows]


def endings(view: View, ending: Ending) -> list[Message]:
    """One message for each of M hands that ended, as one seat of each is told."""
    return [_ending(view, ending, row) for row in range(len(view))]


def _ending(view: View, ending: Ending, row: int) -> Message:
    own, opponent = view.hand[row], ending.opponent_hand[row]
    result, knocker = Result(ending.result[row]), int(ending.knocker[row])
    own_melds, opponent_melds = melds.best_melds(own), melds.best_melds(opponent)
    layoffs: list[Message] = []
    if result in (Result.KNOCK, Result.UNDERCUT):
        laid_down, defender = (own_melds, opponent) if knocker == 0 else (opponent_melds, own)
        defending, laid_off, _ = melds.lay_out(laid_down, defender)
        if knocker == 0:
            opponent_melds = defending
        else:
            own_melds = defending
        layoffs = [
            {"on": _names(meld), "cards": _names(laid)}
            for meld, laid in zip(laid_down, laid_off, strict=True)
            if laid
        ]
    mine, theirs = ending.deadwood[row].tolist()
    return {
        "type": "hand_over",
        "game": int(view.game_id[row]),
        "seat": int(view.seat[row]),
        "result": result.name.lower(),
        "knocker": {0: "you", 1: "opponent", -1: None}[knocker],
        "points": int(ending.points[row]),
        "scores": view.scores[row].tolist(),
        "match_over": bool(ending.match_over[row]),
        "hand": _names(own),
        "melds": [_names(meld) for meld in own_melds],
        "deadwood": None if mine < 0 else mine,
        "opponent_hand": _names(opponent),
        "opponent_melds": [_names(meld) for meld in opponent_melds],
        "opponent_deadwood": None if theirs < 0 else theirs,
        "layoffs": layoffs,
    }


def lines(messages: Sequence[Message]) -> bytes:
    """Messages as they are sent: one line each."""
    return "".join(
        json.dumps(message, separators=(",", ":")) + "\n" for message in messages
    ).encode()


def answers(requests: Sequence[Message], actions: npt.NDArray[np.integer]) -> list[Message]:
    """What a program says to M requests, actions ``(M,)``."""
    return [
        {"game": request["game"], "action": action_name(action)}
        for request, action in zip(requests, actions.tolist(), strict=True)
    ]


def _card_lists(boards: BitboardArray) -> list[list[str]]:
    """The names of the cards in each bitboard, ``(M,)`` to M lists."""
    return _split(cards.planes(boards).astype(bool), _CARD_NAMES)


def _split(chosen: npt.NDArray[np.bool_], names: npt.NDArray[np.object_]) -> list[list[str]]:
    """The names that each row of ``(M, K)`` bool chooses among ``(K,)``."""
    rows, columns = np.nonzero(chosen)
    found = names[columns].tolist()
    ends = np.searchsorted(rows, np.arange(len(chosen) + 1)).tolist()
    return [found[ends[row] : ends[row + 1]] for row in range(len(chosen))]


def _names(board: int | np.uint64) -> list[str]:
    return cards.show(board).split()
