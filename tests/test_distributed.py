"""Several processes: together they learn what one with all their games would."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from agents import checkpoint, ppo
from agents.distributed import ALONE, join
from agents.training import Training
from tests.tiny import differences, tiny, words

ROOT = Path(__file__).parents[1]
SETTINGS = {
    "num_games": 24,
    "num_steps": 24,
    "precision": "float32",
    "belief_coef": 0.1,
    "opponents": ("greedy",),
}


def torchrun(*arguments):
    return python("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", *arguments)


def python(*arguments):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
    )


LEARNER = """
import sys
import torch
from agents import ppo
from agents.distributed import join, leave
from agents.training import Training
from tests.test_distributed import part_of, tiny, SETTINGS

ranks = join()
training = Training.start(tiny(**{**SETTINGS, "num_games": 12, "minibatch_size": 288}))
training.buffer = part_of(torch.load(sys.argv[1], weights_only=True), ranks.rank)
losses = ppo.update(
    training.network, training.critic, training.optimizer, training.buffer, training.config,
    0.01, training.generator, ranks,
)
torch.save([training.network.state_dict(), training.critic.state_dict(), losses],
           f"{sys.argv[1]}.{ranks.rank}")
leave()
"""


def part_of(fields, rank):
    """Half of the games of a buffer."""
    return ppo.Buffer(**{k: x[:, 12 * rank : 12 * rank + 12].clone() for k, x in fields.items()})


def test_two_processes_learn_like_one_with_twice_the_games(tmp_path):
    """One big minibatch: the same step, but for rounding, and bit for bit the same in both.

    The halves have unlike shares of decisions to learn from, which the average has to weigh.
    """
    config = tiny(**SETTINGS, minibatch_size=576)
    training = Training.start(config)
    for _ in range(2):
        training.play()
    training.buffer.learns[:, 4:12] = False
    fields = {f.name: getattr(training.buffer, f.name) for f in dataclasses.fields(ppo.Buffer)}
    torch.save(fields, tmp_path / "buffer")
    (tmp_path / "learner.py").write_text(LEARNER)
    done = torchrun(tmp_path / "learner.py", tmp_path / "buffer")
    assert done.returncode == 0, done.stderr[-2000:]
    before = [weights.detach().clone() for weights in training.network.parameters()]
    losses = ppo.update(
        *(training.network, training.critic, training.optimizer, training.buffer, config),
        *(0.01, training.generator),
    )
    first, second = (torch.load(tmp_path / f"buffer.{rank}") for rank in (0, 1))
    assert differences(first[:2], second[:2]) == []
    for found, expected in (
        (first[0], training.network.state_dict()),
        (first[1], training.critic.state_dict()),
    ):
        for name, weights in expected.items():
            assert torch.allclose(found[name], weights, atol=2e-5), name
    moved = [
        float((now.detach() - then).abs().max())
        for now, then in zip(training.network.parameters(), before, strict=True)
    ]
    assert min(moved) > 1e-4, "far more than the tolerance"
    for name in losses.keys() - {"explained_variance", "grad_norm"}:
        assert first[2][name] == pytest.approx(losses[name], abs=1e-5), name
    assert first[2]["grad_norm"] == pytest.approx(losses["grad_norm"], rel=1e-3)


def test_a_run_of_two_stops_and_goes_on_as_if_it_had_not(tmp_path, capsys):
    """Each process has its own games; the checkpoint holds both, and only both go on with it."""
    changes = {"total_decisions": 1536, "eval_every": 512, "checkpoint_every": 512}
    run = words(**changes)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for launcher, arguments in (
        (torchrun, [*run, "--run_dir", whole]),
        (python, [*run, "--run_dir", parts, "--stop_after", 768, "--processes", 2]),
        (python, ["--resume", parts]),
    ):
        done = launcher(ROOT / "train.py", *arguments)
        assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("training in") == 1, "one of them speaks"
    expected, found = (checkpoint.load(path / "latest.pt") for path in (whole, parts))
    for content in (expected, found):
        content["counters"].pop("seconds")
        del content["config"]["run_dir"], content["config"]["processes"]
    assert differences(expected, found) == []
    assert expected["counters"]["decisions"] == 1536
    first, second = expected["ranks"]
    assert differences(first["state"], second["state"]) != []
    with pytest.raises(checkpoint.CheckpointError, match="2 processes trained it"):
        Training.unpack(expected, tiny(**changes))


def test_what_fails_in_the_leading_process_ends_both(tmp_path):
    (tmp_path / "something").touch()
    done = python(ROOT / "train.py", *words(processes=2), "--run_dir", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"train.py: run_dir {tmp_path} is not empty")
    assert done.stderr.count("\n") == 1, "one of them speaks"
    assert [path.name for path in tmp_path.iterdir()] == ["something"]


def test_alone_everything_is_as_it_is(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert join() is ALONE
    numbers = torch.arange(3.0)
    assert ALONE.total(numbers) is numbers and ALONE.least(4) == 4
    assert ALONE.any(True) and not ALONE.any(False)
    assert ALONE.gather("x") == ["x"] and ALONE.share("y") == "y" and ALONE.leads


def test_ranks_play_different_games_with_the_same_network():
    first, second = (
        Training.start(tiny(), dataclasses.replace(ALONE, rank=rank, size=2)) for rank in (0, 1)
    )
    assert differences(first.network.state_dict(), second.network.state_dict()) == []
    assert differences(first.critic.state_dict(), second.critic.state_dict()) == []
    assert (first.state.deck != second.state.deck).any(axis=1).all()
    assert not np.array_equal(first.league.rng.random(4), second.league.rng.random(4))
    assert first.generator.initial_seed() != second.generator.initial_seed()
