"""The trainer as a user meets it: commands in; a run directory, an exit status and one line out."""

import dataclasses
import errno
import fcntl
import json
import os
import random
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
from tests.runs import content, metrics, rounded, tensorboard
from tests.test_config import another
from tests.tiny import A_ROLLOUT, SMALL, differences, words

ROOT = Path(__file__).parents[1]
TOTAL = SMALL["total_decisions"]
EVALUATED = {"eval_every": 5 * A_ROLLOUT}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Every command runs in an empty directory of its own."""
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def train(*arguments):
    return cli_train.main([str(argument) for argument in arguments])


def start(run_dir, *arguments, **changes):
    return train(*words(run_dir=run_dir, **changes), *arguments)


def one_line(capsys):
    """What was said to a user who made a mistake."""
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert said.err.count("\n") == 1 and said.err.startswith("train.py: ")
    return said.err


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The directory of a run that went from its beginning to its end."""
    path = tmp_path_factory.mktemp("whole") / "run"
    assert start(path, **EVALUATED) == 0
    return path


# A whole run


def test_a_run_leaves_everything_in_its_directory(whole):
    found = {path.name for path in whole.iterdir()}
    assert found >= {"config.yaml", "about.json", "metrics.jsonl", "latest.pt", "best.pt"}
    assert found >= {"checkpoints", "curves.png", "results.json", "policy.pt"}
    alone, latest = (checkpoint.load_policy(whole / name) for name in ("policy.pt", "latest.pt"))
    assert differences(alone.network.state_dict(), latest.network.state_dict()) == []
    assert any(name.startswith("events.out.tfevents") for name in found)
    assert not list(whole.rglob("*.part"))
    assert load(whole / "config.yaml", {}) == Config(
        **{**SMALL, **EVALUATED, "run_dir": str(whole)}
    )
    about = json.loads((whole / "about.json").read_text())
    assert about["seed"] == 1 and about["torch"] == torch.__version__
    assert [path.name for path in sorted((whole / "checkpoints").iterdir())] == [
        "0000000000512.pt",
        "0000000001024.pt",
    ]


def test_the_metrics_say_how_it_went(whole):
    lines = metrics(whole)
    assert [line["decisions"] for line in lines] == list(range(128, TOTAL + 1, 128))
    evaluated = [line["decisions"] for line in lines if "eval/points_per_hand/greedy" in line]
    assert evaluated == [640, 1280]
    best = checkpoint.load(whole / "best.pt")["counters"]
    means = {line["decisions"]: line.get("eval/points_per_hand/mean") for line in lines}
    assert best["best"] == max(means[640], means[1280]) == means[best["decisions"]]


def test_the_policy_alone_is_a_small_file_that_plays_and_does_not_train(whole, capsys):
    policy, latest = (checkpoint.load_policy(whole / f"{name}.pt") for name in ("policy", "latest"))
    assert differences(policy.network.state_dict(), latest.network.state_dict()) == []
    assert (whole / "policy.pt").stat().st_size < (whole / "latest.pt").stat().st_size / 3
    places = [checkpoint.load(whole / f"{n}.pt")["config"]["run_dir"] for n in ("policy", "latest")]
    assert places == ["", str(whole)]  # what is passed on names no place of this machine
    capsys.readouterr()
    assert train("--resume", whole / "policy.pt") == 2
    assert "policy.pt is a policy without a training run; it cannot go on" in one_line(capsys)


def test_tensorboard_shows_the_same_curves(whole):
    assert differences(tensorboard(whole), rounded(metrics(whole))) == []


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


# Stopping and going on


@pytest.mark.parametrize("stop", [100, pytest.param(1100, marks=pytest.mark.slow)])
def test_stopped_and_resumed_is_as_if_it_had_never_stopped(tmp_path, whole, stop, capsys):
    path = tmp_path / "run"
    assert start(path, "--stop_after", stop, **EVALUATED) == 0
    reached = -(-stop // A_ROLLOUT) * A_ROLLOUT
    assert f"stopped by --stop_after {stop} after {reached:,}" in capsys.readouterr().out
    assert checkpoint.load(path / "latest.pt")["counters"]["decisions"] == reached
    time.sleep(1.1)  # event files are named, and read in order, by the second
    assert train("--resume", path) == 0
    assert differences(content(path / "latest.pt"), content(whole / "latest.pt")) == []
    assert differences(content(path / "best.pt"), content(whole / "best.pt")) == []
    assert differences(metrics(path), metrics(whole)) == []
    assert differences(tensorboard(path), tensorboard(whole)) == []
    results = [json.loads((p / "results.json").read_text()) for p in (path, whole)]
    assert differences(*results) == []


def test_what_came_after_the_checkpoint_is_undone(tmp_path, whole, capsys):
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
    assert differences(metrics(path), metrics(whole)[:7]) == []
    assert differences(tensorboard(path), tensorboard(whole)[:7]) == []


def test_a_run_resumes_from_any_of_its_checkpoints(tmp_path, whole):
    path = tmp_path / "run"
    shutil.copytree(whole, path)
    before = sorted(p.relative_to(path) for p in path.rglob("*.pt"))
    assert train("--resume", path / "checkpoints" / "0000000000512.pt") == 0
    assert sorted(p.relative_to(path) for p in path.rglob("*.pt")) == before
    assert not (path / "checkpoints" / "checkpoints").exists()
    assert differences(content(path / "latest.pt"), content(whole / "latest.pt")) == []
    assert differences(metrics(path), metrics(whole)) == []


def test_resuming_a_finished_run_shows_its_table_again(tmp_path, whole, capsys):
    path = tmp_path / "run"
    shutil.copytree(whole, path)
    assert train("--resume", path) == 0
    assert "points a hand" in capsys.readouterr().out
    assert differences(content(path / "latest.pt"), content(whole / "latest.pt")) == []
    assert differences(metrics(path), metrics(whole)) == []


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


def test_a_time_budget_stops_and_does_not_bend_the_schedules(tmp_path, whole, monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(run.time, "monotonic", lambda: next(clock))
    path = tmp_path / "run"
    assert start(path, "--time_budget", 3, **EVALUATED) == 0
    reached = checkpoint.load(path / "latest.pt")["counters"]["decisions"]
    assert 0 < reached < TOTAL
    assert differences(metrics(path), metrics(whole)[: reached // A_ROLLOUT]) == []


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
    tmp_path, whole, monkeypatch, number, capsys
):
    before = signal.getsignal(number)
    path = tmp_path / "run"
    with monkeypatch.context() as patched:
        signalling(patched, 2, number)
        assert start(path, **EVALUATED) == 0
    assert f"stopped by {number.name} after 384 decisions" in capsys.readouterr().out
    assert signal.getsignal(number) == before
    assert train("--resume", path, "--stop_after", 5 * A_ROLLOUT) == 0
    assert differences(metrics(path), metrics(whole)[:5]) == []


def test_a_second_signal_stops_at_once_and_costs_nothing_but_the_stretch(
    tmp_path, whole, monkeypatch, capsys
):
    path = tmp_path / "run"
    with monkeypatch.context() as patched:
        signalling(patched, 5, signal.SIGINT, signal.SIGINT)
        assert start(path, **EVALUATED) == 130
    assert "interrupted" in one_line(capsys)
    assert checkpoint.load(path / "latest.pt")["counters"]["decisions"] == 512
    assert train("--resume", path, "--stop_after", 6 * A_ROLLOUT) == 0
    assert differences(metrics(path), metrics(whole)[:6]) == []


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
    tmp_path, whole, monkeypatch, capsys
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
    assert differences(content(path / "latest.pt"), content(whole / "latest.pt")) == []


@pytest.mark.parametrize("save", [1, 2, 3, 4, 5])
def test_a_full_disk_leaves_the_checkpoint_before(tmp_path, whole, monkeypatch, save, capsys):
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
            for line in metrics(whole)
        ]
        assert differences(metrics(path), wanted[:9]) == []


def test_a_bug_is_no_users_mistake(tmp_path, monkeypatch):
    """What nobody foresaw keeps its traceback."""
    monkeypatch.setattr(Training, "advance", lambda training: {}["bug"])
    with pytest.raises(KeyError):
        start(tmp_path / "run")


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


def test_the_configuration_of_a_run_can_be_printed_and_is_as_it_was(tmp_path, whole, capsys):
    path = tmp_path / "run"
    shutil.copytree(whole, path)
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


def test_a_run_dir_that_is_taken(elsewhere, capsys):
    (elsewhere / "thesis.tex").write_text("precious")
    assert start(".") == 2
    assert "run_dir . is not empty: choose another, or go on with --resume ." in one_line(capsys)
    assert os.listdir(elsewhere) == ["thesis.tex"]


def test_a_run_that_was_cut_off_before_its_first_checkpoint_begins_anew(tmp_path, whole):
    path = tmp_path / "run"
    shutil.copytree(whole, path)
    for found in ("latest.pt", "best.pt", "policy.pt", "curves.png", "results.json"):
        (path / found).unlink()
    for older in (path / "checkpoints").iterdir():
        older.unlink()
    assert start(path, **EVALUATED) == 0
    assert differences(metrics(path), metrics(whole)) == []
    assert differences(tensorboard(path), tensorboard(whole)) == []


def test_a_run_can_go_on_from_its_very_beginning(tmp_path, whole, monkeypatch):
    path = tmp_path / "run"

    def interrupted(training):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Training, "advance", interrupted)
        assert start(path, **EVALUATED) == 130
    assert train("--resume", path) == 0
    assert differences(content(path / "latest.pt"), content(whole / "latest.pt")) == []


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
