"""Score sheets: worked examples, told hand by hand."""

import numpy as np
import pytest

from agents import evaluation, scripted
from agents.players import play
from ginenv.scoresheet import PRESETS, Scoring, Sheet


def filled(scoring, wins):
    """A sheet after hands given as points: above zero for seat 0, below for seat 1."""
    sheet = Sheet(1, scoring)
    for points in wins:
        sheet.enter([[points, -points]])
    return sheet


def test_a_classic_game_by_hand():
    """You win 25, 31 and 46, the other one 10: you reach 102.

    102 + 100 for the game + 3 boxes of 25 = 277, against 10 + 1 box = 35.
    """
    sheet = filled(Scoring(), [25, -10, 31])
    assert not sheet.over[0]
    assert sheet.totals.tolist() == [[56, 10]]  # no bonus before the end
    sheet.enter([[46, -46]])
    assert sheet.over[0]
    assert sheet.points.tolist() == [[[102, 10]]]
    assert sheet.boxes.tolist() == [[[3, 1]]]
    assert sheet.totals.tolist() == [[277, 35]]
    assert sheet.leader.tolist() == [0]


def test_some_tables_pay_20_for_a_box():
    sheet = filled(Scoring.preset("classic", box_bonus=20), [25, -10, 31, 46])
    assert sheet.totals.tolist() == [[102 + 100 + 60, 10 + 20]]


@pytest.mark.parametrize(
    ("shutout", "total"),
    [
        ("points", 2 * 104 + 100 + 2 * 25),  # the hands' points twice, then the boxes
        ("bonus", 104 + 200 + 2 * 25),
        ("everything", 2 * (104 + 100 + 2 * 25)),
        ("none", 104 + 100 + 2 * 25),
    ],
)
def test_a_shutout_as_tables_differ(shutout, total):
    sheet = filled(Scoring(shutout=shutout), [-64, 0, -40])
    assert sheet.is_shutout.all()
    assert sheet.totals.tolist() == [[0, total]]
    assert sheet.leader.tolist() == [1]


def test_one_box_for_the_loser_is_no_shutout():
    assert not filled(Scoring(), [64, -2, 40]).is_shutout.any()
    assert not filled(Scoring(), [64]).is_shutout.any(), "and none before the end"


def test_hollywood_as_the_wins_come_in():
    """The table of https://ginrummy.cards/variations/hollywood-gin, hand by hand."""
    sheet = Sheet(1, PRESETS["hollywood"])
    you, other = [], []
    for points in (18, -12, 25, -30, 15, 22, -20):
        sheet.enter([[points, -points]])
        you.append(sheet.points[0, :, 0].tolist())
        other.append(sheet.points[0, :, 1].tolist())
    assert you == [
        [18, 0, 0],
        [18, 0, 0],
        [43, 25, 0],
        [43, 25, 0],
        [58, 40, 15],
        [80, 62, 37],
        [80, 62, 37],
    ]
    assert other == [
        [0, 0, 0],
        [12, 0, 0],
        [12, 0, 0],
        [42, 30, 0],
        [42, 30, 0],
        [42, 30, 0],
        [62, 50, 20],
    ]


def test_three_wins_of_one_player():
    """25, 18 and 36 stand as 79, 54 and 36 (the example of pokerwiner.com's Hollywood page)."""
    assert filled(PRESETS["hollywood"], [25, 18, 36]).points[0, :, 0].tolist() == [79, 54, 36]


def test_a_game_that_has_ended_takes_no_more_entries():
    """Game 1 ends with your 40 + 30 + 35; the fourth win of 20 goes into games 2 and 3 alone."""
    sheet = filled(PRESETS["hollywood"], [40, 30, 35, 20])
    assert sheet.points[0, :, 0].tolist() == [105, 85, 55]
    assert sheet.is_open.tolist() == [[False, True, True]]
    assert sheet.boxes[0, :, 0].tolist() == [3, 3, 2]


def test_who_was_shut_out_in_game_1_starts_in_game_2():
    """As a first win it is entered in one game only, and the second in games 2 and 3."""
    sheet = filled(PRESETS["hollywood"], [60, 50, -11])
    assert sheet.is_shutout[0].tolist() == [True, False, False]
    assert sheet.points[0, :, 1].tolist() == [0, 11, 0]
    sheet.enter([[-9, 9]])
    assert sheet.points[0, :, 1].tolist() == [0, 20, 9]


def test_hollywood_is_over_with_its_third_game():
    """60, 50, 55, 70: the games end at 110, 105 and 125, none with a mark for the loser.

    Each pays its points twice, 100 for the game and its boxes (2, 2, 2).
    """
    sheet = filled(PRESETS["hollywood"], [60, 50, 55])
    assert not sheet.over[0]
    sheet.enter([[70, -70]])
    assert sheet.over[0]
    assert sheet.points[0, :, 0].tolist() == [110, 105, 125]
    assert sheet.boxes[0, :, 0].tolist() == [2, 2, 2]
    assert sheet.totals.tolist() == [[2 * (110 + 105 + 125) + 3 * 100 + 6 * 25, 0]]


def test_many_small_wins_may_outweigh_the_game():
    """Nine wins of 11 are 99 points and 225 for boxes; 51 + 51 are 102 + 100 + 50 = 252."""
    sheet = filled(Scoring(), [-51] + [11] * 9 + [-51])
    assert sheet.totals.tolist() == [[99 + 225, 102 + 100 + 50]]
    assert sheet.leader.tolist() == [0]


def test_hands_alone_are_the_match_of_the_rules():
    sheet = filled(PRESETS["hands"], [60, -12, 40])
    assert sheet.over[0]
    assert sheet.totals.tolist() == [[100, 12]]


def test_many_sheets_at_once_are_the_sheets_one_by_one():
    rng = np.random.default_rng(5)
    for scoring in PRESETS.values():
        points = rng.integers(-45, 46, size=(60, 20))
        together = Sheet(20, scoring)
        for hand in points:
            rows = np.flatnonzero(~together.over)
            together.enter(np.stack([hand, -hand], axis=1)[rows], rows)
        for match in range(20):
            alone = Sheet(1, scoring)
            for gain in points[:, match]:
                if not alone.over[0]:
                    alone.enter([[gain, -gain]])
            assert np.array_equal(alone.points[0], together.points[match])
            assert np.array_equal(alone.totals[0], together[[match]].totals[0])


def test_a_tie_has_no_leader():
    assert Sheet(1, Scoring()).leader.tolist() == [-1]


def test_what_a_sheet_cannot_be():
    with pytest.raises(ValueError, match="unknown scoring 'holywood': the presets are hands"):
        Scoring.preset("holywood")
    with pytest.raises(ValueError, match=r"Scoring\.games must lie in 1 to 3, got 4"):
        Scoring(games=4)
    with pytest.raises(ValueError, match=r"Scoring\.shutout must be one of none, points"):
        Scoring(shutout="double")
    with pytest.raises(TypeError, match=r"Scoring\.target must be an integer, got '100'"):
        Scoring(target="100")


# Matches of the evaluation


def test_matches_are_played_to_the_end_of_the_sheet():
    """More hands than to 100 points, and every match has a winner by its sheet."""
    hands = []
    for scoring in (None, *PRESETS.values()):
        tally = play(scripted.hard, scripted.easy, 20, seed=3, unit="match", scoring=scoring)
        assert (tally.won != 0).all()
        assert tally.games_won.mean > 0.5
        hands.append(tally.num_hands)
    plain, sheet_of_hands, classic, hollywood = hands
    assert plain == sheet_of_hands == classic, "one game to 100 takes as many hands with bonuses"
    assert hollywood > classic


def test_a_sheet_of_the_hands_alone_is_the_match_of_the_rules():
    one = play(scripted.hard, scripted.easy, 20, seed=3, unit="match")
    other = play(scripted.hard, scripted.easy, 20, seed=3, unit="match", scoring=PRESETS["hands"])
    assert np.array_equal(one.won, other.won)
    assert np.array_equal(one.points, other.points)


def test_equal_players_draw_under_any_sheet():
    for scoring in PRESETS.values():
        tally = play(scripted.hard, scripted.hard, 10, seed=3, unit="match", scoring=scoring)
        assert tally.won.sum() == 0


def test_the_evaluation_hands_the_sheet_on():
    policies = {"hard": scripted.hard, "easy": scripted.easy}
    games = []
    for scoring in (None, PRESETS["hollywood"]):
        compared = evaluation.Comparison("hard", "easy")
        plan = evaluation.Plan(num_hands=0, num_games=20, scoring=scoring)
        evaluation.measure(compared, policies, plan)
        games.append(compared.games)
    assert games[1].num_hands > games[0].num_hands
