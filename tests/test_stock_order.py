"""The order of the stock cannot be foretold from anything that is visible: by statistics.

Whatever has been seen and played, the stock's order is uniform: given the set of its cards, its
next card is each of them with the same chance, independent of all else.  Two attacks try to break
this over many thousand draws: counts by visible features, and a classifier that is fitted to one
half of the draws and bets on the other.  Each statistic of the second is a sum of martingale
differences under the null, so it is standard normal; bounds of 5 are passed by chance less than
once in a million runs, and the seeds are fixed.
"""

import numpy as np
import pytest

from ginenv import cards, engine, opponents, view
from ginenv.rules import DRAW_STOCK, Rules

NUM_GAMES = 1_500
BOUND = 5.0


def draws(num_games, seed=3, rules=None):
    """All stock draws of a hand of random-legal play in each of many games.

    Gives the observations (D, 633) uint8 of who draws, the stocks' cards (D, 52) bool, the next
    card (D,), the game's number and the turn (D,).
    """
    rng = np.random.default_rng(seed)
    state = engine.deal(rng, num_games, rules or Rules())
    found = []
    while len(state):
        seen = view.view(state)
        actions = opponents.random_legal(seen, rng)
        rows = np.flatnonzero(actions == DRAW_STOCK)
        start = state.stock_start[rows]
        left = np.arange(52) >= start[:, None]
        stock = np.bitwise_or.reduce(np.where(left, cards.CARD_BIT[state.deck[rows]], 0), axis=1)
        found.append(
            (
                view.encode(seen[rows]),
                cards.planes(stock.astype(np.uint64)).astype(bool),
                state.deck[rows, start],
                state.game_id[rows],
                state.turn[rows],
            )
        )
        engine.step(state, actions)
        state = state[state.phase != 4]
    return [np.concatenate(part) for part in zip(*found, strict=True)]


@pytest.fixture(scope="module")
def played():
    return draws(NUM_GAMES)


def ranks(stock, card):
    """The place of each next card among its stock's cards in order, as a fraction in [0, 1)."""
    place = (stock & (np.arange(52) < card[:, None])).sum(axis=1)
    return place, stock.sum(axis=1)


def features(observation, game, turn):
    """What is visible, as a few kinds of situations each: name to (D,) small integers."""
    planes, counts = view.split(observation)
    names = dict(zip(view.OBSERVATIONS["full"][1], counts.T, strict=True))
    hand = planes[:, 0].astype(bool)
    return {
        "everything": np.zeros(len(game), dtype=int),
        "turn": np.minimum(turn // 4, 5),
        "phase": names["phase"],
        "is dealer": names["is_dealer"],
        "longest suit": hand.sum(axis=2).max(axis=1),
        "upcard's suit": planes[:, 1].reshape(-1, 52).argmax(axis=1) // 13,
        "upcard's rank": planes[:, 1].reshape(-1, 52).argmax(axis=1) % 13,
        "deadwood": np.minimum(names["deadwood"] // 12, 6),
        "parity of the game's number": game % 2,
        "game's number": game % 7,
    }


def deviation(place, size):
    """How far the counts of places are from uniform, as a standard normal number (Fisher).

    Chi-square by stock size, added up; the square root of twice it is nearly normal.
    """
    chi, freedom = 0.0, 0
    for n in np.unique(size):
        counts = np.bincount(place[size == n], minlength=n)
        expected = counts.sum() / n
        if expected >= 5:
            chi += ((counts - expected) ** 2 / expected).sum()
            freedom += n - 1
    return np.sqrt(2 * chi) - np.sqrt(2 * freedom - 1) if freedom else 0.0


def worst_deviation(observation, stock, card, game, turn):
    place, size = ranks(stock, card)
    return max(
        (abs(deviation(place[values == kind], size[values == kind])), name)
        for name, values in features(observation, game, turn).items()
        for kind in np.unique(values)
    )


def test_the_next_card_is_uniform_among_the_stock_whatever_is_seen(played):
    """Some fifty statistics: one of them passes the bound by chance in 3e-5 of all seeds."""
    worst, name = worst_deviation(*played)
    assert len(played[2]) > 15_000
    assert worst < BOUND, name


def test_a_stock_that_is_a_little_in_order_is_found(played):
    """The attack works: every fifth draw is the lower one of two cards."""
    observation, stock, card, game, turn = played
    rng = np.random.default_rng(1)
    other = np.where(stock, rng.random(stock.shape), -1).argmax(axis=1)
    stacked = np.where(rng.random(len(card)) < 0.2, np.minimum(card, other), card)
    assert worst_deviation(observation, stock, stacked, game, turn)[0] > BOUND


def bet(observation, stock, card, more=()):
    """How much a fitted classifier wins by its bets on draws it has not seen, in deviations.

    Least squares from all that is visible to each card's chance of being next, less the exact
    chance of one in so many; fitted on the first half of the draws, tried on the second.
    """
    exact = stock / stock.sum(axis=1, keepdims=True)
    surprise = (np.arange(52) == card[:, None]) - exact
    seen = np.column_stack([np.ones(len(card)), observation / 255.0, *more])
    half = len(card) // 2
    gram = seen[:half].T @ seen[:half] + 10.0 * np.eye(seen.shape[1])
    weights = np.linalg.solve(gram, seen[:half].T @ surprise[:half])
    stake = seen[half:] @ weights * stock[half:]
    gain = (stake * surprise[half:]).sum(axis=1)
    mean = (stake * exact[half:]).sum(axis=1)
    variance = (stake**2 * exact[half:]).sum(axis=1) - mean**2
    return gain.sum() / np.sqrt(variance.sum())


def test_no_bet_on_the_next_card_wins(played):
    """By chance above the bound in 3e-7 of all seeds."""
    observation, stock, card, game, _ = played
    assert bet(observation, stock, card, [game % 2, game % 3 == 0]) < BOUND


def test_a_bet_wins_where_one_bit_leaks(played):
    """The attack works: a hint at the next card's colour that is right in six cases of ten."""
    observation, stock, card, _, _ = played
    right = np.random.default_rng(2).random(len(card)) < 0.6
    hint = ((card // 13) % 2 == 0) == right
    assert bet(observation, stock, card, [hint]) > 2 * BOUND


def test_the_opponents_first_hand_is_uniform_among_the_unseen_cards():
    """Before anyone has acted: each unseen card with chance 10/41, and no bet beats it."""
    state = engine.deal(np.random.default_rng(5), 6_000)
    seen = view.view(state)
    unseen = cards.planes(seen.unseen).astype(bool)
    held = cards.planes(state.hands[np.arange(len(state)), 1 - seen.seat]).astype(bool)
    observation = np.column_stack([np.ones(len(state)), view.encode(seen) / 255.0])
    surprise = (held - 10 / 41) * unseen
    half = len(state) // 2
    gram = observation[:half].T @ observation[:half] + 10.0 * np.eye(observation.shape[1])
    weights = np.linalg.solve(gram, observation[:half].T @ surprise[:half])
    stake = observation[half:] @ weights * unseen[half:]
    gain = (stake * surprise[half:]).sum(axis=1)
    assert abs(gain.mean() / gain.std() * np.sqrt(half)) < BOUND
    share = held.sum(axis=0) / unseen.sum(axis=0)
    deviations = (share - 10 / 41) / np.sqrt(10 / 41 * 31 / 41 / unseen.sum(axis=0))
    assert np.abs(deviations).max() < BOUND


@pytest.mark.slow
@pytest.mark.parametrize("rules", [Rules(), Rules(stock_floor=0, max_turns=300)], ids=["2", "0"])
def test_several_hundred_thousand_draws(rules):
    every = draws(20_000, seed=11, rules=rules)
    assert len(every[2]) > 250_000
    worst, name = worst_deviation(*every)
    assert worst < BOUND, name
    for first in range(0, len(every[2]) - 60_000, 60_000):
        some = [part[first : first + 60_000] for part in every]
        assert bet(*some[:3], [some[3] % 2, some[3] % 3 == 0]) < BOUND
