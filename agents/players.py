"""Who sits where: names to policies, and paired play of two policies.

Each deck is played twice with the seats swapped and the same seat dealing, so that each player
gets the cards that the other had: the luck of the deal cancels, and two equal players that draw no
random numbers score exactly zero over every pair.

Pairs are played in fixed blocks.  The cards of each pair, and each player's random numbers in a
block, have generators of their own, whose seeds are spawned from the seed and the place alone: the
results do not depend on how many blocks are played, in which order, or in how many portions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from agents.tally import Tally
from ginenv import engine, opponents, streams
from ginenv.cards import BitboardArray
from ginenv.engine import Outcome, State
from ginenv.opponents import Policy
from ginenv.rules import NO_ACTION, STANDARD, Phase, Result, Rules
from ginenv.scoresheet import Scoring, Sheet
from ginenv.view import view

__all__ = ["BLOCK", "MAX_HANDS", "Ending", "Policy", "Recorder", "play", "play_blocks", "player"]

UNITS = ("hand", "match")
BLOCK = 1024  # pairs of games that are played side by side
MAX_HANDS = 500  # a match that has not ended after so many hands is a draw
_SHUFFLED_AT_ONCE = 256  # pairs; part of what a seed means
_CROWDED = 0.75  # finished games are dropped when fewer than this share is still going on

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Ending:
    """How M hands ended, as one seat is told: the cards are on the table now.

    Attributes:
        result: ``(M,)`` int8 of `rules.Result`.
        points: ``(M,)`` int16, own points, less the opponent's.
        knocker: ``(M,)`` int8, 0 = this seat knocked or went gin, 1 = the opponent, -1 = nobody.
        deadwood: ``(M, 2)`` int16, own, then the opponent's, after layoffs; -1 in void hands.
        opponent_hand: ``(M,)`` uint64, the opponent's cards.
        match_over: ``(M,)`` bool, no further hand of this match follows.
    """

    result: npt.NDArray[np.int8]
    points: npt.NDArray[np.int16]
    knocker: npt.NDArray[np.int8]
    deadwood: npt.NDArray[np.int16]
    opponent_hand: BitboardArray
    match_over: npt.NDArray[np.bool_]


class Recorder(Protocol):
    """Someone who writes down what is played, such as `ginenv.record.Recorder`.

    Attributes:
        players: set before each step, ``(N, 2)`` names: who sits in seat 0 and in seat 1.
    """

    players: Any

    def add(self, state: State, actions: npt.ArrayLike, outcome: Outcome) -> None:
        """Take note of one step: the games after it, the actions ``(N,)``, what came of them."""


def player(spec: str | Policy) -> Policy:
    """The policy that a name, a checkpoint file or a command to run stands for.

    Raises:
        ValueError: if nobody knows the name; says which ones there are, and the nearest.
    """
    return opponents.resolve(spec)


def play(
    a: Policy,
    b: Policy,
    num_pairs: int,
    seed: int,
    rules: Rules = STANDARD,
    unit: str = "hand",
    block: int = BLOCK,
    max_hands: int = MAX_HANDS,
    progress: Progress | None = None,
    recorder: Recorder | None = None,
    names: tuple[str, str] = ("A", "B"),
    scoring: Scoring | None = None,
) -> Tally:
    """Play A against B, each deck twice with the seats swapped.

    Args:
        a: the player whose results are counted.
        b: the other one.
        num_pairs: pairs of games; twice as many games are played.
        seed: decides the deals and the players' random numbers.
        rules: of all games.
        unit: ``"hand"``: a game is one hand.  ``"match"``: a game is a match to the rules' target
            score; hand h of a match has the same deck in both seatings.
        block: pairs that are played side by side, with one stream of random numbers for each
            player.  Another size gives the same cards, and other luck to players who draw numbers.
        max_hands: a match that has not ended after so many hands is a draw.
        progress: told the games finished and the games in all, as they end.
        recorder: told every step.
        names: what it calls A and B.
        scoring: a score sheet that ends the matches and says who won, instead of the rules' own
            target score.
    """
    blocks = play_blocks(
        a, b, num_pairs, seed, rules, unit, block, max_hands, progress, recorder, names, scoring
    )
    return Tally.merge(list(blocks))


def play_blocks(
    a: Policy,
    b: Policy,
    num_pairs: int,
    seed: int,
    rules: Rules = STANDARD,
    unit: str = "hand",
    block: int = BLOCK,
    max_hands: int = MAX_HANDS,
    progress: Progress | None = None,
    recorder: Recorder | None = None,
    names: tuple[str, str] = ("A", "B"),
    scoring: Scoring | None = None,
) -> Iterator[Tally]:
    """Play as `play` does and yield each block's tally, so that one can stop between them."""
    if unit not in UNITS:
        raise ValueError(f"unit must be 'hand' or 'match', got {unit!r}")
    if num_pairs < 1 or block < 1 or max_hands < 1:
        raise ValueError(
            f"num_pairs, block and max_hands must be 1 or more, got {num_pairs}, {block} and "
            f"{max_hands}"
        )
    if scoring is not None:
        rules = dataclasses.replace(rules, target_score=None)
    for first in range(0, num_pairs, block):
        pairs = range(first, min(first + block, num_pairs))
        table = _Table(
            players=(a, b),
            rngs=tuple(
                streams.for_players(np.random.default_rng(_seeds(seed, unit, first, who)))
                for who in (1, 2)
            ),
            unit=unit,
            max_hands=1 if unit == "hand" else max_hands,
            decks=_Decks(seed, unit, pairs, rules),
            scoring=scoring if unit == "match" else None,
        )
        while len(table.state):
            table.step(recorder, names)
            if progress is not None and table.num_finished:
                progress(2 * first + table.num_finished, 2 * num_pairs)
        yield table.tally


def _seeds(seed: int, unit: str, *key: int) -> np.random.SeedSequence:
    """A descendant as `SeedSequence.spawn` makes them, reached without its elder siblings."""
    return np.random.SeedSequence(seed, spawn_key=(UNITS.index(unit), *key))


class _Decks:
    """The decks of some pairs, the same for hand h of pair p whenever they are asked for.

    Hand h of `_SHUFFLED_AT_ONCE` pairs is shuffled at once, from a generator of its own.

    Attributes:
        dealers: ``(P,)`` int8, who deals the first hand of each pair.
    """

    def __init__(self, seed: int, unit: str, pairs: range, rules: Rules) -> None:
        self.num_pairs, self.rules = len(pairs), rules
        self._seed, self._unit, self._pairs = seed, unit, pairs
        first = self._shuffle(0)
        self.dealers = first.dealer
        self._of_hand = {0: first.deck}

    def __call__(
        self, pairs: npt.NDArray[np.intp], hands: npt.NDArray[np.int16]
    ) -> npt.NDArray[np.int8]:
        """``(M, 52)``: the deck of each pair's hand, pairs ``(M,)`` and hands ``(M,)`` from 0."""
        found = np.empty((len(pairs), 52), dtype=np.int8)
        for hand in np.unique(hands).tolist():
            if hand not in self._of_hand:
                self._of_hand[hand] = self._shuffle(hand).deck
            rows = np.flatnonzero(hands == hand)
            found[rows] = self._of_hand[hand][pairs[rows]]
        return found

    def forget(self, before: int) -> None:
        """No hand below this number will be dealt any more."""
        self._of_hand = {hand: deck for hand, deck in self._of_hand.items() if hand >= before}

    def _shuffle(self, hand: int) -> State:
        portions = range(
            self._pairs.start // _SHUFFLED_AT_ONCE, (self._pairs.stop - 1) // _SHUFFLED_AT_ONCE + 1
        )
        rngs = [np.random.default_rng(_seeds(self._seed, self._unit, n, 0, hand)) for n in portions]
        dealt = State.concatenate([engine.deal(r, _SHUFFLED_AT_ONCE, self.rules) for r in rngs])
        skipped = portions.start * _SHUFFLED_AT_ONCE
        return dealt[self._pairs.start - skipped : self._pairs.stop - skipped]


class _Table:
    """One block of games going on, and what has come of it.

    The games are rows of one `State`: all pairs with A in seat 0, then all with A in seat 1.
    Games that are over stay as idle rows for a while and are then dropped.

    Attributes:
        pair, seating: ``(N,)`` which game of the tally each row is.
        hand: ``(N,)`` int16, the number of the hand that it plays.
        sheet: the score sheets of the games, where they end the matches.
    """

    def __init__(
        self,
        players: tuple[Policy, Policy],
        rngs: tuple[np.random.Generator, ...],
        unit: str,
        max_hands: int,
        decks: _Decks,
        scoring: Scoring | None,
    ) -> None:
        self.players, self.rngs = players, rngs
        self.decks, self.max_hands = decks, max_hands
        self.pair = np.tile(np.arange(decks.num_pairs), 2)
        self.seating = np.repeat(np.array([0, 1], dtype=np.int8), decks.num_pairs)
        self.hand = np.zeros(2 * decks.num_pairs, dtype=np.int16)
        self.state = engine.deal(
            None,
            2 * decks.num_pairs,
            decks.rules,
            dealer=decks.dealers[self.pair],
            decks=decks(self.pair, self.hand),
        )
        self.sheet = None if scoring is None else Sheet(len(self.state), scoring)
        self.tally = Tally.empty(unit, decks.num_pairs)
        self.num_finished = 0

    def step(self, recorder: Recorder | None, names: tuple[str, str]) -> None:
        """One action in every game that is going on."""
        actions = self._decide()
        outcome = engine.step(self.state, actions)
        if recorder is not None:
            recorder.players = np.array([names, names[::-1]])[self.seating]
            recorder.add(self.state, actions, outcome)
        over = np.flatnonzero(outcome.hand_over)
        if over.size:
            match_over = outcome.match_over[over]
            if self.sheet is not None:
                self.sheet.enter(outcome.points[over], over)
                match_over = self.sheet.over[over]
            done = match_over | (self.hand[over] + 1 >= self.max_hands)
            self._count(over, outcome)
            self._tell(over, done, outcome)
            self._finish(over[done])
            self._redeal(over[~done])
            self._drop_idle_rows()

    def _decide(self) -> npt.NDArray[np.int64]:
        """Asks both players for their actions, ``(N,)``; idle rows wait with -1."""
        seen = view(self.state)
        mover = np.where(seen.to_move, self.state.player ^ self.seating, -1)
        actions = np.full(len(self.state), NO_ACTION, dtype=np.int64)
        for who, (policy, rng) in enumerate(zip(self.players, self.rngs, strict=True)):
            rows = np.flatnonzero(mover == who)
            if rows.size:
                chosen = np.asarray(policy(seen[rows], rng))
                if chosen.shape != rows.shape or chosen.dtype.kind not in "iu":
                    raise ValueError(
                        f"player {'AB'[who]} was asked for {rows.size} actions, integers "
                        f"({rows.size},), and gave {chosen.dtype} {chosen.shape}"
                    )
                actions[rows] = chosen
        return actions

    def _count(self, over: npt.NDArray[np.intp], outcome: Outcome) -> None:
        tally, game = self.tally, (self.pair[over], self.seating[over])
        result, knocker = outcome.result[over], outcome.knocker[over]
        points = outcome.points[over, self.seating[over]]
        tally.points[game] += points
        tally.hands[game] += 1
        tally.turns[game] += self.state.turn[over]
        who = np.where(knocker < 0, 2, knocker ^ self.seating[over])
        np.add.at(tally.endings, (who, result), 1)
        np.add.at(tally.gained, (who, result), np.abs(points))
        knocked = np.flatnonzero((result == Result.KNOCK) | (result == Result.UNDERCUT))
        deadwood = outcome.deadwood[over[knocked], knocker[knocked]]
        np.add.at(tally.knock_deadwood, who[knocked], deadwood)

    def _tell(
        self, over: npt.NDArray[np.intp], done: npt.NDArray[np.bool_], outcome: Outcome
    ) -> None:
        """Tells those who want to know how the hands ended."""
        for who, policy in enumerate(self.players):
            hand_over = getattr(policy, "hand_over", None)
            if hand_over is not None:
                seat = self.seating[over] ^ who
                knocker = outcome.knocker[over]
                ending = Ending(
                    result=outcome.result[over],
                    points=outcome.points[over, seat],
                    knocker=np.where(knocker < 0, knocker, knocker ^ seat).astype(np.int8),
                    deadwood=np.stack(
                        [outcome.deadwood[over, seat], outcome.deadwood[over, 1 - seat]], axis=1
                    ),
                    opponent_hand=self.state.hands[over, 1 - seat],
                    match_over=done,
                )
                hand_over(view(self.state[over], seat), ending)

    def _finish(self, rows: npt.NDArray[np.intp]) -> None:
        """Writes down who won the games that are over."""
        if self.tally.unit == "hand":
            won = np.sign(self.tally.points[self.pair[rows], self.seating[rows]])
        elif self.sheet is not None:
            ended = self.sheet[rows]
            won = np.where(ended.over & (ended.leader >= 0), 1 - 2 * ended.leader, 0)
            won = np.where(self.seating[rows] == 1, -won, won)
        else:
            target = self.state.rules.target_score
            reached = self.state.scores[rows] >= (np.inf if target is None else target)
            won = reached[:, 0].astype(np.int8) - reached[:, 1]
            won = np.where(self.seating[rows] == 1, -won, won)
        self.tally.won[self.pair[rows], self.seating[rows]] = won
        self.num_finished += len(rows)

    def _redeal(self, rows: npt.NDArray[np.intp]) -> None:
        """Deals the next hand of the given games."""
        if rows.size:
            self.hand[rows] += 1
            decks = self.decks(self.pair[rows], self.hand[rows])
            engine.redeal(self.state, rows, None, decks=decks)

    def _drop_idle_rows(self) -> None:
        """Drops the games that are over, once they are many."""
        going_on = self.state.phase != Phase.OVER
        if going_on.sum() < _CROWDED * len(self.state):
            self.state = self.state[going_on]
            self.pair, self.seating = self.pair[going_on], self.seating[going_on]
            self.hand = self.hand[going_on]
            self.sheet = None if self.sheet is None else self.sheet[going_on]
            self.decks.forget(before=int(self.hand.min(initial=self.max_hands)))
