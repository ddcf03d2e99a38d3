"""Dealing, legal actions and steps of N games at once.

Nothing here loops over games.  A step sorts the rows by the kind of their action and moves each
kind in one go; an action that is not legal leaves everything untouched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ginenv import cards, melds
from ginenv import rules as rulebook
from ginenv.cards import NO_CARD, NUM_CARDS, BitboardArray
from ginenv.decks import raw_words, shuffled_or_given
from ginenv.legality import ALLOWED, KIND, Kind, legal_mask
from ginenv.rules import NUM_ACTIONS, STANDARD, Phase, Result, Rules
from ginenv.state import State

__all__ = ["Outcome", "State", "deal", "legal_actions", "legal_mask", "redeal", "step"]


@dataclass(frozen=True)
class Outcome:
    """What a step brought, by game.

    Attributes:
        hand_over: ``(N,)`` bool, the hand ended in this step.
        match_over: ``(N,)`` bool, and with it the match.
        points: ``(N, 2)`` int16, points won and lost by each seat, zero-sum.
        result: ``(N,)`` int8 of `rules.Result`, NONE where the hand did not end in this step.
        knocker: ``(N,)`` int8, the seat that knocked or went gin in this step; -1 = none.
        deadwood: ``(N, 2)`` int16, deadwood of each seat where the hand was settled, the
            defender's after layoffs; -1 elsewhere, void hands included.
    """

    hand_over: npt.NDArray[np.bool_]
    match_over: npt.NDArray[np.bool_]
    points: npt.NDArray[np.int16]
    result: npt.NDArray[np.int8]
    knocker: npt.NDArray[np.int8]
    deadwood: npt.NDArray[np.int16]


def deal(
    rng: np.random.Generator | None,
    num_games: int,
    rules: Rules = STANDARD,
    dealer: npt.ArrayLike | None = None,
    decks: npt.ArrayLike | None = None,
) -> State:
    """Deal the first hand of N matches.

    Args:
        rng: shuffles the decks and draws the dealers; may be None where both are given.
        num_games: N.
        rules: the rules of all N games.
        dealer: seats 0 or 1, ``(N,)`` or one for all; drawn uniformly by default.
        decks: ``(N, 52)`` permutations of the cards in the order of the deal, or one ``(52,)``
            for all; shuffled by default.

    Raises:
        ValueError: if a deck is no permutation, or a shape or a seat is wrong.
    """
    about = np.asarray(num_games)
    if about.dtype.kind not in "iu" or about.ndim or num_games < 0:
        raise ValueError(f"num_games must be an integer of 0 or more, got {num_games!r}")
    if not isinstance(rules, Rules):
        raise TypeError(f"rules must be a ginenv.Rules, got {rules!r}")
    num_games = int(num_games)  # a small NumPy integer would overflow
    state = State.empty(num_games, rules)
    if dealer is None:
        dealer = raw_words(rng, num_games) >> np.uint64(20) & np.uint64(1)
    seats = np.asarray(dealer)
    if seats.size and (seats.dtype.kind not in "iu" or not np.isin(seats, (0, 1)).all()):
        raise ValueError(f"dealer must be seats 0 or 1, got {dealer!r}")
    if seats.shape not in ((), (num_games,)):
        raise ValueError(f"dealer must be one seat or ({num_games},) of them, got {seats.shape}")
    state.dealer[:] = seats
    _lay_hands(state, np.arange(num_games), shuffled_or_given(rng, num_games, decks))
    return state


def redeal(
    state: State,
    rows: npt.ArrayLike,
    rng: np.random.Generator | None,
    decks: npt.ArrayLike | None = None,
) -> None:
    """Deal the next hand of some games, in place.

    The deal alternates (after a void hand only unless ``void_keeps_dealer``).  Scores carry on, or
    start anew where the match is over.  A hand that has not ended is abandoned without a score.

    Args:
        state: the games.
        rows: ``(N,)`` bool, or integer indices ``(M,)``.
        rng: shuffles the decks; may be None where they are given.
        decks: ``(M, 52)`` or ``(52,)``, as in `deal`.

    Raises:
        ValueError: if a deck is no permutation, or a game stands twice among the rows.
        IndexError: if there is no such game.
    """
    index = _checked_rows(state, rows)
    laid = shuffled_or_given(rng, len(index), decks)
    keeps = (state.result[index] == Result.VOID) & state.rules.void_keeps_dealer
    state.dealer[index] ^= ~keeps
    state.scores[index] *= ~_match_over(state, index)[:, None]
    _lay_hands(state, index, laid)


def legal_actions(state: State) -> npt.NDArray[np.bool_]:
    """The legal actions of the player to move, ``(N, 108)`` bool; all False where OVER."""
    hand = state.hands.reshape(-1).take(_seat_index(state, np.arange(len(state))))
    return legal_mask(state.phase, hand, state.drawn, state.knock_limit, state.rules)


def step(state: State, actions: npt.ArrayLike) -> Outcome:
    """Play one action in each game, in place.

    Args:
        state: N games.
        actions: ``(N,)`` integers 0 to 107; -1 leaves a game as it is.

    Raises:
        ValueError: if an action is not legal; names the game, the action and what is legal, and
            leaves the state untouched.
    """
    actions = _checked_actions(state, actions)
    kinds = KIND.take(actions, mode="wrap")
    legal = ALLOWED.reshape(-1).take(state.phase * len(Kind) + kinds)
    by_kind = [(kinds == kind).nonzero()[0] for kind in range(Kind.WAIT)]
    discards, knocks, stock_draws, takes, passes, big_gins = by_kind
    thrown = cards.CARD_BIT.take(actions[discards])
    knocked = cards.CARD_BIT.take(actions[knocks] - rulebook.KNOCK)
    if discards.size:
        legal[discards] &= _may_throw(state, discards, thrown)
    if knocks.size:
        legal[knocks] &= _may_throw(state, knocks, knocked)
        legal[knocks] &= _within_limit(state, knocks, knocked)
    if big_gins.size:
        legal[big_gins] &= _is_big_gin(state, big_gins)
    if not legal.all():
        raise ValueError(_complaint(state, actions, int(np.flatnonzero(~legal)[0])))

    if stock_draws.size:
        _draw_stock(state, stock_draws)
    if takes.size:
        _take_pile(state, takes)
    if passes.size:
        _pass(state, passes)
    outcome = _no_outcome(len(state))
    if discards.size:
        _discard(state, discards, actions[discards], thrown, outcome)
    if knocks.size or big_gins.size:
        _end_hands(state, knocks, actions[knocks] - rulebook.KNOCK, knocked, big_gins, outcome)
    return outcome


def _checked_rows(state: State, rows: npt.ArrayLike) -> npt.NDArray[np.intp]:
    wanted = np.atleast_1d(np.asarray(rows))
    if not wanted.size:
        return np.zeros(0, dtype=np.intp)
    index = np.arange(len(state))[wanted]
    if index.ndim != 1 or (wanted.dtype != bool and len(np.unique(index)) < len(index)):
        raise ValueError(
            f"rows must be ({len(state)},) bool, or different games, got {rows!r:.200}"
        )
    return index


def _checked_actions(state: State, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
    array = np.asarray(actions)
    if array.shape != (len(state),):
        raise ValueError(f"step takes one action a game, ({len(state)},), got {array.shape}")
    if array.dtype.kind not in "iu" and array.size:
        raise ValueError(f"actions are integers, got {array.dtype}")
    wrong = ((array < rulebook.NO_ACTION) | (array >= NUM_ACTIONS)).nonzero()[0]
    if wrong.size:
        raise ValueError(_complaint(state, array, int(wrong[0])))
    return array.astype(np.int64)


def _complaint(state: State, actions: npt.NDArray[np.integer], row: int) -> str:
    action = int(actions[row])
    known = 0 <= action < NUM_ACTIONS
    what = f"action {action} ({rulebook.action_name(action)})" if known else f"action {action}"
    legal = np.flatnonzero(legal_actions(state[row])[0])
    allowed = ", ".join(f"{a} ({rulebook.action_name(int(a))})" for a in legal)
    phase = Phase(state.phase[row]).name
    return (
        f"game {row}: {what} is illegal in phase {phase} for player_{state.player[row]}; "
        f"legal is {allowed or 'nothing, the hand is over'}"
    )


def _seat_index(state: State, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The place of the player to move in a flattened ``(N, 2)`` array."""
    return 2 * rows + state.player[rows]


def _may_throw(
    state: State, rows: npt.NDArray[np.intp], thrown: BitboardArray
) -> npt.NDArray[np.bool_]:
    """Whether the card is in hand and was not taken from the pile in this turn."""
    hand = state.hands.reshape(-1).take(_seat_index(state, rows))
    return hand & ~cards.bit_of(state.drawn[rows]) & thrown != 0


def _within_limit(
    state: State, rows: npt.NDArray[np.intp], thrown: BitboardArray
) -> npt.NDArray[np.bool_]:
    hand = state.hands.reshape(-1).take(_seat_index(state, rows))
    return melds.least_deadwood(hand & ~thrown) <= state.knock_limit[rows].astype(np.uint64)


def _is_big_gin(state: State, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    hand = state.hands.reshape(-1).take(_seat_index(state, rows))
    return (melds.least_deadwood(hand) == 0) & state.rules.big_gin


def _draw_stock(state: State, rows: npt.NDArray[np.intp]) -> None:
    seats = _seat_index(state, rows)
    place = state.stock_start[rows]
    card = state.deck.reshape(-1).take(rows * NUM_CARDS + place)
    state.hands.reshape(-1)[seats] |= cards.CARD_BIT.take(card)
    state.declined.reshape(-1)[seats] |= cards.bit_of(state.upcard[rows])
    state.stock_start[rows] = place + 1
    state.phase[rows] = Phase.DISCARD


def _take_pile(state: State, rows: npt.NDArray[np.intp]) -> None:
    seats = _seat_index(state, rows)
    card = state.upcard[rows]
    bit = cards.CARD_BIT.take(card)
    state.hands.reshape(-1)[seats] |= bit
    state.known.reshape(-1)[seats] |= bit
    state.in_pile[rows] ^= bit
    state.drawn[rows] = card
    size = state.pile_size[rows] - 1
    state.pile_size[rows] = size
    state.pile[rows, size] = NO_CARD
    below = state.pile[rows, np.maximum(size, 1) - 1]
    state.upcard[rows] = np.where(size > 0, below, NO_CARD)
    state.phase[rows] = Phase.DISCARD


def _pass(state: State, rows: npt.NDArray[np.intp]) -> None:
    player = state.player[rows]
    state.declined.reshape(-1)[2 * rows + player] |= cards.CARD_BIT.take(state.upcard[rows])
    both_passed = player == state.dealer[rows]
    state.phase[rows] = np.where(both_passed, Phase.FORCED_DRAW, Phase.UPCARD)
    state.player[rows] = player ^ 1


def _discard(
    state: State,
    rows: npt.NDArray[np.intp],
    card: npt.NDArray[np.int64],
    bit: BitboardArray,
    outcome: Outcome,
) -> None:
    _lose_card(state, rows, bit)
    state.discards.reshape(-1)[_seat_index(state, rows)] |= bit
    state.in_pile[rows] |= bit
    size = state.pile_size[rows]
    state.pile[rows, size] = card
    state.pile_size[rows] = size + 1
    state.upcard[rows] = card
    state.drawn[rows] = NO_CARD
    turn = state.turn[rows] + 1
    state.turn[rows] = turn
    stock = NUM_CARDS - state.stock_start[rows]
    void = (stock <= state.rules.stock_floor) | (turn >= state.rules.max_turns)
    state.player[rows] ^= ~void
    state.phase[rows] = np.where(void, Phase.OVER, Phase.DRAW)
    ended = rows[void]
    state.result[ended] = Result.VOID
    outcome.result[ended] = Result.VOID
    outcome.hand_over[ended] = True


def _end_hands(
    state: State,
    knocks: npt.NDArray[np.intp],
    card: npt.NDArray[np.int64],
    bit: BitboardArray,
    big_gins: npt.NDArray[np.intp],
    outcome: Outcome,
) -> None:
    """Settle the hands that a player ends: a knock with its face-down discard, or big gin."""
    _lose_card(state, knocks, bit)
    state.face_down[knocks] = card
    rows = np.concatenate([knocks, big_gins])
    knocker = state.player[rows]
    own, other = 2 * rows + knocker, 2 * rows + 1 - knocker
    hands = state.hands.reshape(-1)
    is_big = np.arange(len(rows)) >= len(knocks)
    settled = rulebook.score(hands[own], hands[other], is_big, state.rules)
    gain = np.where(settled.knocker_wins, settled.points, -settled.points)
    outcome.points.reshape(-1)[own] = gain
    outcome.points.reshape(-1)[other] = -gain
    outcome.deadwood.reshape(-1)[own] = settled.knocker_deadwood
    outcome.deadwood.reshape(-1)[other] = settled.defender_deadwood
    outcome.knocker[rows] = knocker
    outcome.result[rows] = settled.result
    outcome.hand_over[rows] = True
    state.scores[rows] += np.maximum(outcome.points[rows], 0)
    outcome.match_over[rows] = _match_over(state, rows)
    state.result[rows] = settled.result
    state.turn[rows] += 1
    state.drawn[rows] = NO_CARD
    state.phase[rows] = Phase.OVER


def _lose_card(state: State, rows: npt.NDArray[np.intp], bit: BitboardArray) -> None:
    seats = _seat_index(state, rows)
    state.hands.reshape(-1)[seats] ^= bit
    state.known.reshape(-1)[seats] &= ~bit


def _match_over(state: State, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    target = state.rules.target_score
    if target is None:
        return np.zeros(len(rows), dtype=bool)
    return state.scores[rows].max(axis=1, initial=0) >= target


def _no_outcome(num_games: int) -> Outcome:
    return Outcome(
        hand_over=np.zeros(num_games, dtype=bool),
        match_over=np.zeros(num_games, dtype=bool),
        points=np.zeros((num_games, 2), dtype=np.int16),
        result=np.zeros(num_games, dtype=np.int8),
        knocker=np.full(num_games, -1, dtype=np.int8),
        deadwood=np.full((num_games, 2), -1, dtype=np.int16),
    )


def _lay_hands(state: State, rows: npt.NDArray[np.intp], deck: npt.NDArray[np.int8]) -> None:
    """Lay the first position of a hand into some rows; dealer and scores stand already."""
    dealer = state.dealer[rows]
    upcard = deck[:, rulebook.UPCARD_INDEX]
    hands = np.stack([cards.pack(deck[:, start:20:2]) for start in (0, 1)], axis=1)
    state.hands[rows] = np.where((dealer == 1)[:, None], hands, hands[:, ::-1])
    state.known[rows] = 0
    state.discards[rows] = 0
    state.declined[rows] = 0
    state.in_pile[rows] = cards.CARD_BIT[upcard]
    state.pile[rows] = NO_CARD
    state.pile[rows, 0] = upcard
    state.pile_size[rows] = 1
    state.upcard[rows] = upcard
    state.face_down[rows] = NO_CARD
    state.deck[rows] = deck
    state.stock_start[rows] = rulebook.STOCK_INDEX
    state.drawn[rows] = NO_CARD
    state.phase[rows] = Phase.UPCARD
    state.player[rows] = 1 - dealer
    state.turn[rows] = 0
    state.knock_limit[rows] = state.rules.hand_limits(upcard)
    state.result[rows] = Result.NONE
    state.game_id[rows] = np.arange(state.next_game_id, state.next_game_id + len(rows))
    state.next_game_id += len(rows)
