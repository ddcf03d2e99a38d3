"""How fast the trainer is, by its settings: ``python -m agents.benchmark_training``.

Decisions a second, rollout and learning together, of one process with one thread, in seconds of the
processor: the settings that every run begins with, and each changed alone.  `num_games` times
`num_steps`, the decisions between two updates, stays what it is.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from agents.config import Config
from agents.training import Training
from ginenv.benchmark import add_options, announce, measure, report
from ginenv.workloads import Workload, prepared

__all__ = ["main"]

SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"minibatch_size": 1024},
    {"minibatch_size": 2048},
    {"minibatch_size": 8192},
    {"minibatch_size": 16384},
    {"num_games": 512, "num_steps": 128},
    {"num_games": 1024, "num_steps": 64},
    {"num_games": 4096, "num_steps": 16},
    {"num_games": 8192, "num_steps": 8},
    {"precision": "float32"},
    {"critic": "own_view"},
    {"hidden_size": 128},
    {"hidden_size": 512},
    {"opponent_share": 0.0},
    {"opponent_share": 0.8},
)


def updates(config: Config) -> Callable[[], int]:
    """A run after its first update; each call is one more, and tells how many decisions it had."""
    training = Training.start(config)
    training.advance()

    def update() -> int:
        before = training.decisions
        training.advance()
        return training.decisions - before

    return update


def learning(changes: dict[str, Any]) -> Workload:
    """Decisions a second of a run with some settings changed."""
    name = ", ".join(f"{key} {value}" for key, value in changes.items())
    run = prepared(lambda: updates(Config(**changes)))
    return Workload(name or "as they are", "decisions/s", run)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``python -m agents.benchmark_training``; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m agents.benchmark_training",
        description="How fast the trainer is by its settings, on one core.",
    )
    add_options(parser)
    options = parser.parse_args(arguments)
    figures = measure([*map(learning, SETTINGS)], options.rounds, options.seconds, announce)
    report(figures, "training on one core", options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
