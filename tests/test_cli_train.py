"""The trainer as a user meets it: commands in; a run directory, an exit status and one line out."""

import dataclasses
import json
import os
import random
import shutil
from pathlib import Path

import pytest
import torch

from agents import checkpoint, ppo
from agents.config import Config, load
from tests.runs import metrics, rounded, tensorboard
from tests.test_config import another
from tests.tiny import A_ROLLOUT, SMALL, differences
from tests.train_command import EVALUATED, one_line, start, train

ROOT = Path(__file__).parents[1]
TOTAL = SMALL["total_decisions"]

pytestmark = pytest.mark.usefixtures("elsewhere")


# A whole run


def test_a_run_leaves_everything_in_its_directory(finished):
    found = {path.name for path in finished.iterdir()}
    assert found >= {"config.yaml", "about.json", "metrics.jsonl", "latest.pt", "best.pt"}
    assert found >= {"checkpoints", "curves.png", "results.json", "policy.pt"}
    alone, latest = (checkpoint.load_policy(finished / name) for name in ("policy.pt", "latest.pt"))
    assert differences(alone.network.state_dict(), latest.network.state_dict()) == []
    assert any(name.startswith("events.out.tfevents") for name in found)
    assert not list(finished.rglob("*.part"))
    assert load(finished / "config.yaml", {}) == Config(
        **{**SMALL, **EVALUATED, "run_dir": str(finished)}
    )
    about = json.loads((finished / "about.json").read_text())
    assert about["seed"] == 1 and about["torch"] == torch.__version__
    assert [path.name for path in sorted((finished / "checkpoints").iterdir())] == [
        "0000000000512.pt",
        "0000000001024.pt",
    ]


def test_the_metrics_say_how_it_went(finished):
    lines = metrics(finished)
    assert [line["decisions"] for line in lines] == list(range(128, TOTAL + 1, 128))
    evaluated = [line["decisions"] for line in lines if "eval/points_per_hand/greedy" in line]
    assert evaluated == [640, 1280]
    best = checkpoint.load(finished / "best.pt")["counters"]
    means = {line["decisions"]: line.get("eval/points_per_hand/mean") for line in lines}
    assert best["best"] == max(means[640], means[1280]) == means[best["decisions"]]


def test_the_policy_alone_is_a_small_file_that_plays_and_does_not_train(finished, capsys):
    policy, latest = (
        checkpoint.load_policy(finished / f"{name}.pt") for name in ("policy", "latest")
    )
    assert differences(policy.network.state_dict(), latest.network.state_dict()) == []
    assert (finished / "policy.pt").stat().st_size < (finished / "latest.pt").stat().st_size / 3
    places = [
        checkpoint.load(finished / f"{n}.pt")["config"]["run_dir"] for n in ("policy", "latest")
    ]
    assert places == ["", str(finished)]  # what is passed on names no place of this machine
    capsys.readouterr()
    assert train("--resume", finished / "policy.pt") == 2
    assert "policy.pt is a policy without a training run; it cannot go on" in one_line(capsys)


def test_tensorboard_shows_the_same_curves(finished):
    assert differences(tensorboard(finished), rounded(metrics(finished))) == []


def test_a_run_ends_with_its_table_and_where_things_are(tmp_path, capsys):
    path = tmp_path / "run [of the year]"  # no markup
    assert start(path, total_decisions=2 * A_ROLLOUT) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "greedy" in said.out and "points a hand" in said.out
    for line in (f"training in {path}", f"python evaluate.py {path / 'policy.pt'}"):
        assert line in said.out


def test_without_a_run_dir_the_run_makes_one(elsewhere, capsys):
    (elsewhere / "mine.yaml").write_text("num_games: 16\nnum_steps: 4\nminibatch_size: 64\n")
    small = ["--hidden_size", 8, "--threads", 1, "--opponent_share", 0]
    assert train("--config", "mine.yaml", *small, "--stop_after", 64) == 0
    (run,) = (elsewhere / "runs").iterdir()
    assert run.name.startswith("mine-") and (run / "latest.pt").exists()
    assert f"python train.py --resume runs/{run.name}" in capsys.readouterr().out


def test_old_checkpoints_make_room(tmp_path):
    path = tmp_path / "run"
    start(path, "--stop_after", 6 * A_ROLLOUT, checkpoint_every=A_ROLLOUT, keep_checkpoints=2)
    kept = sorted(int(file.stem) for file in (path / "checkpoints").iterdir())
    assert kept == [5 * A_ROLLOUT, 6 * A_ROLLOUT]


# The configuration on the command line


def shown(capsys):
    return capsys.readouterr().out


@pytest.mark.parametrize("key", [field.name for field in dataclasses.fields(Config)])
def test_every_key_is_an_option_and_what_is_printed_loads_back(tmp_path, key, capsys):
    value = another(key, random.Random(key))
    typed = " ".join(value) if isinstance(value, tuple) else str(value)
    needed = {"imitate": "crazy"} if key == "imitate_decisions" else {}
    more = [word for name, x in needed.items() for word in (f"--{name}", x)]
    for arguments in ([f"--{key}", typed], [f"--{key}={typed}"]):
        assert train(*arguments, *more, "--print_config") == 0
        printed = tmp_path / "printed.yaml"
        printed.write_text(shown(capsys))
        expected = tuple(typed.split()) if isinstance(value, tuple) else value
        assert load(printed, {}) == Config(**{key: expected, **needed})


def test_the_command_line_comes_after_the_file(tmp_path, capsys):
    (tmp_path / "c.yaml").write_text("total_decisions: 3e6\nseed: 2\n")
    options = ["--config", tmp_path / "c.yaml", "--total_decisions", "5e6", "--print_config"]
    assert train(*options) == 0
    (tmp_path / "printed.yaml").write_text(shown(capsys))
    config = load(tmp_path / "printed.yaml", {})
    assert (config.total_decisions, config.seed) == (5_000_000, 2)


def test_the_configs_of_the_repository_are_good(capsys):
    files = sorted((ROOT / "configs").glob("*.yaml"))
    assert files
    for path in files:
        assert train("--config", path, "--print_config") == 0
        assert "total_decisions:" in shown(capsys)


def test_the_configuration_of_a_run_can_be_printed_and_is_as_it_was(tmp_path, finished, capsys):
    path = tmp_path / "run"
    shutil.copytree(finished, path)
    before = {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}
    assert train("--resume", path, "--eval_every", 7, "--print_config") == 0
    (tmp_path / "printed.yaml").write_text(shown(capsys))
    assert load(tmp_path / "printed.yaml", {}).eval_every == 7
    assert {p: p.read_bytes() for p in path.rglob("*") if p.is_file()} == before


# Mistakes: one line, status 2, nothing written


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--lerning_rate 1e-3", "unknown key 'lerning_rate', did you mean learning_rate?"),
        ("--seed one", "seed must be a whole number (5e6 is fine), got 'one'"),
        ("--seed 1.5", "seed must be a whole number"),
        ("--gamma nan", "gamma must be a number"),
        ("--gamma 1.1", "gamma must lie in 0 to 1, got 1.1"),
        ("--seed -1", "seed must lie in"),
        ("--num_games 8 --num_steps 4 --minibatch_size 33", "minibatch_size 33 is larger than"),
        ("--opponents=", "opponent_share needs opponents: name some, or set it to 0"),
        ("--opponents craz", "unknown player 'craz', did you mean 'crazy'?"),
        ("--eval_opponents nobody.pt", "there is no checkpoint nobody.pt"),
        ("--rules standart", "did you mean 'standard'?"),
        ("--precision float16", "precision must be one of float32, bfloat16"),
        ("--device cuda:99", "device 'cuda:99' cannot be used here"),
        ("--seed", "seed must be"),
        ("--run_dir", "--run_dir needs a value"),
        ("seed 3", "'seed' stands alone: options are written --key value"),
        ("--seed 3 4", "'4' stands alone"),
        ("--config none.yaml", "cannot read none.yaml"),
        ("--config . --seed 3", "cannot read ."),
        ("--config", "--config: expected one argument"),
        ("--config a.yaml --resume runs/b", "give one of them"),
        ("--resume runs/none", "there is nothing to resume at runs/none"),
        ("--resume .", ". is no directory of a training run"),
        ("--stop_after soon", "--stop_after: must be a whole number (5e6 is fine), 1 or more"),
        ("--stop_after inf", "--stop_after: must be a whole number"),
        ("--stop_after 0", "--stop_after: must be a whole number"),
        ("--stop_after 1.5", "--stop_after: must be a whole number"),
        ("--time_budget long", "--time_budget: must be a number of seconds above 0"),
        ("--time_budget nan", "--time_budget: must be a number of seconds above 0"),
        ("--time_budget -1", "--time_budget: must be a number of seconds above 0"),
    ],
)
def test_a_mistake_costs_one_line_and_writes_nothing(elsewhere, arguments, says, capsys):
    assert train(*arguments.split()) == 2
    assert says in one_line(capsys)
    assert os.listdir(elsewhere) == []


def test_a_run_that_does_not_fit_into_memory(elsewhere, monkeypatch, capsys):
    def refuse(num_steps, num_games, with_hidden, pinned):
        raise RuntimeError(f"can't allocate {num_steps * num_games} bytes\nframe #0")

    monkeypatch.setattr(ppo.Buffer, "allocate", refuse)
    assert train("--num_games", "1e4", "--num_steps", "1e5") == 2
    line = one_line(capsys)
    assert "cannot make room for num_games 10000 x num_steps 100000" in line
    assert "lower them (can't allocate 1000000000 bytes)" in line
    assert os.listdir(elsewhere) == []


def test_a_mistake_in_a_file_names_the_file(elsewhere, capsys):
    (elsewhere / "my.yaml").write_text("num_gamse: 64\n")
    assert train("--config", "my.yaml") == 2
    assert one_line(capsys).startswith("train.py: my.yaml: unknown key 'num_gamse'")
    assert os.listdir(elsewhere) == ["my.yaml"]


def test_a_mistake_on_the_command_line_is_not_blamed_on_the_file(elsewhere, capsys):
    (elsewhere / "my.yaml").write_text("num_games: 4096\n")
    for mistake in (["--seed", "-1"], ["--sed", "1"], ["--critic", "all"]):
        assert train("--config", "my.yaml", *mistake) == 2
        assert "my.yaml" not in one_line(capsys)
