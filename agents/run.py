"""A training run from where it stands to its end: advance, log, evaluate, save, conclude."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections import ChainMap
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console

from agents import checkpoint, players, progress, report
from agents.config import Config
from agents.curves import draw_curves
from agents.distributed import Ranks
from agents.evaluation import Comparison, Plan, figures, measure
from agents.network import LearnedPolicy
from agents.run_log import MetricLog, RunDirectory
from agents.showcase import showcase
from agents.training import Training
from agents.training_display import TrainingDisplay
from ginenv.opponents import Policy
from ginenv.rules import Rules

EVAL_SEED = 20_000  # evaluations during training replay the same decks
FINAL_SEED = 30_000
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Run:
    """The loop, which stops in good order when asked to.

    Of several processes each runs it; the one that leads has the directory, and writes and speaks.
    """

    def __init__(
        self, training: Training, directory: RunDirectory | None, console: Console
    ) -> None:
        self.training = training
        self.config = training.config
        self.ranks: Ranks = training.ranks
        self.directory = directory
        self.console = console
        self.log: MetricLog | None = None
        self.display: TrainingDisplay | None = None
        self.asked_to_stop = ""

    def go(self, stop_after: int | None, time_budget: float | None) -> int:
        """Train to the end, or until something asks to stop; returns the exit status.

        Args:
            stop_after: stop after so many decisions in all.
            time_budget: stop after so many seconds.
        """
        before = {number: signal.signal(number, self._on_signal) for number in _SIGNALS}
        try:
            if self.directory is None:
                self._loop(stop_after, time_budget)
                return 0
            self.log = MetricLog(self.directory.path, self.training.decisions)
            self.display = TrainingDisplay(self.console, self.config.total_decisions)
            self._say(f"training in {self.directory.path}")
            with self.display:
                self._loop(stop_after, time_budget)
        except FloatingPointError as error:
            return self._diverged(error)
        finally:
            if self.log is not None:
                self.log.close()
            for number, handler in before.items():
                signal.signal(number, handler)
        if self.asked_to_stop:
            self._say(
                f"stopped by {self.asked_to_stop} after {self.training.decisions:,} decisions; go "
                f"on with: python train.py --resume {self.directory.path}"
            )
        else:
            self._conclude(self.directory)
        return 0

    def _loop(self, stop_after: int | None, time_budget: float | None) -> None:
        started = time.monotonic()
        if self.training.decisions == 0:  # so that a run can go on wherever it is cut off
            self._save(None if self.directory is None else self.directory.latest)
        while not self.training.finished:
            if stop_after is not None and self.training.decisions >= stop_after:
                self.asked_to_stop = f"--stop_after {stop_after}"
            if time_budget is not None and time.monotonic() - started >= time_budget:
                self.asked_to_stop = f"--time_budget {time_budget:g}"
            if self.ranks.any(bool(self.asked_to_stop)):
                self.asked_to_stop = self.asked_to_stop or "another process"
                break
            self._advance()
        self._save(None if self.directory is None else self.directory.latest)

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
        if self.log is not None:
            self.log.write(training.decisions, metrics)
        if _crossed(before, training.decisions, config.checkpoint_every):
            self._checkpoint()
        if self.display is not None:
            average = training.decisions / training.seconds
            left = (config.total_decisions - training.decisions) / average
            self.display.update(training.decisions, average, max(0.0, left), shares, metrics)

    def _evaluate(self) -> dict[str, float]:
        """Paired hands against the yardsticks; keeps the best policy by their mean.

        Several processes share the yardsticks among them.
        """
        start = time.perf_counter()
        names = self.config.eval_opponents
        mine = {
            name: players.play(
                self.training.policy(),
                players.player(name),
                self.config.eval_hands // 2,
                EVAL_SEED,
                Rules.preset(self.config.rules),
            ).points_a_hand
            for name in names[self.ranks.rank :: self.ranks.size]
        }
        found = dict(ChainMap(*self.ranks.share(self.ranks.gather(mine))))
        if not found:
            return {}
        metrics = {}
        for name in names:
            metrics[f"eval/points_per_hand/{name}"] = found[name].mean
            metrics[f"eval/half_width/{name}"] = found[name].half_width
            if self.display is not None:
                self.display.points[name] = found[name].mean, found[name].half_width
        if self.log is not None:
            metrics.update(self._show(self.log, names[-1]))
        mean = sum(found[name].mean for name in names) / len(names)
        metrics["eval/points_per_hand/mean"] = mean
        metrics["time/evaluation_seconds"] = time.perf_counter() - start
        if mean > self.training.best:
            self.training.best = mean
            self._save(None if self.directory is None else self.directory.best)
        return metrics

    def _show(self, log: MetricLog, opponent: str) -> dict[str, float]:
        """Put a hand and the knocks against an opponent into TensorBoard; returns the figures."""
        shown = showcase(
            self.training.policy(), opponent, Rules.preset(self.config.rules), EVAL_SEED
        )
        log.text(f"play/hand/{opponent}", shown.hand, self.training.decisions)
        log.figure(f"play/knock_rates/{opponent}", shown.knock_rates, self.training.decisions)
        return shown.metrics

    def _checkpoint(self) -> None:
        if self.directory is None:
            self._save(None)
            return
        content = self._save(self.directory.latest)
        checkpoint.save(self.directory.numbered(self.training.decisions), content)
        self.directory.drop_old(self.config.keep_checkpoints)

    def _save(self, path: Path | None) -> dict[str, Any]:
        """Pack the run, all processes together, and write it if this process has a place for it."""
        content = self.training.pack()
        if path is not None:
            if self.log is not None:
                self.log.flush()
            checkpoint.save(path, content)
        return content

    def _diverged(self, error: FloatingPointError) -> int:
        """Save what led to it; the other processes, if any, come to the same end by themselves."""
        if self.directory is None:
            return 1
        path = self.directory.path / f"diverged-{self.training.decisions}.pt"
        checkpoint.save(path, {**self.training.pack_alone(), "buffer": vars(self.training.buffer)})
        print(
            f"train.py: training diverged after {self.training.decisions:,} decisions: {error}. "
            f"The weights before that step and its batch are in {path}; the last checkpoint is "
            f"as it was. A lower learning_rate or max_grad_norm may help.",
            file=sys.stderr,
        )
        return 1

    def _conclude(self, directory: RunDirectory) -> None:
        """The picture of the curves and the final table."""
        training = self.training
        self._say(
            f"trained {training.decisions:,} decisions in {training.seconds:.0f} s "
            f"({training.decisions / training.seconds:,.0f} a second)"
        )
        picture = draw_curves(directory.path)
        results = final_results(training.policy(), self.config, self.console)
        checkpoint.save(directory.policy, training.pack_policy())
        path = directory.path / "results.json"
        path.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
        report.show_comparisons(self.console, results)
        self._say(f"curves: {picture}, or: tensorboard --logdir {directory.path}")
        self._say(
            f"policy: {directory.policy}, results: {path}; "
            f"more: python evaluate.py {directory.policy}"
        )

    def _say(self, text: str) -> None:
        if self.display is not None:
            self.display.say(text)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.asked_to_stop:
            raise KeyboardInterrupt
        self.asked_to_stop = signal.Signals(number).name
        self._say("stopping after this update; once more to stop at once")


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


def _crossed(before: int, now: int, every: int) -> bool:
    return before // every != now // every
