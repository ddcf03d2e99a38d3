"""The command line of the trainer: configuration in, a trained policy and its table out."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console

from agents import checkpoint, distributed, players
from agents import config as configs
from agents.checkpoint import CheckpointError
from agents.config import Config, ConfigError
from agents.distributed import Ranks
from agents.run import Run
from agents.run_log import CHECKPOINTS, LATEST, RunDirectory, checkpoints_of
from agents.training import Training, usable_device

Prepared = TypeVar("Prepared")

# What may change when a run is resumed; everything else decides what the run is.
RESUMABLE = {
    "device",
    "threads",
    "eval_every",
    "eval_hands",
    "eval_opponents",
    "final_eval_hands",
    "final_eval_games",
    "checkpoint_every",
    "keep_checkpoints",
}

USAGE = """\
python train.py --config configs/quick.yaml [--key value ...]
python train.py --resume RUN_DIRECTORY [--key value ...]
torchrun --nproc-per-node 8 train.py --config configs/strong.yaml [--key value ...]
"""
_EPILOG = (
    "Every key of the configuration is an option, as in --learning_rate 3e-4 --total_decisions 5e6 "
    "--opponents 'greedy crazy'; --print_config shows them all."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the trainer; returns the exit status.

    0: the run ended or was stopped in good order (a checkpoint is there); 1: it diverged;
    2: something that the user gave cannot be used, or the disk cannot be written; 130: a second
    signal stopped it at once.
    """
    console = Console()
    try:
        return _train(argv, console)
    except _ElsewhereError:
        return 2
    except (ConfigError, CheckpointError, ValueError) as error:
        print(f"train.py: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"train.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("train.py: interrupted; the last checkpoint is as it was", file=sys.stderr)
        return 130


def _train(argv: Sequence[str] | None, console: Console) -> int:
    options, overrides = _parse(argv)
    if options.resume is None:
        config = configs.load(options.config, overrides)
        path = Path(config.run_dir or _new_name(options.config))
    else:
        place = Path(options.resume)
        path = _run_of(place)
        config = _continued(_saved(place, path), overrides)
    if options.print_config:
        print(configs.dump(config), end="")
        return 0
    check_usable(config)
    with contextlib.ExitStack() as held:
        held.enter_context(distributed.launched(config.processes))
        held.callback(distributed.leave)
        ranks = distributed.join()
        if options.resume is None:
            training = _together(ranks, lambda: _start(config, ranks))
            directory = _together(ranks, lambda: _hold(ranks, path, True, held))
        else:
            directory = _together(ranks, lambda: _hold(ranks, path, False, held))
            saved = _saved(place, path, console if ranks.leads else None)
            training = _together(ranks, lambda: Training.unpack(saved, config, ranks))
        if directory is not None:
            directory.describe(config)
        return Run(training, directory, console).go(options.stop_after, options.time_budget)


class _ElsewhereError(Exception):
    """Another process could not start, and says why."""


def _together(ranks: Ranks, prepare: Callable[[], Prepared]) -> Prepared:
    """Prepare something in every process, or in none: what fails in one ends all of them."""
    failure: Exception | None = None
    try:
        prepared = prepare()
    except (ValueError, OSError) as error:
        failure = error
    if ranks.any(failure is not None):
        raise failure or _ElsewhereError
    return prepared


def _start(config: Config, ranks: Ranks) -> Training:
    try:
        return Training.start(config, ranks)
    except (RuntimeError, MemoryError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ConfigError(
            f"cannot make room for num_games {config.num_games} x num_steps {config.num_steps} "
            f"and hidden_size {config.hidden_size}, lower them ({reason})"
        ) from None


def _hold(ranks: Ranks, path: Path, fresh: bool, held: contextlib.ExitStack) -> RunDirectory | None:
    """The directory of the run, for the process that leads, until ``held`` closes."""
    if not ranks.leads:
        return None
    directory = RunDirectory(path, fresh)
    held.callback(directory.close)
    return directory


def check_usable(config: Config) -> None:
    """Refuse, before anything is written, what cannot work on this machine.

    Raises:
        ConfigError: names the key.
        ValueError: if nobody knows an opponent; names the nearest.
    """
    usable_device(config.device)
    for name in (*config.opponents, *config.eval_opponents, config.imitate):
        if name:
            players.player(name)


def _run_of(place: Path) -> Path:
    """The directory of the run that a directory or one of its checkpoints belongs to.

    Raises:
        CheckpointError: if there is none.
    """
    path = place if place.is_dir() else place.parent
    if path.name == CHECKPOINTS and not (path / CHECKPOINTS).is_dir():
        path = path.parent
    if not place.exists():
        raise CheckpointError(f"there is nothing to resume at {place}")
    if not any((path / name).exists() for name in (LATEST, CHECKPOINTS)):
        raise CheckpointError(f"{path} is no directory of a training run")
    return path


def _saved(place: Path, path: Path, console: Console | None = None) -> dict[str, Any]:
    """The newest whole checkpoint of a run, or the one that was named.

    A console is told of damaged ones.
    """
    candidates = [place] if place.is_file() else checkpoints_of(path)
    if not candidates:
        raise CheckpointError(f"{place} holds no checkpoint")
    found, saved, faults = checkpoint.newest_good(candidates)
    if console is not None:
        for fault in faults:
            console.print(f"passed over: {fault}", highlight=False, markup=False, soft_wrap=True)
    checkpoint.require_run(saved, found)
    return saved


def _continued(saved: dict[str, Any], overrides: dict[str, Any]) -> Config:
    """The configuration of a saved run with the keys replaced that may change.

    Raises:
        ConfigError: if another key would change.
    """
    for key in overrides:
        value = configs.coerce(key, overrides[key])
        if key not in RESUMABLE and value != configs.coerce(key, saved["config"].get(key)):
            raise ConfigError(
                f"{key} is part of what the run is and cannot change on resuming; "
                f"these can: {', '.join(sorted(RESUMABLE))}"
            )
    values = {**saved["config"], **overrides}
    return Config(**{key: configs.coerce(key, value) for key, value in values.items()})


def _parse(argv: Sequence[str] | None) -> tuple[argparse.Namespace, dict[str, Any]]:
    parser = argparse.ArgumentParser(
        prog="train.py", usage=USAGE, epilog=_EPILOG, allow_abbrev=False, exit_on_error=False
    )
    parser.add_argument("--config", help="a YAML file of keys; the defaults fill the rest")
    parser.add_argument("--resume", help="a run directory or a checkpoint in one, to go on")
    parser.add_argument("--print_config", action="store_true", help="show the configuration, stop")
    parser.add_argument("--stop_after", type=_whole, help="stop after so many decisions in all")
    parser.add_argument("--time_budget", type=_seconds, help="stop after so many seconds")
    try:
        options, rest = parser.parse_known_args(argv)
    except argparse.ArgumentError as error:
        raise ConfigError(str(error)) from None
    if options.config is not None and options.resume is not None:
        raise ConfigError("--config starts a run and --resume goes on with one: give one of them")
    overrides = {}
    words = iter(rest)
    for word in words:
        if not word.startswith("--"):
            raise ConfigError(f"{word!r} stands alone: options are written --key value")
        key, equals, value = word[2:].partition("=")
        if not equals:
            try:
                value = next(words)
            except StopIteration:
                configs.coerce(key, "")
                raise ConfigError(f"--{key} needs a value") from None
        overrides[key] = configs.coerce(key, value)
    return options, overrides


def _whole(text: str) -> int:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not number.is_integer() or number < 1:
        raise argparse.ArgumentTypeError(
            f"must be a whole number (5e6 is fine), 1 or more, got {text!r}"
        )
    return int(number)


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not number > 0:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, got {text!r}")
    return number


def _new_name(config_path: str | None) -> str:
    stem = Path(config_path).stem if config_path else "run"
    return f"runs/{stem}-{datetime.now():%Y%m%d-%H%M%S}"
