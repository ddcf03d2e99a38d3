"""How fast the players are: ``python -m agents.benchmark``.

Decisions and whole hands a second of each bot against itself, on one thread, in seconds of the
processor.  A hand counts with everything that it takes: dealing, both players' views and
decisions, steps and settlement.  Then the time that a learned policy takes for one decision, asked
about one position alone or about many at once: the view, its encoding and the network.
"""

from __future__ import annotations

import argparse
import itertools
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
POLICY = "pretrained"
DECISION_GOALS = {1: 1000, 1024: 50, 4096: 50}  # positions at once to microseconds a decision
_ALONE = 256  # positions that are asked about in turn, one by one


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


def decision_time(name: str, num_positions: int) -> Workload:
    """Microseconds that a policy takes for a decision, asked about so many positions at once."""

    def prepare() -> Callable[[], int]:
        policy = resolve(name)
        played = SelfPlay(resolve("greedy"), max(num_positions, _ALONE))
        games = len(played.state) // num_positions
        parts = np.split(np.arange(games * num_positions), games)
        turn = itertools.cycle([played.state[rows] for rows in parts])
        return lambda: len(policy(view(next(turn)), played.rng))

    run = prepared(prepare)
    how = "alone" if num_positions == 1 else f"{num_positions:,} at once"
    return Workload(
        f"{name}, a decision {how}",
        "µs/decision",
        lambda seconds: 1e6 / run(seconds),
        DECISION_GOALS.get(num_positions),
        more_is_better=False,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``python -m agents.benchmark``; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m agents.benchmark", description="How fast the players are, on one core."
    )
    add_options(parser)
    parser.add_argument(
        "--policy", default=POLICY, help=f"whose decisions to time besides the bots' ({POLICY})"
    )
    options = parser.parse_args(arguments)
    try:
        resolve(options.policy)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    chosen = [
        *map(decisions, BOTS),
        *map(hands, HANDS_GOALS),
        *map(evaluation, HANDS_GOALS),
        *(decision_time(options.policy, number) for number in DECISION_GOALS),
    ]
    figures = measure(chosen, options.rounds, options.seconds, announce)
    report(figures, "the players on one core", options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
