"""What a training run writes down: TensorBoard curves, the same as JSON Lines, and who it was."""

from __future__ import annotations

import fcntl
import json
import math
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from torch.utils.tensorboard import SummaryWriter

import ginenv
from agents import config as configs
from agents.config import Config, ConfigError
from agents.play_plots import pixels

METRICS = "metrics.jsonl"
EVENTS = "events.out.tfevents"
CONFIG = "config.yaml"
ABOUT = "about.json"
LOCK = ".lock"
CHECKPOINTS = "checkpoints"
LATEST = "latest.pt"
BEST = "best.pt"
POLICY = "policy.pt"


class RunDirectory:
    """The directory of one run, held by one process at a time.

    ::

        config.yaml         the effective configuration
        about.json          code version, library versions, machine, command
        metrics.jsonl       every metric: {"decisions": ..., "<name>": ..., ...}
        events.out.tfevents TensorBoard's twin of it
        latest.pt, best.pt  checkpoints
        checkpoints/        older ones, the last `keep_checkpoints`
        policy.pt           the policy alone, at the end
    """

    def __init__(self, path: str | os.PathLike[str], fresh: bool) -> None:
        """Take hold of a directory.

        Raises:
            ConfigError: if it cannot be written, another run holds it, or it should be fresh and
                is not.
        """
        self.path = Path(path)
        try:
            if fresh and self.path.exists() and not _nothing_to_lose(self.path):
                raise ConfigError(
                    f"run_dir {self.path} is not empty: choose another, or go on with "
                    f"--resume {self.path}"
                )
            (self.path / CHECKPOINTS).mkdir(parents=True, exist_ok=True)
            self._lock = open(self.path / LOCK, "w")  # noqa: SIM115 - held until `close`
        except OSError as error:
            raise ConfigError(f"cannot write run_dir {self.path}: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise ConfigError(f"another run is training in {self.path}") from None
        left_behind = [*self.path.rglob(".*.part")]
        if fresh:
            left_behind += self.path.glob(f"{EVENTS}*")
        for file in left_behind:
            file.unlink()

    def close(self) -> None:
        """Let go of the directory."""
        self._lock.close()

    @property
    def latest(self) -> Path:
        """The newest checkpoint."""
        return self.path / LATEST

    @property
    def policy(self) -> Path:
        """The policy alone, a small file: what to play with and to pass on."""
        return self.path / POLICY

    @property
    def best(self) -> Path:
        """The checkpoint of the best evaluation."""
        return self.path / BEST

    def numbered(self, decisions: int) -> Path:
        """The checkpoint of a moment."""
        return self.path / CHECKPOINTS / f"{decisions:013d}.pt"

    def drop_old(self, keep: int) -> None:
        """Delete all but the newest numbered checkpoints."""
        for path in sorted((self.path / CHECKPOINTS).glob("[0-9]*.pt"))[:-keep]:
            path.unlink()

    def describe(self, config: Config) -> None:
        """Write `config.yaml` and `about.json`."""
        (self.path / CONFIG).write_text(configs.dump(config), encoding="utf-8")
        about = {
            "command": sys.argv,
            "ginenv": ginenv.__version__,
            "commit": _commit(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "torch": torch.__version__,
            "machine": platform.machine(),
            "system": platform.platform(),
            "cpus": os.cpu_count(),
            "seed": config.seed,
        }
        (self.path / ABOUT).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


class MetricLog:
    """Every metric, to TensorBoard and to a JSON Lines file; texts and figures to TensorBoard."""

    def __init__(self, path: Path, decisions: int = 0) -> None:
        """Open the curves; what stands there beyond ``decisions`` belongs to an undone stretch."""
        self._writer = SummaryWriter(str(path), purge_step=decisions + 1 if decisions else None)
        file = path / METRICS
        kept = [
            line for line in _complete_lines(file) if json.loads(line)["decisions"] <= decisions
        ]
        part = file.with_name(f".{METRICS}.part")
        part.write_text("".join(kept), encoding="utf-8")
        os.replace(part, file)
        self._lines = open(file, "a", encoding="utf-8")  # noqa: SIM115 - held until `close`

    def write(self, decisions: int, metrics: dict[str, float]) -> None:
        """Add one point to each curve."""
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, decisions)
        finite = {k: v if math.isfinite(v) else None for k, v in metrics.items()}
        self._lines.write(json.dumps({"decisions": decisions, **finite}) + "\n")

    def text(self, tag: str, text: str, step: int) -> None:
        """Show a text in TensorBoard as it stands, such as a hand move by move."""
        self._writer.add_text(tag, f"```\n{text}\n```", step)  # which reads it as Markdown

    def figure(self, tag: str, figure: Figure, step: int) -> None:
        """Show a figure in TensorBoard, as an image."""
        self._writer.add_image(tag, pixels(figure), step, dataformats="HWC")

    def flush(self) -> None:
        """Bring everything to the disk."""
        self._writer.flush()
        self._lines.flush()

    def close(self) -> None:
        """Flush and close."""
        self._writer.close()
        self._lines.close()


def checkpoints_of(run: Path) -> list[Path]:
    """All checkpoints of a run to go on from, in the order to try them."""
    older = sorted((run / CHECKPOINTS).glob("[0-9]*.pt"), reverse=True)
    return [path for path in [run / LATEST, *older] if path.exists()]


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The points of `metrics.jsonl`, oldest first."""
    return [json.loads(line) for line in _complete_lines(path / METRICS)]


def _nothing_to_lose(path: Path) -> bool:
    """Whether a directory holds no more than a run that was killed before its first checkpoint."""
    beginnings = {METRICS, f".{METRICS}.part", CONFIG, ABOUT, LOCK, f".{LATEST}.part"}
    return all(
        entry.name in beginnings
        or entry.name.startswith(EVENTS)
        or (entry.name == CHECKPOINTS and entry.is_dir() and not any(entry.iterdir()))
        for entry in path.iterdir()
    )


def _complete_lines(file: Path) -> list[str]:
    """The lines of a JSON Lines file; a last line that a crash cut off is left out."""
    if not file.exists():
        return []
    return [
        line for line in file.read_text(encoding="utf-8").splitlines(True) if line.endswith("\n")
    ]


def _commit() -> str | None:
    """The commit of the checkout that this runs from, if it is one."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
