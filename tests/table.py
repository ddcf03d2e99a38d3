"""Players, and the engine playing beside its slow twin."""

import numpy as np

from ginenv import engine
from tests import brute
from tests.hands import rich_deck, shuffled_deck
from tests.reference import BIG_GIN, DISCARD, KNOCK, TAKE_PILE, ReferenceGame

PRESETS = ["standard", "no_big_gin", "oklahoma", "oklahoma_faces", "straight", "eaai"]

# Players, by what the reference game shows them


def plays_at_random(game, rng):
    """Any legal action."""
    return rng.choice(game.legal())


def knocks_at_once(game, rng):
    """Collects melds; knocks, on any card that allows it, or goes big gin as soon as it may."""
    legal = game.legal()
    if game.phase == DISCARD and max(legal) >= KNOCK:
        return rng.choice([action for action in legal if action >= KNOCK])
    return _collect(game, legal, rng)


def never_knocks(game, rng):
    """Collects melds for ever, and passes up gin and big gin."""
    return _collect(game, [action for action in game.legal() if action != BIG_GIN], rng)


STYLES = [plays_at_random, knocks_at_once, never_knocks]


def _collect(game, legal, rng):
    """Takes a pile card that makes a meld, throws a card that leaves the least deadwood."""
    if game.phase == DISCARD:
        left = game.deadwood_after(game.player)
        return rng.choice([c for c in left if left[c] == min(left.values())])
    if TAKE_PILE in legal:
        top = game.pile[-1]
        if any(top in meld for meld in brute.melds_in(game.hands[game.player] | {top})):
            return TAKE_PILE
    return rng.choice([action for action in legal if action != TAKE_PILE])


# Side by side


def play(rng, rules, style, num_games, num_hands):
    """Plays games in the engine and in the slow twin, with the same decks and actions.

    Yields (state, reference games, outcome): before every decision with the outcome None, and
    after every step with the step's outcome. A hand that is over is redealt, `num_hands` in all;
    half of the decks are rich.
    """

    def decks(count):
        kinds = [rich_deck, shuffled_deck]
        return np.array([kinds[rng.integers(2)](rng) for _ in range(count)])

    first, dealers = decks(num_games), rng.integers(2, size=num_games)
    state = engine.deal(rng, num_games, rules, dealer=dealers, decks=first)
    games = [ReferenceGame(rules, deck, d) for deck, d in zip(first, dealers, strict=True)]
    hands_left = np.full(num_games, num_hands - 1)
    while not all(game.over for game in games):
        yield state, games, None
        actions = np.array([-1 if game.over else style(game, rng) for game in games])
        outcome = engine.step(state, actions)
        for game, action in zip(games, actions, strict=True):
            if not game.over:
                game.step(int(action))
        yield state, games, outcome
        rows = [row for row, game in enumerate(games) if game.over and hands_left[row]]
        if rows:
            hands_left[rows] -= 1
            new = decks(len(rows))
            engine.redeal(state, np.array(rows), rng, decks=new)
            for row, deck in zip(rows, new, strict=True):
                games[row].redeal(deck)
