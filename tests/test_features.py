"""What the scripted bots look at, each number by its definition."""

import numpy as np
import pytest

from agents import features
from ginenv import cards, melds
from tests import brute
from tests.hands import meld_rich_hand
from tests.positions import position


def random_boards(rng, shape, share):
    return [frozenset(np.flatnonzero(rng.random(52) < share).tolist()) for _ in range(shape)]


def as_array(sets):
    return np.array([brute.bitboard(some) for some in sets], dtype=np.uint64)


def as_sets(boards):
    return [frozenset(cards.ids(board)) for board in boards]


THREES = [meld for meld in brute.MELDS if len(meld) == 3]


def test_meld_chances_are_the_expected_number_of_melds_of_three():
    rng = np.random.default_rng(41)
    chance = rng.random((5, 52))
    there = np.zeros((5, 4, 16), dtype=np.float32)
    there[:, :, :13] = chance.reshape(5, 4, 13)
    wanted = np.zeros((5, 52))
    for meld in THREES:
        for card in meld:
            wanted[:, card] += np.prod([chance[:, other] for other in meld - {card}], axis=0)
    np.testing.assert_allclose(features.by_card(features.meld_chances(there)), wanted, rtol=1e-5)


def test_patterns_by_definition():
    rng = np.random.default_rng(43)
    hands = random_boards(rng, 300, 0.2) + [meld_rich_hand(rng, 11) for _ in range(300)]
    completing, inside, near = [], [], []
    for hand in hands:
        completing.append({c for m in THREES if len(m - hand) == 1 for c in m - hand})
        inside.append({c for m in THREES if m <= hand for c in m})
        near.append(
            {
                other
                for c in hand
                for other in range(52)
                if (other % 13 == c % 13) or (other // 13 == c // 13 and abs(other - c) == 1)
            }
        )
    boards = as_array(hands)
    assert as_sets(features.completing(boards)) == completing
    assert as_sets(melds.meldable(boards)) == inside
    assert as_sets(features.near(boards)) == near
    marked = cards.planes(boards).astype(bool)
    assert np.array_equal(features.board(marked), boards)
    assert np.array_equal(features.by_card(features.plane(boards)), marked)


def test_gin_outs_by_definition():
    rng = np.random.default_rng(47)
    hands = [
        hand
        for hand in (meld_rich_hand(rng) for _ in range(400))
        if 0 < brute.least_deadwood(hand) <= 15
    ][:60]
    live = [
        frozenset(range(52)) - hand - other
        for hand, other in zip(hands, random_boards(rng, len(hands), 0.3), strict=True)
    ]
    wanted = [
        sum(any(brute.least_deadwood((hand | {c}) - {d}) == 0 for d in hand) for c in some)
        for hand, some in zip(hands, live, strict=True)
    ]
    assert features.gin_outs(as_array(hands), as_array(live)).tolist() == wanted
    assert sum(wanted) > 60


def test_what_the_opponent_holds():
    seen = position("As 2s 3s", took="7h", threw="Tc", pile="Tc", upcard="9d")
    chance = dict(zip(range(52), features.by_card(features.opponent_holds(seen))[0], strict=True))
    wanted = {
        "7h": 1,
        "As": 0,
        "Tc": 0,
        "9d": 0,
        "7c": 0.5,
        "8h": 0.5,
        "Jc": 0.1,
        "Th": 0.1,
        "Kd": 0.3,
        "5h": 0.3,
    }
    for card, value in wanted.items():
        assert chance[cards.card(card)] == pytest.approx(value), card
