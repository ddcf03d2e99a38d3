"""Other implementations of the game, doing what `ginenv.workloads` has ours do.

OpenSpiel and RLCard come with the extra ``peers``.  Each plays fresh hands with random legal
actions and makes a NumPy observation and a NumPy mask for every decision.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from ginenv.workloads import SEED, Workload, rate

__all__ = ["installed"]


GOAL_OVER_OPEN_SPIEL = 100


def installed() -> list[tuple[Workload, float | None]]:
    """The peers that are installed, each with how many times as fast we aim to be."""
    found: list[tuple[Workload, float | None]] = []
    if find_spec("pyspiel"):
        found += [(open_spiel(), GOAL_OVER_OPEN_SPIEL), (open_spiel_tuned(), None)]
    if find_spec("rlcard"):
        found.append((rlcard(), None))
    return found


def open_spiel() -> Workload:
    """OpenSpiel's ``gin_rummy`` by the calls of its tutorials, made into arrays.

    Its decisions include those after a knock, the laying of melds and layoffs.  In its favour,
    cards come from a shuffled deck (asking for its chance outcomes takes longer), and a hand
    starts as a clone of the first position (a new one takes milliseconds).
    """
    import pyspiel

    game = pyspiel.load_game("gin_rummy")
    pick = random.Random(SEED)

    def decide(state: Any) -> int:
        np.asarray(state.observation_tensor(), dtype=np.float32)
        mask = np.asarray(state.legal_actions_mask(), dtype=bool)
        legal = np.flatnonzero(mask)
        return int(legal[int(pick.random() * len(legal))])

    play_hand = _open_spiel_hand(game, decide, pick)
    return _peer(f"OpenSpiel {version('open_spiel')}", play_hand)


def open_spiel_tuned() -> Workload:
    """The same in the fastest way that we found: its observer writes into one array, and a mask
    is made from its list of legal actions.
    """
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game("gin_rummy")
    observer = make_observation(game)
    mask = np.zeros(game.num_distinct_actions(), dtype=bool)
    pick = random.Random(SEED)

    def decide(state: Any) -> int:
        observer.set_from(state, state.current_player())
        legal = state.legal_actions()
        mask[:] = False
        mask[legal] = True
        return int(legal[int(pick.random() * len(legal))])

    return _peer("OpenSpiel, tuned", _open_spiel_hand(game, decide, pick))


def _open_spiel_hand(
    game: Any, decide: Callable[[Any], int], pick: random.Random
) -> Callable[[], int]:
    first = game.new_initial_state()

    def play_hand() -> int:
        state = first.clone()
        deck = iter(pick.sample(range(52), 52))
        decided = 0
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(next(deck))
            else:
                state.apply_action(decide(state))
                decided += 1
        return decided

    return play_hand


def rlcard() -> Workload:
    """RLCard's ``gin-rummy``."""
    import rlcard

    env = rlcard.make("gin-rummy", config={"seed": SEED})
    mask = np.zeros(env.num_actions, dtype=bool)
    pick = random.Random(SEED)

    def play_hand() -> int:
        state, _ = env.reset()
        decided = 0
        while not env.is_over():
            legal = list(state["legal_actions"])
            mask[:] = False
            mask[legal] = True
            state, _ = env.step(legal[int(pick.random() * len(legal))])
            decided += 1
        return decided

    return _peer(f"RLCard {version('rlcard')}", play_hand)


def _peer(name: str, play_hand: Callable[[], int]) -> Workload:
    return Workload(name, "decisions/s", lambda seconds: rate(play_hand, seconds))
