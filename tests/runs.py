"""What two training runs must have in common: everything but the time they took."""

import json
from pathlib import Path

import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents import checkpoint


def content(path):
    """A checkpoint, but for the seconds it took and the directory's name."""
    loaded = checkpoint.load(path)
    loaded["counters"].pop("seconds")
    loaded["config"].pop("run_dir")
    return loaded


def metrics(run_dir):
    """Every line of metrics, but for those that measure time."""
    lines = (Path(run_dir) / "metrics.jsonl").read_text().splitlines()
    return [
        {
            name: value
            for name, value in json.loads(line).items()
            if not name.startswith("time/") and name != "charts/decisions_per_second"
        }
        for line in lines
    ]


def tensorboard(run_dir):
    """The same from the TensorBoard events, a line for each step."""
    events = EventAccumulator(str(run_dir), size_guidance={"scalars": 0}).Reload()
    lines = {}
    for name in events.Tags()["scalars"]:
        if not name.startswith("time/") and name != "charts/decisions_per_second":
            for point in events.Scalars(name):
                line = lines.setdefault(point.step, {"decisions": point.step})
                assert name not in line, f"{name} has two values at {point.step}"
                line[name] = point.value
    return [lines[step] for step in sorted(lines)]


def rounded(lines):
    """As TensorBoard keeps them: in single precision."""
    return [
        {
            name: value if name == "decisions" else float(torch.tensor(value))
            for name, value in line.items()
        }
        for line in lines
    ]
