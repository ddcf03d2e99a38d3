"""Bradley-Terry ratings against closed forms, and their bootstrap."""

import math

import numpy as np
import pytest

from agents.ratings import PRIOR, rate, strengths

TWO_PLAYERS = [(70, 30), (99.5, 0.5), (50, 50), (200, 0)]


@pytest.mark.parametrize(("won", "lost"), TWO_PLAYERS)
def test_two_players_differ_by_the_log_of_the_odds(won, lost):
    # The likelihood of p = 1 / (1 + e^-d) is greatest at the share of wins, the prior's included.
    wins = np.array([[0, won], [lost, 0]], dtype=float)
    found = strengths(wins, wins + wins.T)
    assert found[0] - found[1] == pytest.approx(math.log((won + PRIOR) / (lost + PRIOR)))


def test_ten_to_one_are_400_points():
    won = np.repeat([2.0, 0.0], [1000, 100])
    ratings = rate({(0, 1): won}, 2, anchor=1, num_resamples=10)
    assert ratings.rating[1] == 1000
    assert ratings.rating[0] == pytest.approx(1400, abs=1)


def test_strengths_are_found_again_from_their_own_expectations():
    true = np.array([0.0, -1.0, 0.5, 2.0])
    played = 1e7 * (1 - np.eye(4))
    wins = played / (1 + np.exp(true[None, :] - true[:, None]))
    assert strengths(wins, played) == pytest.approx(true, abs=1e-5)


def test_a_third_player_connects_two_who_never_met():
    wins = np.array([[0, 75, 0], [25, 0, 75], [0, 25, 0]], dtype=float)
    found = strengths(wins, wins + wins.T)
    one_step = math.log((75 + PRIOR) / (25 + PRIOR))
    assert found == pytest.approx([0, -one_step, -2 * one_step])


def test_one_sided_pairings_stay_finite():
    won = np.full(500, 2.0)
    ratings = rate({(0, 1): won, (1, 2): won, (0, 2): won}, 3, anchor=1, num_resamples=50)
    assert np.isfinite(ratings.rating).all()
    assert ratings.rating[0] > 1800 > 1000 > 200 > ratings.rating[2]


def test_players_who_never_met_have_no_ratings():
    won = np.array([1.0, 2.0])
    with pytest.raises(ValueError, match="all compared"):
        rate({(0, 1): won, (2, 3): won}, 4)


def test_without_an_anchor_the_mean_is_1000():
    rng = np.random.default_rng(0)
    pairs = {(i, j): rng.integers(3, size=50).astype(float) for i in range(3) for j in range(i)}
    ratings = rate(pairs, 3, num_resamples=20)
    assert ratings.rating.mean() == pytest.approx(1000)


def test_the_bootstrap_interval_is_as_wide_as_theory_says():
    # A log odds from m independent pairs of which the first player won the share p: its standard
    # error is 1 / sqrt(m p (1 - p)).
    rng = np.random.default_rng(3)
    won = 2.0 * (rng.random(2000) < 0.6)
    ratings = rate({(0, 1): won}, 2, anchor=1, num_resamples=2000)
    width = 400 / math.log(10) * 2 * 1.96 / math.sqrt(2000 * 0.6 * 0.4)
    assert ratings.high[0] - ratings.low[0] == pytest.approx(width, rel=0.1)
    assert ratings.low[0] < ratings.rating[0] < ratings.high[0]
    assert ratings.low[1] == ratings.high[1] == 1000


def test_the_same_seed_gives_the_same_intervals():
    won = np.random.default_rng(0).integers(3, size=100).astype(float)
    one, again = (rate({(0, 1): won}, 2, num_resamples=30, seed=5) for _ in range(2))
    assert np.array_equal(one.low, again.low)
