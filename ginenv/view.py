"""`View`: all that one player may know, and nothing else.

Bots, networks, renderers and outside programs get a `View`, never a `State`: the opponent's hand
and the deck are simply not fields of it.  `resample_hidden` re-deals what a player cannot see; not
one byte of his view, mask or observation changes.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ginenv import cards, melds
from ginenv.cards import NUM_CARDS, BitboardArray
from ginenv.decks import raw_words
from ginenv.legality import legal_mask, throwable_cards
from ginenv.melds import NO_DISCARD
from ginenv.rules import Phase, Rules
from ginenv.state import State

__all__ = [
    "NOT_HELD",
    "OBSERVATIONS",
    "View",
    "encode",
    "observation_size",
    "resample_hidden",
    "split",
    "view",
]

NOT_HELD = NO_DISCARD
_UPCARD, _DRAW, _OVER = map(np.int8, (Phase.UPCARD, Phase.DRAW, Phase.OVER))


@dataclass(frozen=True, eq=False)
class View:
    """What one seat of each of N games may know.

    Letters: N games.  Cards are ids 0..51 with -1 for none, sets of cards bitboards.

    Attributes:
        hand: ``(N,)`` uint64, own cards.
        upcard: ``(N,)`` int8, top of the discard pile; -1 = the pile is empty.
        pile: ``(N,)`` uint64, the pile below its top.
        opponent_known: ``(N,)`` uint64, cards that the opponent took from the pile and still has.
        opponent_discards: ``(N,)`` uint64, every card that he discarded in this hand.
        opponent_declined: ``(N,)`` uint64, every pile card that he did not take.
        known_to_opponent: ``(N,)`` uint64, own cards that he saw me take.
        own_discards: ``(N,)`` uint64, every card that I discarded in this hand.
        own_declined: ``(N,)`` uint64, every pile card that I did not take.
        unseen: ``(N,)`` uint64, the stock and the opponent's unknown cards.
        stock_size: ``(N,)`` int8.
        phase: ``(N,)`` int8 of `rules.Phase`.
        turn: ``(N,)`` int16, completed turns of both seats.
        drawn: ``(N,)`` int8, the card taken from the pile in this turn; -1 = none.
        knock_limit: ``(N,)`` int8.
        scores: ``(N, 2)`` int32, own points in the match, then the opponent's.
        dealer: ``(N,)`` int8, the dealer's seat.
        seat: ``(N,)`` int8, whose view this is.
        to_move: ``(N,)`` bool, whether this seat is to act.
        game_id: ``(N,)`` int64, a counter of the hands dealt.
        rules: the rules of all N games.
    """

    hand: BitboardArray
    upcard: npt.NDArray[np.int8]
    pile: BitboardArray
    opponent_known: BitboardArray
    opponent_discards: BitboardArray
    opponent_declined: BitboardArray
    known_to_opponent: BitboardArray
    own_discards: BitboardArray
    own_declined: BitboardArray
    unseen: BitboardArray
    stock_size: npt.NDArray[np.int8]
    phase: npt.NDArray[np.int8]
    turn: npt.NDArray[np.int16]
    drawn: npt.NDArray[np.int8]
    knock_limit: npt.NDArray[np.int8]
    scores: npt.NDArray[np.int32]
    dealer: npt.NDArray[np.int8]
    seat: npt.NDArray[np.int8]
    to_move: npt.NDArray[np.bool_]
    game_id: npt.NDArray[np.int64]
    rules: Rules

    def __len__(self) -> int:
        return len(self.hand)

    def __getitem__(self, rows: Any) -> View:
        """The views of some games, with whatever has been computed for them already."""
        if isinstance(rows, (int, np.integer)):
            rows = [rows]
        fields = {f: getattr(self, f)[rows] for f in _ARRAYS}
        chosen = View(**fields, rules=self.rules)
        for name in _COMPUTED & self.__dict__.keys():
            known = self.__dict__[name]
            chosen.__dict__[name] = known[:, rows] if name == "melded" else known[rows]
        return chosen

    @cached_property
    def offered(self) -> npt.NDArray[np.bool_]:
        """``(N,)`` bool: the player may take the top of the pile now."""
        return self.to_move & ((self.phase == _UPCARD) | (self.phase == _DRAW))

    @cached_property
    def deadwood(self) -> npt.NDArray[np.int16]:
        """``(N,)`` int16, the least deadwood of the own hand as it is."""
        if "melded" in self.__dict__:
            in_sets, in_runs = self.melded
            return melds.points(self.hand ^ in_sets ^ in_runs)
        return melds.least_deadwood(self.hand).astype(np.int16)

    @cached_property
    def melded(self) -> BitboardArray:
        """``(2, N)`` uint64: the own cards in sets and those in runs, in the best arrangement."""
        return np.asarray(melds.meld_cards(self.hand))

    @cached_property
    def deadwood_after(self) -> npt.NDArray[np.int16]:
        """``(N, 52)`` int16, the least deadwood left after throwing each card.

        Where the pile card may be taken: after taking it.  255 (`NOT_HELD`) for a card that is not
        held or may not be thrown, such as the one just taken, and everywhere if nothing is to be
        thrown.  The action mask, the bots and the networks all read this one table.
        """
        taken = cards.bit_of(np.where(self.offered, self.upcard, cards.NO_CARD))
        return melds.deadwood_after(self.hand | taken, np.where(self.offered, self.hand, self._now))

    @cached_property
    def action_mask(self) -> npt.NDArray[np.bool_]:
        """``(N, 108)`` bool, the legal actions; all False for a seat that is not to move."""
        known = "deadwood_after" in self.__dict__
        return legal_mask(
            np.where(self.to_move, self.phase, _OVER),
            self.hand,
            self.drawn,
            self.knock_limit,
            self.rules,
            (self.deadwood, self.deadwood_after) if known else None,
        )

    @cached_property
    def _now(self) -> BitboardArray:
        """What may be discarded at once, ``(N,)`` uint64."""
        throwable = throwable_cards(self.phase, self.hand, self.drawn)
        return np.where(self.to_move, throwable, np.uint64(0))


_ARRAYS = [field.name for field in dataclasses.fields(View) if field.name != "rules"]
_COMPUTED = {"offered", "deadwood", "melded", "deadwood_after", "action_mask", "_now"}


def view(state: State, player: npt.ArrayLike | None = None) -> View:
    """What a player of each game may know.

    Args:
        state: N games.
        player: the seat, one for all or ``(N,)``; by default the player to move.

    Returns:
        A `View` of N rows; it does not change when the state moves on.
    """
    rows = np.arange(len(state))
    seat = state.player.copy() if player is None else _checked_seats(player, len(state))
    own, other = 2 * rows + seat, 2 * rows + 1 - seat

    def of(board: BitboardArray, places: npt.NDArray[np.intp]) -> BitboardArray:
        return board.reshape(-1).take(places)

    hand = of(state.hands, own)
    opponent_known = of(state.known, other)
    seen = hand | opponent_known | state.in_pile
    over = state.phase == _OVER
    if over.any():
        seen |= cards.bit_of(np.where(state.player == seat, state.face_down, cards.NO_CARD))
    return View(
        hand=hand,
        upcard=state.upcard.copy(),
        pile=state.in_pile & ~cards.bit_of(state.upcard),
        opponent_known=opponent_known,
        opponent_discards=of(state.discards, other),
        opponent_declined=of(state.declined, other),
        known_to_opponent=of(state.known, own),
        own_discards=of(state.discards, own),
        own_declined=of(state.declined, own),
        unseen=cards.FULL_DECK & ~seen,
        stock_size=state.stock_size,
        phase=state.phase.copy(),
        turn=state.turn.copy(),
        drawn=state.drawn.copy(),
        knock_limit=state.knock_limit.copy(),
        scores=np.stack(
            [state.scores.reshape(-1).take(own), state.scores.reshape(-1).take(other)], axis=1
        ),
        dealer=state.dealer.copy(),
        seat=seat,
        to_move=(seat == state.player) & ~over,
        game_id=state.game_id.copy(),
        rules=state.rules,
    )


_BLOCK = 2048  # rows that are spread from bits to bytes at a time, within the fast caches

# What each observation holds: planes of 4 x 13 cards (suit, rank), then counts, all uint8.  The
# planes are zeros and ones but for `deadwood_after`, which holds points and `NOT_HELD` (255).
_CARD_PLANES = (
    "hand",
    "upcard",
    "pile",
    "opponent_known",
    "opponent_discards",
    "opponent_declined",
    "known_to_opponent",
    "own_discards",
    "drawn",
)
_CARD_COUNTS = (
    "phase",
    "stock_size",
    "turn",  # at most 255
    "is_dealer",
    "knock_limit",
    "own_score",  # at most 255
    "opponent_score",  # at most 255
)
OBSERVATIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "cards": (_CARD_PLANES, _CARD_COUNTS),
    "full": (
        (*_CARD_PLANES, "in_sets", "in_runs", "deadwood_after"),
        (*_CARD_COUNTS, "deadwood", "best_deadwood_after"),
    ),
}


def observation_size(observation: str = "full") -> int:
    """The length of one encoded observation."""
    planes, counts = _checked_observation(observation)
    return NUM_CARDS * len(planes) + len(counts)


def encode(
    view: View, observation: str = "full", out: npt.NDArray[np.uint8] | None = None
) -> npt.NDArray[np.uint8]:
    """A view as numbers for a network.

    Args:
        view: N rows.
        observation: ``"cards"`` has what has been seen; ``"full"`` adds meld membership and the
            deadwood left after each discard.  `OBSERVATIONS` names the planes and counts in order.
        out: ``(N, size)`` uint8 to write into.

    Returns:
        ``(N, size)`` uint8: the planes of 52 cards one after another, then the counts.
    """
    planes, _ = _checked_observation(observation)
    size = observation_size(observation)
    if out is None:
        out = np.empty((len(view), size), dtype=np.uint8)
    elif out.shape != (len(view), size) or out.dtype != np.uint8 or not out.flags.writeable:
        raise ValueError(
            f"out must be uint8 {(len(view), size)} for observation {observation!r}, and not "
            f"read-only, got {out.dtype} {out.shape}"
        )
    boards = [
        view.hand,
        cards.bit_of(view.upcard),
        view.pile,
        view.opponent_known,
        view.opponent_discards,
        view.opponent_declined,
        view.known_to_opponent,
        view.own_discards,
        cards.bit_of(view.drawn),
    ]
    numbers: list[npt.NDArray[Any]] = [
        view.phase,
        view.stock_size,
        np.minimum(view.turn, 255),
        view.dealer == view.seat,
        view.knock_limit,
        np.minimum(view.scores[:, 0], 255),
        np.minimum(view.scores[:, 1], 255),
    ]
    if observation == "full":
        boards += list(view.melded)
        after = view.deadwood_after
        out[:, NUM_CARDS * len(boards) : NUM_CARDS * len(planes)] = after
        numbers += [view.deadwood, after.min(axis=1, initial=NOT_HELD)]
    for first in range(0, len(view), _BLOCK):
        block = slice(first, first + _BLOCK)
        out[block, : NUM_CARDS * len(boards)] = cards.planes(*(board[block] for board in boards))
    for column, values in enumerate(numbers, start=NUM_CARDS * len(planes)):
        out[:, column] = values
    return out


def split(
    observation: npt.NDArray[np.uint8],
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """The parts of encoded observations, as views of the same memory.

    Args:
        observation: ``(..., size)`` uint8 as `encode` gives it.

    Returns:
        planes ``(..., C, 4, 13)`` and counts ``(..., K)``.
    """
    observation = np.asarray(observation)
    sizes = {observation_size(name): name for name in OBSERVATIONS}
    if observation.ndim < 1 or observation.shape[-1] not in sizes:
        raise ValueError(
            f"observations have {' or '.join(map(str, sizes))} numbers, got {observation.shape}"
        )
    planes, _ = OBSERVATIONS[sizes[observation.shape[-1]]]
    end = NUM_CARDS * len(planes)
    shape = (*observation.shape[:-1], len(planes), 4, 13)
    return observation[..., :end].reshape(shape), observation[..., end:]


def resample_hidden(
    state: State, rng: np.random.Generator, player: npt.ArrayLike | None = None
) -> State:
    """Re-deal all that a player cannot see: the stock's order and the opponent's unknown cards.

    The unseen cards trade places by a random permutation, in the deck as in the opponent's hand,
    so that the whole hand so far could have been played from the new deal.  Every assignment of
    the unseen cards to the hidden places is equally likely.

    Args:
        state: N games; stays as it is.
        rng: where the permutations come from.
        player: whose knowledge stays, as in `view`.

    Returns:
        A new state of N games with byte for byte the same view for that player.
    """
    seen_by = view(state, player)
    trade = _permutations(seen_by.unseen, rng)
    rows = np.arange(len(state))[:, None]
    fresh = state.copy()
    fresh.deck[:] = trade[rows, state.deck]
    other = 2 * rows[:, 0] + 1 - seen_by.seat
    fresh.hands.reshape(-1)[other] = _relabel(state.hands.reshape(-1)[other], trade)
    hidden = cards.bit_of(state.face_down) & seen_by.unseen != 0
    fresh.face_down[hidden] = trade[np.flatnonzero(hidden), state.face_down[hidden]]
    return fresh


def _permutations(free: BitboardArray, rng: np.random.Generator) -> npt.NDArray[np.int8]:
    """``(N, 52)``: a random permutation of each set's cards; all other cards stay."""
    movable = cards.planes(free).astype(bool)
    words = raw_words(rng, movable.size).reshape(movable.shape) & np.uint64(2**63 - 1)
    words = np.where(movable, words, words | np.uint64(2**63))
    shuffled = np.argsort(words, axis=1, kind="stable")
    trade = np.tile(np.arange(NUM_CARDS, dtype=np.int8), (len(free), 1))
    rows, source = np.nonzero(movable)
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    trade[rows, source] = shuffled[rows, rank]
    return trade


def _relabel(boards: BitboardArray, trade: npt.NDArray[np.int8]) -> BitboardArray:
    rows, source = np.nonzero(cards.planes(boards))
    moved = np.zeros_like(boards)
    np.bitwise_or.at(moved, rows, cards.CARD_BIT[trade[rows, source]])
    return moved


def _checked_observation(observation: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if observation not in OBSERVATIONS:
        raise ValueError(
            f"unknown observation {observation!r}: choose one of {', '.join(OBSERVATIONS)}"
        )
    return OBSERVATIONS[observation]


def _checked_seats(player: npt.ArrayLike, num_games: int) -> npt.NDArray[np.int8]:
    seats = np.asarray(player)
    if seats.size and (seats.dtype.kind not in "iu" or ((seats < 0) | (seats > 1)).any()):
        raise ValueError(f"player must be seats 0 or 1, got {player!r}")
    if seats.shape not in ((), (num_games,)):
        raise ValueError(f"player must be one seat or ({num_games},) of them, got {seats.shape}")
    return np.full(num_games, seats, dtype=np.int8)
