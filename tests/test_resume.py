"""A run that was stopped goes on as if it had never stopped, whatever stopped it."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from agents import checkpoint, cli_train, ppo, run
from agents.config import Config, load
from agents.training import Training
from tests.runs import content, metrics, tensorboard
from tests.tiny import A_ROLLOUT, SMALL, differences, words
from tests.train_command import EVALUATED, one_line, start, train

ROOT = Path(__file__).parents[1]
TOTAL = SMALL["total_decisions"]

pytestmark = pytest.mark.usefixtures("elsewhere")


# At will


@pytest.mark.parametrize("stop", [100, pytest.param(1100, marks=pytest.mark.slow)])
def test_stopped_and_resumed_is_as_if_it_had_never_stopped(tmp_path, finished, stop, capsys):
    path = tmp_path / "run"
    assert start(path, "--stop_after", stop, **EVALUATED) == 0
    reached = -(-stop // A_ROLLOUT) * A_ROLLOUT
    assert f"stopped by --stop_after {stop} after {reached:,}" in capsys.readouterr().out
    assert checkpoint.load(path / "latest.pt")["counters"]["decisions"] == reached
    time.sleep(1.1)  # event files are named, and read in order, by the second
    assert train("--resume", path) == 0
    assert differences(content(path / "latest.pt"), content(finished / "latest.pt")) == []
    assert differences(content(path / "best.pt"), content(finished / "best.pt")) == []
    assert differences(metrics(path), metrics(finished)) == []
    assert differences(tensorboard(path), tensorboard(finished)) == []
    results = [json.loads((p / "results.json").read_text()) for p in (path, finished)]
    assert differences(*results) == []


def test_what_came_after_the_checkpoint_is_undone(tmp_path, finished, capsys):
    """A crash: the metrics have got to 768 decisions, the newest good checkpoint is at 512."""
    path = tmp_path / "run"
    start(path, "--stop_after", 6 * A_ROLLOUT, **EVALUATED)
    cut = (path / "latest.pt").read_bytes()[:-1000]
    (path / "latest.pt").write_bytes(cut)
    with open(path / "metrics.jsonl", "a") as file:
        file.write('{"decisions": 896, "losses/lo')
    time.sleep(1.1)
    capsys.readouterr()
    assert train("--resume", path, "--stop_after", 7 * A_ROLLOUT) == 0
    said = capsys.readouterr().out
    assert f"passed over: {path / 'latest.pt'}" in said
    assert [line["decisions"] for line in metrics(path)] == list(range(128, 897, 128))
    assert differences(metrics(path), metrics(finished)[:7]) == []
    assert differences(tensorboard(path), tensorboard(finished)[:7]) == []


def test_a_run_resumes_from_any_of_its_checkpoints(tmp_path, finished):
    path = tmp_path / "run"
    shutil.copytree(finished, path)
    before = sorted(p.relative_to(path) for p in path.rglob("*.pt"))
    assert train("--resume", path / "checkpoints" / "0000000000512.pt") == 0
    assert sorted(p.relative_to(path) for p in path.rglob("*.pt")) == before
    assert not (path / "checkpoints" / "checkpoints").exists()
    assert differences(content(path / "latest.pt"), content(finished / "latest.pt")) == []
    assert differences(metrics(path), metrics(finished)) == []


def test_resuming_a_finished_shows_its_table_again(tmp_path, finished, capsys):
    path = tmp_path / "run"
    shutil.copytree(finished, path)
    assert train("--resume", path) == 0
    assert "points a hand" in capsys.readouterr().out
    assert differences(content(path / "latest.pt"), content(finished / "latest.pt")) == []
    assert differences(metrics(path), metrics(finished)) == []


def test_stopping_where_it_stands_changes_nothing(tmp_path):
    path = tmp_path / "run"
    start(path, "--stop_after", 512)
    before = content(path / "latest.pt")
    assert train("--resume", path, "--stop_after", 512) == 0
    assert differences(content(path / "latest.pt"), before) == []


def test_stopping_at_the_end_is_ending(tmp_path, capsys):
    assert start(tmp_path / "run", "--stop_after", 256, total_decisions=256) == 0
    said = capsys.readouterr().out
    assert "stopped" not in said and "points a hand" in said


def test_a_time_budget_stops_and_does_not_bend_the_schedules(tmp_path, finished, monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(run.time, "monotonic", lambda: next(clock))
    path = tmp_path / "run"
    assert start(path, "--time_budget", 3, **EVALUATED) == 0
    reached = checkpoint.load(path / "latest.pt")["counters"]["decisions"]
    assert 0 < reached < TOTAL
    assert differences(metrics(path), metrics(finished)[: reached // A_ROLLOUT]) == []


def test_what_may_change_on_resuming_and_what_may_not(tmp_path, capsys):
    path = tmp_path / "run"
    start(path, "--stop_after", A_ROLLOUT)
    before = (path / "latest.pt").read_bytes()
    capsys.readouterr()
    for key in cli_train.RESUMABLE:
        assert key in Config.__dataclass_fields__
    for key, value in (("learning_rate", "1e-5"), ("num_games", "32"), ("total_decisions", "5e6")):
        assert train("--resume", path, f"--{key}", value) == 2
        assert f"{key} is part of what the run is and cannot change" in one_line(capsys)
    assert (path / "latest.pt").read_bytes() == before
    same = ["--learning_rate", "0.001", "--seed", "1"]
    more = ["--keep_checkpoints", 1, "--checkpoint_every", A_ROLLOUT]
    assert train("--resume", path, *same, *more, "--stop_after", 3 * A_ROLLOUT) == 0
    assert len(list((path / "checkpoints").iterdir())) == 1
    assert load(path / "config.yaml", {}).keep_checkpoints == 1


# Signals


def signalling(monkeypatch, at, *numbers):
    """Lets the run get signals in the middle of an update."""
    advance = Training.advance

    def interrupted(training):
        if training.updates == at:
            for number in numbers:
                os.kill(os.getpid(), number)
        return advance(training)

    monkeypatch.setattr(Training, "advance", interrupted)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_after_the_update_and_leaves_a_checkpoint(
    tmp_path, finished, monkeypatch, number, capsys
):
    before = signal.getsignal(number)
    path = tmp_path / "run"
    with monkeypatch.context() as patched:
        signalling(patched, 2, number)
        assert start(path, **EVALUATED) == 0
    assert f"stopped by {number.name} after 384 decisions" in capsys.readouterr().out
    assert signal.getsignal(number) == before
    assert train("--resume", path, "--stop_after", 5 * A_ROLLOUT) == 0
    assert differences(metrics(path), metrics(finished)[:5]) == []


def test_a_second_signal_stops_at_once_and_costs_nothing_but_the_stretch(
    tmp_path, finished, monkeypatch, capsys
):
    path = tmp_path / "run"
    with monkeypatch.context() as patched:
        signalling(patched, 5, signal.SIGINT, signal.SIGINT)
        assert start(path, **EVALUATED) == 130
    assert "interrupted" in one_line(capsys)
    assert checkpoint.load(path / "latest.pt")["counters"]["decisions"] == 512
    assert train("--resume", path, "--stop_after", 6 * A_ROLLOUT) == 0
    assert differences(metrics(path), metrics(finished)[:6]) == []


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_a_real_process_stops_in_good_order(tmp_path, number):
    path = tmp_path / "run"
    command = [sys.executable, ROOT / "train.py", *words(run_dir=path, total_decisions=10**9)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        for line in process.stdout:
            if "decisions" in line:  # under way
                break
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert f"stopped by {number.name}" in out
    decisions = checkpoint.load(path / "latest.pt")["counters"]["decisions"]
    assert decisions == metrics(path)[-1]["decisions"] >= A_ROLLOUT
    assert train("--resume", path, "--stop_after", decisions + A_ROLLOUT) == 0
    steps = [line["decisions"] for line in metrics(path)]
    assert steps == list(range(A_ROLLOUT, decisions + A_ROLLOUT + 1, A_ROLLOUT))


# Trouble on the way


def test_a_loss_that_is_no_number_stops_the_run_with_the_step_saved(
    tmp_path, finished, monkeypatch, capsys
):
    path = tmp_path / "run"
    start(path, "--stop_after", 512, **EVALUATED)
    before = (path / "latest.pt").read_bytes()
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr(ppo, "masked_entropy", lambda log_probs: log_probs[:, 0] * torch.nan)
        assert train("--resume", path) == 1
    line = one_line(capsys)
    saved = path / "diverged-512.pt"
    assert "diverged after 512 decisions: loss nan" in line and str(saved) in line
    assert (path / "latest.pt").read_bytes() == before
    batch = checkpoint.load(saved)
    assert batch["buffer"]["learns"].shape == (SMALL["num_steps"], SMALL["num_games"])
    wanted = content(path / "latest.pt")["network"]
    assert differences(batch["network"], wanted) == [], "the weights before that step"
    assert train("--resume", path) == 0
    assert differences(content(path / "latest.pt"), content(finished / "latest.pt")) == []


@pytest.mark.parametrize("save", [1, 2, 3, 4, 5])
def test_a_full_disk_leaves_the_checkpoint_before(tmp_path, finished, monkeypatch, save, capsys):
    """Saves happen at the start, at 512 (latest and numbered) and at 1024 decisions (the same)."""
    path = tmp_path / "run"
    fsync, calls = os.fsync, []

    def full(number):
        calls.append(number)
        if len(calls) >= save:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(number)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        assert start(path, eval_every=10**6) == 2
    line = one_line(capsys)
    assert f"cannot write checkpoint {path}" in line and "No space left on device" in line
    assert not list(path.rglob("*.part"))
    reached = [checkpoint.load(file)["counters"]["decisions"] for file in path.rglob("*.pt")]
    assert sorted(reached) == [[], [0], [512], [512, 512], [512, 1024]][save - 1]
    if reached:
        assert train("--resume", path, "--stop_after", TOTAL - A_ROLLOUT) == 0
        wanted = [
            {k: v for k, v in line.items() if "eval/" not in k and not k.endswith("/greedy")}
            for line in metrics(finished)
        ]
        assert differences(metrics(path), wanted[:9]) == []


def test_a_bug_is_no_users_mistake(tmp_path, monkeypatch):
    """What nobody foresaw keeps its traceback."""
    monkeypatch.setattr(Training, "advance", lambda training: {}["bug"])
    with pytest.raises(KeyError):
        start(tmp_path / "run")
