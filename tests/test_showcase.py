"""What TensorBoard shows of the play: true figures, a whole hand, and a picture."""

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents.play_plots import knock_rates, pixels
from agents.play_statistics import PlayStatistics
from agents.players import play, player
from agents.run_log import MetricLog
from agents.showcase import play_metrics, showcase
from ginenv.rules import Result, Rules
from tests.players import mixed

PAIRS = 30


@pytest.fixture(scope="module")
def shown():
    return showcase(player("crazy"), "greedy", seed=3, num_pairs=PAIRS)


def test_figures_are_those_of_the_games(shown):
    tally = play(player("crazy"), player("greedy"), PAIRS, seed=3)
    ours, theirs = tally.endings[0], tally.endings[1]  # by who knocked
    gins = ours[Result.GIN] + ours[Result.BIG_GIN]
    knocks = ours[Result.KNOCK] + ours[Result.UNDERCUT]
    assert gins and theirs[Result.UNDERCUT]
    assert shown.metrics["play/gin_rate/greedy"] == gins / (2 * PAIRS)
    assert shown.metrics["play/undercut_rate/greedy"] == theirs[Result.UNDERCUT] / (2 * PAIRS)
    assert shown.metrics["play/knock_deadwood/greedy"] == pytest.approx(
        tally.knock_deadwood[0] / knocks
    )
    assert 0 < shown.metrics["play/pile_pick_rate/greedy"] < 1
    assert len(shown.metrics) == 4


def test_pile_picks_are_counted_at_the_first_upcard_and_later():
    statistics = PlayStatistics("policy", "easy")
    play(mixed, player("easy"), PAIRS, seed=1, recorder=statistics, names=statistics.names)
    taken = statistics.upcard[0, ..., 1].sum() + statistics.draws[0, ..., 1].sum()
    offered = statistics.upcard[0].sum() + statistics.draws[0].sum()
    assert play_metrics(statistics)["pile_pick_rate"] == taken / offered


def test_what_never_came_up_is_left_out():
    assert play_metrics(PlayStatistics("policy", "easy")) == {"gin_rate": 0, "undercut_rate": 0}
    straight = showcase(player("greedy"), "greedy", Rules.preset("straight"), num_pairs=3)
    assert "play/knock_deadwood/greedy" not in straight.metrics  # all knocks are gin


def test_the_hand_is_told_from_the_deal_to_the_score(shown):
    lines = shown.hand.splitlines()
    assert "policy" in lines[0] and "greedy" in lines[0]
    assert any(line.endswith("has dealt") for line in lines)
    assert any(line.startswith("turn 1: ") for line in lines)
    assert lines[-1].startswith("the score is ") or "void" in shown.hand


def test_the_same_seed_shows_the_same_and_another_seed_another_hand(shown):
    again = showcase(player("crazy"), "greedy", seed=3, num_pairs=PAIRS)
    assert (again.metrics, again.hand) == (shown.metrics, shown.hand)
    assert (pixels(again.knock_rates) == pixels(shown.knock_rates)).all()
    assert showcase(player("crazy"), "greedy", seed=4, num_pairs=1).hand != shown.hand


def test_an_unknown_opponent_is_named():
    with pytest.raises(ValueError, match="did you mean 'easy'"):
        showcase(player("greedy"), "esay")


def test_the_picture_shows_shares_of_chances():
    statistics = PlayStatistics("policy", "easy")
    statistics.deadwood[0, 2, 6] = 4
    statistics.chances[0, 2, 6], statistics.knocks[0, 2, 6] = 4, 1
    (cells,) = knock_rates(statistics).axes[0].images
    assert cells.get_array()[6, 2] == 25  # % at deadwood 6 in the third own turn
    assert cells.get_array().count() == 1  # everywhere else there was no chance
    assert cells.get_clim() == (0, 100)


def test_tensorboard_has_hand_and_picture_at_their_step(shown, tmp_path):
    log = MetricLog(tmp_path)
    log.text("play/hand/greedy", shown.hand, 5000)
    log.figure("play/knock_rates/greedy", shown.knock_rates, 5000)
    log.close()
    events = EventAccumulator(str(tmp_path), size_guidance={"images": 0, "tensors": 0}).Reload()
    (text,) = events.Tensors("play/hand/greedy/text_summary")
    assert text.step == 5000
    assert text.tensor_proto.string_val[0].decode() == f"```\n{shown.hand}\n```"
    (image,) = events.Images("play/knock_rates/greedy")
    drawn = pixels(shown.knock_rates)
    assert (image.step, image.height, image.width) == (5000, *drawn.shape[:2])
