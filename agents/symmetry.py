"""Suits are interchangeable: show a network each position with its suits in one fixed order.

Gin rummy has 24 suit permutations that change nothing.  Ordering the suits by the player's own
holding maps most equivalent positions to one, for free and exactly: observation, mask and actions
go through the same permutation.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from ginenv import cards
from ginenv.cards import BITBOARD, LANES
from ginenv.rules import DRAW_STOCK
from ginenv.view import View

_BOARDS = (
    "hand",
    "pile",
    "opponent_known",
    "opponent_discards",
    "opponent_declined",
    "known_to_opponent",
    "own_discards",
    "own_declined",
    "unseen",
)


def canonical(view: View) -> tuple[View, npt.NDArray[np.intp]]:
    """The same positions with their suits in order of the own holding, largest first.

    Suits are compared by their lane of the hand, then by what has been seen of them.

    Args:
        view: N positions.

    Returns:
        The N positions, reordered; ``(N, 4)`` intp, the real suit that stands at each place.
    """
    held = view.hand.view(LANES).reshape(-1, 4).astype(np.int32)
    unseen = view.unseen.view(LANES).reshape(-1, 4)
    suits = np.argsort(unseen - (held << 13), axis=1, kind="stable")
    row = np.arange(0, 4 * len(view), 4)  # of four lanes
    source = (suits + row[:, None]).ravel()
    boards = np.array([getattr(view, name) for name in _BOARDS])
    lanes = boards.view(LANES).take(source, axis=1).view(BITBOARD)
    place = np.empty_like(source)
    place[source] = np.tile(np.arange(4), len(view))
    single = np.array([view.upcard, view.drawn])
    renamed = 13 * place.take(row + np.maximum(single, 0) // 13) + single % 13
    upcard, drawn = np.where(single == cards.NO_CARD, single, renamed).astype(np.int8)
    moved: dict[str, Any] = dict(zip(_BOARDS, lanes, strict=True))
    return dataclasses.replace(view, **moved, upcard=upcard, drawn=drawn), suits


def restore(actions: npt.NDArray[np.integer], suits: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """Actions chosen in reordered positions as actions of the real ones, ``(N,)`` to ``(N,)``."""
    card = actions % cards.NUM_CARDS
    real = 13 * suits[np.arange(len(actions)), card // 13] + card % 13
    return np.where(actions < DRAW_STOCK, actions - card + real, actions).astype(np.int64)


def reorder(actions: npt.NDArray[np.integer], suits: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """Actions of the real positions as actions in reordered ones: undoes `restore`."""
    return restore(actions, np.argsort(suits, axis=1))


def as_dealt(view: View) -> tuple[View, npt.NDArray[np.intp]]:
    """The same positions with their suits as they are: what `canonical` is compared with."""
    return view, np.broadcast_to(np.arange(4), (len(view), 4))
