"""Why the bots' thresholds are what they are: ``python -m agents.tune``.

Three tables, each from play with the seed that is printed:

* ``odds``: how often the opponent holds a card that nobody has shown, by what he took and threw
  next to it.  The constants of `agents.features` come from it.
* ``knocks``: what a knock gains over waiting.  Wherever the bot may knock it is made to wait for a
  turn; the knock is settled against the opponent's actual cards, and the hand played on from there
  is what waiting brought.  `Style.early_turns`, `late` and `hold` come from it.
* ``styles``: each threshold changed alone, in points a hand over paired deals against the bot as
  it is and against others: none of the changes should gain anywhere without losing elsewhere.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from agents import features
from agents.features import near
from agents.players import play
from agents.scripted import NOTHING, STYLES, Scripted, own_turn
from agents.tally import mean_estimate
from ginenv import cards, engine
from ginenv.cards import BitboardArray
from ginenv.engine import State
from ginenv.rules import Phase, Rules, settle
from ginenv.view import view

Samples = dict[str, npt.NDArray[np.float64]]

TABLES = ("odds", "knocks", "styles")
VARIATIONS: dict[str, tuple[float, ...]] = {
    "keep": (20.0, 30.0, 50.0, 70.0),
    "fade": (0.85, 0.95),
    "live": (0.15, 0.25),
    "melded": (0.0, 0.1, 0.4),
    "danger": (0.0, 3.0, 12.0),
    "reach": (10.0, 18.0, math.inf),
    "early_turns": (3, 4, 6, 7),
    "late": (0, 5, 7),
    "hold": (1, 3, 4, 52),
    "stock_low": (2, 6),
}


def odds(bot: Scripted, num_hands: int, seed: int) -> None:
    """Prints how often the opponent holds an unshown card, by the cards next to it."""
    spans = {"first 6 turns": (0, 6), "turns 6 to 11": (6, 12), "later": (12, 10_000)}
    held = {(what, span): np.zeros(2) for what in _kinds(*[_NO_CARDS] * 3) for span in spans}
    rng = np.random.default_rng(seed)
    state = engine.deal(rng, num_hands)
    while len(state):
        seen = view(state)
        his = state.hands[np.arange(len(state)), 1 - seen.seat]
        kinds = _kinds(seen.unseen, seen.opponent_known, seen.opponent_discards)
        for span, (first, end) in spans.items():
            turns = (seen.turn >= first) & (seen.turn < end) & (seen.phase == Phase.DISCARD)
            for what, board in kinds.items():
                some = board[turns]
                held[what, span] += cards.count(some & his[turns]).sum(), cards.count(some).sum()
        state = _play_on(state, bot(seen, rng))[0]
    print(f"{'the opponent holds':34}", *[f"{span:>14}" for span in spans], sep="")
    for what in _kinds(*[_NO_CARDS] * 3):
        shares = [held[what, span] for span in spans]
        print(f"{what:34}", *[f"{yes / max(of, 1):>14.2f}" for yes, of in shares], sep="")


def _kinds(
    unseen: BitboardArray, taken: BitboardArray, thrown: BitboardArray
) -> dict[str, BitboardArray]:
    near_taken, near_thrown = near(taken), near(thrown)
    return {
        "any unshown card": unseen,
        "one next to none of these": unseen & ~near_taken & ~near_thrown,
        "one next to a card that he took": unseen & near_taken & ~near_thrown,
        "one next to a card that he threw": unseen & near_thrown & ~near_taken,
        "one next to both": unseen & near_thrown & near_taken,
    }


def knocks(bot: Scripted, opponents: Sequence[str], num_hands: int, seed: int) -> None:
    """Prints what a knock gains over waiting, by the own turn and other circumstances."""
    found = [
        knock_or_wait(bot, Scripted(STYLES[name]), num_hands, seed + number)
        for number, name in enumerate(opponents)
    ]
    samples = {key: np.concatenate([some[key] for some in found]) for key in found[0]}
    turns = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 10), (11, 50)]
    print("points gained by a knock over waiting, by own turn (down) and")
    print("... live cards that would give gin (across)")
    _table(samples, turns, "outs", [(0, 0), (1, 1), (2, 2), (3, 3), (4, 52)])
    print("... deadwood, fewer than three such cards")
    few = {key: some[samples["outs"] < 3] for key, some in samples.items()}
    _table(few, turns, "deadwood", [(1, 2), (3, 5), (6, 8), (9, 10)])
    print("... cards known in the opponent's hand, fewer than three such cards")
    _table(few, turns, "taken", [(0, 0), (1, 1), (2, 2), (3, 10)])
    print("points gained by a knock over waiting, by the stock left (down) and deadwood (across)")
    spans = [(2, 3), (4, 5), (6, 7), (8, 11), (12, 31)]
    _table(samples, spans, "deadwood", [(1, 2), (3, 5), (6, 8), (9, 10)], down="stock")


def knock_or_wait(bot: Scripted, opponent: Scripted, num_hands: int, seed: int) -> Samples:
    """What knocking and what waiting brought, wherever the bot could knock in a random turn.

    Returns:
        By name, an array over the hands in which it could: ``turn``, ``deadwood``, ``outs``,
        ``taken`` and ``stock`` as they were, ``knock`` the points that the knock would have
        scored, ``wait`` those that the hand brought when it waited for this turn.
    """
    rng = np.random.default_rng(seed)
    rules = Rules(target_score=None)
    state = engine.deal(rng, num_hands, rules)
    hand, seats = np.arange(num_hands), rng.integers(2, size=num_hands)
    when = rng.integers(16, size=num_hands)
    names = ("turn", "deadwood", "outs", "taken", "stock", "knock", "wait")
    samples: Samples = {name: np.full(num_hands, np.nan) for name in names}
    waiter = Scripted(replace(bot.style, late=NOTHING, early_turns=0, stock_low=0))
    while len(state):
        seen = view(state)
        mine = np.flatnonzero(seen.seat == seats[hand])
        his = np.flatnonzero(seen.seat != seats[hand])
        actions = np.empty(len(state), dtype=np.int64)
        actions[his] = opponent(seen[his], rng)
        actions[mine] = bot(seen[mine], rng)
        least = seen.deadwood_after.min(axis=1)
        able = (seen.phase[mine] == Phase.DISCARD) & (own_turn(seen)[mine] == when[hand[mine]])
        now = mine[able & (least[mine] > 0) & (least[mine] <= seen.knock_limit[mine])]
        if now.size:
            some, games = seen[now], hand[now]
            actions[now] = waiter(some, rng)
            kept = some.hand ^ cards.CARD_BIT[actions[now]]
            knocker = some.hand ^ cards.CARD_BIT[some.deadwood_after.argmin(axis=1)]
            settled = settle(knocker, state.hands[now, 1 - some.seat], rules)
            samples["turn"][games] = own_turn(some)
            samples["deadwood"][games] = least[now]
            samples["outs"][games] = features.gin_outs(kept, some.unseen)
            samples["taken"][games] = cards.count(some.opponent_known)
            samples["stock"][games] = some.stock_size
            samples["knock"][games] = np.where(settled.knocker_wins, 1, -1) * settled.points
        state, points, over = _play_on(state, actions)
        ended = np.flatnonzero(over)
        samples["wait"][hand[ended]] = points[ended, seats[hand[ended]]]
        hand = hand[~over]
    could = ~np.isnan(samples["turn"])
    return {name: some[could] for name, some in samples.items()}


def styles(bot: str, opponents: Sequence[str], num_hands: int, seed: int) -> None:
    """Prints each threshold changed alone, in points a hand against the bot and against others."""
    base = STYLES[bot]
    print(f"{bot} with {'against ' + bot:>26}", *[f"{name:>15}" for name in opponents], sep="")
    changes = [(name, value) for name, values in VARIATIONS.items() for value in values]
    for name, value in [("keep", base.keep), *changes]:
        change: dict[str, Any] = {name: value}
        player = Scripted(replace(base, **change))
        line = f"{name + ' = ' + str(value):20}"
        for opponent in (bot, *opponents):
            result = play(player, Scripted(STYLES[opponent]), num_hands // 2, seed).points_a_hand
            line += f"{result.mean:+9.2f} ±{result.half_width:4.2f}"
        print(line, flush=True)


def _play_on(
    state: State, actions: npt.NDArray[np.int64]
) -> tuple[State, npt.NDArray[np.int16], npt.NDArray[np.bool_]]:
    """The games that go on after a step; the points ``(N, 2)`` and ends ``(N,)`` of all."""
    outcome = engine.step(state, actions)
    return state[~outcome.hand_over], outcome.points, outcome.hand_over


def _table(
    samples: Samples,
    rows: Sequence[tuple[int, int]],
    across: str,
    columns: Sequence[tuple[int, int]],
    down: str = "turn",
) -> None:
    def span(first: int, last: int) -> str:
        return str(first) if first == last else f"{first} to {last}"

    print(f"{down:>10}", *[f"{across + ' ' + span(*column):>20}" for column in columns], sep="")
    gain = samples["knock"] - samples["wait"]
    for low, high in rows:
        line = f"{span(low, high):>10}"
        for first, last in columns:
            cell = (samples[down] >= low) & (samples[down] <= high)
            cell &= (samples[across] >= first) & (samples[across] <= last)
            mean = mean_estimate(gain[cell]) if cell.sum() >= 10 else None
            line += f"{mean.mean:+9.1f} ±{mean.half_width:4.1f}{'':5}" if mean else f"{'':20}"
        print(line, flush=True)


_NO_CARDS = np.zeros(0, dtype=cards.BITBOARD)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables that the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m agents.tune", description="Why the bots' thresholds are what they are."
    )
    parser.add_argument("tables", nargs="*", metavar="table", help=f"of {', '.join(TABLES)}; all")
    parser.add_argument("--bot", choices=list(STYLES), default="crazy")
    parser.add_argument(
        "--opponents", nargs="+", choices=list(STYLES), default=["crazy", "hard", "patient"]
    )
    parser.add_argument("--hands", type=int, default=4000, help="hands behind a table or a figure")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    unknown = [table for table in options.tables if table not in TABLES]
    if unknown:
        parser.error(f"unknown table {unknown[0]!r}: choose of {', '.join(TABLES)}")
    if options.hands < 4:
        parser.error(f"--hands must be 4 or more, got {options.hands}")
    bot = Scripted(STYLES[options.bot])
    print(f"{options.bot}, seed {options.seed}, {options.hands:,} hands a table or figure")
    for table in options.tables or TABLES:
        print(f"\n{table}")
        if table == "odds":
            odds(bot, options.hands, options.seed)
        elif table == "knocks":
            knocks(bot, options.opponents, options.hands, options.seed)
        else:
            styles(options.bot, options.opponents, options.hands, options.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
