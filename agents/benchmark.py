"""How fast the bots are: ``python -m agents.benchmark``.

Decisions and whole hands a second of each bot against itself, on one thread, in seconds of the
processor.  A hand counts with everything that it takes: dealing, both players' views and
decisions, steps and settlement.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

import numpy as np

from agents import players
from ginenv import benchmark, engine
from ginenv.benchmark import add_options, announce, measure, report
from ginenv.opponents import Policy, resolve
from ginenv.view import view
from ginenv.workloads import SEED, Workload, prepared

__all__ = ["main"]

GAMES = benchmark.GAMES
BOTS = ("random", "greedy", "easy", "normal", "hard", "crazy")
HANDS_GOALS = {"greedy": 12_000, "crazy": 6_000}


class SelfPlay:
    """A bot in both seats of N games that never end: finished hands are dealt anew.

    Attributes:
        hands: how many hands have ended.
    """

    def __init__(self, bot: Policy, num_games: int) -> None:
        self.bot = bot
        self.rng = np.random.default_rng(SEED)
        self.state = engine.deal(self.rng, num_games)
        self.hands = 0
        for _ in range(60):  # so that the games are at all stages of a hand
            self.play()

    def play(self) -> int:
        """One decision in every game; returns how many."""
        outcome = engine.step(self.state, self.bot(view(self.state), self.rng))
        over = np.flatnonzero(outcome.hand_over)
        if over.size:
            engine.redeal(self.state, over, self.rng)
        self.hands += len(over)
        return len(self.state)

    def play_counting_hands(self) -> int:
        """The same; returns how many hands ended."""
        before = self.hands
        self.play()
        return self.hands - before


def decisions(name: str) -> Workload:
    """Decisions a second of a bot in both seats."""
    return Workload(
        f"{name}, {GAMES:,} games",
        "decisions/s",
        prepared(lambda: SelfPlay(resolve(name), GAMES).play),
    )


def hands(name: str) -> Workload:
    """Whole hands a second of a bot in both seats."""
    return Workload(
        f"{name} against {name}, {GAMES:,} games",
        "hands/s",
        prepared(lambda: SelfPlay(resolve(name), GAMES).play_counting_hands),
        HANDS_GOALS.get(name),
    )


def evaluation(name: str) -> Workload:
    """Whole hands a second of paired deals, as evaluation plays them."""

    def prepare() -> Callable[[], int]:
        bot = resolve(name)
        return lambda: players.play(bot, bot, players.BLOCK, SEED).hands.sum()

    return Workload(f"{name} against {name}, paired deals", "hands/s", prepared(prepare))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``python -m agents.benchmark``; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m agents.benchmark", description="How fast the bots are, on one core."
    )
    add_options(parser)
    options = parser.parse_args(arguments)
    chosen = [
        *map(decisions, BOTS),
        *map(hands, HANDS_GOALS),
        *map(evaluation, HANDS_GOALS),
    ]
    figures = measure(chosen, options.rounds, options.seconds, announce)
    report(figures, "the bots on one core", options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
