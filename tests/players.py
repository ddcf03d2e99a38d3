"""Simple players for whole batches, with random numbers that are the same on every NumPy."""

import numpy as np

from ginenv.decks import raw_words
from ginenv.rules import DECLARE_BIG_GIN, DRAW_STOCK, KNOCK, NO_ACTION, TAKE_PILE, Phase


def pick(mask, rng):
    """A random one of each row's True columns, (N, A) bool to (N,)."""
    counts = mask.sum(axis=1).astype(np.uint64)
    chosen = raw_words(rng, len(mask)) >> np.uint64(16)
    chosen %= np.maximum(counts, np.uint64(1))
    return (mask.cumsum(axis=1) > chosen[:, None].astype(np.int64)).argmax(axis=1)


def plays_at_random(seen, rng):
    """Any legal action."""
    return pick(seen.action_mask, rng)


def knocks_at_once(seen, rng):
    """Any legal action, but a knock or big gin wherever there is one."""
    ends = seen.action_mask.copy()
    ends[:, :KNOCK] = False
    ends[:, DRAW_STOCK:DECLARE_BIG_GIN] = False
    return pick(np.where(ends.any(axis=1)[:, None], ends, seen.action_mask), rng)


def collector(knocks_with):
    """A player who keeps deadwood low, and knocks with so much deadwood or less (-1: never)."""

    def play(seen, rng):
        rows = np.arange(len(seen))
        left = seen.deadwood_after
        best = pick(left == left.min(axis=1, keepdims=True), rng)
        knocks = seen.action_mask[rows, KNOCK + best] & (left[rows, best] <= knocks_with)
        big_gin = seen.action_mask[:, DECLARE_BIG_GIN] & (knocks_with >= 0)
        thrown = np.where(big_gin, DECLARE_BIG_GIN, best + KNOCK * knocks)
        may_take = seen.action_mask[:, TAKE_PILE]
        takes = may_take & (left.min(axis=1) < seen.deadwood)
        others = seen.action_mask.copy()
        others[:, TAKE_PILE] = False
        draws = np.where(takes, TAKE_PILE, pick(others, rng))
        return np.where(seen.phase == Phase.DISCARD, thrown, draws)

    return play


greedy = collector(10)
waits_for_gin = collector(0)
never_knocks = collector(-1)

STYLES = {
    "random": plays_at_random,
    "greedy": greedy,
    "knocks at once": knocks_at_once,
    "waits for gin": waits_for_gin,
    "never knocks": never_knocks,
}


def mixed(seen, rng):
    """Each decision by a style drawn at random: hands of all shapes and lengths; -1 where OVER."""
    style = raw_words(rng, len(seen)) >> np.uint64(16)
    style %= np.uint64(len(STYLES))
    actions = np.zeros(len(seen), dtype=np.int64)
    for number, play in enumerate(STYLES.values()):
        rows = np.flatnonzero(style == number)
        if rows.size:
            actions[rows] = play(seen[rows], rng)
    return np.where(seen.phase == Phase.OVER, NO_ACTION, actions)
