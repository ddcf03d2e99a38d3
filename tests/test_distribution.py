"""Dealt hands against exact counts over all 15,820,024,220 hands of ten cards.

``tests/truth/deadwood10_exact.csv`` has, for each deadwood from 0 to 100, how many hands have it.
The counts were found by exact enumeration, without any of this project's code.
"""

import contextlib
import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ginenv import engine, melds
from tests import brute

TRUTH = Path(__file__).parent / "truth" / "deadwood10_exact.csv"
AT_LEAST = 20  # expected hands in each class of the test; rarer deadwoods share a class


def exact_counts():
    with TRUTH.open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["deadwood"]) for row in rows] == list(range(101))
    return np.array([int(row["hands"]) for row in rows])


def sampled_counts(num_hands, seed, chunk=50_000):
    """Deadwood of the first player's and the second player's hands of many deals, (2, 101)."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((2, 101), dtype=int)
    for start in range(0, num_hands, chunk):
        hands = engine.deal(rng, min(chunk, num_hands - start)).hands
        for seat in (0, 1):
            counts[seat] += np.bincount(melds.deadwood(hands[:, seat]), minlength=101)
    return counts


def classes(expected):
    """Neighbouring deadwoods joined until each class expects enough hands: where each starts."""
    starts, gathered = [0], 0.0
    for deadwood, number in enumerate(expected):
        if gathered >= AT_LEAST and expected[deadwood:].sum() >= AT_LEAST:
            starts.append(deadwood)
            gathered = 0.0
        gathered += number
    return starts


def assert_distribution(num_hands, seed):
    """A chi-square test of either seat's hands; a right engine fails one seed in a thousand."""
    exact = exact_counts()
    expected = exact * (num_hands / exact.sum())
    starts = classes(expected)
    assert len(starts) > 70
    for seat, counts in enumerate(sampled_counts(num_hands, seed)):
        assert counts[exact == 0].sum() == 0
        sample = np.add.reduceat(counts, starts)
        test = stats.chisquare(sample, np.add.reduceat(expected, starts))
        assert test.pvalue > 0.0005, f"seat {seat}: {test}"


def test_the_exact_counts_are_of_all_hands():
    assert exact_counts().sum() == math.comb(52, 10) == 15_820_024_220


def test_dealt_hands_have_the_exact_distribution_of_deadwood():
    assert_distribution(200_000, seed=1)


@pytest.mark.slow
def test_two_million_dealt_hands_have_the_exact_distribution_of_deadwood():
    assert_distribution(2_000_000, seed=2)


def accepted(boards):
    """Those that the engine lets a knocker lay down as one meld."""
    found = set()
    for board in boards:
        table = np.array([[board, 0, 0]], dtype=np.uint64)
        with contextlib.suppress(ValueError):
            melds.layoff(table, np.zeros(1, dtype=np.uint64))
            found.add(int(board))
    return found


def test_the_melds_are_the_65_sets_and_264_runs():
    """Of any cards of one rank, and of all stretches in a suit, holes in them included."""
    one_rank = {brute.bitboard(13 * s + r for s in four) for r in range(13) for four in subsets(4)}
    one_suit = {
        brute.bitboard(13 * suit + rank for rank in ranks)
        for suit in range(4)
        for ranks in subsets(13)
        if len(ranks) <= 3 or max(ranks) - min(ranks) <= len(ranks)
    }
    sets = {brute.bitboard(meld) for meld in brute.MELDS if brute.is_set(meld)}
    runs = {brute.bitboard(meld) for meld in brute.MELDS if not brute.is_set(meld)}
    assert (len(sets), len(runs)) == (65, 264)
    assert accepted(one_rank) == sets
    assert accepted(one_suit) == {run for run in runs if run.bit_count() <= melds.MAX_HAND}


def subsets(size):
    """All subsets of range(size) that are not empty."""
    return [[i for i in range(size) if number >> i & 1] for number in range(1, 2**size)]
