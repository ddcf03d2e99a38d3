"""Long mixed play, with everything checked that must hold."""

import numpy as np
import pytest

from ginenv import engine
from ginenv.rules import PRESETS, Result, Rules
from ginenv.view import view
from tests.invariants import check_outcome, check_state
from tests.players import mixed

OTHER_HOUSES = [
    Rules(target_score=None, max_turns=12, stock_floor=0, gin_bonus=20, undercut_bonus=10),
    Rules(knock_limit=5, stock_floor=20, target_score=30, big_gin_bonus=50),
]
HOUSES = [*map(Rules.preset, PRESETS), *OTHER_HOUSES]


def play(rules, num_hands, num_games, seed):
    """Mixed play with all invariants checked at every step; gives the hands by their result."""
    rng = np.random.default_rng(seed)
    state = engine.deal(rng, num_games, rules)
    results = np.zeros(len(Result), dtype=int)
    check_state(state)
    while results.sum() < num_hands:
        before = state.copy()
        outcome = engine.step(state, mixed(view(state), rng))
        check_state(state)
        check_outcome(before, outcome, state)
        results += np.bincount(outcome.result[outcome.hand_over], minlength=len(Result))
        engine.redeal(state, outcome.hand_over, rng)
    return dict(zip(Result, results.tolist(), strict=True))


def missing(results, rules):
    """The ends that a house has and that did not happen."""
    possible = set(Result) - {Result.NONE}
    if not rules.big_gin:
        possible -= {Result.BIG_GIN}
    if rules.knock_limit == 0 and not rules.oklahoma:
        possible -= {Result.KNOCK, Result.UNDERCUT}
    return {result.name for result in possible if not results[result]}


@pytest.mark.parametrize("house", range(len(HOUSES)))
def test_everything_holds_in_mixed_play(house):
    play(HOUSES[house], num_hands=1000, num_games=512, seed=house)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("house", range(len(HOUSES)))
def test_everything_holds_in_a_million_hands(house):
    results = play(HOUSES[house], num_hands=1_000_000 // len(HOUSES), num_games=8192, seed=house)
    assert not missing(results, HOUSES[house]), results
