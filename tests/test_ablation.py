"""The ablation: it runs each variant with each seed once, and its table says what they did."""

import dataclasses
import io
import json
import re

import numpy as np
import pytest
import scipy.stats
from rich.console import Console

from agents import ablation
from agents.training import Training
from tests.tiny import A_ROLLOUT, tiny

OTHER = "critic sees own view only"


@pytest.fixture
def small(monkeypatch):
    """The recipe on tiny networks and in few games."""
    config = tiny()
    shape = {f.name for f in dataclasses.fields(config)} - {
        "critic",
        "opponents",
        "total_decisions",
    }
    base = dataclasses.replace(ablation._BASE, **{name: getattr(config, name) for name in shape})
    monkeypatch.setattr(ablation, "_BASE", base)
    monkeypatch.setattr(ablation, "_TIMED_SECONDS", 0.01)


def ablate(path, *words):
    common = ["--pairs", "4", "--opponents", "greedy", "--results", str(path)]
    return ablation.main([*common, "--only", ablation.RECIPE, OTHER, *words])


def test_each_variant_runs_once_with_each_seed_for_as_many_decisions_as_its_time_gives(
    small, tmp_path, monkeypatch, capsys
):
    path = tmp_path / "found.jsonl"
    monkeypatch.setattr(ablation, "speed", lambda changes: 300 if changes else 200)
    started = []
    start = Training.start
    monkeypatch.setattr(Training, "start", lambda config: started.append(config) or start(config))
    assert ablate(path, "--seeds", "1", "--seconds", "1") == 0
    assert ablate(path, "--seeds", "2", "--seconds", "9") == 0, "as long as the first seed"
    assert ablate(path, "--seeds", "2") == 0, "nothing is left to do"
    ran = [(config.seed, config.critic, config.total_decisions) for config in started]
    assert A_ROLLOUT == 128
    assert ran == [
        *((1, "all_cards", 200), (1, "own_view", 300)),
        *((2, "all_cards", 256), (2, "own_view", 384)),
    ]
    results = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(r["variant"], r["seed"]) for r in results] == [
        (variant, seed) for seed in (1, 2) for variant in (ablation.RECIPE, OTHER)
    ]
    assert [r["decisions"] for r in results] == [256, 384, 256, 384]
    assert all(r["points"].keys() == {"greedy"} for r in results)
    assert OTHER.split()[0] in capsys.readouterr().out


def test_the_speed_is_that_of_the_variant(small):
    assert ablation.speed({}) > 0
    with pytest.raises(TypeError):
        ablation.speed({"no_switch": 1})


def test_imitation_takes_a_share_of_the_decisions(small, monkeypatch):
    started = []
    start = Training.start
    monkeypatch.setattr(Training, "start", lambda config: started.append(config) or start(config))
    ablation.run({"imitate": "greedy"}, 1, 500, ["greedy"], 2)
    assert started[0].imitate_decisions == 50


def test_the_table_has_means_and_students_intervals_over_the_seeds():
    points = {ablation.RECIPE: [1.0, 2.0, 4.5], OTHER: [0.5, 2.5, 3.0]}
    results = [
        {"variant": variant, "seed": seed, "decisions": 2e6, "points": {"greedy": value}}
        for variant, values in points.items()
        for seed, value in enumerate(values, start=1)
    ]
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(ablation.summarise(results, ["greedy"]))
    rows = {
        row.split("│")[1].strip(): row for row in console.export_text().splitlines() if "│" in row
    }
    for variant, values in points.items():
        gains = np.subtract(values, points[ablation.RECIPE])
        for numbers in [values] if variant == ablation.RECIPE else [values, gains]:
            low, high = scipy.stats.t.interval(
                0.95, 2, loc=np.mean(numbers), scale=scipy.stats.sem(numbers)
            )
            assert f"{np.mean(numbers):+.2f} ±{(high - low) / 2:.2f}" in rows[variant]
        assert re.search(r"│ 3 +│ 2\.0 +│", rows[variant])


def test_every_variant_can_be_trained():
    for changes in ablation.VARIANTS.values():
        assert dataclasses.replace(ablation._BASE, **changes) is not None
