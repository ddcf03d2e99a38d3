"""Paired play: equal players, seeds and blocks, matches, and the counts that come of it."""

import numpy as np
import pytest

from agents.players import Ending, play, play_blocks, player
from agents.tally import Tally
from ginenv import cards, melds
from ginenv.record import Recorder, read
from ginenv.rules import TAKE_PILE, Result, Rules


def takes_every_card(view, rng):
    """Takes every pile card, throws the first card that it may; never knocks."""
    taking = view.action_mask[:, TAKE_PILE]
    return np.where(taking, TAKE_PILE, view.action_mask.argmax(axis=1))


SHORT = Rules(target_score=40)  # matches of a few hands


def same(one, other):
    """Whether two tallies are the same in every number."""
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in Tally.__dataclass_fields__
    )


# Pairs


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("greedy", "hand"),
        ("patient", "hand"),
        ("hard", "hand"),
        ("crazy", "hand"),
        ("greedy", "match"),
        ("crazy", "match"),
    ],
)
def test_a_player_who_draws_no_random_numbers_scores_zero_against_itself_in_every_pair(name, unit):
    tally = play(player(name), player(name), 30, seed=3, rules=SHORT, unit=unit)
    assert (tally.points.sum(axis=1) == 0).all()
    assert (tally.won.sum(axis=1) == 0).all()
    assert (tally.hands[:, 0] == tally.hands[:, 1]).all()
    assert np.any(tally.points[:, 0] != 0)


def test_a_random_player_scores_zero_against_itself_within_the_interval():
    tally = play(player("normal"), player("normal"), 600, seed=1)
    assert np.any(tally.points.sum(axis=1) != 0)
    assert tally.points_a_hand.low < 0 < tally.points_a_hand.high
    assert tally.games_won.low < 0.5 < tally.games_won.high


def test_both_seatings_get_the_same_deck_and_dealer_in_every_hand_of_a_match(tmp_path):
    with Recorder(tmp_path / "hands.jsonl") as recorder:
        play(
            player("greedy"),
            player("easy"),
            num_pairs=4,
            seed=4,
            rules=SHORT,
            unit="match",
            recorder=recorder,
            names=("greedy", "easy"),
        )
    decks = {}
    for record in read(tmp_path / "hands.jsonl"):
        decks.setdefault(record.deck, set()).add((record.dealer, record.players))
    twice = [games for games in decks.values() if len(games) == 2]
    assert len(twice) > 4
    for games in twice:
        assert len({dealer for dealer, _ in games}) == 1
        assert {players for _, players in games} == {("greedy", "easy"), ("easy", "greedy")}


def test_each_player_sits_in_each_seat_once():
    seats = []

    def watched(view, rng):
        seats.append(view.seat)
        return player("greedy")(view, rng)

    play(watched, player("greedy"), 1, seed=0)
    assert set(np.concatenate(seats).tolist()) == {0, 1}


# Seeds and blocks


def test_the_seed_decides_everything():
    one, again, other = (play(player("easy"), player("normal"), 40, seed) for seed in (1, 1, 2))
    assert same(one, again)
    assert not np.array_equal(one.points, other.points)


def test_a_block_does_not_depend_on_how_many_are_played():
    a, b = player("easy"), player("normal")
    few = play(a, b, 20, seed=7, block=10)
    many = list(play_blocks(a, b, 30, seed=7, block=10))
    assert same(few, Tally.merge(many[:2]))


def test_players_who_draw_no_random_numbers_get_the_same_results_in_blocks_of_any_size():
    a, b = player("greedy"), player("hard")
    for unit, blocks in (("hand", (5, 7)), ("match", (7,))):
        whole = play(a, b, 12, seed=7, rules=SHORT, unit=unit)
        for block in blocks:
            assert same(whole, play(a, b, 12, seed=7, rules=SHORT, unit=unit, block=block))


def test_decks_are_the_same_across_the_portions_that_are_shuffled_at_once():
    a = player("greedy")
    whole = play(a, takes_every_card, 600, seed=2)
    parts = play(a, takes_every_card, 600, seed=2, block=250)
    assert same(whole, parts)
    assert not np.array_equal(whole.points[:80], whole.points[256:336])
    assert np.array_equal(play(a, takes_every_card, 1, seed=2).points, whole.points[:1])


# Matches


def test_a_match_goes_to_the_target_score():
    tally = play(player("greedy"), player("random"), 20, seed=5, unit="match")
    assert (tally.won == 1).all()
    assert (np.abs(tally.points) > 0).all()
    assert tally.games_won.mean == 1
    assert tally.num_hands == tally.endings.sum() == tally.hands.sum()
    assert (tally.hands > 1).all()


def test_a_match_that_does_not_end_is_a_draw_after_500_hands():
    rules = Rules(max_turns=1)
    tally = play(takes_every_card, takes_every_card, 3, seed=0, rules=rules, unit="match")
    assert (tally.hands == 500).all()
    assert (tally.won == 0).all()
    assert tally.draws == 6
    assert tally.games_won.mean == 0.5
    assert tally.endings[2, Result.VOID] == 3000
    assert tally.rates()["voids"] == 1
    assert tally.rates()["turns"] == 1


def test_a_lead_does_not_win_a_match_that_does_not_end():
    rules = Rules(target_score=None)
    tally = play(player("greedy"), player("random"), 3, 0, rules=rules, unit="match", max_hands=4)
    assert (tally.points > 0).all()
    assert (tally.hands == 4).all()
    assert (tally.won == 0).all()


# What is counted, against the records of the same play


def test_the_tally_counts_what_was_played(tmp_path):
    names = ("patient", "easy")
    with Recorder(tmp_path / "hands.jsonl") as recorder:
        tally = play(player("patient"), player("easy"), 40, 6, recorder=recorder, names=names)
    records = list(read(tmp_path / "hands.jsonl"))
    assert len(records) == tally.num_hands == 80
    net = sum(record.points[record.players.index("patient")] for record in records)
    assert net == tally.points.sum()
    assert tally.points_a_hand.mean == pytest.approx(net / 80)
    for result in (Result.KNOCK, Result.GIN, Result.BIG_GIN, Result.UNDERCUT, Result.VOID):
        assert sum(r.result == result for r in records) == tally.endings[:, result].sum()
    points = sum(abs(record.points[0]) for record in records)
    assert points == tally.gained.sum()
    won = sum(record.points[record.players.index("patient")] > 0 for record in records)
    assert won == (tally.won > 0).sum()


def test_patient_knocks_with_gin_only_and_greedy_at_once():
    tally = play(player("patient"), player("greedy"), 100, seed=1)
    patient, greedy = tally.rates(0), tally.rates(1)
    assert patient["knocks"] == patient["undercuts_suffered"] == 0
    assert np.isnan(patient["knock_deadwood"])
    assert patient["undercuts_made"] == greedy["undercuts_suffered"] > 0
    assert greedy["knocks"] > 0.5
    assert 1 <= greedy["knock_deadwood"] <= 10


def test_swapped_is_the_other_players_tally():
    a, b = player("greedy"), player("patient")
    one, other = play(a, b, 50, 9).swapped(), play(b, a, 50, 9)
    assert same(one, other)


# Those who want to be told


class Listener:
    """A greedy player who remembers how its hands ended."""

    def __init__(self):
        self.told = []

    def __call__(self, view, rng):
        return player("greedy")(view, rng)

    def hand_over(self, view, ending):
        self.told.append((view, ending))


def test_a_player_with_hand_over_is_told_how_each_of_its_hands_ended():
    listener = Listener()
    tally = play(listener, player("easy"), 30, seed=8)
    results = np.concatenate([ending.result for _, ending in listener.told])
    points = np.concatenate([ending.points for _, ending in listener.told])
    assert len(results) == 60
    assert points.sum() == tally.points.sum()
    for view, ending in listener.told:
        assert isinstance(ending, Ending)
        assert ending.match_over.all()
        assert not (view.hand & ending.opponent_hand).any()
        settled = ending.knocker >= 0
        both = np.stack([view.hand, ending.opponent_hand], axis=1)
        rows = np.flatnonzero(settled)
        knocker = ending.knocker[rows]
        knocked = both[rows, knocker]
        assert (melds.deadwood(knocked) == ending.deadwood[rows, knocker]).all()
        assert np.isin(cards.count(knocked), (10, 11)).all()


# Mistakes


def test_answers_of_the_wrong_shape_or_type_are_named():
    with pytest.raises(ValueError, match="player A was asked for 2 actions"):
        play(lambda view, rng: np.zeros(1, dtype=int), player("greedy"), 2, 0)
    with pytest.raises(ValueError, match="gave float64"):
        play(lambda view, rng: np.zeros(len(view)), player("greedy"), 2, 0)


def test_an_illegal_action_is_an_error():
    with pytest.raises(ValueError, match="illegal"):
        play(lambda view, rng: np.full(len(view), TAKE_PILE), player("greedy"), 2, 0)


def test_arguments_out_of_range():
    with pytest.raises(ValueError, match="unit must be"):
        play(player("greedy"), player("greedy"), 2, 0, unit="game")
    with pytest.raises(ValueError, match="1 or more"):
        play(player("greedy"), player("greedy"), 0, 0)


def test_progress_rises_to_the_number_of_games():
    seen = []
    play(
        player("greedy"),
        player("greedy"),
        12,
        0,
        block=5,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == sorted(seen)
    assert seen[-1] == (24, 24)
