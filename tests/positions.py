"""Positions from all stages of hands."""

import numpy as np

from ginenv import engine, opponents
from ginenv.rules import Rules
from ginenv.view import view


def states(num_games=256, seed=0, rules="standard"):
    """Games played by a careful and a random player, each stopped at another moment."""
    rng = np.random.default_rng(seed)
    state = engine.deal(rng, num_games, Rules.preset(rules))
    stops = rng.integers(60, size=num_games)
    players = [opponents.resolve(name) for name in ("patient", "random")]
    for step in range(60):
        actions = players[step % 2](view(state), rng)
        ended = engine.step(state, np.where(step < stops, actions, -1)).hand_over
        engine.redeal(state, ended, rng)
    return state


def positions(num_games=256, seed=0, rules="standard"):
    """What the players to move in such games see."""
    return view(states(num_games, seed, rules))
