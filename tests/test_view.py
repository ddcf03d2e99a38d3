"""What a seat may know: by the slow twin's account, and by re-dealing all that it may not."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ginenv import cards, engine, melds, view
from ginenv.rules import Phase, Rules
from tests import brute
from tests.hands import rich_deck, stacked_deck
from tests.table import PRESETS, STYLES, knocks_at_once, play, plays_at_random

CARD_SETS = [
    "hand",
    "pile",
    "opponent_known",
    "opponent_discards",
    "opponent_declined",
    "known_to_opponent",
    "own_discards",
    "own_declined",
    "unseen",
]
NUMBERS = [
    "upcard",
    "stock_size",
    "phase",
    "turn",
    "drawn",
    "knock_limit",
    "scores",
    "dealer",
    "seat",
    "to_move",
    "deadwood",
]
COMPUTED = ["action_mask", "deadwood", "deadwood_after"]


def wanted_rows(knowledge):
    """The reference's knowledge of several games as the arrays of a `View`."""
    wanted = {
        name: np.array([brute.bitboard(k[name]) for k in knowledge], dtype=np.uint64)
        for name in CARD_SETS
    } | {name: np.array([k[name] for k in knowledge]) for name in NUMBERS}
    wanted["action_mask"] = np.zeros((len(knowledge), 108), dtype=bool)
    wanted["deadwood_after"] = np.full((len(knowledge), 52), 255)
    for row, k in enumerate(knowledge):
        wanted["action_mask"][row, k["action_mask"]] = True
        for card, deadwood in k["deadwood_after"].items():
            wanted["deadwood_after"][row, card] = deadwood
    return wanted


def assert_views(seed, rules, style, num_games, num_hands):
    rng = np.random.default_rng(seed)
    for state, games, outcome in play(rng, rules, style, num_games, num_hands):
        if outcome is not None:
            continue
        running = np.array([not game.over for game in games])
        for seat in (0, 1):
            found = view.view(state, seat)
            wanted = wanted_rows([game.knowledge(seat) for game in games if not game.over])
            for name, rows in wanted.items():
                np.testing.assert_array_equal(getattr(found, name)[running], rows, err_msg=name)
            assert found.rules == rules
            np.testing.assert_array_equal(found.game_id, state.game_id)
            assert not found.to_move[~running].any()
            assert not found.action_mask[~running].any()
            assert (found.deadwood_after[~running] == view.NOT_HELD).all()


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.__name__)
def test_both_seats_know_what_the_slow_twin_says(preset, style):
    num_games = 30 if style is knocks_at_once else 4
    assert_views(0, Rules.preset(preset), style, num_games, num_hands=3)


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.__name__)
def test_both_seats_know_what_the_slow_twin_says_for_long(style):
    assert_views(1, Rules(target_score=50, stock_floor=0), style, num_games=40, num_hands=4)


def middle_of_games(seed, preset="standard", num_games=40, knocks=False):
    """States at all stages of a hand; without knocks, hardly any is over."""
    rng = np.random.default_rng(seed)
    decks = np.array([rich_deck(rng) for _ in range(num_games)])
    state = engine.deal(rng, num_games, Rules.preset(preset), decks=decks)
    for moment in range(num_games):
        legal = engine.legal_actions(state)
        legal[:, 52:104] &= knocks
        actions = np.array([rng.choice(np.flatnonzero(m)) if m.any() else -1 for m in legal])
        actions[:moment] = -1
        engine.step(state, actions)
    return state


def everything(some):
    """All fields of a State or View, and what a View computes, byte for byte."""
    names = [field.name for field in dataclasses.fields(some) if field.name != "rules"]
    names += COMPUTED if isinstance(some, view.View) else []
    return {name: np.asarray(getattr(some, name)).tobytes() for name in names}


def test_by_default_the_view_is_that_of_the_player_to_move():
    state = middle_of_games(2)
    assert everything(view.view(state)) == everything(view.view(state, state.player))
    np.testing.assert_array_equal(view.view(state).seat, state.player)


def test_the_mask_of_the_player_to_move_is_the_engines():
    state = middle_of_games(3)
    np.testing.assert_array_equal(view.view(state).action_mask, engine.legal_actions(state))


def test_the_seat_that_is_not_to_move_is_shown_no_mask():
    state = middle_of_games(4)
    other = view.view(state, 1 - state.player)
    assert not other.to_move.any()
    assert not other.action_mask.any()
    assert (other.deadwood_after == view.NOT_HELD).all()


def test_a_view_stays_when_the_game_moves_on():
    state = middle_of_games(5)
    seen, before = view.view(state), everything(view.view(state))
    legal = engine.legal_actions(state)
    engine.step(state, np.where(legal.any(axis=1), legal.argmax(axis=1), -1))
    assert everything(seen) == before


@pytest.mark.parametrize("player", [2, -1, 0.5, "0", [0, 1]], ids=repr)
def test_a_seat_that_is_none_is_refused(player):
    state = middle_of_games(6, num_games=3)
    with pytest.raises((ValueError, TypeError), match="player"):
        view.view(state, player)


def test_deadwood_after_by_hand():
    """Told once in figures: what is left after each throw, in each phase."""
    deck = stacked_deck(
        "Ks Kh Kd Qs Qh Qd Js Jh Jd 6s", "Ac 2c 3c 4c 7h 7d 7c 9s 5h Ad", "Jc", "3d"
    )
    state = engine.deal(None, 1, dealer=[1], decks=deck[None])

    def after():
        left = view.view(state).deadwood_after[0]
        return {cards.show(cards.pack([c])): n for c, n in enumerate(left) if n != view.NOT_HELD}

    as_if_taken = after()
    assert len(as_if_taken) == 10, "the jack that would be taken could not be thrown"
    assert as_if_taken["6s"] == 0
    assert as_if_taken["Js"] == 6, "three jacks stay"
    engine.step(state, np.array([105]))
    assert after() == as_if_taken, "and so it is once it has been taken"
    engine.step(state, np.array([brute.card("6s")]))
    assert after()["9s"] == 1 + 5 + 6, "the dealer, to move: if he took the six"
    assert view.view(state).deadwood.tolist() == [9 + 5 + 1]


# Leaks


def test_a_view_has_no_field_for_the_hidden_cards():
    allowed = {*CARD_SETS, *NUMBERS, "game_id", "rules", "action_mask", "deadwood_after"}
    assert {field.name for field in dataclasses.fields(view.View)} <= allowed


def count(boards):
    """How many cards each bitboard holds."""
    return [int(board).bit_count() for board in boards]


def seat_of(state, who):
    return {"to move": state.player, "other": 1 - state.player, "0": 0, "1": 1}[who]


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    preset=st.sampled_from(PRESETS),
    who=st.sampled_from(["to move", "other", "0", "1"]),
    knocks=st.booleans(),
)
def test_dealing_the_hidden_cards_again_changes_nothing_that_is_seen(seed, preset, who, knocks):
    state = middle_of_games(seed, preset, knocks=knocks)
    before, player = everything(state), seat_of(state, who)
    again = view.resample_hidden(state, np.random.default_rng(seed), player)
    assert everything(state) == before
    seen, seen_again = view.view(state, player), view.view(again, player)
    assert everything(seen) == everything(seen_again)
    for observation in ("cards", "full"):
        assert (
            view.encode(seen, observation).tobytes()
            == view.encode(seen_again, observation).tobytes()
        )


@pytest.mark.parametrize("who", ["to move", "other", "0", "1"])
def test_dealing_the_hidden_cards_again_changes_what_is_hidden(who):
    state = middle_of_games(7)
    player = np.broadcast_to(seat_of(state, who), len(state.player))
    again = view.resample_hidden(state, np.random.default_rng(8), player)
    rows = np.arange(len(player))
    assert (again.hands[rows, player] == state.hands[rows, player]).all()
    opponent, opponent_again = state.hands[rows, 1 - player], again.hands[rows, 1 - player]
    assert (opponent_again != opponent).mean() > 0.9
    assert count(opponent_again) == count(opponent)
    known = view.view(state, player).opponent_known
    assert (opponent_again & known == known).all(), "what he was seen to take he still has"
    for row in rows:
        stock = again.deck[row, again.stock_start[row] :]
        assert stock.tolist() != state.deck[row, state.stock_start[row] :].tolist()
        assert sorted(again.deck[row].tolist()) == list(range(52))
        pile = again.pile[row, : again.pile_size[row]].tolist()
        hands = [c for c in range(52) for hand in again.hands[row] if int(hand) & brute.BIT[c]]
        assert sorted([*pile, *stock.tolist(), *hands]) == list(range(52))


def test_the_knocking_discard_is_hidden_from_the_defender_only():
    """He was not shown it: it is dealt again with the rest, and no card is doubled or lost."""
    state = middle_of_games(14, knocks=True)
    state = state[np.flatnonzero(state.face_down >= 0)]
    assert len(state.player) > 5
    knocker = state.player
    for_knocker = view.resample_hidden(state, np.random.default_rng(15), knocker)
    assert (for_knocker.face_down == state.face_down).all()
    for_defender = view.resample_hidden(state, np.random.default_rng(15), 1 - knocker)
    assert (for_defender.face_down != state.face_down).mean() > 0.5
    for again in (for_knocker, for_defender):
        for row in range(len(knocker)):
            stock = again.deck[row, again.stock_start[row] :].tolist()
            pile = again.pile[row, : again.pile_size[row]].tolist()
            hands = [c for c in range(52) for hand in again.hands[row] if int(hand) & brute.BIT[c]]
            places = [*pile, *stock, *hands, int(again.face_down[row])]
            assert sorted(places) == list(range(52))


def test_by_default_all_is_dealt_again_that_the_player_to_move_does_not_see():
    state = middle_of_games(9)
    one = view.resample_hidden(state, np.random.default_rng(1))
    two = view.resample_hidden(state, np.random.default_rng(1), state.player)
    assert everything(one) == everything(two) != everything(state)


def test_play_goes_on_from_hidden_cards_dealt_again():
    rng = np.random.default_rng(10)
    state = view.resample_hidden(middle_of_games(11), rng)
    while (legal := engine.legal_actions(state)).any():
        engine.step(
            state, np.array([rng.choice(np.flatnonzero(m)) if m.any() else -1 for m in legal])
        )
        for seat in (0, 1):
            deadwood = melds.deadwood(state.hands[:, seat])
            np.testing.assert_array_equal(view.view(state, seat).deadwood, deadwood)


def test_hidden_cards_are_dealt_again_uniformly():
    """Every unseen card is as likely in the opponent's hand, or in any place of the stock."""
    num = 20_000
    state = middle_of_games(12)
    row = np.flatnonzero(view.view(state).opponent_known)[0]
    state = state[np.full(num, row)]
    again = view.resample_hidden(state, np.random.default_rng(13))
    player = state.player[0]
    unseen, known = (
        int(getattr(view.view(state[[0]]), name)[0]) for name in ("unseen", "opponent_known")
    )
    unseen = [c for c in range(52) if unseen & brute.BIT[c]]
    places = count(state.hands[:1, 1 - player])[0] - known.bit_count()
    in_hand = np.stack([again.hands[:, 1 - player] & np.uint64(brute.BIT[c]) != 0 for c in unseen])

    def deviations(counts, chance):
        return abs(counts - num * chance) / np.sqrt(num * chance * (1 - chance))

    assert deviations(in_hand.sum(axis=1), places / len(unseen)).max() < 5
    pairs = (in_hand[:1] & in_hand[1:]).sum(axis=1)
    both = places * (places - 1) / (len(unseen) * (len(unseen) - 1))
    assert deviations(pairs, both).max() < 5
    stock = again.deck[:, again.stock_start[0] :]
    for place in (0, 1, -1):
        counts = np.array([(stock[:, place] == c).sum() for c in unseen])
        assert counts.sum() == num
        assert deviations(counts, 1 / len(unseen)).max() < 5


# Encodings


@pytest.mark.parametrize("observation", ["cards", "full"])
def test_an_encoding_splits_into_planes_and_counts(observation):
    seen = view.view(middle_of_games(14))
    encoded = view.encode(seen, observation)
    planes, counts = view.split(encoded)
    rows = len(seen.hand)
    assert encoded.dtype == np.uint8
    assert planes.shape[0] == counts.shape[0] == rows
    assert planes.shape[2:] == (4, 13)
    assert planes[0].size + counts[0].size == encoded.shape[1]
    np.testing.assert_array_equal(np.hstack([planes.reshape(rows, -1), counts]), encoded)
    more_dimensions = view.split(encoded.reshape(2, -1, encoded.shape[1]))
    np.testing.assert_array_equal(more_dimensions[0].reshape(planes.shape), planes)
    np.testing.assert_array_equal(more_dimensions[1].reshape(counts.shape), counts)


def planes_of(seen, observation):
    names, _ = view.OBSERVATIONS[observation]
    planes, _ = view.split(view.encode(seen, observation))
    return {name: planes[:, i].reshape(-1, 52) for i, name in enumerate(names)}


@pytest.mark.parametrize("observation", ["cards", "full"])
def test_planes_show_the_cards_of_the_view(observation):
    seen = view.view(middle_of_games(15))
    planes = planes_of(seen, observation)
    for name in set(CARD_SETS) & planes.keys():
        boards = cards.pack(np.arange(52)[:, None])
        wanted = getattr(seen, name)[:, None] & boards != 0
        np.testing.assert_array_equal(planes[name] != 0, wanted, err_msg=name)
    for name in ("upcard", "drawn"):
        wanted = np.arange(52) == getattr(seen, name)[:, None]
        np.testing.assert_array_equal(planes[name] != 0, wanted, err_msg=name)
    assert {"hand", "pile", "opponent_known", "opponent_discards"} <= planes.keys()


def test_the_full_observation_shows_deadwood_and_the_melds_of_the_best_arrangement():
    seen = view.view(middle_of_games(16))
    planes = planes_of(seen, "full")
    np.testing.assert_array_equal(planes["deadwood_after"], seen.deadwood_after)
    for row, word in enumerate(seen.hand):
        hand = frozenset(c for c in range(52) if int(word) & brute.BIT[c])
        best = brute.knockers_arrangement(hand)
        sets = {c for meld in best if brute.is_set(meld) for c in meld}
        runs = {c for meld in best if not brute.is_set(meld) for c in meld}
        assert set(np.flatnonzero(planes["in_sets"][row]).tolist()) == sets
        assert set(np.flatnonzero(planes["in_runs"][row]).tolist()) == runs


def test_counts_are_the_numbers_of_the_view():
    seen = view.view(middle_of_games(17))
    names, counts = view.OBSERVATIONS["full"][1], view.split(view.encode(seen))[1]
    counts = dict(zip(names, counts.T, strict=True))
    for name in ("phase", "stock_size", "turn", "knock_limit", "deadwood"):
        np.testing.assert_array_equal(counts[name], getattr(seen, name), err_msg=name)
    np.testing.assert_array_equal(counts["is_dealer"] != 0, seen.dealer == seen.seat)


def test_encodings_are_written_into_a_buffer():
    seen = view.view(middle_of_games(18))
    buffer = np.full_like(view.encode(seen), 7)
    assert view.encode(seen, out=buffer) is buffer
    np.testing.assert_array_equal(buffer, view.encode(seen))


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_a_buffer_that_does_not_fit_is_refused(dtype):
    seen = view.view(middle_of_games(19))
    width = view.encode(seen).shape[1] - (dtype == np.uint8)
    with pytest.raises(ValueError, match="out"):
        view.encode(seen, out=np.zeros((40, width), dtype=dtype))


def test_an_unknown_observation_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'fool'.*cards.*full"):
        view.encode(view.view(middle_of_games(20)), "fool")


def test_scores_and_turns_beyond_a_byte_do_not_wrap_around():
    state = middle_of_games(21)
    state.scores[:] = [300, 5000]
    state.turn[:] = 1000
    names, counts = view.OBSERVATIONS["full"][1], view.split(view.encode(view.view(state)))[1]
    counts = dict(zip(names, counts.T, strict=True))
    assert (counts["own_score"] == 255).all()
    assert (counts["opponent_score"] == 255).all()
    assert (counts["turn"] == 255).all()


def test_a_hand_that_is_over_is_encoded_too():
    rng = np.random.default_rng(22)
    *_, (state, _, _) = play(rng, Rules(), plays_at_random, num_games=3, num_hands=1)
    assert (state.phase == Phase.OVER).all()
    planes, _ = view.split(view.encode(view.view(state)))
    assert (planes[:, -1] == view.NO_DISCARD).all()
