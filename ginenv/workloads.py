"""What `ginenv.benchmark` times: each workload runs for a while and returns one figure.

A *decision* is everything that one action of one game takes: the view of the player to move, its
encoding, the mask, a random legal action, the step with its settlement, and a fresh deal where the
hand has ended.  Seconds are the processor's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

import numpy as np
import numpy.typing as npt

from ginenv import cards, engine, melds
from ginenv.cards import BitboardArray
from ginenv.rules import KNOCK, Phase, settle
from ginenv.state import FIELDS, State
from ginenv.uniform import random_actions
from ginenv.view import View, encode, observation_size, view

SEED = 0


@dataclass(frozen=True)
class Workload:
    """One thing to time.

    Attributes:
        name: what it is.
        unit: of the figure.
        run: works for about that many seconds and returns the figure.
        goal: the figure that was aimed at; None where there is none.
        more_is_better: whether the goal is a least or a most.
    """

    name: str
    unit: str
    run: Callable[[float], float]
    goal: float | None = None
    more_is_better: bool = True

    def reached(self, figure: float) -> bool:
        """Whether a figure meets the goal."""
        return self.goal is None or (figure >= self.goal) == self.more_is_better


def rate(work: Callable[[], int], seconds: float) -> float:
    """Things done a second: call ``work``, which tells how many it did, for about that long."""
    done, start = 0, process_time()
    while (passed := process_time() - start) < seconds or not done:
        done += work()
    return done / passed


class Table:
    """N games of random play that never end: finished hands are dealt anew."""

    def __init__(self, num_games: int, observation: str = "cards") -> None:
        self.rng = np.random.default_rng(SEED)
        self.state = engine.deal(self.rng, num_games)
        self.observation = observation
        self.out = np.empty((num_games, observation_size(observation)), dtype=np.uint8)
        for _ in range(60):  # so that the games are at all stages of a hand
            self.play()

    def play(self) -> int:
        """One decision in every game; returns how many."""
        seen = view(self.state)
        encode(seen, self.observation, out=self.out)
        outcome = engine.step(self.state, random_actions(seen.action_mask, self.rng))
        if outcome.hand_over.any():
            engine.redeal(self.state, outcome.hand_over, self.rng)
        return len(self.state)


def prepared(prepare: Callable[[], Callable[[], int]]) -> Callable[[float], float]:
    """A workload's ``run`` of work that is set up at its first use; ``rate`` of what it does."""
    work: list[Callable[[], int]] = []

    def run(seconds: float) -> float:
        if not work:
            work.append(prepare())
        return rate(work[0], seconds)

    return run


def decisions(num_games: int, observation: str, goal: float | None = None) -> Workload:
    """Decisions of random play a second."""
    return Workload(
        f"{num_games:,} games, {observation}",
        "decisions/s",
        prepared(lambda: Table(num_games, observation).play),
        goal,
    )


def deadwood(num_hands: int = 45_000) -> Workload:
    """Nanoseconds to find the least deadwood of a hand of ten."""

    def prepare() -> Callable[[], int]:
        hands = random_hands(np.random.default_rng(SEED), num_hands)
        return lambda: len(melds.deadwood(hands))

    run = prepared(prepare)
    name = f"deadwood, {num_hands:,} hands at a time"
    return Workload(name, "ns/hand", lambda s: 1e9 / run(s), 40, more_is_better=False)


def settlements(num_knocks: int = 1000) -> Workload:
    """Microseconds to settle a knock."""

    def prepare() -> Callable[[], int]:
        knockers, defenders = knocks(np.random.default_rng(SEED), num_knocks)
        return lambda: len(settle(knockers, defenders).points)

    run = prepared(prepare)
    name = f"settle, {num_knocks:,} knocks at a time"
    return Workload(name, "µs/knock", lambda s: 1e6 / run(s), 5, more_is_better=False)


def pettingzoo_steps() -> Workload:
    """Steps a second of the PettingZoo environment, one game, with `last` before each."""

    def prepare() -> Callable[[], int]:
        from ginenv import gin_rummy_v0

        env = gin_rummy_v0.env()
        env.reset(seed=SEED)
        rng = np.random.default_rng(SEED)

        def play() -> int:
            for steps in range(100):
                observation, _, over, _, _ = env.last()
                if over:
                    env.reset()
                    return steps
                legal = np.flatnonzero(observation["action_mask"])
                env.step(int(legal[int(rng.random() * len(legal))]))
            return 100

        return play

    return Workload("PettingZoo environment, with last()", "steps/s", prepared(prepare), 5000)


def state_bytes() -> Workload:
    """Bytes of state a game."""
    state = engine.deal(np.random.default_rng(SEED), 1000)
    size = sum(getattr(state, field).nbytes for field in FIELDS) / len(state)
    return Workload("size of a state", "bytes/game", lambda _: size, 1024, more_is_better=False)


def random_hands(rng: np.random.Generator, num_hands: int, size: int = 10) -> BitboardArray:
    """``(N,)`` uniform hands."""
    return cards.pack(rng.random((num_hands, cards.NUM_CARDS)).argsort(axis=1)[:, :size])


def knocks(rng: np.random.Generator, num_knocks: int) -> tuple[BitboardArray, BitboardArray]:
    """``(M,)`` hands of knockers and ``(M,)`` of defenders, from play that knocks when it can."""
    state = engine.deal(rng, num_knocks)
    found: list[State] = []
    while sum(map(len, found)) < num_knocks:
        outcome = engine.step(state, eager_actions(view(state), rng))
        found.append(state[outcome.knocker >= 0])
        engine.redeal(state, outcome.hand_over, rng)
    ended = State.concatenate(found)[:num_knocks]
    rows = np.arange(num_knocks)
    return ended.hands[rows, ended.player], ended.hands[rows, 1 - ended.player]


def eager_actions(seen: View, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draws from the stock at random, throws what leaves the least deadwood, knocks at once."""
    thrown = seen.deadwood_after.argmin(axis=1)
    knock = seen.action_mask[np.arange(len(seen)), KNOCK + thrown]
    draws = random_actions(seen.action_mask, rng)
    return np.where(seen.phase == Phase.DISCARD, thrown + KNOCK * knock, draws)


class Stopwatch:
    """Seconds spent by stage.

    Attributes:
        spent: stage to seconds.
    """

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._last = process_time()

    def lap(self, stage: str | None = None) -> None:
        """Book the time since the last lap to a stage, or to none."""
        now = process_time()
        if stage is not None:
            self.spent[stage] = self.spent.get(stage, 0.0) + now - self._last
        self._last = now


def stages(num_games: int, seconds: float, observation: str = "cards") -> dict[str, float]:
    """Where the time of a decision goes, in nanoseconds a decision by stage.

    ``settle`` is a part of ``step``, measured again on the same knocks.
    """
    table = Table(num_games, observation)
    state, rng = table.state, table.rng
    decided, start = 0, process_time()
    watch = Stopwatch()
    while process_time() - start < seconds:
        watch.lap()
        seen = view(state)
        watch.lap("view")
        encode(seen, observation, out=table.out)
        watch.lap("encode")
        mask = seen.action_mask
        watch.lap("mask")
        actions = random_actions(mask, rng)
        watch.lap("choose")
        outcome = engine.step(state, actions)
        watch.lap("step")
        knocked = np.flatnonzero(outcome.knocker >= 0)
        knocker = state.player[knocked]
        own, other = state.hands[knocked, knocker], state.hands[knocked, 1 - knocker]
        watch.lap()
        settle(own, other)
        watch.lap("settle")
        engine.redeal(state, outcome.hand_over, rng)
        watch.lap("redeal")
        decided += num_games
    return {stage: 1e9 * time / decided for stage, time in watch.spent.items()}
