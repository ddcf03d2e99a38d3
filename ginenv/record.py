"""Played hands written to a file while many games are played, and read back.

`Recorder` watches a batch of games; `read` plays every hand of a file again and says where a line
breaks.  What a line looks like is told in `ginenv.record_format`.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import TextIO

import numpy as np
import numpy.typing as npt

from ginenv import engine
from ginenv.engine import Outcome
from ginenv.record_format import LONGEST_LINE, Broken, Record
from ginenv.rules import Phase, Result
from ginenv.state import State

__all__ = ["Broken", "Record", "RecordError", "Recorder", "check", "positions", "read"]

CHUNK = 512  # lines that `read` plays again side by side


class Recorder:
    """Writes the hands of a batch of games to a file, each when it ends.

    Call `add` after every `engine.step` and before the hands that ended are dealt again::

        with Recorder("hands.jsonl", players=("crazy", "greedy")) as recorder:
            state = engine.deal(rng, 1024)
            while playing:
                outcome = engine.step(state, actions)
                recorder.add(state, actions, outcome)
                engine.redeal(state, outcome.hand_over, rng)

    Games may be dropped from the batch or change places: hands are told apart by their
    ``game_id``.  Hands whose start was not seen, or that are dealt anew before they end, are left
    out.  One recorder may follow one batch after another.

    Attributes:
        players: who sits in seat 0 and in seat 1: one pair of names for all games, or ``(N, 2)``
            names, or None.  May be set anew at any time; a hand gets the names that hold when it
            ends.
        hands_written: how many hands have been written.
    """

    def __init__(
        self,
        file: str | os.PathLike[str] | TextIO,
        players: Sequence[str] | Sequence[Sequence[str]] | npt.NDArray[np.str_] | None = None,
    ) -> None:
        """Write to a path, which is overwritten, or to an open text file, which stays open."""
        self.players = players
        self.hands_written = 0
        self._closing = contextlib.ExitStack()
        if isinstance(file, (str, os.PathLike)):
            opened = open(file, "w", encoding="utf-8")  # noqa: SIM115 (`close` closes it)
            self._file: TextIO = self._closing.enter_context(opened)
        else:
            self._file = file
        self._hand = np.full(1, -1, dtype=np.int64)  # (N,) game_id of each row; -1 = not followed
        self._length = np.zeros(1, dtype=np.intp)  # (N,) actions of its hand so far
        self._actions = np.zeros((1, 64), dtype=np.int8)  # (N, as many as were ever needed)

    def add(self, state: State, actions: npt.ArrayLike, outcome: Outcome) -> None:
        """Take note of one step, and write the hands that ended in it.

        Args:
            state: N games after the step.
            actions: ``(N,)``, what was played; -1 for a game that was left as it is.
            outcome: what `engine.step` returned.
        """
        played = np.asarray(actions)
        acted = played >= 0
        started = acted & _after_first_action(state)
        going_on = acted & ~started
        if not len(state):
            return
        if len(state) != len(self._hand) or np.any(going_on & (self._hand != state.game_id)):
            self._find_rows(state.game_id)
        self._hand[started] = state.game_id[started]
        self._length[started] = 0

        rows = np.flatnonzero(acted & (self._hand == state.game_id))
        place = self._length[rows]
        if place.max(initial=0) == self._actions.shape[1]:
            self._actions = np.concatenate([self._actions, np.zeros_like(self._actions)], axis=1)
        self._actions[rows, place] = played[rows]
        self._length[rows] = place + 1

        for row in rows[outcome.hand_over[rows]].tolist():
            self._file.write(self._record(row, state, outcome).line() + "\n")
            self._hand[row] = -1
            self.hands_written += 1

    def _find_rows(self, game_id: npt.NDArray[np.int64]) -> None:
        """Put what was noted into the order of these games, which have changed places since."""
        order = np.argsort(self._hand)
        place = np.searchsorted(self._hand, game_id, sorter=order)
        rows = order.take(place, mode="clip")
        self._hand = np.where(self._hand[rows] == game_id, game_id, -1)
        self._length = self._length[rows]
        self._actions = self._actions[rows]

    def _record(self, row: int, state: State, outcome: Outcome) -> Record:
        points = outcome.points[row].tolist()
        before = [
            now - max(gain, 0) for now, gain in zip(state.scores[row].tolist(), points, strict=True)
        ]
        return Record(
            rules=state.rules,
            deck=tuple(state.deck[row].tolist()),
            dealer=int(state.dealer[row]),
            scores=(before[0], before[1]),
            actions=tuple(self._actions[row, : self._length[row]].tolist()),
            result=Result(outcome.result[row]),
            points=(points[0], points[1]),
            players=self._names(row),
        )

    def _names(self, row: int) -> tuple[str, str] | None:
        if self.players is None:
            return None
        pair = self.players if isinstance(self.players[0], str) else self.players[row]
        return str(pair[0]), str(pair[1])

    def close(self) -> None:
        """Close the file, if it was opened here; hands that are not over are left out."""
        self._file.flush()
        self._closing.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _after_first_action(state: State) -> npt.NDArray[np.bool_]:
    """``(N,)`` bool: the non-dealer has passed the first upcard or taken it, and no more."""
    passed = (state.phase == Phase.UPCARD) & (state.player == state.dealer)
    taken = (state.phase == Phase.DISCARD) & (state.player != state.dealer) & (state.drawn >= 0)
    return (passed | taken) & (state.turn == 0)


class RecordError(ValueError):
    """A record that breaks.

    Attributes:
        line: the line of the file, from 1.
        step: the action at which it breaks, from 1; None where it is not a matter of one action.
        reason: what is wrong.
    """

    def __init__(self, line: int, step: int | None, reason: str) -> None:
        self.line, self.step, self.reason = line, step, reason
        super().__init__(f"line {line}{f', step {step}' if step else ''}: {reason}")


def read(file: str | os.PathLike[str] | Iterable[str]) -> Iterator[Record]:
    """The records of a file, each played again and found right.

    The good records before a broken one are yielded first.  Empty lines are skipped.

    Args:
        file: a path, or an open text file or other lines.

    Raises:
        RecordError: at the first record that breaks: truncated, of another version, with an
            illegal action or with another result; says the line, the step and the reason.
    """
    if isinstance(file, (str, os.PathLike)):
        with open(file, encoding="utf-8", errors="replace") as lines:
            yield from read(lines)
        return
    waiting: list[tuple[int, Record]] = []  # parsed, of the same rules, not yet played again
    for number, line in enumerate(_lines(file), start=1):
        if not line.strip():
            continue
        try:
            record = Record.parse(line)
        except Broken as broken:
            yield from _checked(waiting)
            raise RecordError(number, broken.step, broken.reason) from None
        if waiting and (len(waiting) == CHUNK or waiting[0][1].rules != record.rules):
            yield from _checked(waiting)
            waiting = []
        waiting.append((number, record))
    yield from _checked(waiting)


def _lines(file: Iterable[str]) -> Iterator[str]:
    """The lines of a file; of one that is too long, only so much that this can be told."""
    if isinstance(file, io.TextIOBase):
        while line := file.readline(LONGEST_LINE + 1):
            yield line
    else:
        yield from file


def check(record: Record) -> None:
    """Play a record again.

    Raises:
        ValueError: if an action is illegal, the hand does not end with the last one, or its result
            or points are not those of the record; says the step.
    """
    _play_again([record])


def positions(record: Record) -> Iterator[State]:
    """The game, one row, before each action of a record and after the last; independent states."""
    state = _dealt([record])
    yield state.copy()
    for action in record.actions:
        engine.step(state, [action])
        yield state.copy()


def _checked(numbered: list[tuple[int, Record]]) -> Iterator[Record]:
    """Records of the same rules, played again side by side; one by one if any of them breaks."""
    try:
        _play_again([record for _, record in numbered])
    except Broken:
        for number, record in numbered:
            try:
                _play_again([record])
            except Broken as broken:
                raise RecordError(number, broken.step, broken.reason) from None
            yield record
    else:
        for _, record in numbered:
            yield record


def _dealt(records: Sequence[Record]) -> State:
    """The hands of M records of the same rules as they were dealt."""
    state = engine.deal(
        None,
        len(records),
        records[0].rules,
        dealer=[record.dealer for record in records],
        decks=[record.deck for record in records],
    )
    state.scores[:] = [record.scores for record in records]
    return state


def _play_again(records: Sequence[Record]) -> None:
    """Play M records of the same rules side by side and compare their ends.

    Raises:
        Broken: if any of them breaks, with the step; which one, only a call with a single one says.
    """
    if not records:
        return
    state = _dealt(records)
    points = np.zeros((len(records), 2), dtype=np.int64)
    actions = np.full((len(records), max(len(r.actions) for r in records)), -1)
    for row, record in enumerate(records):
        actions[row, : len(record.actions)] = record.actions
    for step in range(actions.shape[1]):
        try:
            points += engine.step(state, actions[:, step]).points
        except ValueError as error:
            _, _, reason = str(error).partition(": ")
            raise Broken(reason, step + 1) from None
    for row, record in enumerate(records):
        last = len(record.actions)
        if state.phase[row] != Phase.OVER:
            raise Broken(
                "the record is cut short: the hand is not over after the last action", last
            )
        result, ours = Result(state.result[row]), tuple(points[row].tolist())
        if (result, ours) != (record.result, record.points):
            raise Broken(
                f"the hand ends with {result.name} and points {list(ours)}, "
                f"the record says {record.result.name} and {list(record.points)}",
                last,
            )
