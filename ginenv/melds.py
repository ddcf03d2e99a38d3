"""Melds, deadwood and layoffs: the only place that knows what a meld is.

A *meld* is a set (three or four cards of a rank) or a run (three or more cards of a suit in
sequence, ace low).  A card belongs to one meld at most, and *deadwood* is the sum of the points of
the cards outside melds.  The search for the least deadwood rests on one observation: **choose the
sets, and the runs settle suit by suit.**  Once the cards of the sets are set aside, every remaining
stretch of three or more neighbours in a suit is wholly covered by runs, and no shorter one is.

Letters: N any number of hands, K all ways of choosing sets in them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ginenv import cards
from ginenv.cards import BITBOARD, BitboardArray
from ginenv.runs import LOOSE_POINTS, POINTS, RUNS, run_cards

MAX_HAND = 11
MAX_MELDS = 3
NO_DISCARD = 255  # stands in `deadwood_after` where a card cannot be thrown; above any deadwood

_ONE, _TWO, _SUIT = np.uint64(1), np.uint64(2), np.uint64(16)
_LANE = np.uint64(cards.LANE)
_EVERY_SUIT = np.uint64(cards.EVERY_SUIT)
_NONE = np.uint64(0)
_ABSENT = np.uint64(2**64 - 1)  # sorts after every meld


def deadwood(hands: npt.ArrayLike) -> npt.NDArray[np.int16]:
    """The least deadwood of each hand over all arrangements of its cards.

    Args:
        hands: bitboards ``(...)`` uint64 of up to eleven cards each.

    Returns:
        ``(...)`` int16, points.

    Raises:
        ValueError: if an element is no bitboard or holds more than eleven cards.
    """
    hands = as_hands(hands)
    return least_deadwood(hands.ravel()).astype(np.int16).reshape(hands.shape)


def deadwood_after(
    hands: BitboardArray, throwable: BitboardArray | None = None
) -> npt.NDArray[np.int16]:
    """The least deadwood that each hand keeps after throwing each of its cards.

    A card that fits no meld at all takes just its points away; only the others are looked into.

    Args:
        hands: ``(N,)`` uint64, up to eleven cards each.
        throwable: ``(N,)`` uint64, the cards of the hand to try; all by default.

    Returns:
        ``(N, 52)`` int16 by card; ``NO_DISCARD`` (255) for a card that was not tried.
    """
    rows, thrown = _each_card(hands if throwable is None else throwable)
    bits = cards.CARD_BIT.take(thrown)
    may_meld = (bits & meldable(hands).take(rows)).nonzero()[0]
    shortened = hands.take(rows.take(may_meld)) ^ bits.take(may_meld)
    least = least_deadwood(np.concatenate([hands, shortened])).astype(np.int16)
    left = least[: len(hands)].take(rows) - cards.CARD_POINTS.take(thrown)
    left[may_meld] = least[len(hands) :]
    table = np.full((len(hands), cards.NUM_CARDS), NO_DISCARD, dtype=np.int16)
    table.reshape(-1)[rows * cards.NUM_CARDS + thrown] = left
    return table


def discards_within(
    hands: BitboardArray, throwable: BitboardArray, limits: npt.NDArray[np.integer]
) -> tuple[BitboardArray, npt.NDArray[np.bool_]]:
    """The cards whose discard leaves deadwood within a limit, and whether all cards meld.

    No discard takes more than ten points away, so only hands of at most ``limit + 10`` are tried;
    and of those only the ones whose cards that fit no meld at all count no more than that.

    Args:
        hands: ``(N,)`` uint64, up to eleven cards each.
        throwable: ``(N,)`` uint64, the cards of the hand to try.
        limits: ``(N,)`` points.

    Returns:
        ``(N,)`` uint64, the cards; ``(N,)`` bool, whether the whole hand has no deadwood.
    """
    found = np.zeros(len(hands), dtype=BITBOARD)
    melded = np.zeros(len(hands), dtype=bool)
    reach = limits + np.int16(10)
    near = (points(hands ^ meldable(hands)) <= reach).nonzero()[0]
    if near.size:
        held = hands[near]
        rows, thrown = _each_card(throwable[near])
        left = least_deadwood(np.concatenate([held[rows] ^ cards.CARD_BIT[thrown], held]))
        melded[near] = left[len(rows) :] == 0
        fits = (left[: len(rows)] <= limits[near[rows]].astype(np.uint64)).nonzero()[0]
        np.bitwise_or.at(found, near[rows[fits]], cards.CARD_BIT[thrown[fits]])
    return found, melded


def points(hands: BitboardArray) -> npt.NDArray[np.int16]:
    """The points of all cards of each hand, ``(N,)`` uint64 to ``(N,)`` int16."""
    return cards.lane_sum(POINTS, hands).astype(np.int16)


def meldable(hands: BitboardArray) -> BitboardArray:
    """The cards that are in some meld within the hand, ``(N,)``; several melds may claim a card."""
    return (run_cards(hands) | _full_ranks(hands) * _EVERY_SUIT) & hands


def meld_cards(hands: BitboardArray) -> tuple[BitboardArray, BitboardArray]:
    """The cards of each hand that ``best_melds`` puts into sets and into runs.

    Args:
        hands: ``(N,)`` uint64, up to eleven cards each.

    Returns:
        Two ``(N,)`` uint64, disjoint.
    """
    in_sets = _best_sets(hands)
    return in_sets, run_cards(hands ^ in_sets)


def arrangement(hands: BitboardArray) -> BitboardArray:
    """The melds of each hand, as ``best_melds`` chooses them, for many hands at once.

    Args:
        hands: ``(N,)`` uint64, up to eleven cards each.

    Returns:
        ``(N, 3)`` uint64, ascending, then zeros.
    """
    melds = _melds_of(hands, _best_sets(hands))
    melds[melds == _ABSENT] = 0
    return melds


def best_melds(hand: int | np.uint64) -> tuple[np.uint64, ...]:
    """The melds that a knocker lays down, chosen blind to the other hand.

    Least deadwood; among those, most cards in sets; among those, the lexicographically smallest
    ascending tuple of meld bitboards (rule 7 of the game).

    Args:
        hand: one bitboard of up to eleven cards.

    Returns:
        The bitboards of the melds, ascending; empty without melds.
    """
    melds = arrangement(as_hands(hand).reshape(1))[0]
    return tuple(melds[melds != 0])


def layoff(melds: npt.ArrayLike, defenders: npt.ArrayLike) -> npt.NDArray[np.int16]:
    """The least deadwood that a defender keeps after laying cards off on the knocker's melds.

    The least over all choices together: cards laid off in chains, and own melds broken where that
    helps.  The knocker's runs join the defender's suits before the look-up: a stretch of
    neighbours that touches a run is then wholly melded or laid off, and the knocker's own cards
    never count.  Each three-card set takes its fourth card or does not: at most 2³ cases.

    Args:
        melds: ``(M, 3)`` uint64, the knocker's melds, 0 = no meld.
        defenders: ``(M,)`` uint64, up to eleven cards each.

    Returns:
        ``(M,)`` int16, points.
    """
    melds, defenders = _checked_melds(melds), as_hands(defenders)
    if melds.shape != (*defenders.shape, MAX_MELDS):
        raise ValueError(
            f"layoff takes melds (M, 3) and defenders (M,), got {melds.shape} and {defenders.shape}"
        )
    return least_after_layoffs(melds, defenders).astype(np.int16)


def least_after_layoffs(melds: BitboardArray, defenders: BitboardArray) -> BitboardArray:
    """`layoff` for callers that know their melds: unchecked, ``(M,)`` uint64."""
    runs, fourths = _layoff_targets(melds, defenders)
    best = least_deadwood(defenders, runs)
    rows = np.flatnonzero(fourths.any(axis=1))
    if rows.size:
        first, second, third = fourths[rows].T[:, :, None]
        laid = np.where(_CASES[0], first, _NONE)
        laid |= np.where(_CASES[1], second, _NONE)
        laid |= np.where(_CASES[2], third, _NONE)
        kept = defenders[rows, None] ^ laid
        joined = np.broadcast_to(runs[rows, None], kept.shape)
        left = least_deadwood(kept.ravel(), joined.ravel()).reshape(kept.shape)
        best[rows] = np.minimum(best[rows], left.min(axis=1))
    return best


def lay_out(
    melds: Iterable[int | np.uint64], defender: int | np.uint64
) -> tuple[tuple[np.uint64, ...], tuple[np.uint64, ...], int]:
    """How one defender lays his cards out against a knock, for showing and recording it.

    The arrangement has the least deadwood after layoffs; of equally good ones it lays off the
    fewest cards, then puts the most cards into sets, then is the smallest tuple of own melds.

    Args:
        melds: bitboards of the knocker's melds, up to three; 0 = no meld.
        defender: one bitboard of up to eleven cards.

    Returns:
        The defender's own melds, ascending; the cards that he lays on each of ``melds``, in their
        order; his deadwood.
    """
    given = [int(meld) for meld in melds]
    if len(given) > MAX_MELDS:
        raise ValueError(f"a hand has at most {MAX_MELDS} melds, got {len(given)}")
    hand = as_hands(defender).reshape(1)
    padded = _checked_melds([given + [0] * (MAX_MELDS - len(given))])
    runs, fourths = _layoff_targets(padded, hand)

    best = None
    for wanted in _CASES.T:
        on_sets = np.bitwise_or.reduce(fourths[:, wanted], axis=1)
        rest = hand ^ on_sets
        _, without_sets = _set_choices(rest)
        for loose in np.append(rest, without_sets):
            in_sets = rest ^ loose
            melds_or_laid = run_cards(loose | runs) & loose
            on_runs = melds_or_laid ^ run_cards(loose)
            left = int(points(loose ^ melds_or_laid)[0])
            own = _melds_of(rest, in_sets)[0]
            laid = int((on_sets | on_runs)[0])
            key = (left, laid.bit_count(), -int(in_sets[0]).bit_count(), own.tolist())
            if best is None or key < best[0]:
                best = key, own[own != _ABSENT], int(on_sets[0]), int(on_runs[0])
    assert best is not None
    (left, *_), own, fourths_laid, chains_laid = best
    return tuple(own), _share_out(given, fourths_laid, chains_laid), left


def _share_out(melds: list[int], on_sets: int, on_runs: int) -> tuple[np.uint64, ...]:
    """Which of the laid-off cards go on which meld: a chain grows from the run that it touches."""
    shares = []
    for meld in melds:
        if meld & (meld >> 1):
            grown = meld
            while touching := ((grown << 1) | (grown >> 1)) & on_runs:
                grown |= touching
                on_runs ^= touching
            shares.append(np.uint64(grown ^ meld))
        else:
            shares.append(
                np.uint64(int(_same_rank(np.asarray([meld], dtype=BITBOARD))[0]) & on_sets)
            )
    return tuple(shares)


def least_deadwood(hands: BitboardArray, runs: BitboardArray | None = None) -> BitboardArray:
    """``(N,)`` least deadwood, with the knocker's ``runs`` joined to each hand when given."""
    best = cards.lane_sum(LOOSE_POINTS, hands if runs is None else hands | runs)
    rows, rest = _set_choices(hands)
    if rows.size:
        if runs is not None:
            rest |= runs[rows]
        np.minimum.at(best, rows, cards.lane_sum(LOOSE_POINTS, rest))
    return best


def _set_choices(hands: BitboardArray) -> tuple[npt.NDArray[np.intp], BitboardArray]:
    """All ways of setting aside one set or more.

    Args:
        hands: ``(N,)`` uint64, up to eleven cards each.

    Returns:
        ``(K,)`` the hand's row; ``(K,)`` uint64 the cards that are left of it.  A rank of three
        gives one set, a rank of four five: all of it, or any three.
    """
    ranks = _full_ranks(hands)
    rows = ranks.nonzero()[0]
    rest, ranks = hands[rows], ranks[rows]
    found: list[tuple[npt.NDArray[np.intp], BitboardArray]] = [(rows[:0], rest[:0])]
    while rows.size:
        rank = ranks & (~ranks + _ONE)
        ranks = ranks ^ rank
        whole = rank * _EVERY_SUIT
        held = rest & whole
        four = (held == whole).nonzero()[0]
        with_set = [(rows, rest ^ held, ranks)]
        if four.size:
            for suit in range(4):
                spared = rank[four] << np.uint64(16 * suit)
                with_set.append((rows[four], rest[four] ^ held[four] ^ spared, ranks[four]))
        found += [(new_rows, new_rest) for new_rows, new_rest, _ in with_set]
        undecided = [(rows, rest, ranks), *with_set]
        rows, rest, ranks = map(np.concatenate, zip(*undecided, strict=True))
        more = ranks.nonzero()[0]
        rows, rest, ranks = rows[more], rest[more], ranks[more]
    all_rows, all_rest = map(np.concatenate, zip(*found, strict=True))
    return all_rows, all_rest


def _full_ranks(hands: BitboardArray) -> BitboardArray:
    """``(N,)`` uint64, in the lowest lane: the ranks of which a hand has three cards or four."""
    spades, hearts, diamonds, clubs = (hands >> np.uint64(16 * suit) for suit in range(4))
    ranks = spades & hearts & (diamonds | clubs)
    ranks |= diamonds & clubs & (spades | hearts)
    return ranks & _LANE


def _best_sets(hands: BitboardArray) -> BitboardArray:
    """``(N,)`` uint64: the cards that rule 7's arrangement of each hand has in sets."""
    in_sets = np.zeros_like(hands)
    rows, without_sets = _set_choices(hands)
    if not rows.size:
        return in_sets
    owners = np.concatenate([np.arange(len(hands)), rows])
    rest = np.concatenate([hands, without_sets])
    chosen = hands[owners] ^ rest
    keys = cards.lane_sum(LOOSE_POINTS, rest) * np.uint64(16)
    keys += np.uint64(15) - cards.count(chosen).astype(np.uint64)
    best = keys[: len(hands)].copy()
    np.minimum.at(best, rows, keys[len(hands) :])
    finalists = (keys == best[owners]).nonzero()[0]
    owners, chosen = owners[finalists], chosen[finalists]
    in_sets[owners] = chosen

    tied = (np.bincount(owners)[owners] > 1).nonzero()[0]
    if tied.size:
        owners, chosen = owners[tied], chosen[tied]
        melds = _melds_of(hands[owners], chosen)
        last_to_first = np.lexsort((melds[:, 2], melds[:, 1], melds[:, 0]))[::-1]
        in_sets[owners[last_to_first]] = chosen[last_to_first]  # where several, the last one stays
    return in_sets


def _melds_of(hands: BitboardArray, in_sets: BitboardArray) -> BitboardArray:
    """``(N, 3)`` uint64 melds, ascending, absent ones last, once the cards in sets are chosen."""
    sets = in_sets[:, None] & _RANKS
    lanes = np.ascontiguousarray(hands ^ in_sets).view(cards.LANES).reshape(-1, 4)
    runs = RUNS[_SUITS, lanes].reshape(len(hands), 4 * RUNS.shape[2])
    found = np.concatenate([sets, runs], axis=1)
    found[found == 0] = _ABSENT
    found.sort(axis=1)
    return found[:, :MAX_MELDS].copy()


def _each_card(boards: BitboardArray) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Each card of each set: its row and its id, row by row."""
    octets = np.ascontiguousarray(boards).view(np.uint8)
    bits = np.unpackbits(octets, bitorder="little").view(bool).nonzero()[0]
    return bits >> 6, cards.CARD_OF_BIT.take(bits & 63)


def _layoff_targets(
    melds: BitboardArray, defenders: BitboardArray
) -> tuple[BitboardArray, BitboardArray]:
    """``(M,)`` all cards in the knocker's runs; ``(M, 3)`` the defender's fourth for each set."""
    is_run = melds & (melds >> _ONE) != 0
    runs = np.bitwise_or.reduce(np.where(is_run, melds, np.uint64(0)), axis=1)
    fourths = np.where(is_run, np.uint64(0), _same_rank(melds) & ~melds & defenders[:, None])
    return runs, fourths


def _same_rank(melds: BitboardArray) -> BitboardArray:
    """All four cards of every rank in each bitboard."""
    ranks = melds | (melds >> _SUIT) | (melds >> np.uint64(32)) | (melds >> np.uint64(48))
    return (ranks & _LANE) * _EVERY_SUIT


def as_hands(hands: npt.ArrayLike) -> BitboardArray:
    """The argument as an array of bitboards of up to eleven cards each.

    Raises:
        ValueError: says which of this it is not.
    """
    array = np.asarray(hands)
    if array.size == 0:
        return np.zeros(array.shape, dtype=BITBOARD)
    if array.dtype.kind not in "iu" or (array.dtype.kind == "i" and np.any(array < 0)):
        raise ValueError(f"hands are bitboards (uint64), got {array.dtype}")
    array = array.astype(BITBOARD, copy=False)
    if np.any(array & ~cards.FULL_DECK):
        raise ValueError("a hand has bits that are no card: bitboards lie within cards.FULL_DECK")
    if cards.count(array).max() > MAX_HAND:
        raise ValueError(f"a hand has at most {MAX_HAND} cards, got {cards.count(array).max()}")
    return array


def _checked_melds(melds: npt.ArrayLike) -> BitboardArray:
    """``(M, 3)`` melds, or a ``ValueError`` that names the one that is none."""
    array = as_hands(melds)
    size = cards.count(array)
    is_run = (run_cards(array) == array) & ((array & (~array + _ONE)) * _ALL_ONES[size] == array)
    is_set = (size >= 3) & (_same_rank(array & (~array + _ONE)) & array == array)
    wrong = (array != 0) & ~is_run & ~is_set
    if wrong.any():
        raise ValueError(f"'{cards.show(array[wrong][0])}' is neither a set nor a run")
    return array


_SUITS = np.arange(4)
_RANKS = np.array([cards.EVERY_SUIT << rank for rank in range(13)], dtype=BITBOARD)
_CASES = (np.arange(2**MAX_MELDS) >> np.arange(MAX_MELDS)[:, None] & 1).astype(bool)
_ALL_ONES = np.array([(1 << n) - 1 for n in range(MAX_HAND + 1)], dtype=BITBOARD)
