"""Melds, deadwood, layoffs and scores by definition: pure Python on sets of card numbers.

Nothing here is fast and nothing is clever: every question is answered by listing all the
possibilities. That is what makes it a judge of `ginenv.melds` and `ginenv.rules`, none of whose
code or tables it uses.

A card is a number 0..51, 13 * suit + rank, suits in the order spades, hearts, diamonds, clubs and
the ace as rank 0. A hand, a meld and a pile of loose cards are frozensets of such numbers; an
arrangement is a tuple of melds that share no card.
"""

from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

RANKS = "A23456789TJQK"
SUITS = "shdc"
DECK = frozenset(range(52))
BIT = [1 << (16 * (c // 13) + c % 13) for c in range(52)]
COST = [min(c % 13 + 1, 10) for c in range(52)]


def card(text):
    """The number of one card: "Th" (ten of hearts) is 22."""
    rank, suit = text
    return 13 * SUITS.index(suit) + RANKS.index(rank)


def cards(text):
    """The cards of a text such as "5s 6s 7s", as a frozenset."""
    return frozenset(card(word) for word in text.split())


def show(some_cards):
    """The text of some cards, suit by suit."""
    return " ".join(RANKS[c % 13] + SUITS[c // 13] for c in sorted(some_cards))


def bitboard(some_cards):
    """The 64-bit word of some cards: one 16-bit lane a suit, bit 16 * suit + rank."""
    return sum(BIT[c] for c in some_cards)


def points(some_cards):
    """What loose cards cost: ace 1, the others their face value, jack, queen and king 10."""
    return sum(COST[c] for c in some_cards)


def all_melds():
    """The 65 sets (three or four of a rank) and the 264 runs (three or more in a suit)."""
    of_a_rank = [[13 * suit + rank for suit in range(4)] for rank in range(13)]
    sets = [meld for four in of_a_rank for size in (3, 4) for meld in combinations(four, size)]
    runs = [
        range(13 * suit + low, 13 * suit + high + 1)
        for suit in range(4)
        for low in range(13)
        for high in range(low + 2, 13)
    ]
    return [frozenset(meld) for meld in sets + runs]


MELDS = all_melds()
IS_MELD = frozenset(MELDS)
MELDS_FROM = [[meld for meld in MELDS if min(meld) == c] for c in range(52)]


def is_set(meld):
    """True for a set, False for a run."""
    return len({c % 13 for c in meld}) == 1


def melds_in(hand):
    """Every meld that the hand holds."""
    return [meld for lowest in hand for meld in MELDS_FROM[lowest] if meld <= hand]


def arrangements(hand):
    """All ways to lay melds out of a hand, the empty one included."""

    def extend(laid, choices):
        yield laid
        for i, meld in enumerate(choices):
            yield from extend((*laid, meld), [m for m in choices[i + 1 :] if not m & meld])

    return extend((), melds_in(hand))


def deadwood_of(hand, arrangement):
    """What is left of a hand, in points, once an arrangement is laid out."""
    return points(hand.difference(*arrangement))


@lru_cache(maxsize=1 << 18)
def least_deadwood(hand):
    """The least deadwood over all arrangements of a hand."""
    return min(deadwood_of(hand, arrangement) for arrangement in arrangements(hand))


def best_arrangements(hand):
    """All arrangements that reach the least deadwood."""
    least = least_deadwood(hand)
    return [a for a in arrangements(hand) if deadwood_of(hand, a) == least]


def knockers_arrangement(hand):
    """Rule 7: least deadwood, then most cards in sets, then the smallest tuple of bitboards."""

    def preference(arrangement):
        cards_in_sets = sum(len(meld) for meld in arrangement if is_set(meld))
        return -cards_in_sets, tuple(sorted(map(bitboard, arrangement)))

    return min(best_arrangements(hand), key=preference)


@lru_cache(maxsize=1 << 18)
def lay_off(table, loose):
    """Least (deadwood, cards laid off) of loose cards beside the melds on the table.

    Tries every card on every meld, one at a time: a card laid off makes a longer meld, and the
    next card may go on that (the 3 and then the 2 on 4-5-6).
    """
    best = points(loose), 0
    for c in loose:
        for meld in table:
            longer = meld | {c}
            if longer in IS_MELD:
                deadwood, laid = lay_off(table - {meld} | {longer}, loose - {c})
                best = min(best, (deadwood, laid + 1))
    return best


def layoff(knocker_melds, defender):
    """Least (deadwood, cards laid off) over all that a defender can do.

    He may hold any arrangement of his own, not only a best one, and lays off any of the rest.
    """
    table = frozenset(knocker_melds)
    return min(lay_off(table, defender.difference(*own)) for own in arrangements(defender))


class Settlement(NamedTuple):
    result: str  # KNOCK, GIN, BIG_GIN or UNDERCUT
    points: int  # to the winner
    knocker_wins: bool
    knocker_deadwood: int
    defender_deadwood: int  # after layoffs, where there are any


def settle(knocker, defender, rules):
    """Rules 5 to 8: ten cards knock or go gin, eleven cards are Big Gin."""
    mine, his = least_deadwood(knocker), least_deadwood(defender)
    if len(knocker) == 11:
        assert mine == 0, "Big Gin is eleven cards in melds"
        return Settlement("BIG_GIN", rules.big_gin_bonus + his, True, mine, his)
    if mine == 0:
        return Settlement("GIN", rules.gin_bonus + his, True, mine, his)
    his, _ = layoff(knockers_arrangement(knocker), defender)
    if mine < his:
        return Settlement("KNOCK", his - mine, True, mine, his)
    return Settlement("UNDERCUT", mine - his + rules.undercut_bonus, False, mine, his)
