"""Training runs that are killed, again and again, end as if nothing had happened.

Slow: ``pytest -m slow tests/test_killed.py -s`` prints what was tried.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.runs import content, metrics, tensorboard
from tests.tiny import A_ROLLOUT, differences, words

ROOT = Path(__file__).parents[1]
KILLS = 20
UPDATES = 600
RUN = {
    "total_decisions": UPDATES * A_ROLLOUT,
    "checkpoint_every": 5 * A_ROLLOUT,
    "eval_every": 100 * A_ROLLOUT,
    "snapshot_every": 20 * A_ROLLOUT,
    "average_decay": 0.9,
}

# A run that dies in the middle of its n-th checkpoint: half of the bytes are on the disk.
DIES_WRITING = """
import os, signal, sys
from agents import checkpoint, cli_train
left = int(sys.argv.pop(1))
save = checkpoint.torch.save
def half(content, file):
    global left
    left -= 1
    save(content, file)
    if left == 0:
        file.flush()
        file.truncate(file.tell() // 2)
        os.fsync(file.fileno())
        os.kill(os.getpid(), signal.SIGKILL)
checkpoint.torch.save = half
sys.exit(cli_train.main(sys.argv[1:]))
"""


def begin(*arguments, dies_writing=None):
    """Start a training run as a process of its own."""
    command = [sys.executable, str(ROOT / "train.py")]
    if dies_writing is not None:
        command = [sys.executable, "-c", DIES_WRITING, str(dies_writing)]
    return subprocess.Popen(
        [*command, *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def completed(process):
    said = process.communicate()[0]
    assert process.returncode == 0, said


def reached(run):
    """The decisions of the newest checkpoint; -1 before the first."""
    latest = run / "latest.pt"
    return content(latest)["counters"]["decisions"] if latest.exists() else -1


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_run_that_is_killed_twenty_times_ends_like_the_one_that_never_was(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    completed(begin(*words(run_dir=whole, **RUN)))
    rng, tried = random.Random(1), Counter()
    while sum(tried.values()) < KILLS:
        writing = sum(tried.values()) % 2 == 1
        resuming = (killed / "latest.pt").exists()
        arguments = ["--resume", killed] if resuming else words(run_dir=killed, **RUN)
        before = reached(killed)
        process = begin(*arguments, dies_writing=rng.randint(1, 12) if writing else None)
        if not writing:
            while process.poll() is None and reached(killed) <= max(before, 0):
                time.sleep(0.02)  # until it has got somewhere
            time.sleep(rng.uniform(0, 0.5))
            process.kill()
        said = process.communicate()[0]
        assert process.returncode == -signal.SIGKILL, said
        assert reached(killed) < RUN["total_decisions"]
        tried["in the middle of a checkpoint" if writing else "at a random moment"] += 1
    completed(begin("--resume", killed))
    assert differences(content(killed / "latest.pt"), content(whole / "latest.pt")) == []
    assert differences(metrics(killed), metrics(whole)) == []
    assert differences(tensorboard(killed), tensorboard(whole)) == []
    assert not list(killed.rglob("*.part")), "nothing half written is left"
    print(*(f"killed {times} times {when}" for when, times in tried.items()), sep="\n")
