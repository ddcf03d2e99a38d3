"""A run and its directory: one that is taken, cut off, damaged, locked or not to be written."""

import fcntl
import os
import shutil

import pytest
import torch

from agents import checkpoint
from agents.training import Training
from tests.runs import content, metrics, tensorboard
from tests.tiny import A_ROLLOUT, differences
from tests.train_command import EVALUATED, one_line, start, train

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_a_run_dir_that_is_taken(elsewhere, capsys):
    (elsewhere / "thesis.tex").write_text("precious")
    assert start(".") == 2
    assert "run_dir . is not empty: choose another, or go on with --resume ." in one_line(capsys)
    assert os.listdir(elsewhere) == ["thesis.tex"]


def test_a_run_that_was_cut_off_before_its_first_checkpoint_begins_anew(tmp_path, finished):
    path = tmp_path / "run"
    shutil.copytree(finished, path)
    for found in ("latest.pt", "best.pt", "policy.pt", "curves.png", "results.json"):
        (path / found).unlink()
    for older in (path / "checkpoints").iterdir():
        older.unlink()
    assert start(path, **EVALUATED) == 0
    assert differences(metrics(path), metrics(finished)) == []
    assert differences(tensorboard(path), tensorboard(finished)) == []


def test_a_run_can_go_on_from_its_very_beginning(tmp_path, finished, monkeypatch):
    path = tmp_path / "run"

    def interrupted(training):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Training, "advance", interrupted)
        assert start(path, **EVALUATED) == 130
    assert train("--resume", path) == 0
    assert differences(content(path / "latest.pt"), content(finished / "latest.pt")) == []


def test_a_run_dir_that_cannot_be_written(elsewhere, capsys):
    (elsewhere / "file").write_text("in the way")
    for place in ("file", "file/run"):
        assert start(place) == 2
        assert f"cannot write run_dir {place}: Not a directory" in one_line(capsys)
    assert os.listdir(elsewhere) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_run_dir_that_may_not_be_written(elsewhere, capsys):
    (elsewhere / "theirs").mkdir(mode=0o555)
    assert start("theirs/run") == 2
    assert "cannot write run_dir theirs/run: Permission denied" in one_line(capsys)


def test_two_runs_in_one_directory(tmp_path, capsys):
    path = tmp_path / "run"
    start(path, "--stop_after", A_ROLLOUT)
    before = (path / "metrics.jsonl").read_bytes()
    capsys.readouterr()
    with open(path / ".lock") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # as the other run does
        assert train("--resume", path) == 2
        assert f"another run is training in {path}" in one_line(capsys)
    assert start(path) == 2
    assert "is not empty" in one_line(capsys)
    assert (path / "metrics.jsonl").read_bytes() == before
    assert train("--resume", path, "--stop_after", 2 * A_ROLLOUT) == 0


def test_a_run_holds_its_directory_while_it_trains(tmp_path, monkeypatch, capsys):
    path = tmp_path / "run"
    advance, statuses = Training.advance, []

    def meanwhile(training):
        with monkeypatch.context() as patched:
            patched.setattr(Training, "advance", advance)
            statuses.append(train("--resume", path))
        return advance(training)

    monkeypatch.setattr(Training, "advance", meanwhile)
    assert start(path, "--stop_after", A_ROLLOUT) == 0
    assert statuses == [2]
    assert f"another run is training in {path}" in one_line(capsys)


@pytest.mark.parametrize("damage", ["policy", "foreign", "cut", "old", "none"])
def test_a_run_without_a_usable_checkpoint_is_left_alone(tmp_path, damage, capsys):
    path = tmp_path / "run"
    start(path, "--stop_after", A_ROLLOUT)
    latest = path / "latest.pt"
    saved = checkpoint.load(latest)
    if damage == "policy":
        del saved["config"]
        checkpoint.save(latest, saved)
    elif damage == "foreign":
        torch.save({"model": torch.zeros(3)}, latest)
    elif damage == "cut":
        latest.write_bytes(latest.read_bytes()[:-500])
    elif damage == "old":
        saved["config"]["number_of_games"] = 16
        checkpoint.save(latest, saved)
    else:
        latest.unlink()
    lines = (path / "metrics.jsonl").read_bytes()
    capsys.readouterr()
    assert train("--resume", path) == 2
    assert {
        "policy": "is a policy without a training run; it cannot go on",
        "foreign": "latest.pt is no checkpoint of ginenv",
        "cut": "latest.pt is no checkpoint, or damaged",
        "old": "unknown key 'number_of_games'",
        "none": "holds no checkpoint",
    }[damage] in one_line(capsys)
    assert (path / "metrics.jsonl").read_bytes() == lines
