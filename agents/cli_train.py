"""The command line of the trainer: configuration in, a trained policy and its table out."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console

from agents import checkpoint, players, progress, report
from agents import config as configs
from agents.checkpoint import CheckpointError
from agents.config import Config, ConfigError
from agents.curves import draw_curves
from agents.evaluation import Comparison, Plan, figures, measure
from agents.network import LearnedPolicy
from agents.run_log import CHECKPOINTS, LATEST, MetricLog, RunDirectory
from agents.training import Training, usable_device
from agents.training_display import TrainingDisplay
from ginenv.opponents import Policy
from ginenv.rules import Rules

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
EVAL_SEED = 20_000  # evaluations during training replay the same decks
FINAL_SEED = 30_000

USAGE = """\
python train.py --config configs/quick.yaml [--key value ...]
python train.py --resume RUN_DIRECTORY [--key value ...]
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
        if options.print_config:
            print(configs.dump(config), end="")
            return 0
        check_usable(config)
        training = _start(config)
        directory = RunDirectory(config.run_dir or _new_name(options.config), fresh=True)
    else:
        directory, training = _resume(options, overrides, console)
        config = training.config
    try:
        if options.print_config:
            print(configs.dump(config), end="")
            return 0
        directory.describe(config)
        run = _Run(training, directory, console)
        return run.go(options.stop_after, options.time_budget)
    finally:
        directory.close()


def check_usable(config: Config) -> None:
    """Refuse, before anything is written, what cannot work on this machine.

    Raises:
        ConfigError: names the key.
        ValueError: if nobody knows an opponent; names the nearest.
    """
    usable_device(config.device)
    for name in (*config.opponents, *config.eval_opponents):
        players.player(name)


def _start(config: Config) -> Training:
    try:
        return Training.start(config)
    except (RuntimeError, MemoryError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ConfigError(
            f"cannot make room for num_games {config.num_games} x num_steps {config.num_steps} "
            f"and hidden_size {config.hidden_size}, lower them ({reason})"
        ) from None


class _Run:
    """The loop: advance, log, evaluate, save; and stop in good order when asked to."""

    def __init__(self, training: Training, directory: RunDirectory, console: Console) -> None:
        self.training = training
        self.config = training.config
        self.directory = directory
        self.console = console
        self.display = TrainingDisplay(console, self.config.total_decisions)
        self.asked_to_stop = ""

    def go(self, stop_after: int | None, time_budget: float | None) -> int:
        started = time.monotonic()
        self.log = MetricLog(self.directory.path, self.training.decisions)
        self.display.say(f"training in {self.directory.path}")
        before = {number: signal.signal(number, self._on_signal) for number in _SIGNALS}
        try:
            with self.display:
                while not self.training.finished:
                    if stop_after is not None and self.training.decisions >= stop_after:
                        self.asked_to_stop = f"--stop_after {stop_after}"
                    if time_budget is not None and time.monotonic() - started >= time_budget:
                        self.asked_to_stop = f"--time_budget {time_budget:g}"
                    if self.asked_to_stop:
                        break
                    self._advance()
                self._save(self.directory.latest)
        except FloatingPointError as error:
            return self._diverged(error)
        finally:
            self.log.close()
            for number, handler in before.items():
                signal.signal(number, handler)
        if self.asked_to_stop:
            self.display.say(
                f"stopped by {self.asked_to_stop} after {self.training.decisions:,} decisions; go "
                f"on with: python train.py --resume {self.directory.path}"
            )
            return 0
        self._conclude()
        return 0

    def _advance(self) -> None:
        training, config = self.training, self.config
        start = time.perf_counter()
        before = training.decisions
        metrics = training.advance()
        seconds = time.perf_counter() - start
        training.seconds += seconds
        laps = training.watch.take()
        speed = (training.decisions - before) / seconds
        shares = {name: lap / seconds for name, lap in laps.items()}
        metrics["charts/decisions_per_second"] = speed
        metrics.update({f"time/{name}": share for name, share in shares.items()})
        if _crossed(before, training.decisions, config.eval_every) or training.finished:
            metrics.update(self._evaluate())
        self.log.write(training.decisions, metrics)
        if _crossed(before, training.decisions, config.checkpoint_every):
            self._save(self.directory.latest)
            self._save(self.directory.numbered(training.decisions))
            self.directory.drop_old(config.keep_checkpoints)
        average = training.decisions / training.seconds
        left = (config.total_decisions - training.decisions) / average
        self.display.update(training.decisions, average, max(0.0, left), shares, metrics)

    def _evaluate(self) -> dict[str, float]:
        """Paired hands against the yardsticks; keeps the best policy by their mean."""
        start = time.perf_counter()
        metrics = {}
        for name in self.config.eval_opponents:
            points = players.play(
                self.training.policy(),
                players.player(name),
                self.config.eval_hands // 2,
                EVAL_SEED,
                Rules.preset(self.config.rules),
            ).points_a_hand
            metrics[f"eval/points_per_hand/{name}"] = points.mean
            metrics[f"eval/half_width/{name}"] = points.half_width
            self.display.points[name] = points.mean, points.half_width
        if metrics:
            means = [metrics[f"eval/points_per_hand/{name}"] for name in self.config.eval_opponents]
            mean = sum(means) / len(means)
            metrics["eval/points_per_hand/mean"] = mean
            metrics["time/evaluation_seconds"] = time.perf_counter() - start
            if mean > self.training.best:
                self.training.best = mean
                self._save(self.directory.best)
        return metrics

    def _save(self, path: Path) -> None:
        self.log.flush()
        checkpoint.save(path, self.training.pack())

    def _diverged(self, error: FloatingPointError) -> int:
        path = self.directory.path / f"diverged-{self.training.decisions}.pt"
        checkpoint.save(path, {**self.training.pack(), "buffer": vars(self.training.buffer)})
        print(
            f"train.py: training diverged after {self.training.decisions:,} decisions: {error}. "
            f"The weights before that step and its batch are in {path}; the last checkpoint is "
            f"as it was. A lower learning_rate or max_grad_norm may help.",
            file=sys.stderr,
        )
        return 1

    def _conclude(self) -> None:
        """The picture of the curves and the final table."""
        training, directory = self.training, self.directory
        self.display.say(
            f"trained {training.decisions:,} decisions in {training.seconds:.0f} s "
            f"({training.decisions / training.seconds:,.0f} a second)"
        )
        picture = draw_curves(directory.path)
        results = final_results(training.policy(), self.config, self.console)
        checkpoint.save(directory.policy, training.pack_policy())
        path = directory.path / "results.json"
        path.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
        report.show_comparisons(self.console, results)
        self.display.say(f"curves: {picture}, or: tensorboard --logdir {directory.path}")
        self.display.say(
            f"policy: {directory.policy}, results: {path}; "
            f"more: python evaluate.py {directory.policy}"
        )

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.asked_to_stop:
            raise KeyboardInterrupt
        self.asked_to_stop = signal.Signals(number).name
        self.display.say("stopping after this update; once more to stop at once")


def final_results(policy: LearnedPolicy, config: Config, console: Console) -> list[dict[str, Any]]:
    """How the policy fares against each opponent, as `evaluate.py` measures it."""
    plan = Plan(
        num_hands=config.final_eval_hands,
        num_games=config.final_eval_games,
        seed=FINAL_SEED,
        rules=Rules.preset(config.rules),
    )
    found = []
    names = config.eval_opponents
    with progress.Display(console, len(names), plan.num_hands, plan.num_games) as display:
        for name in names:
            display.start(f"evaluating against {name}")
            comparison = Comparison("trained policy", name)
            policies: dict[str, Policy] = {"trained policy": policy, name: players.player(name)}
            measure(comparison, policies, plan, display.update)
            found.append(figures(comparison))
    return found


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _resume(
    options: argparse.Namespace, overrides: dict[str, Any], console: Console
) -> tuple[RunDirectory, Training]:
    place = Path(options.resume)
    path = place if place.is_dir() else place.parent
    if path.name == CHECKPOINTS and not (path / CHECKPOINTS).is_dir():
        path = path.parent
    if not place.exists():
        raise CheckpointError(f"there is nothing to resume at {place}")
    if not any((path / name).exists() for name in (LATEST, CHECKPOINTS)):
        raise CheckpointError(f"{path} is no directory of a training run")
    directory = RunDirectory(path, fresh=False)
    try:
        candidates = [place] if place.is_file() else directory.newest_first()
        if not candidates:
            raise CheckpointError(f"{place} holds no checkpoint")
        found, saved, faults = checkpoint.newest_good(candidates)
        for fault in faults:
            console.print(f"passed over: {fault}", highlight=False, markup=False, soft_wrap=True)
        if not isinstance(saved.get("config"), dict) or "optimizer" not in saved:
            raise CheckpointError(f"{found} is a policy without a training run; it cannot go on")
        for key in overrides:
            value = configs.coerce(key, overrides[key])
            if key not in RESUMABLE and value != configs.coerce(key, saved["config"].get(key)):
                raise ConfigError(
                    f"{key} is part of what the run is and cannot change on resuming; "
                    f"these can: {', '.join(sorted(RESUMABLE))}"
                )
        values = {**saved["config"], **overrides}
        config = Config(**{key: configs.coerce(key, value) for key, value in values.items()})
        check_usable(config)
        return directory, Training.unpack(saved, config)
    except BaseException:
        directory.close()
        raise


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


def _crossed(before: int, now: int, every: int) -> bool:
    return before // every != now // every


def _new_name(config_path: str | None) -> str:
    stem = Path(config_path).stem if config_path else "run"
    return f"runs/{stem}-{datetime.now():%Y%m%d-%H%M%S}"
