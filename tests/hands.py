"""Hands and decks for the tests: uniform ones, and ones where melds and layoffs abound."""

from itertools import chain

import numpy as np

from tests import brute


def random_hand(rng, size=10):
    """A uniform hand: it hardly ever holds overlapping melds."""
    return frozenset(rng.choice(52, size, replace=False).tolist())


def meld_rich_hand(rng, size=10, deck=brute.DECK):
    """A hand trimmed from a union of melds, so that sets and runs fight over cards."""
    melds = [meld for meld in brute.MELDS if len(meld) <= 5 and meld <= deck]
    hand = set()
    while len(hand) < size:
        hand |= melds[rng.integers(len(melds))] if melds else deck
    return frozenset(rng.permutation(sorted(hand))[:size].tolist())


def layoff_rich_hand(rng, melds, size=10, deck=brute.DECK):
    """A defender's hand with many cards near the knocker's melds, and melds of his own."""
    ranks = {c % 13 for meld in melds for c in meld}
    suits_and_ranks = {
        (c // 13, c % 13 + step) for meld in melds for c in meld for step in (-2, -1, 1, 2)
    }
    near = [c for c in deck if c % 13 in ranks or (c // 13, c % 13) in suits_and_ranks]
    some = rng.permutation(near)[: rng.integers(2, 7)].tolist()
    own = meld_rich_hand(rng, size, deck)
    return frozenset(list(dict.fromkeys([*some, *rng.permutation(sorted(own)).tolist()]))[:size])


def stacked_deck(non_dealer, dealer, upcard, stock=""):
    """The deck that deals these hands, given as text; what is not named follows in order."""
    hands = zip(non_dealer.split(), dealer.split(), strict=True)
    named = [brute.card(word) for word in [*chain(*hands), upcard, *stock.split()]]
    assert len(set(named)) == len(named) > 20, "a card is named twice, or a hand is not ten cards"
    return np.array([*named, *sorted(brute.DECK - set(named))])


def shuffled_deck(rng):
    """A uniform deck."""
    return rng.permutation(52)


def rich_deck(rng):
    """A deck that deals both seats many melds: short hands, many knocks, gins and layoffs."""
    mine = meld_rich_hand(rng)
    his = layoff_rich_hand(rng, brute.knockers_arrangement(mine), deck=brute.DECK - mine)
    first, second = rng.permutation(sorted(mine)), rng.permutation(sorted(his))
    rest = rng.permutation(sorted(brute.DECK - mine - his))
    return np.concatenate([np.stack([first, second], axis=1).ravel(), rest])
