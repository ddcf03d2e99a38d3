"""A training run as one picture: points a hand against each yardstick, and how hands end."""

from __future__ import annotations

from pathlib import Path

from agents.run_log import read_metrics

_ENDINGS = ("knock", "gin", "big_gin", "undercut", "void")


def draw_curves(run_directory: Path) -> Path:
    """Draw ``curves.png`` in a run's directory from its metrics.

    Left: net points a hand against the opponents of the evaluations, with their 95 % intervals.
    Right: the shares of the hands played in training that end each way.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    metrics = read_metrics(run_directory)
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    strength, endings = figure.subplots(1, 2)
    names = [
        key.removeprefix("eval/half_width/")
        for key in dict.fromkeys(k for m in metrics for k in m)
        if key.startswith("eval/half_width/")
    ]
    for name in names:
        points = [m for m in metrics if f"eval/points_per_hand/{name}" in m]
        x = [m["decisions"] / 1e6 for m in points]
        mean = [m[f"eval/points_per_hand/{name}"] for m in points]
        half = [m[f"eval/half_width/{name}"] or 0.0 for m in points]
        line = strength.plot(x, mean, marker="o", markersize=3, label=name)[0]
        low = [m - h for m, h in zip(mean, half, strict=True)]
        high = [m + h for m, h in zip(mean, half, strict=True)]
        strength.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    strength.axhline(0, color="black", linewidth=0.8)
    strength.set(xlabel="million decisions", ylabel="points a hand", title="Against each opponent")
    if names:
        strength.legend()

    for ending in _ENDINGS:
        key = f"play/{ending}_rate"
        points = [m for m in metrics if key in m]
        x = [m["decisions"] / 1e6 for m in points]
        endings.plot(x, [m[key] for m in points], label=ending.replace("_", " "))
    endings.set(xlabel="million decisions", ylabel="share of hands", title="How hands end")
    endings.legend()
    path = run_directory / "curves.png"
    figure.savefig(path, dpi=130)
    return path
