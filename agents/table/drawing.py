"""Cards painted as coloured characters.

A `Canvas` is a grid of characters with styles; what is not painted stays transparent.  The same
painting serves the person's hand, the piles and the open hands at the end.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from rich.text import Text

from agents.table.arrangement import Group
from agents.table.faces import is_red, rank, suit

PAPER, INK, RED = "#f7f2e4", "#1c1c1c", "#c2202c"
CHOSEN, GLOW = "#ffe08a", "#a9efb0"
TRAY = "#0a3528"
BACK = "#8fa9e0 on #2c4a9a"


@dataclass(frozen=True)
class Size:
    """How large a card is painted, in characters."""

    width: int
    height: int


SMALL, MEDIUM, LARGE = Size(3, 2), Size(5, 3), Size(7, 5)


class Canvas:
    """A grid to paint on."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._cells = [[(" ", "")] * width for _ in range(height)]

    def fill(self, x: int, y: int, width: int, height: int, style: str, char: str = " ") -> None:
        """Paint a rectangle."""
        for row in range(max(y, 0), min(y + height, self.height)):
            for column in range(max(x, 0), min(x + width, self.width)):
                self._cells[row][column] = (char, style)

    def write(self, x: int, y: int, text: str, style: str) -> None:
        """Write a line; what would stand outside is cut off."""
        if 0 <= y < self.height:
            for column, char in enumerate(text, start=x):
                if 0 <= column < self.width:
                    self._cells[y][column] = (char, style)

    def text(self) -> Text:
        """The canvas as styled lines."""
        text = Text(no_wrap=True, end="")
        for number, line in enumerate(self._cells):
            if number:
                text.append("\n")
            for style, run in groupby(line, key=itemgetter(1)):
                text.append("".join(char for char, _ in run), style)
        return text


def paint_card(canvas: Canvas, x: int, y: int, card: int, size: Size, paper: str = PAPER) -> None:
    """A card, face up."""
    style = f"bold {RED if is_red(card) else INK} on {paper}"
    canvas.fill(x, y, size.width, size.height, style)
    name, symbol = rank(card), suit(card)
    if size == SMALL:
        canvas.write(x, y, name, style)
        canvas.write(x + 1, y + 1, symbol, style)
    else:
        canvas.write(x, y, f" {name}" if size == LARGE else name, style)
        canvas.write(x + size.width // 2, y + size.height // 2, symbol, style)
        last = f"{name} " if size == LARGE else name
        canvas.write(x + size.width - len(last), y + size.height - 1, last, style)


def paint_back(canvas: Canvas, x: int, y: int, size: Size) -> None:
    """A card, face down."""
    canvas.fill(x, y, size.width, size.height, BACK, "░")


@dataclass(frozen=True)
class Row:
    """Where the cards of some groups lie side by side.

    Attributes:
        places: ``(card, x)`` from left to right.
        trays: ``(x, width)`` of each tray.
        width: of all.
    """

    places: tuple[tuple[int, int], ...]
    trays: tuple[tuple[int, int], ...]
    width: int

    @classmethod
    def of(cls, groups: Sequence[Group], size: Size) -> Row:
        """Lay groups out: a tray stands out by one column at both sides of its meld."""
        places, trays, x = [], [], 0
        for group in groups:
            start = x
            x += group.is_meld
            for card in group.cards:
                places.append((card, x))
                x += size.width + 1
            if group.is_meld:
                trays.append((start, x - start))
                x += 1
        return cls(tuple(places), tuple(trays), max(x - 1, 0))

    def card_at(self, x: int, size: Size) -> int | None:
        """The card that is painted in a column."""
        for card, start in self.places:
            if start <= x < start + size.width:
                return card
        return None

    def place_at(self, x: int, size: Size) -> int:
        """The place in the row that a column stands for, from 0."""
        return sum(x > start + size.width // 2 for _, start in self.places)

    def paint(
        self,
        canvas: Canvas,
        x: int,
        y: int,
        size: Size,
        chosen: int | None = None,
        glowing: int | None = None,
        marked: Container[int] = (),
    ) -> None:
        """Paint the row, ``y`` being the line above the cards; it takes two lines more than they.

        Args:
            canvas: where to paint.
            x: the column of the first card or tray.
            y: the first line, into which the chosen card rises.
            size: of the cards.
            chosen: the card that is picked out.
            glowing: the card to recommend.
            marked: cards to mark below, such as the one just drawn.
        """
        for start, width in self.trays:
            canvas.fill(x + start, y, width, size.height + 2, f"on {TRAY}")
        for card, start in self.places:
            paper = CHOSEN if card == chosen else GLOW if card == glowing else PAPER
            top = y if card == chosen else y + 1
            paint_card(canvas, x + start, top, card, size, paper)
            if card in marked:
                on_tray = any(left <= start < left + width for left, width in self.trays)
                style = f"{CHOSEN} on {TRAY}" if on_tray else CHOSEN
                canvas.write(x + start + size.width // 2, y + size.height + 1, "▲", style)


def row_of_cards(melds: Iterable[tuple[int, ...]], *others: tuple[int, ...]) -> list[Group]:
    """Groups for a hand that lies open: its melds on trays, then the other cards."""
    groups = [Group(meld, True) for meld in melds]
    return groups + [Group(some, False) for some in others if some]
