"""What holds in every position and after every step, whatever has been played."""

import numpy as np

from ginenv import cards
from ginenv.rules import Phase, Result
from ginenv.state import PILE_CAPACITY


def check_state(state):
    """Fails if any of N games is in a position that cannot be."""
    rows = np.arange(len(state))
    over = state.phase == Phase.OVER
    discarding = state.phase == Phase.DISCARD
    mine, theirs = state.hands[rows, state.player], state.hands[rows, 1 - state.player]

    # Each of the 52 cards lies in exactly one place.
    stock = np.where(np.arange(52) >= state.stock_start[:, None], cards.CARD_BIT[state.deck], 0)
    stock = np.bitwise_or.reduce(stock.astype(np.uint64), axis=1)
    places = [mine, theirs, state.in_pile, stock, cards.bit_of(state.face_down)]
    assert (sum(map(cards.count, places)) == 52).all()
    assert (np.bitwise_or.reduce(places) == cards.FULL_DECK).all()

    # Hands have ten cards; eleven before a discard, and after big gin.
    eleven = discarding | (state.result == Result.BIG_GIN)
    assert (cards.count(mine) == 10 + eleven).all()
    assert (cards.count(theirs) == 10).all()

    # The ordered pile, its set and its top are one and the same.
    in_order = np.arange(PILE_CAPACITY) < state.pile_size[:, None]
    assert ((state.pile >= 0) == in_order).all()
    assert (np.bitwise_or.reduce(cards.bit_of(state.pile), axis=1) == state.in_pile).all()
    assert (cards.count(state.in_pile) == state.pile_size).all()
    top = state.pile[rows, np.maximum(state.pile_size, 1) - 1]
    assert (state.upcard == np.where(state.pile_size > 0, top, -1)).all()

    # What is known of a hand is in it, and came from the other's discards or the first upcard.
    first = cards.CARD_BIT[state.deck[:, 20]]
    assert (state.known & ~state.hands == 0).all()
    assert (state.known & ~(state.discards[:, ::-1] | first[:, None]) == 0).all()
    assert (state.in_pile & ~(state.discards[:, 0] | state.discards[:, 1] | first) == 0).all()
    assert (state.declined & ~(state.discards[:, ::-1] | first[:, None]) == 0).all()

    # The card just taken is in hand, known, and only there to be kept in this turn.
    taken = state.drawn >= 0
    assert (discarding | ~taken).all()
    assert (cards.bit_of(state.drawn) & ~state.known[rows, state.player] == 0).all()

    # Phases: a hand opens with the upcard, goes on while there is stock, and ends with a result.
    opening = (state.phase == Phase.UPCARD) | (state.phase == Phase.FORCED_DRAW)
    assert (state.turn[opening] == 0).all() and (state.stock_start[opening] == 21).all()
    assert (state.upcard == state.deck[:, 20])[opening].all()
    assert (state.player != state.dealer)[state.phase == Phase.FORCED_DRAW].all()
    going_on = state.phase == Phase.DRAW
    assert (state.turn[going_on] >= 1).all()
    assert (state.stock_size[going_on] > state.rules.stock_floor).all()
    assert (state.turn[~over] < state.rules.max_turns).all()
    assert (state.stock_size >= state.rules.stock_floor).all()
    assert (over == (state.result != Result.NONE)).all()
    knocked = np.isin(state.result, (Result.KNOCK, Result.GIN, Result.UNDERCUT))
    assert (knocked == (state.face_down >= 0)).all()

    # The numbers that the rules give.
    assert (state.knock_limit == state.rules.hand_limits(state.deck[:, 20])).all()
    assert (state.scores >= 0).all()
    assert (len(np.unique(state.game_id)) == len(state)) and (
        state.game_id < state.next_game_id
    ).all()


def check_outcome(before, outcome, state):
    """Fails if what a step brought cannot be.  ``before`` is the state before the step."""
    rules = state.rules
    over = outcome.hand_over
    assert (over == ((state.phase == Phase.OVER) & (before.phase != Phase.OVER))).all()
    assert (outcome.result == np.where(over, state.result, Result.NONE)).all()
    assert (outcome.points.sum(axis=1) == 0).all()
    assert (state.scores == before.scores + np.maximum(outcome.points, 0)).all()

    reached = state.scores.max(axis=1) >= (rules.target_score or np.inf)
    assert (outcome.match_over == (over & reached)).all()

    settled = over & (outcome.result != Result.VOID)
    assert (outcome.points[~settled] == 0).all()
    assert (outcome.deadwood[~settled] == -1).all()
    assert (outcome.knocker == np.where(settled, state.player, -1)).all()

    rows = np.flatnonzero(settled)
    result, knocker = outcome.result[rows], outcome.knocker[rows]
    gain = outcome.points[rows, knocker]
    own, other = outcome.deadwood[rows, knocker], outcome.deadwood[rows, 1 - knocker]
    limit = np.where(result == Result.BIG_GIN, 0, state.knock_limit[rows])
    assert (own <= limit).all()
    expected = {
        Result.KNOCK: other - own,
        Result.GIN: other + rules.gin_bonus,
        Result.BIG_GIN: other + rules.big_gin_bonus,
        Result.UNDERCUT: other - own - rules.undercut_bonus,
    }
    for kind, points in expected.items():
        assert (gain == points)[result == kind].all(), kind.name
    assert ((own == 0) == np.isin(result, (Result.GIN, Result.BIG_GIN))).all()
    assert ((other <= own) & (own > 0) == (result == Result.UNDERCUT)).all()
