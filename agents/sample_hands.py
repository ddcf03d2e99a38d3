"""A few hands of two players, picked for variety and laid out position by position.

For readers: the report steps through them, and `ginenv.replay.tell` writes one as text.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.players import Policy, play
from ginenv import cards
from ginenv.record import Record, Recorder, positions
from ginenv.rules import (
    DECLARE_BIG_GIN,
    DRAW_STOCK,
    KNOCK,
    PASS,
    STANDARD,
    TAKE_PILE,
    Phase,
    Result,
    Rules,
)
from ginenv.state import State
from ginenv.tabletop import Seat, table
from ginenv.view import view

PAIRS_TO_PICK_FROM = 64
LEAST_SHOWN = 0.005  # less likely actions are left out
_MOST_SHOWN = 8

Figures = dict[str, Any]


def sample_hands(
    policies: tuple[Policy, Policy],
    names: tuple[str, str],
    seed: int,
    rules: Rules = STANDARD,
    number: int = 12,
    num_pairs: int = PAIRS_TO_PICK_FROM,
) -> list[Record]:
    """Some of the hands of ``num_pairs`` decks, each played twice.

    They are picked in turn from each kind of ending of either player, so that rare endings are
    seen too; what is frequent, statistics tell better.
    """
    lines = io.StringIO()
    play(*policies, num_pairs, seed, rules, recorder=Recorder(lines), names=names)
    records = [Record.parse(line) for line in lines.getvalue().splitlines()]
    records.sort(key=lambda record: (record.deck, seat_of(record, names[0])))  # whatever the order
    kinds: dict[tuple[Result, int], list[Record]] = {}
    for record in records:
        won = int(np.sign(record.points[seat_of(record, names[0])]))
        kinds.setdefault((record.result, won), []).append(record)
    ordered = [kinds[kind] for kind in sorted(kinds)]
    by_turns = [kind[place] for place in range(number) for kind in ordered if place < len(kind)]
    return by_turns[:number]


def seat_of(record: Record, name: str) -> int:
    """Where somebody sits; seat 0 where both players have his name."""
    players = record.players or ("", "")
    return int(players[0] != name)


def laid_out(record: Record, names: tuple[str, str], policies: tuple[Policy, Policy]) -> Figures:
    """A hand as the report shows it, the player's side first.

    The player is side 0 and his opponent side 1, wherever they sit.  Each step is a position and
    the action that is played there; the last one has none.  Where a policy has ``explain``, its
    steps have the probabilities of its actions and its value of the position: in points where it
    says how many points a unit of reward are (``points_scale``).
    """
    seat = seat_of(record, names[0])
    states = list(positions(record))
    steps = [_position(state, seat) for state in states]
    for step, action, before, after in zip(
        steps[:-1], record.actions, states[:-1], states[1:], strict=True
    ):
        moved = int(before.player[0])
        gained = int(after.hands[0, moved]) & ~int(before.hands[0, moved])
        step["action"] = action
        step["says"] = _says(action, before, after)
        step["drawn"] = cards.ids(gained)
    for side, policy in enumerate(policies):
        if hasattr(policy, "explain"):
            _explain(steps, states, side, policy)
    points = record.points[seat]
    in_points = all(_points_scale(p) is not None for p in policies if hasattr(p, "explain"))
    return {
        "result": record.result.name.lower().replace("_", " "),
        "points": points,
        "dealer": record.dealer ^ seat,
        "winner": None if not points else int(points < 0),
        "turns": int(states[-1].turn[0]),
        "limit": int(states[0].knock_limit[0]),
        "unit": "points" if in_points else "the training's unit of reward",
        "steps": steps,
    }


def _position(state: State, seat: int) -> Figures:
    shown = table(state, viewer=seat, reveal=True)
    over = state.phase[0] == Phase.OVER
    return {
        "mover": None if over else int(state.player[0]) ^ seat,
        "turn": shown.turn,
        "phase": Phase(state.phase[0]).name.lower().replace("_", " "),
        "stock": shown.stock_size,
        "pile": state.pile[0, : state.pile_size[0]].tolist(),
        "down": int(state.face_down[0]),
        "hands": [
            _hand(side, int(state.known[0, place]))
            for side, place in ((shown.near, seat), (shown.far, 1 - seat))
        ],
    }


def _hand(side: Seat, known: int) -> Figures:
    return {
        "melds": side.melds,
        "loose": side.loose,
        "laid": side.laid_off,
        "known": cards.ids(known),
        "deadwood": side.deadwood,
    }


def _explain(steps: Sequence[Figures], states: Sequence[State], side: int, policy: Any) -> None:
    """Adds a side's probabilities and values to its steps, all of them asked at once."""
    asked = [number for number, step in enumerate(steps) if step["mover"] == side]
    if not asked:
        return
    probabilities, value = policy.explain(view(State.concatenate([states[n] for n in asked])))
    scale = _points_scale(policy) or 1.0
    for number, row, worth in zip(asked, probabilities, value, strict=True):
        likely = np.argsort(-row, kind="stable")[:_MOST_SHOWN]
        steps[number]["probabilities"] = [
            [int(action), round(float(row[action]), 4)]
            for action in likely
            if row[action] >= LEAST_SHOWN
        ]
        steps[number]["value"] = round(scale * float(worth), 3)


def _points_scale(policy: Any) -> float | None:
    """How many points its unit of value is worth, where it knows."""
    return getattr(policy, "points_scale", None)


def _says(action: int, before: State, after: State) -> str:
    """An action in words, with the card that came of it."""
    if action == PASS:
        return f"passes the upcard {_face(int(before.upcard[0]))}"
    if action == TAKE_PILE:
        return f"takes {_face(int(before.upcard[0]))} from the pile"
    if action == DRAW_STOCK:
        return f"draws {_face(int(after.deck[0, before.stock_start[0]]))} from the stock"
    if action == DECLARE_BIG_GIN:
        return "declares big gin"
    if action < KNOCK:
        return f"discards {_face(action)}"
    knocks = "goes gin" if after.result[0] == Result.GIN else "knocks"
    return f"{knocks}, {_face(action - KNOCK)} face down"


def _face(card: int) -> str:
    name = cards.name(card)
    return name[0].replace("T", "10") + "♠♥♦♣"["shdc".index(name[1])]
