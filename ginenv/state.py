"""`State`: N games as a struct of arrays, and carrying it around."""

from __future__ import annotations

import dataclasses
import json
import math
import operator
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ginenv import archive, npy, soundness
from ginenv.cards import BITBOARD, BitboardArray
from ginenv.rules import Rules

PILE_CAPACITY = 32  # all cards but two hands of ten
FORMAT_VERSION = 1  # of saved states; rises when a field is added, removed or changes its meaning
MAX_GAMES = 1_000_000  # in one file: a stranger's takes no more than 200 MB once it is unpacked


@dataclass(eq=False)
class State:
    """N games.  Everything about them, hidden cards too: players get a `view.View` instead.

    Letters: N games; 2 seats, ``player_0`` first.  Cards are ids 0..51, sets of cards bitboards.

    Attributes:
        rules: the rules that all N games follow.
        hands: ``(N, 2)`` uint64, the cards of each seat.
        known: ``(N, 2)`` uint64, cards of each seat that the other knows: taken from the pile and
            not discarded since.
        discards: ``(N, 2)`` uint64, every card that each seat has discarded in this hand.
        declined: ``(N, 2)`` uint64, every card that each seat could have taken from the pile and
            did not, by passing or by drawing from the stock.
        in_pile: ``(N,)`` uint64, the discard pile as a set, its top included.
        pile: ``(N, 32)`` int8, the discard pile in order, top at ``pile_size - 1``; beyond it -1.
        pile_size: ``(N,)`` int8.
        upcard: ``(N,)`` int8, the top of the pile; -1 = the pile is empty.
        face_down: ``(N,)`` int8, the discard of a knock; -1 = none.
        deck: ``(N, 52)`` int8, the order of the deal: even places below 20 the non-dealer's, odd
            ones the dealer's, place 20 the upcard, then the stock.
        stock_start: ``(N,)`` int8, the place in the deck of the next stock card; the stock holds
            ``52 - stock_start`` cards.
        drawn: ``(N,)`` int8, the card taken from the pile in this turn; -1 = none.
        phase: ``(N,)`` int8 of `rules.Phase`.
        player: ``(N,)`` int8, the seat to move; in phase OVER the seat that moved last.
        dealer: ``(N,)`` int8.
        turn: ``(N,)`` int16, completed turns of both seats in this hand; passes are no turns.
        knock_limit: ``(N,)`` int8, the most deadwood to knock with in this hand.
        result: ``(N,)`` int8 of `rules.Result`, NONE until the hand ends.
        scores: ``(N, 2)`` int32, points of each seat in the match.
        game_id: ``(N,)`` int64, a counter of the hands dealt, from 0.
        next_game_id: the counter's next value.
    """

    rules: Rules
    hands: BitboardArray
    known: BitboardArray
    discards: BitboardArray
    declined: BitboardArray
    in_pile: BitboardArray
    pile: npt.NDArray[np.int8]
    pile_size: npt.NDArray[np.int8]
    upcard: npt.NDArray[np.int8]
    face_down: npt.NDArray[np.int8]
    deck: npt.NDArray[np.int8]
    stock_start: npt.NDArray[np.int8]
    drawn: npt.NDArray[np.int8]
    phase: npt.NDArray[np.int8]
    player: npt.NDArray[np.int8]
    dealer: npt.NDArray[np.int8]
    turn: npt.NDArray[np.int16]
    knock_limit: npt.NDArray[np.int8]
    result: npt.NDArray[np.int8]
    scores: npt.NDArray[np.int32]
    game_id: npt.NDArray[np.int64]
    next_game_id: int

    @classmethod
    def empty(cls, num_games: int, rules: Rules) -> State:
        """Zeros everywhere: the frame that `engine.deal` fills."""
        arrays = {
            name: np.zeros((num_games, *shape), dtype) for name, (shape, dtype) in FIELDS.items()
        }
        return cls(rules=rules, next_game_id=0, **arrays)

    def __len__(self) -> int:
        return len(self.phase)

    @property
    def stock_size(self) -> npt.NDArray[np.int8]:
        """``(N,)`` int8, cards left in the stock."""
        return np.int8(52) - self.stock_start

    def copy(self) -> State:
        """An independent state with the same content."""
        return self[:]

    def __getitem__(self, rows: Any) -> State:
        """A new state of some games: an index, a slice, integers or a ``(N,)`` bool mask."""
        if isinstance(rows, (int, np.integer)):
            rows = [rows]
        arrays = {name: np.array(getattr(self, name)[rows]) for name in FIELDS}
        return State(rules=self.rules, next_game_id=self.next_game_id, **arrays)

    def __setitem__(self, rows: Any, other: State) -> None:
        """Write the games of another state over some of these."""
        if isinstance(rows, (int, np.integer)):
            rows = [rows]
        if not isinstance(other, State):
            raise TypeError(f"only a State can be written into a State, not {type(other).__name__}")
        if other.rules != self.rules:
            raise ValueError(
                f"states of different rules do not mix: {self.rules} and {other.rules}"
            )
        if len(self.phase[rows]) != len(other):
            raise ValueError(f"cannot write {len(other)} games over {len(self.phase[rows])}")
        for name in FIELDS:
            getattr(self, name)[rows] = getattr(other, name)
        self.next_game_id = max(self.next_game_id, other.next_game_id)

    def __eq__(self, other: object) -> bool:
        """Whether two states have the same rules, counter and bytes."""
        if not isinstance(other, State):
            return NotImplemented
        return (
            self.rules == other.rules
            and self.next_game_id == other.next_game_id
            and all(np.array_equal(getattr(self, f), getattr(other, f)) for f in FIELDS)
        )

    __hash__ = None  # type: ignore[assignment]

    @staticmethod
    def concatenate(states: Sequence[State]) -> State:
        """The games of several states, in order, as one state."""
        if not states:
            raise ValueError("there is nothing to concatenate: give one state or more")
        for state in states:
            if state.rules != states[0].rules:
                raise ValueError(
                    f"states of different rules do not mix: {states[0].rules} and {state.rules}"
                )
        arrays = {f: np.concatenate([getattr(s, f) for s in states]) for f in FIELDS}
        return State(
            rules=states[0].rules, next_game_id=max(s.next_game_id for s in states), **arrays
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file: NumPy's ``.npz`` of the arrays, and no pickle in it.

        Raises:
            ValueError: if it is none that `load` would read: more than `MAX_GAMES` games, or a
                position that play cannot reach.
        """
        if len(self) > MAX_GAMES:
            raise ValueError(f"a file holds at most {MAX_GAMES} games, not {len(self)}")
        soundness.check(self)
        about = {
            "format": FORMAT_VERSION,
            "rules": dataclasses.asdict(self.rules),
            "next_game_id": self.next_game_id,
        }
        arrays: dict[str, Any] = {
            name: np.ascontiguousarray(getattr(self, name), npy.stored(dtype))
            for name, (_, dtype) in FIELDS.items()
        }
        with open(path, "wb") as file:
            np.savez_compressed(file, about=np.array(json.dumps(about), dtype="<U"), **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> State:
        """Read a state that `save` wrote.

        Opening a stranger's file runs no code, and takes no more memory than `MAX_GAMES` games do.

        Raises:
            ValueError: if the file is no saved state, is of another version, an array has another
                shape or dtype than this version's, or a game is in a position that play cannot
                reach; names the file, the array and the game.
        """
        try:
            parts = archive.read(path, max_parts=len(FIELDS) + 8, max_bytes=_LARGEST_FILE)
            arrays = {name.removesuffix(".npy"): npy.parse(part) for name, part in parts.items()}
            about = json.loads(arrays.pop("about").text())
            version = about["format"]
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"{path} is no saved state: {error!r:.200}") from None
        if type(version) is not int or version != FORMAT_VERSION:
            raise ValueError(
                f"{path} is a saved state of version {version!r:.40}; "
                f"this ginenv reads {FORMAT_VERSION}"
            )
        if set(arrays) != set(FIELDS):
            differing = ", ".join(f"{name:.40}" for name in sorted(set(arrays) ^ set(FIELDS)))
            raise ValueError(f"{path} is no saved state of version {version}: see {differing}")
        num_games = arrays["phase"].shape[:1]
        for name, (shape, dtype) in FIELDS.items():
            part, wanted = arrays[name], (*num_games, *shape)
            if part.descr != npy.stored(dtype).str or part.shape != wanted or not num_games:
                raise ValueError(
                    f"{path}: {name} is {part.descr} {part.shape}, "
                    f"version {version} has {npy.stored(dtype).str} {wanted}"
                )
        try:
            rules = Rules(**about["rules"])
            state = cls(
                rules=rules,
                next_game_id=operator.index(about["next_game_id"]),
                **{name: arrays[name].array(dtype) for name, (_, dtype) in FIELDS.items()},
            )
            soundness.check(state)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is no saved state: {error!s:.400}") from None
        return state


# Each array's shape after N, and its dtype.
FIELDS: dict[str, tuple[tuple[int, ...], np.dtype[Any]]] = {
    "hands": ((2,), BITBOARD),
    "known": ((2,), BITBOARD),
    "discards": ((2,), BITBOARD),
    "declined": ((2,), BITBOARD),
    "in_pile": ((), BITBOARD),
    "pile": ((PILE_CAPACITY,), np.dtype(np.int8)),
    "pile_size": ((), np.dtype(np.int8)),
    "upcard": ((), np.dtype(np.int8)),
    "face_down": ((), np.dtype(np.int8)),
    "deck": ((52,), np.dtype(np.int8)),
    "stock_start": ((), np.dtype(np.int8)),
    "drawn": ((), np.dtype(np.int8)),
    "phase": ((), np.dtype(np.int8)),
    "player": ((), np.dtype(np.int8)),
    "dealer": ((), np.dtype(np.int8)),
    "turn": ((), np.dtype(np.int16)),
    "knock_limit": ((), np.dtype(np.int8)),
    "result": ((), np.dtype(np.int8)),
    "scores": ((2,), np.dtype(np.int32)),
    "game_id": ((), np.dtype(np.int64)),
}
_ROW_BYTES = sum(dtype.itemsize * math.prod(shape) for shape, dtype in FIELDS.values())
_LARGEST_FILE = MAX_GAMES * _ROW_BYTES + 100_000  # the arrays, their headers and `about`
