"""The benchmarks: that they run, say what they measured, and count right."""

import json

import numpy as np
import pytest

from agents import benchmark as bots
from agents import benchmark_training as trainer
from agents.config import Config
from ginenv import benchmark, engine, opponents, workloads
from ginenv.benchmark import Figure, shown
from ginenv.rules import settle
from ginenv.workloads import Workload

QUICK = ["--rounds", "1", "--seconds", "0.001", "--json"]


@pytest.fixture
def small(monkeypatch):
    """Batches that take no time."""
    for module in (benchmark, bots):
        monkeypatch.setattr(module, "GAMES", 64)
    monkeypatch.setattr(benchmark, "SIZES", (32, 64))


def test_the_engine_benchmark_reports_every_figure(small, capsys):
    assert benchmark.main([*QUICK, "--no-peers", "--profile"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert {"date", "processor", "cores", "python", "numpy"} <= set(about["machine"])
    names = [figure["name"] for figure in about["figures"]]
    assert names[:2] == ["64 games, cards", "64 games, full"]
    assert names[-1] == "32 games, cards"
    assert {figure["unit"] for figure in about["figures"]} == {
        *("decisions/s", "ns/hand", "µs/knock", "steps/s", "bytes/game"),
    }
    assert all(figure["median"] > 0 for figure in about["figures"])
    assert list(about["profile_ns_per_decision"]) == [
        *("view", "encode", "mask", "choose", "step", "settle", "redeal"),
    ]


def test_the_table_names_the_machine_and_the_goals(small, capsys):
    assert benchmark.main([*QUICK[:-1], "--no-peers", "--profile"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("date ") and "numpy" in out
    assert "≤ 1,024 ✓" in out and "of which settle" in out


@pytest.mark.peers
def test_peers_take_turns_and_ratios_are_told(small, capsys):
    pytest.importorskip("pyspiel")
    assert benchmark.main(QUICK) == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    ratios = [figure for figure in figures if figure["unit"] == "times"]
    assert ratios[0]["name"].startswith("64 games, cards, over OpenSpiel")
    assert [figure["goal"] for figure in ratios][:2] == [100, None]


def test_the_trainers_benchmark_reports_each_setting_and_counts_decisions(monkeypatch, capsys):
    small = {"num_games": 32, "num_steps": 4, "minibatch_size": 64, "hidden_size": 8}
    monkeypatch.setattr(trainer, "Config", lambda **changes: Config(**{**small, **changes}))
    settings = ({}, {"precision": "float32"}, {"num_games": 16, "num_steps": 8})
    monkeypatch.setattr(trainer, "SETTINGS", settings)
    assert trainer.main(QUICK) == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    names = ["as they are", "precision float32", "num_games 16, num_steps 8"]
    assert [figure["name"] for figure in figures] == names
    assert all(figure["unit"] == "decisions/s" and figure["median"] > 0 for figure in figures)
    monkeypatch.setattr(workloads, "process_time", iter([0.0, 0.5, 0.9, 1.5]).__next__)
    assert trainer.learning({}).run(1.0) == 2 * 32 * 4 / 1.5


def test_the_settings_that_are_timed_can_be_run():
    for changes in trainer.SETTINGS:
        config = Config(**changes)
        assert config.num_games * config.num_steps == Config().num_games * Config().num_steps


def test_the_bots_benchmark_reports_every_bot(small, monkeypatch, capsys):
    monkeypatch.setattr(bots.players, "BLOCK", 4)
    assert bots.main([*QUICK, "--policy", "greedy"]) == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert [figure["name"].split()[0].rstrip(",") for figure in figures] == [
        *bots.BOTS,
        *("greedy", "crazy", "greedy", "crazy"),
        *("greedy", "greedy", "greedy"),
    ]
    assert {figure["goal"] for figure in figures if "games" in figure["name"]} == {
        *(None, 12_000, 6_000),
    }


def test_a_decision_is_timed_alone_and_in_batches(monkeypatch):
    asked = []

    def policy(seen, rng):
        asked.append(len(seen))
        return seen.action_mask.argmax(axis=1)

    monkeypatch.setitem(opponents._factories, "learned", lambda: policy)
    for number in (1, 1024):
        timed = bots.decision_time("learned", number)
        assert timed.run(0.001) > 0
        assert set(asked) == {number}
        asked.clear()
    assert timed.name == "learned, a decision 1,024 at once"
    assert timed.reached(49) and not timed.reached(51)
    assert bots.decision_time("learned", 1).goal == 1000


def test_a_policy_that_nobody_knows_is_refused(capsys):
    with pytest.raises(SystemExit):
        bots.main([*QUICK, "--policy", "pretraind"])
    assert "did you mean 'pretrained'?" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [["--rounds", "0"], ["--seconds", "-1"], ["--seconds", "nan"]])
def test_a_benchmark_of_no_length_is_refused(wrong, capsys):
    with pytest.raises(SystemExit):
        benchmark.main(wrong)
    assert "invalid positive number value" in capsys.readouterr().err


def test_medians_spreads_and_ratios():
    fast = Figure(Workload("a", "x/s", lambda _: 0.0), (10.0, 30.0, 20.0))
    slow = Figure(Workload("b", "x/s", lambda _: 0.0), (1.0, 2.0, 4.0))
    assert (fast.median, fast.spread) == (20.0, (15.0, 25.0))
    ratio = fast.over(slow, goal=8)
    assert sorted(ratio.values) == [5.0, 10.0, 15.0]
    assert ratio.as_json()["reached"] is True
    most = Workload("c", "ns", lambda _: 0.0, goal=5, more_is_better=False)
    assert most.reached(4) and not most.reached(6)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1_234_567, "1,235,000"), (18_123, "18,120"), (1000, "1,000"), (184, "184"), (2.486, "2.49")],
)
def test_figures_have_three_or_four_digits(number, text):
    assert shown(number) == text


def test_random_actions_are_legal_and_reach_every_legal_action():
    state = engine.deal(np.random.default_rng(0), 200)
    rng = np.random.default_rng(1)
    engine.step(state, np.full(200, 105))
    mask = engine.legal_actions(state)
    reached = np.zeros_like(mask)
    for _ in range(400):
        reached[np.arange(200), workloads.random_actions(mask, rng)] = True
    assert (reached == mask).all()


def test_knocks_for_settling_are_knocks():
    knockers, defenders = workloads.knocks(np.random.default_rng(0), 50)
    settled = settle(knockers, defenders)
    assert (settled.knocker_deadwood <= 10).all()
