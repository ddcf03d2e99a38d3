"""One game told move by move, and hands that turn up again in the stories."""

import numpy as np

from ginenv import cards, engine
from ginenv.rules import Phase, Result, Rules
from tests import brute
from tests.hands import stacked_deck

PLAYER, DEALER = 0, 1  # seat 0 is the non-dealer in these stories and decides first

DRAW, TAKE, PASS, BIG_GIN = 104, 105, 106, 107


def throw(text):
    return brute.card(text)


def knock(text):
    return 52 + brute.card(text)


class Table:
    """One game told move by move."""

    def __init__(self, player, dealer, upcard, stock="", **rules):
        self.deck = stacked_deck(player, dealer, upcard, stock)
        self.state = engine.deal(None, 1, Rules(**rules), dealer=[DEALER], decks=self.deck[None])

    def play(self, *actions):
        """Plays actions in turn; gives what the last one brought."""
        for action in actions:
            outcome = engine.step(self.state, np.array([action]))
        return outcome

    def redeal(self):
        engine.redeal(self.state, np.array([0]), None, decks=self.deck[None])

    @property
    def legal(self):
        return set(np.flatnonzero(engine.legal_actions(self.state)[0]).tolist())

    @property
    def legal_throws(self):
        return cards.show(cards.pack([a for a in sorted(self.legal) if a < 52]))

    @property
    def legal_knocks(self):
        return cards.show(cards.pack([a - 52 for a in sorted(self.legal) if 52 <= a < 104]))

    @property
    def to_move(self):
        return self.state.player[0], Phase(self.state.phase[0])


def told(outcome):
    """(result, knocker, points by seat, deadwood by seat)"""
    return (
        Result(outcome.result[0]).name,
        outcome.knocker[0],
        outcome.points[0].tolist(),
        outcome.deadwood[0].tolist(),
    )


# Hands; the quiet ones never come near a knock

QUIET = "As 3h 5d 7c 9s Jh Kd 2c 4s 6h"
QUIET_TOO = "Ah 3d 5c 7s 9h Jd Kc 2s 4h 6d"
GIN = "Ks Kh Kd Qs Qh Qd Js Jh Jd Jc"
NINE_IN_MELDS = "Ks Kh Kd Qs Qh Qd Js Jh Jd "
FIFTEEN = "Ac 2c 3c 4c 7h 7d 7c 9s 5h Ad"  # A-2-3-4 of clubs, three sevens, and 9 + 5 + 1 loose
