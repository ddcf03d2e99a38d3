"""Positions from all stages of hands, and one made by hand."""

import numpy as np

from ginenv import cards, engine, opponents
from ginenv.rules import STANDARD, Phase, Rules
from ginenv.view import View, view


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


def position(
    hand,
    phase=Phase.DISCARD,
    upcard="",
    pile="",
    took="",
    threw="",
    drawn="",
    turn=4,
    stock=20,
    limit=10,
    dealer=1,
    rules=STANDARD,
):
    """What seat 0 sees: its hand, the pile below its top, what the opponent took and threw."""
    board = {"hand": hand, "pile": pile, "took": took, "threw": threw, "upcard": upcard}
    board = {name: cards.parse(text) for name, text in board.items()}
    seen = board["hand"] | board["pile"] | board["took"] | board["upcard"]

    def one(value, dtype):
        return np.array([value], dtype=dtype)

    return View(
        hand=one(board["hand"], np.uint64),
        upcard=one(cards.card(upcard) if upcard else -1, np.int8),
        pile=one(board["pile"], np.uint64),
        opponent_known=one(board["took"], np.uint64),
        opponent_discards=one(board["threw"], np.uint64),
        opponent_declined=one(0, np.uint64),
        known_to_opponent=one(0, np.uint64),
        own_discards=one(0, np.uint64),
        own_declined=one(0, np.uint64),
        unseen=one(cards.FULL_DECK & ~seen, np.uint64),
        stock_size=one(stock, np.int8),
        phase=one(phase, np.int8),
        turn=one(turn, np.int16),
        drawn=one(cards.card(drawn) if drawn else -1, np.int8),
        knock_limit=one(limit, np.int8),
        scores=np.zeros((1, 2), dtype=np.int32),
        dealer=one(dealer, np.int8),
        seat=one(0, np.int8),
        to_move=one(True, bool),
        game_id=one(0, np.int64),
        rules=rules,
    )
