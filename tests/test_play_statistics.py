"""What is counted while two players play, against the same counts made slowly from records."""

import io
from collections import Counter

import numpy as np
import pytest

from agents.play_statistics import TURNS, PlayStatistics, Recorders
from agents.players import play, player
from ginenv import cards, melds
from ginenv.record import Record, Recorder, positions
from ginenv.rules import (
    DECLARE_BIG_GIN,
    DRAW_STOCK,
    KNOCK,
    PASS,
    TAKE_PILE,
    Phase,
    Result,
    Rules,
)
from tests.players import mixed

NAMES = ("ours", "theirs")


def played(rules, unit, a=mixed, b=mixed, num_pairs=12, names=NAMES):
    """The statistics, and the hands as they were recorded."""
    statistics, lines = PlayStatistics(*names, rules), io.StringIO()
    together = Recorders([statistics, Recorder(lines)])
    play(a, b, num_pairs, seed=1, rules=rules, unit=unit, recorder=together, names=names)
    return statistics, [Record.parse(line) for line in lines.getvalue().splitlines()]


def counted_slowly(records):
    """Each count by its place, one decision at a time."""
    found = Counter()
    for record in records:
        seat = record.players.index("ours")
        points = record.points[seat]
        winner = 2 if points == 0 else int(points < 0)
        found["points", points] += 1
        found["endings", winner, record.result] += 1
        states = list(positions(record))
        turns = [0, 0]
        for action, before, after in zip(record.actions, states, states[1:], strict=False):
            mover = int(before.player[0])
            side, turn = mover ^ seat, turns[mover]
            hand, card = int(before.hands[0, mover]), int(before.upcard[0])
            if action in (TAKE_PILE, PASS, DRAW_STOCK) and before.phase[0] != Phase.FORCED_DRAW:
                taken = int(action == TAKE_PILE)
                alone = int(melds.deadwood(np.uint64(hand))) + min(card % 13 + 1, 10)
                fits = int(melds.deadwood(np.uint64(hand) | cards.CARD_BIT[card])) < alone
                found["ranks", side, card % 13, taken] += 1
                if before.phase[0] == Phase.UPCARD:
                    found["upcard", side, int(mover == record.dealer), int(fits), taken] += 1
                else:
                    found["draws", side, turn, int(fits), taken] += 1
            if action < DRAW_STOCK or action == DECLARE_BIG_GIN:
                deadwood = int(melds.deadwood(after.hands[0, mover]))
                found["deadwood", side, turn, deadwood] += 1
                if deadwood <= before.knock_limit[0]:
                    found["chances", side, turn, deadwood] += 1
                if action < KNOCK:
                    found["thrown", side, turn, action % 13] += 1
                else:
                    found["knocks", side, turn, deadwood] += 1
                turns[mover] += 1
    return found


@pytest.mark.parametrize("unit", ["hand", "match"])
@pytest.mark.parametrize("rules", ["standard", "oklahoma"])
def test_every_count_against_slow_counts(rules, unit):
    num_pairs = 12 if unit == "hand" else 2
    statistics, records = played(Rules.preset(rules), unit, num_pairs=num_pairs)
    slow = counted_slowly(records)
    fast = Counter()
    for name in ("endings", "upcard", "draws", "ranks", "deadwood", "chances", "thrown", "knocks"):
        counts = getattr(statistics, name)
        fast.update({(name, *map(int, at)): int(counts[tuple(at)]) for at in np.argwhere(counts)})
    for place in np.flatnonzero(statistics.points):
        fast["points", int(place) - statistics.reach] = int(statistics.points[place])
    assert fast == slow
    assert statistics.hands == len(records)


def test_a_heat_map_adds_up_to_all_knocks():
    statistics, _ = played(Rules(), "hand", player("greedy"), player("easy"), num_pairs=200)
    for side in (0, 1):
        heat = statistics.knock_heat_map(side)
        assert heat.shape == (TURNS, 11)
        assert heat.sum() == pytest.approx(1)
        assert (statistics.knocks[side] <= statistics.chances[side]).all()
    rates = statistics.knock_rates()
    assert set(rates[np.isfinite(rates)]) == {1.0}  # greedy knocks whenever it can


def test_who_never_knocks_has_an_empty_heat_map():
    statistics = PlayStatistics("a", "b")
    assert statistics.knock_heat_map().sum() == 0
    assert np.isnan(statistics.knock_rates()).all()
    assert np.isnan(statistics.deadwood_quantiles()).all()
    assert statistics.turns_played() == 1


def test_quantiles_of_deadwood():
    statistics = PlayStatistics("a", "b")
    statistics.deadwood[0, 0, [3, 5, 40, 41]] = [10, 50, 35, 5]
    assert statistics.deadwood_quantiles((0.1, 0.25, 0.5, 0.95, 1.0))[0].tolist() == [
        3,
        5,
        5,
        40,
        41,
    ]


def test_endings_are_those_of_the_tally():
    statistics = PlayStatistics("ours", "theirs")
    crazy, greedy = player("crazy"), player("greedy")
    tally = play(crazy, greedy, 150, seed=4, recorder=statistics, names=NAMES)
    by_knocker = tally.endings.copy()
    by_knocker[[0, 1], Result.UNDERCUT] = by_knocker[[1, 0], Result.UNDERCUT]  # to the winner
    assert (statistics.endings == by_knocker).all()
    points = np.arange(-statistics.reach, statistics.reach + 1)
    assert statistics.points @ points == tally.points.sum()


def test_somebody_who_meets_himself_is_one_side():
    statistics, records = played(
        Rules(), "hand", player("greedy"), player("greedy"), 40, names=("ours", "ours")
    )
    assert statistics.num_sides == 1
    assert statistics.deadwood[1].sum() == 0
    turns = sum(sum(a < DRAW_STOCK or a == DECLARE_BIG_GIN for a in r.actions) for r in records)
    assert statistics.deadwood[0].sum() == turns
    won = sum(max(record.points) for record in records)
    assert statistics.points @ np.arange(-statistics.reach, statistics.reach + 1) == won
