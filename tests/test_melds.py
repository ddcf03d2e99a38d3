"""Deadwood, arrangements and layoffs against the verified cases and against brute force."""

import json
from pathlib import Path

import numpy as np
import pytest

from ginenv import melds
from tests import brute
from tests.hands import layoff_rich_hand, meld_rich_hand, random_hand

CASES = Path(__file__).parent / "cases"


def load(name):
    return [json.loads(line) for line in (CASES / name).read_text().splitlines()]


def hand_of(words):
    return brute.cards(" ".join(words))


def boards(hands):
    return np.array([brute.bitboard(hand) for hand in hands], dtype=np.uint64)


def three(some_melds):
    """Melds as `layoff` wants them: a row of three words, 0 where there is none."""
    row = [brute.bitboard(meld) for meld in some_melds]
    return np.array(row + [0] * (3 - len(row)), dtype=np.uint64)


def cards_in(word):
    return frozenset(c for c in range(52) if int(word) & brute.bitboard([c]))


def rich_hands(rng, count, size=10):
    return [meld_rich_hand(rng, size) for _ in range(count)]


# The brute force itself


def test_brute_force_knows_329_melds():
    assert len(brute.MELDS) == len(brute.IS_MELD) == 329
    assert sum(map(brute.is_set, brute.MELDS)) == 65


@pytest.mark.parametrize("case", load("hands.jsonl"), ids=lambda case: case["id"])
def test_brute_force_on_the_verified_hands(case):
    best = brute.best_arrangements(hand_of(case["cards"]))
    assert brute.deadwood_of(hand_of(case["cards"]), best[0]) == case["best_deadwood"]
    assert len(best) == case["n_best_arrangements"]


# Deadwood


@pytest.mark.parametrize("case", load("hands.jsonl"), ids=lambda case: case["id"])
def test_deadwood_of_the_verified_hands(case):
    hand = hand_of(case["cards"])
    assert melds.deadwood(boards([hand])).tolist() == [case["best_deadwood"]]
    if len(hand) == 11:
        after = melds.deadwood(boards([hand - {c} for c in sorted(hand)]))
        best = {c for c, left in zip(sorted(hand), after, strict=True) if left == after.min()}
        assert after.min() == case["best_after_discard"]
        assert best == hand_of(case["best_discards"])
        assert (case["best_deadwood"] == 0) == case["big_gin"]


def assert_deadwood(hands):
    found = melds.deadwood(boards(hands))
    assert found.dtype == np.int16
    assert found.shape == (len(hands),)
    wrong = [
        f"{brute.show(hand)}: {got}, not {brute.least_deadwood(hand)}"
        for hand, got in zip(hands, found, strict=True)
        if got != brute.least_deadwood(hand)
    ]
    assert not wrong


def test_deadwood_of_each_single_meld_is_zero():
    assert_deadwood([meld for meld in brute.MELDS if len(meld) <= 11])


@pytest.mark.parametrize("size", range(12))
def test_deadwood_of_hands_of_any_size_up_to_eleven(size):
    rng = np.random.default_rng(size)
    assert_deadwood([random_hand(rng, size) for _ in range(200)] + rich_hands(rng, 200, size))


def test_deadwood_of_random_hands():
    rng = np.random.default_rng(1)
    assert_deadwood([random_hand(rng) for _ in range(3000)])


def test_deadwood_of_meld_rich_hands():
    rng = np.random.default_rng(2)
    assert_deadwood(rich_hands(rng, 3000, 10) + rich_hands(rng, 3000, 11))


@pytest.mark.slow
def test_deadwood_of_very_many_hands():
    rng = np.random.default_rng(3)
    for size in (10, 11):
        assert_deadwood([random_hand(rng, size) for _ in range(50_000)])
        assert_deadwood(rich_hands(rng, 50_000, size))


def test_mean_deadwood_is_the_known_one():
    """The exact distribution over all ten-card hands has mean 56.569434 and deviation 13.7912."""
    rng = np.random.default_rng(4)
    hands = rng.permuted(np.tile(np.arange(52), (200_000, 1)), axis=1)[:, :10]
    bits = np.array([brute.bitboard([c]) for c in range(52)], dtype=np.uint64)
    found = melds.deadwood(np.bitwise_or.reduce(bits[hands], axis=1))
    assert abs(found.mean() - 56.569434) < 4 * 13.7912 / np.sqrt(len(hands))
    assert found.max() <= 98


# The knocker's arrangement


def assert_best_melds(hands):
    for hand in hands:
        found = melds.best_melds(np.uint64(brute.bitboard(hand)))
        wanted = tuple(sorted(map(brute.bitboard, brute.knockers_arrangement(hand))))
        assert tuple(map(int, found)) == wanted, brute.show(hand)


def test_most_cards_in_sets_among_equals():
    """Three runs or three sets: the sets."""
    hand = brute.cards("5s 6s 7s 5h 6h 7h 5d 6d 7d Ks")
    found = melds.best_melds(np.uint64(brute.bitboard(hand)))
    assert [brute.show(cards_in(meld)) for meld in found] == ["5s 5h 5d", "6s 6h 6d", "7s 7h 7d"]


def test_least_deadwood_goes_before_cards_in_sets():
    """The run holds the ten, which costs more than the two fives that miss their set."""
    hand = brute.cards("5s 6s 7s 8s 9s Ts 5h 5d")
    found = melds.best_melds(np.uint64(brute.bitboard(hand)))
    assert cards_in(np.bitwise_or.reduce(found)) == hand, "three fives and 6 to 10: nothing is left"


def test_smallest_words_among_equals():
    """A run of six may lie as one run or as two: the two begin with the smaller word."""
    found = melds.best_melds(np.uint64(brute.bitboard(brute.cards("As 2s 3s 4s 5s 6s"))))
    assert [brute.show(cards_in(meld)) for meld in found] == ["As 2s 3s", "4s 5s 6s"]


def test_no_meld_no_arrangement():
    hand = brute.cards("As 3s 5h 7h 9d Jd Kc 2c 4d 6s")
    assert melds.best_melds(np.uint64(brute.bitboard(hand))) == ()


def test_best_melds_of_random_and_meld_rich_hands():
    rng = np.random.default_rng(5)
    assert_best_melds([random_hand(rng) for _ in range(500)])
    assert_best_melds(rich_hands(rng, 1000, 10) + rich_hands(rng, 500, 11))


def test_best_melds_of_hands_all_in_melds():
    """Gin and Big Gin hands, where ties between arrangements are most frequent."""
    rng = np.random.default_rng(6)
    hands = [hand for size in (10, 11) for hand in rich_hands(rng, 5000, size)]
    assert_best_melds([hand for hand in hands if brute.least_deadwood(hand) <= 4])


# Layoffs


@pytest.mark.parametrize("case", load("knocks.jsonl"), ids=lambda case: case["id"])
def test_layoffs_of_the_verified_knocks(case):
    table = [hand_of(words) for words in case["knocker_melds"]]
    defender = boards([hand_of(case["defender_cards"])])
    assert melds.deadwood(defender).tolist() == [case["defender_deadwood_before_layoffs"]]
    if not (case["gin"] or case["big_gin"]):
        after = melds.layoff(three(table)[None], defender)
        assert after.tolist() == [case["defender_deadwood_after_layoffs"]]


def knocks(rng, count):
    """Knockers' melds beside defenders' hands, half of them with much to lay off."""
    while count:
        knocker = meld_rich_hand(rng)
        arrangements = list(brute.arrangements(knocker))
        table = arrangements[rng.integers(len(arrangements))]
        rest = brute.DECK - knocker
        if rng.integers(2):
            yield table, layoff_rich_hand(rng, table, deck=rest)
        else:
            yield table, meld_rich_hand(rng, deck=rest)
        count -= 1


def assert_layoffs(some_knocks):
    tables, defenders = zip(*some_knocks, strict=True)
    found = melds.layoff(np.array([three(table) for table in tables]), boards(defenders))
    assert found.dtype == np.int16
    assert found.shape == (len(tables),)
    for table, defender, got in zip(tables, defenders, found, strict=True):
        wanted, _ = brute.layoff(table, defender)
        story = f"{brute.show(defender)} on {' | '.join(map(brute.show, table))}"
        assert got == wanted, story


def test_layoffs_against_brute_force():
    assert_layoffs(list(knocks(np.random.default_rng(7), 2500)))


@pytest.mark.slow
def test_very_many_layoffs_against_brute_force():
    assert_layoffs(list(knocks(np.random.default_rng(8), 50_000)))


def test_the_place_of_an_empty_meld_does_not_matter():
    rng = np.random.default_rng(9)
    for table, defender in knocks(rng, 300):
        rows = np.array([rng.permutation(three(table)) for _ in range(4)])
        after = melds.layoff(rows, np.repeat(boards([defender]), 4))
        assert len(set(after.tolist())) == 1


def test_without_melds_on_the_table_nothing_can_be_laid_off():
    hands = rich_hands(np.random.default_rng(10), 500)
    after = melds.layoff(np.zeros((len(hands), 3), dtype=np.uint64), boards(hands))
    assert after.tolist() == [brute.least_deadwood(hand) for hand in hands]


def test_lay_out_lays_what_layoff_counts():
    """A legal layout that reaches the least deadwood with the fewest cards laid off."""
    for table, defender in knocks(np.random.default_rng(11), 1000):
        row = three(table)
        own, laid, deadwood = melds.lay_out(row, np.uint64(brute.bitboard(defender)))
        story = f"{brute.show(defender)} on {' | '.join(map(brute.show, table))}"
        own, laid = [cards_in(meld) for meld in own], [cards_in(word) for word in laid]
        assert all(meld in brute.IS_MELD for meld in own), story
        for word, cards_laid in zip(row, laid, strict=True):
            longer = cards_in(word) | cards_laid
            assert longer in brute.IS_MELD or not cards_laid, story
        used = [c for group in own + laid for c in group]
        assert len(used) == len(set(used)), f"a card lies twice: {story}"
        assert defender.issuperset(used), story
        left = brute.points(defender.difference(used))
        assert (left, sum(map(len, laid))) == brute.layoff(table, defender), story
        assert deadwood == left, story
