"""Uniform random legal actions."""

import numpy as np
import pytest
from scipy import stats

from ginenv.uniform import random_actions


@pytest.mark.parametrize("num_actions", [1, 2, 63, 64, 65, 107, 108, 128])
def test_only_true_places_are_chosen(num_actions):
    rng = np.random.default_rng(num_actions)
    for share in (0.02, 0.5, 1.0):
        mask = rng.random((2_000, num_actions)) < share
        mask[np.arange(2_000), rng.integers(num_actions, size=2_000)] = True
        chosen = random_actions(mask, rng)
        assert mask[np.arange(2_000), chosen].all()


def test_a_single_true_place_is_always_chosen():
    assert (random_actions(np.eye(108, dtype=bool), np.random.default_rng(0)) == range(108)).all()


def test_every_true_place_is_equally_likely():
    rng = np.random.default_rng(1)
    for count in (2, 9, 22, 108):
        legal = rng.choice(108, count, replace=False)
        mask = np.zeros((50_000, 108), dtype=bool)
        mask[:, legal] = True
        seen = np.bincount(random_actions(mask, rng), minlength=108)
        assert seen.sum() == seen[legal].sum()
        assert stats.chisquare(seen[legal]).pvalue > 1e-4


def test_no_rows():
    assert random_actions(np.zeros((0, 108), dtype=bool), np.random.default_rng(0)).shape == (0,)
