"""The engine in lockstep with its slow twin, and what holds of every game."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ginenv import engine
from ginenv.rules import Phase, Result, Rules
from tests import brute
from tests.hands import rich_deck
from tests.table import PRESETS, STYLES, knocks_at_once, never_knocks, play, plays_at_random


def boards(pairs):
    return np.array([[brute.bitboard(cards) for cards in pair] for pair in pairs], dtype=np.uint64)


def mask(actions):
    row = np.zeros(108, dtype=bool)
    row[actions] = True
    return row


def everything(state):
    """All of a state, byte for byte."""
    arrays = {field.name: getattr(state, field.name) for field in dataclasses.fields(state)}
    return {
        name: value.tobytes() if isinstance(value, np.ndarray) else value
        for name, value in arrays.items()
    }


# Lockstep


def assert_same_table(state, games):
    """All that lies on the table and all that is remembered of the hand, before a decision."""
    running = np.array([not game.over for game in games])
    rows, games = np.flatnonzero(running), [game for game in games if not game.over]
    twin = {
        "hands": boards(game.hands for game in games),
        "known": boards(game.known for game in games),
        "discards": boards(game.discarded for game in games),
        "declined": boards(game.declined for game in games),
        "player": [game.player for game in games],
        "dealer": [game.dealer for game in games],
        "phase": [game.phase for game in games],
        "scores": [game.scores for game in games],
        "upcard": [game.pile[-1] if game.pile else -1 for game in games],
        "drawn": [game.drawn for game in games],
        "turn": [game.turn for game in games],
        "knock_limit": [game.knock_limit for game in games],
        "pile_size": [len(game.pile) for game in games],
        "result": [Result.NONE for game in games],
    }
    for name, wanted in twin.items():
        np.testing.assert_array_equal(getattr(state, name)[rows], wanted, err_msg=name)
    for row, game in zip(rows, games, strict=True):
        assert state.pile[row, : len(game.pile)].tolist() == game.pile
        assert state.deck[row, state.stock_start[row] :].tolist() == game.stock
    legal = engine.legal_actions(state)
    np.testing.assert_array_equal(legal[rows], [mask(game.legal()) for game in games])
    assert not legal[~running].any()


def assert_same_outcome(state, outcome, games, was_over):
    """What the step brought; a game that was over before it reports nothing."""
    twin = {
        "hand_over": [game.over for game in games],
        "match_over": [game.match_over for game in games],
        "points": [game.points for game in games],
        "result": [Result[game.result] for game in games],
        "knocker": [game.knocker for game in games],
        "deadwood": [game.deadwood for game in games],
    }
    for name, wanted in twin.items():
        found, wanted = getattr(outcome, name)[~was_over], np.array(wanted)[~was_over]
        np.testing.assert_array_equal(found, wanted, err_msg=name)
    np.testing.assert_array_equal(state.scores, [game.scores for game in games])
    np.testing.assert_array_equal(state.turn, [game.turn for game in games])
    np.testing.assert_array_equal(outcome.points.sum(axis=1), 0)
    for array in (outcome.hand_over, outcome.match_over, outcome.points, outcome.result):
        assert not array[was_over].any()


def assert_lockstep(seed, rules, style, num_games, num_hands):
    rng = np.random.default_rng(seed)
    results = set()
    for state, games, outcome in play(rng, rules, style, num_games, num_hands):
        if outcome is None:
            assert_same_table(state, games)
            was_over = np.array([game.over for game in games])
        else:
            assert_same_outcome(state, outcome, games, was_over)
            results |= {game.result for game in games}
    return results - {"NONE"}


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    ("style", "num_games", "results"),
    [
        (plays_at_random, 20, {"VOID"}),
        (knocks_at_once, 120, {"GIN"}),
        (never_knocks, 15, {"VOID"}),
    ],
)
def test_lockstep_with_the_slow_twin(preset, style, num_games, results):
    assert assert_lockstep(0, Rules.preset(preset), style, num_games, num_hands=3) >= results


HOUSES = {
    "short matches, early void hands": Rules(target_score=40, max_turns=30, stock_floor=9),
    "to the last card": Rules(target_score=None, max_turns=200, stock_floor=0),
    "other numbers": Rules(knock_limit=5, gin_bonus=20, undercut_bonus=10, big_gin_bonus=50),
}


@pytest.mark.parametrize("house", HOUSES)
def test_lockstep_over_matches_in_other_houses(house):
    assert_lockstep(1, HOUSES[house], knocks_at_once, num_games=40, num_hands=8)
    assert_lockstep(1, HOUSES[house], plays_at_random, num_games=10, num_hands=3)


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.__name__)
@pytest.mark.parametrize("preset", PRESETS)
def test_long_lockstep_with_the_slow_twin(preset, style):
    assert_lockstep(2, Rules.preset(preset), style, num_games=60, num_hands=6)


# Properties of every game


def assert_52_distinct_cards(state):
    """Each card is in one place; after a knock, the knocking discard lies face down in none."""
    for row in range(len(state.player)):
        pile = state.pile[row, : state.pile_size[row]].tolist()
        stock = state.deck[row, state.stock_start[row] :].tolist()
        hands = [c for c in range(52) for hand in state.hands[row] if int(hand) & brute.BIT[c]]
        places = pile + stock + hands
        face_down = state.result[row] in (Result.KNOCK, Result.GIN, Result.UNDERCUT)
        assert len(set(places)) == len(places) == 52 - face_down
        assert sorted(state.deck[row].tolist()) == list(range(52))


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), preset=st.sampled_from(PRESETS), rich=st.booleans())
def test_every_hand_ends_with_all_cards_in_place_and_points_that_cancel(seed, preset, rich):
    rng = np.random.default_rng(seed)
    rules = Rules.preset(preset)
    state = engine.deal(rng, 1, rules, decks=rich_deck(rng)[None] if rich else None)
    for _ in range(2 * rules.max_turns + 3):
        legal = np.flatnonzero(engine.legal_actions(state)[0])
        assert len(legal)
        outcome = engine.step(state, rng.choice(legal, 1))
        assert_52_distinct_cards(state)
        assert outcome.points.sum() == 0
        assert outcome.hand_over[0] == (state.phase[0] == Phase.OVER)
        if outcome.hand_over[0]:
            break
        assert not outcome.points.any()
        assert outcome.result[0] == Result.NONE
    assert outcome.hand_over[0], "draws, discards and two passes are all there is to a hand"
    assert (outcome.result[0] == Result.VOID) == (not outcome.points.any())
    assert not engine.legal_actions(state).any()


def middle_of_games(seed, rules, num_games=24):
    """States at all stages of a hand, those that are over included."""
    rng = np.random.default_rng(seed)
    state = engine.deal(rng, num_games, rules, decks=np.array([rich_deck(rng)] * num_games))
    for moment in range(num_games):
        legal = engine.legal_actions(state)
        actions = np.array([rng.choice(np.flatnonzero(m)) if m.any() else -1 for m in legal])
        actions[:moment] = -1  # the first games stop early, the last ones play on
        engine.step(state, actions)
    return state


@settings(max_examples=5)
@given(seed=st.integers(0, 2**32 - 1), preset=st.sampled_from(PRESETS))
def test_the_mask_is_exactly_what_step_accepts(seed, preset):
    state = middle_of_games(seed, Rules.preset(preset), num_games=12)
    legal = engine.legal_actions(state)
    before = everything(state)
    for row in range(len(legal)):
        for action in range(108):
            game = state[[row]].copy()
            if legal[row, action]:
                engine.step(game, np.array([action]))
                assert everything(game) != everything(state[[row]])
            else:
                with pytest.raises(ValueError, match=rf"\b{action}\b"):
                    engine.step(game, np.array([action]))
    assert everything(state) == before, "copies share nothing with the original"


@pytest.mark.parametrize("row", [0, 5, 23])
def test_an_illegal_action_among_legal_ones_changes_no_game(row):
    state = middle_of_games(1, Rules())
    legal = engine.legal_actions(state)
    legal[state.phase == Phase.OVER] = False
    actions = np.array([np.flatnonzero(m)[0] if m.any() else -1 for m in legal])
    actions[row] = np.flatnonzero(~legal[row])[-1]
    before = everything(state)
    with pytest.raises(ValueError) as error:
        engine.step(state, actions)
    assert everything(state) == before
    message = str(error.value)
    assert f"game {row}" in message
    assert str(actions[row]) in message


def test_the_error_tells_all_that_is_legal():
    rng = np.random.default_rng(2)
    for state, games, outcome in play(rng, Rules(), plays_at_random, num_games=6, num_hands=1):
        for row, game in enumerate(games):
            if outcome is None and not game.over:
                with pytest.raises(ValueError) as error:
                    engine.step(state[[row]], np.array([104 if 104 not in game.legal() else 0]))
                for action in game.legal():
                    assert f"{action}" in str(error.value).replace(",", " ").split(), str(
                        error.value
                    )


def test_the_action_minus_one_leaves_a_game_as_it_is():
    state = middle_of_games(3, Rules())
    legal = engine.legal_actions(state)
    running = np.flatnonzero(legal.any(axis=1))
    moved, resting = running[::2], np.setdiff1d(np.arange(len(legal)), running[::2])
    actions = np.full(len(legal), -1)
    actions[moved] = legal[moved].argmax(axis=1)
    before, resting_before = everything(state), everything(state[resting])
    outcome = engine.step(state, np.full(len(legal), -1))
    assert everything(state) == before
    assert not outcome.hand_over.any() and not outcome.points.any()
    engine.step(state, actions)
    assert everything(state) != before
    assert everything(state[resting]) == resting_before


def test_a_game_that_is_over_has_nothing_legal_and_stays_over():
    rng = np.random.default_rng(4)
    for state, games, _ in play(rng, Rules(max_turns=6), plays_at_random, 8, 1):
        over = np.array([game.over for game in games])
        assert ((state.phase == Phase.OVER) == over).all()
        assert (engine.legal_actions(state).any(axis=1) == ~over).all()
    before = everything(state)
    for action in (0, 52, 104, 105, 106, 107):
        with pytest.raises(ValueError, match="over"):
            engine.step(state, np.full(8, action))
    assert everything(state) == before


# Malformed calls


@pytest.mark.parametrize(
    "actions",
    [
        np.array([105, 105, 105, 105]),
        np.array([[105], [105], [105]]),
        np.array(105),
        np.array([105.0, 105.0, 105.0]),
        np.array([True, True, True]),
        np.array(["105", "105", "105"]),
        np.array([105, 108, 105]),
        np.array([105, -2, 105]),
        np.array([105, 2**40, 105]),
        None,
    ],
    ids=repr,
)
def test_malformed_actions_are_refused(actions):
    state = engine.deal(np.random.default_rng(0), 3)
    before = everything(state)
    with pytest.raises((ValueError, TypeError), match="action"):
        engine.step(state, actions)
    assert everything(state) == before


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64])
def test_actions_of_any_integer_type_will_do(dtype):
    state = engine.deal(np.random.default_rng(0), 3)
    engine.step(state, np.array([105, 106, 105], dtype=dtype))
    assert state.phase.tolist() == [Phase.DISCARD, Phase.UPCARD, Phase.DISCARD]


GOOD = np.arange(52)


@pytest.mark.parametrize(
    "decks",
    [
        np.stack([GOOD]),
        np.stack([GOOD[:51], GOOD[:51]]),
        np.stack([GOOD, np.where(GOOD == 51, 0, GOOD)]),
        np.stack([GOOD, GOOD + 1]),
        np.stack([GOOD, GOOD - 1]),
        np.stack([GOOD, GOOD]).astype(float),
        np.stack([[GOOD, GOOD]]),
    ],
    ids=["one for two", "51 cards", "a card twice", "52", "-1", "floats", "a dimension too many"],
)
def test_a_wrong_deck_is_refused(decks):
    with pytest.raises((ValueError, TypeError), match="deck"):
        engine.deal(np.random.default_rng(0), 2, decks=decks)
    state = engine.deal(np.random.default_rng(0), 2)
    before = everything(state)
    with pytest.raises((ValueError, TypeError), match="deck"):
        engine.redeal(state, np.array([0, 1]), np.random.default_rng(0), decks=decks)
    assert everything(state) == before


@pytest.mark.parametrize("dealer", [2, -1, 0.5, [0, 1, 0], [0, 2]], ids=repr)
def test_a_wrong_dealer_is_refused(dealer):
    with pytest.raises((ValueError, TypeError), match="dealer"):
        engine.deal(np.random.default_rng(0), 2, dealer=dealer)


def test_a_wrong_number_of_games_is_refused():
    for wrong in (-1, 2.5, "10"):
        with pytest.raises(ValueError, match="num_games must be an integer"):
            engine.deal(np.random.default_rng(0), wrong)


# Deals


def test_the_same_seed_deals_the_same_cards():
    one, two = (engine.deal(np.random.default_rng(7), 50) for _ in range(2))
    assert everything(one) == everything(two)


def test_decks_come_from_sorting_raw_random_words():
    """The words are the same in every NumPy, so a seed means the same deal for ever."""
    words = np.random.PCG64(123).random_raw((4, 52))
    state = engine.deal(np.random.Generator(np.random.PCG64(123)), 4, dealer=0)
    np.testing.assert_array_equal(state.deck, np.argsort(words, axis=1))


def test_every_hand_has_its_own_number():
    """A counter, that says nothing about seed or deck."""
    state = engine.deal(np.random.default_rng(0), 20, decks=np.arange(52))
    first = state.game_id.tolist()
    engine.redeal(state, np.arange(5), np.random.default_rng(0), decks=np.arange(52))
    assert state.game_id[5:].tolist() == first[5:]
    assert len({*first, *state.game_id.tolist()}) == 25


def test_deals_are_uniform():
    """Each card in each place of the deck, and either dealer, equally often."""
    num = 20_000
    state = engine.deal(np.random.default_rng(5), num)
    counts = np.stack([(state.deck == c).sum(axis=0) for c in range(52)])
    deviation = (counts - num / 52) / np.sqrt(num / 52 * 51 / 52)
    assert abs(deviation).max() < 5
    assert abs(state.dealer.mean() - 0.5) < 4 * 0.5 / np.sqrt(num)


def test_a_row_taken_out_of_a_state_and_put_back():
    state = middle_of_games(6, Rules())
    rows = np.array([3, 20, 7])
    some = state[rows]
    before, some_before = everything(state), everything(some)
    legal = engine.legal_actions(some)
    engine.step(some, np.where(legal.any(axis=1), legal.argmax(axis=1), -1))
    assert everything(state) == before, "taking rows copies them"
    state[rows] = some
    assert everything(state[rows]) == everything(some) != some_before
    others = np.setdiff1d(np.arange(24), rows)
    assert (state.hands[others] == middle_of_games(6, Rules()).hands[others]).all()


def test_redealing_some_games_leaves_the_others():
    state = middle_of_games(8, Rules())
    before = state.copy()
    redealt, others = np.arange(1, 24, 2), np.arange(0, 24, 2)
    engine.redeal(state, redealt, np.random.default_rng(9))
    for field in dataclasses.fields(state):
        if isinstance(array := getattr(state, field.name), np.ndarray):
            np.testing.assert_array_equal(array[others], getattr(before, field.name)[others])
    assert (state.phase[redealt] == Phase.UPCARD).all()
    assert (state.player[redealt] == 1 - state.dealer[redealt]).all()
    assert (state.dealer[redealt] == 1 - before.dealer[redealt]).all()
