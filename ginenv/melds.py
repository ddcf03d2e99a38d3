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

MAX_HAND = 11
MAX_MELDS = 3
NO_DISCARD = 255  # stands in `deadwood_after` where a card cannot be thrown; above any deadwood

_ONE, _TWO, _SUIT = np.uint64(1), np.uint64(2), np.uint64(16)
_LANE = np.uint64(cards.LANE)
_EVERY_SUIT = np.uint64(cards.EVERY_SUIT)
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
    return _least_deadwood(hands.ravel()).astype(np.int16).reshape(hands.shape)


def deadwood_after(
    hands: BitboardArray, throwable: BitboardArray | None = None
) -> npt.NDArray[np.int16]:
    """The least deadwood that each hand keeps after throwing each of its cards.

    Args:
        hands: ``(N,)`` uint64, up to eleven cards each.
        throwable: ``(N,)`` uint64, the cards of the hand to try; all by default.

    Returns:
        ``(N, 52)`` int16 by card; ``NO_DISCARD`` (255) for a card that was not tried.
    """
    rows, thrown, left = _after_each(hands, hands if throwable is None else throwable)
    table = np.full((len(hands), cards.NUM_CARDS), NO_DISCARD, dtype=np.int16)
    table[rows, thrown] = left
    return table


def discards_within(
    hands: BitboardArray, throwable: BitboardArray, limits: npt.NDArray[np.integer]
) -> tuple[BitboardArray, npt.NDArray[np.bool_]]:
    """The cards whose discard leaves deadwood within a limit, and whether all cards meld.

    No discard takes more than ten points away, so only hands of at most ``limit + 10`` are tried.

    Args:
        hands: ``(N,)`` uint64, up to eleven cards each.
        throwable: ``(N,)`` uint64, the cards of the hand to try.
        limits: ``(N,)`` points.

    Returns:
        ``(N,)`` uint64, the cards; ``(N,)`` bool, whether the whole hand has no deadwood.
    """
    whole = _least_deadwood(hands)
    found = np.zeros(len(hands), dtype=BITBOARD)
    near = np.flatnonzero(whole <= limits.astype(np.uint64) + np.uint64(10))
    if near.size:
        rows, thrown, left = _after_each(hands[near], throwable[near])
        fits = left <= limits[near[rows]]
        np.bitwise_or.at(found, near[rows[fits]], cards.CARD_BIT[thrown[fits]])
    return found, whole == 0


def meld_cards(hands: BitboardArray) -> tuple[BitboardArray, BitboardArray]:
    """The cards of each hand that ``best_melds`` puts into sets and into runs.

    Args:
        hands: ``(N,)`` uint64, up to eleven cards each.

    Returns:
        Two ``(N,)`` uint64, disjoint.
    """
    in_sets = _best_sets(hands)
    return in_sets, _run_cards(hands ^ in_sets)


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
    runs, fourths = _layoff_targets(melds, defenders)
    best = _least_deadwood(defenders, runs)
    for wanted in range(1, 2**MAX_MELDS):
        laid = _union(fourths, wanted)
        rows = np.flatnonzero(np.all(fourths[:, _bits(wanted)] != 0, axis=1))
        if rows.size:
            left = _least_deadwood(defenders[rows] ^ laid[rows], runs[rows])
            best[rows] = np.minimum(best[rows], left)
    return best.astype(np.int16)


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
    for wanted in range(2**MAX_MELDS):
        if not np.all(fourths[0, _bits(wanted)]):
            continue
        on_sets = _union(fourths, wanted)
        rest = hand ^ on_sets
        _, without_sets = _set_choices(rest)
        for loose in np.append(rest, without_sets):
            in_sets = rest ^ loose
            melds_or_laid = _run_cards(loose | runs) & loose
            on_runs = melds_or_laid ^ _run_cards(loose)
            left = int(cards.lane_sum(_POINTS, loose ^ melds_or_laid)[0])
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
            shares.append(_same_rank(np.asarray(meld, dtype=BITBOARD)) & np.uint64(on_sets))
    return tuple(shares)


def _least_deadwood(hands: BitboardArray, runs: BitboardArray | None = None) -> BitboardArray:
    """``(N,)`` least deadwood, with the knocker's ``runs`` joined to each hand when given."""
    best = cards.lane_sum(_LOOSE_POINTS, hands if runs is None else hands | runs)
    rows, rest = _set_choices(hands)
    if rows.size:
        if runs is not None:
            rest |= runs[rows]
        np.minimum.at(best, rows, cards.lane_sum(_LOOSE_POINTS, rest))
    return best


def _set_choices(hands: BitboardArray) -> tuple[npt.NDArray[np.intp], BitboardArray]:
    """All ways of setting aside one set or more.

    Args:
        hands: ``(N,)`` uint64, up to eleven cards each.

    Returns:
        ``(K,)`` the hand's row; ``(K,)`` uint64 the cards that are left of it.  A rank of three
        gives one set, a rank of four five: all of it, or any three.
    """
    by_suit = [hands >> np.uint64(16 * suit) for suit in range(4)]
    ranks = by_suit[0] & by_suit[1] & (by_suit[2] | by_suit[3])
    ranks |= by_suit[2] & by_suit[3] & (by_suit[0] | by_suit[1])
    ranks = ranks & _LANE
    rows = np.flatnonzero(ranks)
    rest, ranks = hands[rows], ranks[rows]
    found: list[tuple[npt.NDArray[np.intp], BitboardArray]] = [(rows[:0], rest[:0])]
    while rows.size:
        rank = ranks & (~ranks + _ONE)
        ranks = ranks ^ rank
        whole = rank * _EVERY_SUIT
        held = rest & whole
        four = np.flatnonzero(held == whole)
        with_set = [(rows, rest ^ held, ranks)]
        for suit in range(4):
            spared = rank[four] << np.uint64(16 * suit)
            with_set.append((rows[four], rest[four] ^ held[four] ^ spared, ranks[four]))
        new_rows, new_rest, new_ranks = map(np.concatenate, zip(*with_set, strict=True))
        found.append((new_rows, new_rest))
        more, new_more = np.flatnonzero(ranks), np.flatnonzero(new_ranks)
        rows = np.concatenate([rows[more], new_rows[new_more]])
        rest = np.concatenate([rest[more], new_rest[new_more]])
        ranks = np.concatenate([ranks[more], new_ranks[new_more]])
    all_rows, all_rest = map(np.concatenate, zip(*found, strict=True))
    return all_rows, all_rest


def _best_sets(hands: BitboardArray) -> BitboardArray:
    """``(N,)`` uint64: the cards that rule 7's arrangement of each hand has in sets."""
    in_sets = np.zeros_like(hands)
    rows, rest = _set_choices(hands)
    if not rows.size:
        return in_sets
    several, where = np.unique(rows, return_inverse=True)
    owners = np.concatenate([np.arange(len(several)), where.ravel()])
    rest = np.concatenate([hands[several], rest])
    chosen = hands[several][owners] ^ rest
    keys = cards.lane_sum(_LOOSE_POINTS, rest) * np.uint64(16)
    keys += np.uint64(15) - cards.count(chosen).astype(np.uint64)

    best = np.full(len(several), _ABSENT)
    np.minimum.at(best, owners, keys)
    finalists = np.flatnonzero(keys == best[owners])
    melds = _melds_of(hands[several][owners[finalists]], chosen[finalists])
    order = np.lexsort((melds[:, 2], melds[:, 1], melds[:, 0], owners[finalists]))
    winners, first = np.unique(owners[finalists][order], return_index=True)
    in_sets[several[winners]] = chosen[finalists][order[first]]
    return in_sets


def _melds_of(hands: BitboardArray, in_sets: BitboardArray) -> BitboardArray:
    """``(N, 3)`` uint64 melds, ascending, absent ones last, once the cards in sets are chosen."""
    found = np.full((len(hands), 13 + 4 * _RUNS.shape[1]), _ABSENT)
    for rank in range(13):
        meld = in_sets & np.uint64(cards.EVERY_SUIT << rank)
        np.copyto(found[:, rank], meld, where=meld != 0)
    rest = hands ^ in_sets
    for suit in range(4):
        shift = np.uint64(16 * suit)
        runs = _RUNS[((rest >> shift) & _LANE).astype(np.intp)].astype(BITBOARD) << shift
        columns = found[:, 13 + suit * _RUNS.shape[1] :][:, : _RUNS.shape[1]]
        np.copyto(columns, runs, where=runs != 0)
    found.sort(axis=1)
    return found[:, :MAX_MELDS].copy()


def _after_each(
    hands: BitboardArray, throwable: BitboardArray
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], BitboardArray]:
    """For each card of ``throwable``: its row, the card, the deadwood left without it."""
    bits = cards.pack_bits([(cards.squeeze(throwable), cards.NUM_CARDS)])
    rows, thrown = np.divmod(np.flatnonzero(bits.view(bool)), bits.shape[1])
    return rows, thrown, _least_deadwood(hands[rows] ^ cards.CARD_BIT[thrown])


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


def _run_cards(hands: BitboardArray) -> BitboardArray:
    """The cards of each hand in stretches of three or more neighbours in their suit."""
    middle_up = hands & (hands >> _ONE) & (hands >> _TWO)
    return middle_up | (middle_up << _ONE) | (middle_up << _TWO)


def _bits(number: int) -> list[int]:
    return [i for i in range(MAX_MELDS) if number >> i & 1]


def _union(boards: BitboardArray, wanted: int) -> BitboardArray:
    return np.bitwise_or.reduce(boards[:, _bits(wanted)], axis=1)


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
    is_run = (_run_cards(array) == array) & ((array & (~array + _ONE)) * _ALL_ONES[size] == array)
    is_set = (size >= 3) & (_same_rank(array & (~array + _ONE)) & array == array)
    wrong = (array != 0) & ~is_run & ~is_set
    if wrong.any():
        raise ValueError(f"'{cards.show(array[wrong][0])}' is neither a set nor a run")
    return array


def _stretches(lane: int) -> list[tuple[int, int]]:
    """The stretches of neighbours in one suit: pairs of lowest rank and length."""
    found, rank = [], 0
    while lane >> rank:
        length = 0
        while lane >> (rank + length) & 1:
            length += 1
        if length:
            found.append((rank, length))
        rank += length + 1
    return found


def _split(rank: int, length: int) -> list[int]:
    """The smallest ascending tuple of runs that covers a stretch: threes first, as they can."""
    runs = []
    while length:
        size = 3 if length == 3 or length >= 6 else length
        runs.append(((1 << size) - 1) << rank)
        rank, length = rank + size, length - size
    return runs


def _lane_points(lane: int) -> int:
    return sum(min(rank + 1, 10) for rank in range(13) if lane >> rank & 1)


def _tables() -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16], npt.NDArray[np.uint16]]:
    """By suit, 8,192 entries each: points; points outside runs; the runs ``(8192, 4)``."""
    points = np.zeros(cards.LANE + 1, dtype=np.uint16)
    loose = np.zeros_like(points)
    runs = np.zeros((cards.LANE + 1, 4), dtype=np.uint16)
    for lane in range(1, cards.LANE + 1):
        found = [r for at, n in _stretches(lane) if n >= 3 for r in _split(at, n)]
        runs[lane, : len(found)] = found
        points[lane] = _lane_points(lane)
        loose[lane] = _lane_points(lane ^ sum(found))
    return points, loose, runs


_POINTS, _LOOSE_POINTS, _RUNS = _tables()
_ALL_ONES = np.array([(1 << n) - 1 for n in range(MAX_HAND + 1)], dtype=BITBOARD)
