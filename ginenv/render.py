"""A table in a render mode: as text, as a picture, or printed."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

from ginenv import cards
from ginenv.cards import NO_CARD
from ginenv.state import State
from ginenv.tabletop import Seat, Table, table

__all__ = ["face", "frame", "text"]

_SYMBOLS = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}


def frame(
    state: State, mode: str, viewer: int = 0, reveal: bool = False
) -> str | npt.NDArray[np.uint8] | None:
    """The first game of a state in a render mode: ``ansi``, ``rgb_array`` or ``human``."""
    shown = table(state, viewer, reveal)
    if mode == "rgb_array":
        from ginenv import picture

        return picture.draw(shown)
    words = text(shown)
    if mode == "ansi":
        return words
    try:
        print(words, end="\n\n", flush=True)
    except UnicodeEncodeError:  # a terminal without suit symbols
        encoding = sys.stdout.encoding or "ascii"
        letters = str.maketrans({symbol: suit for suit, symbol in _SYMBOLS.items()})
        print(words.translate(letters).encode(encoding, "replace").decode(encoding))
    return None


def text(table: Table) -> str:
    """The table as lines of text."""
    limit = f"knock with {table.knock_limit} or less" if table.knock_limit else "gin only"
    top = face(table.upcard) if table.upcard != NO_CARD else "none"
    face_down = "   the knocker's discard face down" if table.face_down else ""
    return "\n".join(
        [
            f"turn {table.turn}   {limit}",
            *_seat_lines(table.far),
            f"stock {table.stock_size}   pile {table.pile_size}, top {top}{face_down}",
            *_seat_lines(table.near),
            table.message,
        ]
    )


def face(card: int) -> str:
    """A card with its suit's symbol, ``T♥``."""
    name = cards.name(card)
    return name[0] + _SYMBOLS[name[1]]


def _seat_lines(seat: Seat) -> list[str]:
    about = [seat.name + (" (dealer)" if seat.is_dealer else ""), f"{seat.score} points"]
    if seat.deadwood is not None:
        about.append(f"deadwood {seat.deadwood}")
    hand = [f"[{_faces(meld)}]" for meld in seat.melds]
    hand += [face(card) for card in seat.loose]
    hand += ["??"] * seat.hidden
    if seat.laid_off:
        hand.append(f"laid off: {_faces(seat.laid_off)}")
    return ["   ".join(about), "  " + " ".join(hand)]


def _faces(some: tuple[int, ...]) -> str:
    return " ".join(face(card) for card in some)
