"""Intervals against computations by hand and by scipy."""

import math

import numpy as np
import pytest
from scipy import stats

from agents.tally import Tally, mean_estimate, share_estimate


def test_the_interval_of_a_mean_by_hand():
    # 1, 2, 3, 4: mean 2.5, variance 5/3, standard error sqrt(5/12)
    estimate = mean_estimate(np.array([1.0, 2.0, 3.0, 4.0]))
    assert estimate.mean == 2.5
    assert estimate.half_width == pytest.approx(1.959964 * math.sqrt(5 / 12), rel=1e-6)
    assert estimate.low == pytest.approx(2.5 - 1.2651516, rel=1e-6)


def test_one_sample_tells_nothing_about_its_spread():
    estimate = mean_estimate(np.array([3.0]))
    assert estimate.mean == 3
    assert estimate.half_width == math.inf


def test_the_interval_covers_the_mean_in_95_of_100_samples():
    rng = np.random.default_rng(0)
    found = [mean_estimate(rng.normal(size=200)) for _ in range(2000)]
    covered = np.mean([estimate.low < 0 < estimate.high for estimate in found])
    assert covered == pytest.approx(0.95, abs=0.015)


def test_a_share_of_independent_games_has_wilsons_interval():
    # 60 of 100 pairs won outright, 40 lost: as many independent games as pairs, but for the
    # sample variance's 100 / 99.
    estimate = share_estimate(np.repeat([1.0, 0.0], [60, 40]))
    wilson = stats.binomtest(60, 100).proportion_ci(method="wilson")
    assert estimate.mean == 0.6
    assert estimate.low == pytest.approx(wilson.low, abs=1e-3)
    assert estimate.high == pytest.approx(wilson.high, abs=1e-3)


def test_games_that_cancel_in_pairs_leave_no_doubt():
    estimate = share_estimate(np.full(50, 0.5))
    assert (estimate.low, estimate.mean, estimate.high) == (0.5, 0.5, 0.5)


def test_all_games_won_is_no_certainty():
    estimate = share_estimate(np.ones(50))
    wilson = stats.binomtest(100, 100).proportion_ci(method="wilson")
    assert estimate.mean == 1
    assert estimate.low == pytest.approx(wilson.low)
    assert estimate.high == 1


def test_pairs_make_the_interval_narrower_than_as_many_single_games():
    rng = np.random.default_rng(1)
    first = rng.random(1000) < 0.5
    paired = share_estimate((first + ~first ^ (rng.random(1000) < 0.1)) / 2)
    single = share_estimate(rng.binomial(2, 0.5, size=1000) / 2)
    assert paired.half_width < single.half_width


def test_nothing_has_no_mean_and_units_do_not_mix():
    with pytest.raises(ValueError, match="no samples"):
        mean_estimate(np.zeros(0))
    with pytest.raises(ValueError, match="no games"):
        share_estimate(np.zeros(0))
    with pytest.raises(ValueError, match="do not mix"):
        Tally.merge([Tally.empty("hand", 1), Tally.empty("match", 1)])
    with pytest.raises(ValueError, match="nothing to merge"):
        Tally.merge([])
    with pytest.raises(ValueError, match="from hands"):
        _ = Tally.empty("match", 2).points_a_hand


def test_points_of_a_hand_are_the_mean_of_its_pair():
    tally = Tally.empty("hand", 2)
    tally.points[:] = [[10, -4], [-30, 20]]
    assert tally.points_a_hand.mean == -1
    assert tally.points_a_hand.half_width == pytest.approx(1.959964 * 4, rel=1e-6)
