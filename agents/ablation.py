"""What each part of the recipe is worth: ``python -m agents.ablation``.

Every variant changes one switch of the recipe and trains for equally many seconds of one core,
with several seeds; how many decisions that gives is measured before its first run, so that each
runs through its whole schedule.  The table has points a hand against fixed opponents, argmax play
over paired deals, as the mean over the seeds with its 95 % interval (Student's t), and the
difference to the recipe over the same seeds.

Results are kept in a file of JSON lines as they come; what stands there already is not run again.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from agents import players
from agents.benchmark_training import updates
from agents.config import Config
from agents.training import Training
from ginenv.workloads import rate

RECIPE = "the recipe"
VARIANTS: dict[str, dict[str, Any]] = {
    RECIPE: {},
    "critic sees own view only": {"critic": "own_view"},
    "gae_lambda 0.8": {"gae_lambda": 0.8},
    "no live outs": {"live_outs": False},
    "fixed rule for each card": {"contextual_rule": False},
    "suits as dealt": {"canonical_suits": False},
    "guesses the opponent's hand": {"belief_coef": 0.1},
    "last weights, no average": {"average_decay": 0.0},
    "self-play alone": {"opponent_share": 0.0},
    "meets earlier selves": {"past_self_share": 0.1},
    "constant schedules": {"final_learning_rate": 1e-3, "final_ent_coef": 0.03, "ent_coef": 0.03},
    "imitates crazy first": {"imitate": "crazy"},
}
_BASE = Config(
    opponents=("greedy", "patient", "hard", "crazy", "crazy"),
    opponent_share=0.3,
    past_self_share=0.0,
    average_decay=0.95,
    final_learning_rate=5e-5,
    final_ent_coef=0.005,
    snapshot_every=500_000,
)
_IMITATED = 0.1  # of the decisions, where a variant imitates
_TIMED_SECONDS = 8.0
_DECK_SEED = 40_000
# Student's t, 97.5 %, by the number of seeds.
_STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365}


def run(
    changes: dict[str, Any], seed: int, decisions: int, opponents: Sequence[str], pairs: int
) -> dict[str, Any]:
    """Train one variant with one seed and play it against each opponent.

    Args:
        changes: of the recipe.
        seed: of the run.
        decisions: to train for.
        opponents: names.
        pairs: of hands against each.

    Returns:
        ``decisions``, ``seconds`` (of the processor) and, by opponent, ``points`` a hand.
    """
    config = dataclasses.replace(_BASE, seed=seed, total_decisions=decisions, **changes)
    if config.imitate:
        config = dataclasses.replace(config, imitate_decisions=int(_IMITATED * decisions))
    start = time.process_time()
    training = Training.start(config)
    while not training.finished:
        training.advance()
    spent = time.process_time() - start
    policy = training.policy()
    return {
        "decisions": training.decisions,
        "seconds": round(spent, 1),
        "points": {
            name: players.play(policy, players.player(name), pairs, _DECK_SEED).points_a_hand.mean
            for name in opponents
        },
    }


def speed(changes: dict[str, Any]) -> float:
    """Decisions for each second of the processor that a variant makes, after a first update."""
    return rate(updates(dataclasses.replace(_BASE, **changes)), _TIMED_SECONDS)


def summarise(results: list[dict[str, Any]], opponents: Sequence[str]) -> Table:
    """The table of all variants that have run, each over its seeds."""
    table = Table("variant", "seeds", "M decisions", *(f"v {name}" for name in opponents))
    for name in opponents:
        table.add_column(f"less the recipe, v {name}")
    by_variant = {
        variant: {r["seed"]: r for r in results if r["variant"] == variant} for variant in VARIANTS
    }
    for variant, runs in by_variant.items():
        if not runs:
            continue
        decisions = statistics.fmean(r["decisions"] for r in runs.values()) / 1e6
        row = [variant, str(len(runs)), f"{decisions:.1f}"]
        row += [_interval([r["points"][name] for r in runs.values()]) for name in opponents]
        shared = sorted(runs.keys() & by_variant[RECIPE].keys()) if variant != RECIPE else []
        for name in opponents:
            gains = [
                runs[seed]["points"][name] - by_variant[RECIPE][seed]["points"][name]
                for seed in shared
            ]
            row.append(_interval(gains) if gains else "")
        table.add_row(*row)
    return table


def _interval(values: Sequence[float]) -> str:
    mean = statistics.fmean(values)
    if len(values) not in _STUDENT:
        return f"{mean:+.2f}"
    half = _STUDENT[len(values)] * statistics.stdev(values) / math.sqrt(len(values))
    return f"{mean:+.2f} ±{half:.2f}"


def main(argv: Sequence[str] | None = None) -> int:
    """The command ``python -m agents.ablation``; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m agents.ablation", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--seconds", type=float, default=300, help="of one core, for each run")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=10_000, help="of hands against each opponent")
    parser.add_argument("--opponents", nargs="+", default=["greedy", "patient", "hard", "crazy"])
    parser.add_argument("--only", nargs="+", choices=[*VARIANTS], metavar="VARIANT")
    parser.add_argument("--results", type=Path, default=Path("ablation.jsonl"))
    options = parser.parse_args(argv)
    console = Console()
    results = []
    if options.results.exists():
        results = [json.loads(line) for line in options.results.read_text().splitlines()]
    wanted = [
        (variant, seed)
        for seed in range(1, options.seeds + 1)
        for variant in options.only or VARIANTS
    ]
    for place, (variant, seed) in enumerate(wanted, start=1):
        if any((r["variant"], r["seed"]) == (variant, seed) for r in results):
            continue
        console.print(f"{place} of {len(wanted)}: {variant}, seed {seed}", highlight=False)
        changes = VARIANTS[variant]
        decisions = next((r["decisions"] for r in results if r["variant"] == variant), None)
        if decisions is None:
            decisions = int(options.seconds * speed(changes))
        found = run(changes, seed, decisions, options.opponents, options.pairs)
        results.append({"variant": variant, "seed": seed, **found})
        with open(options.results, "a", encoding="utf-8") as file:
            file.write(json.dumps(results[-1]) + "\n")
    console.print(summarise(results, options.opponents))
    return 0


if __name__ == "__main__":
    sys.exit(main())
