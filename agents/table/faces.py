"""Cards and moves as a person reads them."""

from __future__ import annotations

from collections.abc import Iterable

from ginenv import cards
from ginenv.rules import DECLARE_BIG_GIN, DRAW_STOCK, KNOCK, PASS, TAKE_PILE

SYMBOLS = "♠♥♦♣"
RED_SUITS = (1, 2)


def rank(card: int) -> str:
    """``"10"``, ``"K"``."""
    letter = cards.RANKS[card % 13]
    return "10" if letter == "T" else letter


def suit(card: int) -> str:
    """The suit's symbol."""
    return SYMBOLS[card // 13]


def is_red(card: int) -> bool:
    """Whether it is a heart or a diamond."""
    return card // 13 in RED_SUITS


def face(card: int) -> str:
    """``"10♥"``."""
    return rank(card) + suit(card)


def faces(some: Iterable[int]) -> str:
    """Several cards, ``"9♥ 10♥ J♥"``."""
    return " ".join(map(face, some))


def by_rank(board: int) -> list[int]:
    """The cards of a bitboard, aces first."""
    return sorted(cards.ids(board), key=lambda card: (card % 13, card))


def advice(action: int, upcard: int) -> str:
    """An action as something to do: ``"throw K♦"``, ``"take 7♥"``."""
    if action < KNOCK:
        return f"throw {face(action)}"
    if action < DRAW_STOCK:
        return f"knock, throwing {face(action - KNOCK)}"
    if action == TAKE_PILE:
        return f"take {face(upcard)}"
    return {
        DRAW_STOCK: "draw from the stock",
        PASS: "pass",
        DECLARE_BIG_GIN: "big gin",
    }[action]
