"""What a policy expects against what comes of it, and the pictures of it."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from agents import play_plots
from agents.beliefs import Believer
from agents.play_statistics import PlayStatistics
from agents.players import play, player
from agents.scripted import greedy


class Hopes:
    """Greedy, whose value of a position is the turn times ten, less a hundred for seat 1."""

    points_scale = 10.0

    def __init__(self):
        self.asked = []

    def explain(self, view):
        chosen = greedy(view, None)
        self.asked += zip(
            view.game_id.tolist(), view.seat.tolist(), view.turn.tolist(), strict=True
        )
        probabilities = np.zeros((len(view), 108), dtype=np.float32)
        probabilities[np.arange(len(view)), chosen] = 1
        return probabilities, (view.turn - 10.0 * view.seat).astype(np.float32)


def test_each_decision_meets_the_points_of_its_hand():
    hopes = Hopes()
    believer = Believer(hopes)
    tally = play(believer, player("easy"), 30, seed=2)
    # In single hands, game g is pair g with the player in seat 0, or pair g - 30 in seat 1.
    expected = sorted(
        (turn // 2, 10.0 * (turn - 10 * seat), float(tally.points[game % 30, seat]))
        for game, seat, turn in hopes.asked
    )
    assert all(game // 30 == seat for game, seat, _ in hopes.asked)
    assert sorted(map(tuple, believer.known.T.tolist())) == expected
    assert tally.points_a_hand == play(greedy, player("easy"), 30, seed=2).points_a_hand


def test_calibration_and_explained_variance():
    believer = Believer(Hopes())
    value = np.arange(100.0)
    believer._known.append(np.stack([value // 50, value, 2 * value]))
    found = believer.calibration(bins=4)
    assert found.decisions.tolist() == [25] * 4
    assert found.expected.tolist() == [12, 37, 62, 87]
    assert found.came.tolist() == [24, 74, 124, 174]
    known = believer.explained_variance(turns=3)
    assert known[:2] == pytest.approx([0.75, 0.75])  # half the deviation is left: a quarter
    assert np.isnan(known[2])


def test_nothing_known_yet():
    believer = Believer(Hopes())
    assert believer.known.shape == (3, 0)
    assert believer.calibration().decisions.size == 0
    assert np.isnan(believer.explained_variance()).all()


def test_pictures():
    statistics = PlayStatistics("crazy", "greedy")
    believer = Believer(Hopes())
    play(believer, greedy, 20, seed=1, recorder=statistics, names=("crazy", "greedy"))
    for figure in (
        play_plots.knocks(statistics),
        play_plots.thrown(statistics),
        play_plots.beliefs(believer),
    ):
        assert isinstance(figure, Figure)
        image = play_plots.pixels(figure)
        assert image.dtype == np.uint8
        assert image.ndim == 3
        assert image.shape[2] == 3
        assert image.std() > 5
