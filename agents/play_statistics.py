"""How two players play, counted while they play: knocks, deadwood, what they take and throw.

`PlayStatistics` is a recorder for `agents.players.play`::

    statistics = PlayStatistics("crazy", "greedy")
    play(crazy, greedy, 1000, seed=0, recorder=statistics, names=("crazy", "greedy"))
    statistics.knock_heat_map()  # (own turns, deadwood at the knock)

Everything is read off the step that was just played, so nobody is asked twice, and all N games are
counted at once.

Letters: N games, R of them in question, T = 50 own turns, S = 2 sides: the player, his opponent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.players import Recorder
from ginenv import cards, melds
from ginenv.cards import BitboardArray
from ginenv.engine import Outcome, State
from ginenv.rules import (
    DECLARE_BIG_GIN,
    DRAW_STOCK,
    KNOCK,
    PASS,
    STANDARD,
    TAKE_PILE,
    Result,
    Rules,
)

TURNS = 50  # own turns that are told apart; later ones count as the last
MOST_DEADWOOD = 100  # ten cards have less
KNOCK_DEADWOODS = 11  # 0 to 10

Counts = npt.NDArray[np.int64]
_Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class _Moves:
    """R of the actions of a step.

    Attributes:
        state: the games after it, all N.
        rows: ``(R,)`` the games in question.
        played: ``(R,)`` their actions.
        mover: ``(R,)`` the seats that played them.
        side: ``(R,)`` the sides that sit there.
    """

    state: State
    rows: _Rows
    played: npt.NDArray[np.integer]
    mover: npt.NDArray[np.int8]
    side: _Rows

    def where(self, wanted: npt.NDArray[np.bool_]) -> _Moves:
        """Some of them, by ``(R,)`` bool."""
        return _Moves(
            self.state,
            self.rows[wanted],
            self.played[wanted],
            self.mover[wanted],
            self.side[wanted],
        )


class PlayStatistics:
    """Counts over all hands that two players play against each other.

    A player who meets himself, that is somebody of the same name, is counted as side 0 in both
    seats.  The first own turn is number 0.

    Attributes:
        players: set before each step, ``(N, 2)`` names: who sits in seat 0 and in seat 1.
        hands: hands that ended.
        points: ``(2 * reach + 1,)``, hands by the points that the player won, from -reach on; of a
            player who met himself, by those of the winner.
        endings: ``(3, 6)``, hands by the winner's side (2: nobody) and `Result`.
        deadwood: ``(S, T, 101)``, turns by the deadwood that is left at their end.
        chances: ``(S, T, 11)``, turns that ended with so little deadwood that a knock was legal.
        knocks: ``(S, T, 11)``, those of them that ended with a knock, gin or big gin.
        upcard: ``(S, 2, 2, 2)``, decisions on the first upcard: by the non-dealer or the dealer;
            of a card that would enter a meld or not (0: not); passed or taken.
        draws: ``(S, T, 2, 2)``, later draws: pile card would enter a meld or not; stock or pile.
        ranks: ``(S, 13, 2)``, all pile cards by rank: declined or taken.
        thrown: ``(S, T, 13)``, discards by rank, knocking discards left out.
    """

    def __init__(self, player: str, opponent: str, rules: Rules = STANDARD) -> None:
        self.names = (player, opponent)
        self.players: Any = np.array([self.names])
        self.reach = MOST_DEADWOOD + max(rules.gin_bonus, rules.undercut_bonus, rules.big_gin_bonus)
        self.hands = 0
        self.points = _zeros(2 * self.reach + 1)
        self.endings = _zeros(3, len(Result))
        self.deadwood = _zeros(2, TURNS, MOST_DEADWOOD + 1)
        self.chances = _zeros(2, TURNS, KNOCK_DEADWOODS)
        self.knocks = _zeros(2, TURNS, KNOCK_DEADWOODS)
        self.upcard = _zeros(2, 2, 2, 2)
        self.draws = _zeros(2, TURNS, 2, 2)
        self.ranks = _zeros(2, 13, 2)
        self.thrown = _zeros(2, TURNS, 13)

    @property
    def num_sides(self) -> int:
        """S: 1 for a player who met himself."""
        return 1 + (self.names[0] != self.names[1])

    def add(self, state: State, actions: npt.ArrayLike, outcome: Outcome) -> None:
        """Count one step: the games after it, the actions ``(N,)``, what came of them."""
        played = np.asarray(actions)
        passed_on = ((played < KNOCK) & ~outcome.hand_over) | (played == PASS)
        mover = state.player ^ passed_on
        seats = np.broadcast_to(self.players, (len(state), 2))
        side = (seats[np.arange(len(state)), mover] != self.names[0]).astype(np.intp)

        moves = _Moves(state, np.arange(len(state)), played, mover, side)
        ends_turn = ((played >= 0) & (played < DRAW_STOCK)) | (played == DECLARE_BIG_GIN)
        if ends_turn.any():
            self._count_turns(moves.where(ends_turn))
        # In turn 0 the stock is drawn from only where both have passed: no choice.
        chooses = (played == TAKE_PILE) | (played == PASS)
        chooses |= (played == DRAW_STOCK) & (state.turn > 0)
        if chooses.any():
            self._count_choices(moves.where(chooses))
        over = np.flatnonzero(outcome.hand_over)
        if over.size:
            self._count_endings(seats[over], outcome, over)

    def _count_turns(self, moves: _Moves) -> None:
        state, rows, side = moves.state, moves.rows, moves.side
        turn = np.minimum((state.turn[rows] - 1) // 2, TURNS - 1)
        deadwood = melds.deadwood(state.hands[rows, moves.mover])
        np.add.at(self.deadwood, (side, turn, deadwood), 1)
        could = deadwood <= state.knock_limit[rows]
        did = moves.played >= KNOCK
        np.add.at(self.chances, (side[could], turn[could], deadwood[could]), 1)
        np.add.at(self.knocks, (side[did], turn[did], deadwood[did]), 1)
        rank = moves.played % 13
        np.add.at(self.thrown, (side[~did], turn[~did], rank[~did]), 1)

    def _count_choices(self, moves: _Moves) -> None:
        state, rows, side = moves.state, moves.rows, moves.side
        takes = (moves.played == TAKE_PILE).astype(np.intp)
        card = np.where(takes, state.drawn[rows], state.upcard[rows])
        fits = _enters_meld(_hand_before(moves), card).astype(np.intp)
        np.add.at(self.ranks, (side, card % 13, takes), 1)
        first = state.turn[rows] == 0
        deals = (moves.mover == state.dealer[rows]).astype(np.intp)
        np.add.at(self.upcard, (side[first], deals[first], fits[first], takes[first]), 1)
        later = ~first
        turn = np.minimum(state.turn[rows] // 2, TURNS - 1)
        np.add.at(self.draws, (side[later], turn[later], fits[later], takes[later]), 1)

    def _count_endings(self, seats: npt.NDArray[np.str_], outcome: Outcome, over: _Rows) -> None:
        points = outcome.points[over]
        own_seat = (seats[:, 0] != self.names[0]).astype(np.intp)
        own = points[np.arange(len(over)), own_seat]
        if self.num_sides == 1:
            own = np.abs(own)
        winner = (seats[np.arange(len(over)), (points[:, 1] > 0).astype(np.intp)]) != self.names[0]
        winner_or_nobody = np.where(own == 0, 2, winner.astype(np.intp))
        self.hands += len(over)
        np.add.at(self.points, self.reach + own, 1)
        np.add.at(self.endings, (winner_or_nobody, outcome.result[over]), 1)

    def knock_heat_map(self, side: int = 0) -> npt.NDArray[np.float64]:
        """When a side knocks and with what: ``(T, 11)``, shares of all its knocks.

        By own turn, from the first, and by deadwood, gin and big gin at 0.  It adds up to 1, or to
        0 for a side that never knocked.
        """
        return self.knocks[side] / max(int(self.knocks[side].sum()), 1)

    def knock_rates(self, side: int = 0) -> npt.NDArray[np.float64]:
        """How often a side knocks where it can: ``(T, 11)``, NaN where it never could."""
        chances = self.chances[side]
        return np.where(chances > 0, self.knocks[side] / np.maximum(chances, 1), np.nan)

    def deadwood_quantiles(
        self, quantiles: tuple[float, ...] = (0.1, 0.5, 0.9), side: int = 0
    ) -> npt.NDArray[np.float64]:
        """Deadwood left at the end of each own turn, ``(T, quantiles)``; NaN without any turn."""
        below = self.deadwood[side].cumsum(axis=1)
        total = below[:, -1:]
        found = [(below < np.maximum(total * q, 1)).sum(axis=1) for q in quantiles]
        return np.where(total > 0, np.stack(found, axis=1), np.nan)

    def turns_played(self, share: float = 0.995) -> int:
        """How many own turns hold this share of all turns: what is worth drawing."""
        turns = self.deadwood.sum(axis=(0, 2)).cumsum()
        return int(np.searchsorted(turns, share * turns[-1])) + 1 if turns[-1] else 1


class Recorders:
    """Several recorders as one."""

    def __init__(self, recorders: Sequence[Recorder]) -> None:
        self.recorders = recorders
        self.players: Any = None

    def add(self, state: State, actions: npt.ArrayLike, outcome: Outcome) -> None:
        """Tells each of them of a step."""
        for recorder in self.recorders:
            recorder.players = self.players
            recorder.add(state, actions, outcome)


def _hand_before(moves: _Moves) -> BitboardArray:
    """The ten cards that each player held when he chose whether to take the pile card, ``(R,)``."""
    state, rows = moves.state, moves.rows
    drawn = np.where(moves.played == TAKE_PILE, state.drawn[rows], cards.NO_CARD)
    last_drawn = state.deck[rows, state.stock_start[rows] - 1]
    drawn = np.where(moves.played == DRAW_STOCK, last_drawn, drawn)
    return state.hands[rows, moves.mover] & ~cards.bit_of(drawn)


def _enters_meld(hand: BitboardArray, card: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Whether the pile card would lie in a meld of the best arrangement, ``(R,)`` bool."""
    loose = melds.deadwood(hand) + cards.CARD_POINTS[card]
    return melds.deadwood(hand | cards.bit_of(card)) < loose


def _zeros(*shape: int) -> Counts:
    return np.zeros(shape, dtype=np.int64)
