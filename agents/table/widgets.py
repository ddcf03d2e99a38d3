"""What lies on the table: both hands, the piles, and the panel beside them."""

from __future__ import annotations

from rich.table import Table as Grid
from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from agents.table.arrangement import Arrangement
from agents.table.coach import Advice
from agents.table.drawing import LARGE, MEDIUM, SMALL, Canvas, Row, Size, paint_back, paint_card
from agents.table.faces import advice as as_advice
from agents.table.faces import face, faces
from ginenv import scoresheet
from ginenv.tabletop import Seat
from ginenv.tabletop import Table as Drawn

_LABEL = "#cfe8d8"
_BRIGHT = "bold #ffe08a"
_SPACIOUS = (112, 32)  # columns and rows from which on the cards are large


def card_size(columns: int, rows: int) -> Size:
    """How large the person's cards are painted in a terminal."""
    return LARGE if columns >= _SPACIOUS[0] and rows >= _SPACIOUS[1] else MEDIUM


class HandView(Widget):
    """The person's hand, and its deadwood beside it.

    A click picks a card, a click on the picked card throws it, and a drag lays it elsewhere.
    """

    class Picked(Message):
        """A card was clicked."""

        def __init__(self, card: int) -> None:
            super().__init__()
            self.card = card

    class Moved(Message):
        """A card was dragged to another place of the row."""

        def __init__(self, card: int, place: int) -> None:
            super().__init__()
            self.card, self.place = card, place

    arrangement = Arrangement()
    deadwood = 0
    deadwood_then: int | None = None  # after throwing the chosen card
    chosen: int | None = None
    glowing: int | None = None
    fresh: int | None = None
    _dragged: int | None = None

    @property
    def cards_size(self) -> Size:
        """How large the cards are now."""
        return card_size(*self.app.size)

    def _row(self) -> tuple[Row, int]:
        """The cards' places, and the column where the row starts."""
        row = Row.of(self.arrangement.groups(), self.cards_size)
        return row, max(0, (self.size.width - 10 - row.width) // 2)

    def render(self) -> Text:
        """The row of cards, and the deadwood at its right."""
        size = self.cards_size
        row, start = self._row()
        canvas = Canvas(self.size.width, size.height + 2)
        row.paint(
            canvas,
            start,
            0,
            size,
            self.chosen,
            self.glowing,
            () if self.fresh is None else {self.fresh},
        )
        middle = (size.height + 1) // 2
        canvas.write(self.size.width - 9, middle - 1, "deadwood", _LABEL)
        number = str(self.deadwood)
        if self.deadwood_then is not None:
            number += f" → {self.deadwood_then}"
        canvas.write(self.size.width - 9, middle, number.center(8), _BRIGHT)
        return canvas.text()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of a card."""
        row, start = self._row()
        self._dragged = row.card_at(event.x - start, self.cards_size)
        if self._dragged is not None:
            self.capture_mouse()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go of it: where it was, or at another place."""
        if self._dragged is None:
            return
        self.release_mouse()
        card, self._dragged = self._dragged, None
        row, start = self._row()
        x = event.x - start
        if row.card_at(x, self.cards_size) == card:
            self.post_message(self.Picked(card))
        else:
            place = row.place_at(x, self.cards_size)
            place -= self.arrangement.order.index(card) < place
            self.post_message(self.Moved(card, place))


class OpponentView(Static):
    """The other side: backs, the cards that are known, and what he did last."""

    def show(self, seat: Seat, name: str) -> None:
        """Paint the opponent's seat as far as the person knows it."""
        canvas = Canvas(43, SMALL.height + 1)
        deals = "  deals" if seat.is_dealer else ""
        canvas.write(0, 0, name[:30], "bold #ffffff")
        canvas.write(min(len(name), 30), 0, deals, _LABEL)
        for place in range(seat.hidden):
            paint_back(canvas, 4 * place, 1, SMALL)
        for place, card in enumerate(seat.loose, start=seat.hidden):
            paint_card(canvas, 4 * place, 1, card, SMALL)
        text = canvas.text()
        if seat.loose and seat.hidden:
            text.append(f"\nyou saw him take {faces(seat.loose)}", _LABEL)
        self.update(text, layout=False)


class PileView(Widget):
    """The stock or the discard pile, to be clicked."""

    class Clicked(Message):
        """The pile was clicked."""

        def __init__(self, pile: PileView) -> None:
            super().__init__()
            self.pile = pile

        @property
        def control(self) -> PileView:
            """The pile, by which handlers select."""
            return self.pile

    card: int | None = None  # None: face down; -1: there is none
    label = ""
    offered = False

    def render(self) -> Text:
        """A card and what is written under it."""
        size = card_size(*self.app.size)
        canvas = Canvas(self.size.width, size.height + 2)
        x = (self.size.width - size.width) // 2
        if self.card is None:
            paint_back(canvas, x, 1, size)
        elif self.card >= 0:
            paint_card(canvas, x, 1, self.card, size)
        style = _BRIGHT if self.offered else _LABEL
        canvas.write(0, size.height + 1, self.label.center(self.size.width), style)
        return canvas.text()

    def on_click(self) -> None:
        """Tell the screen."""
        self.post_message(self.Clicked(self))


def score_lines(sheet: scoresheet.Sheet, names: tuple[str, str]) -> Grid:
    """The score sheet: a line for each player, a column for each game."""
    grid = Grid.grid(padding=(0, 1), expand=True)
    games = sheet.scoring.games
    grid.add_column(ratio=1, no_wrap=True)
    for _ in range(games):
        grid.add_column(justify="right", min_width=5)
    if games > 1:
        grid.add_row(Text("game", _LABEL), *(Text(str(game + 1), _LABEL) for game in range(games)))
    for seat, name in enumerate(names):
        points = sheet.points[0, :, seat].tolist()
        boxes = sheet.boxes[0, :, seat].tolist()
        cells = []
        for game in range(games):
            ended = not sheet.is_open[0, game]
            won = ended and points[game] >= sheet.scoring.target
            style = _BRIGHT if won else f"{_LABEL} dim" if ended else "bold #ffffff"
            cells.append(Text(str(points[game]), style))
        grid.add_row(Text(name, "#ffffff"), *cells)
        if games == 1 and sheet.scoring.box_bonus:
            cells[0].append(f"  {boxes[0]} box{'es' * (boxes[0] != 1)}", _LABEL)
    return grid


class PanelView(Static):
    """Beside the table: the score, and below it what happened, or the coach."""

    def show_log(self, lines: list[str], room: int) -> None:
        """The last moves, the newest last."""
        shown = lines[-room:]
        text = Text(no_wrap=True, overflow="ellipsis")
        for number, line in enumerate(shown, start=1):
            newest = number == len(shown)
            text.append(line + "\n" * (not newest), "#ffffff" if newest else _LABEL)
        self.update(text, layout=False)

    def show_thinking(self) -> None:
        """While the coach is asked."""
        self.update(Text("The coach is thinking …", _LABEL), layout=False)

    def show_waiting(self) -> None:
        """While there is nothing to advise on."""
        self.update(Text("The coach speaks when it is your turn.", _LABEL), layout=False)

    def show_advice(self, advice: Advice, upcard: int) -> None:
        """The coach's choices and what they rest on."""
        grid = Grid.grid(padding=(0, 1))
        grid.add_column(no_wrap=True)
        grid.add_column(justify="right")
        grid.add_column(justify="right")
        grid.add_row(
            Text(f"{advice.coach} would", _BRIGHT), Text("prob", _LABEL), Text("points", _LABEL)
        )
        for number, choice in enumerate(advice.choices):
            style = "bold #ffffff" if number == 0 else "#ffffff"
            grid.add_row(
                Text(as_advice(choice.action, upcard), style),
                Text(f"{choice.probability:.0%}", style),
                Text(f"{choice.points:+.1f}", style),
            )
        out = Grid.grid()
        out.add_row(grid)
        if advice.value is not None:
            out.add_row(Text(f"it expects {advice.value:+.1f} points", _LABEL))
        found = f"{len(advice.outs)} of {advice.num_unseen} unseen"
        out.add_row(_fact("outs", f"{found}{': ' if advice.outs else ''}{faces(advice.outs)}"))
        out.add_row(_fact("holds", faces(advice.known) or "nothing that you know of"))
        thrown = faces(advice.discarded) or "nothing yet"
        let_go = f", let go {faces(advice.declined)}" if advice.declined else ""
        out.add_row(_fact("threw", thrown + let_go))
        self.update(out, layout=False)


def _fact(label: str, what: str) -> Text:
    return Text.assemble((f"{label} ", _LABEL), (what, "#ffffff"))


def turn_line(table: Drawn, name: str) -> str:
    """The table's caption: which turn, and with how much one may knock."""
    limit = f"knock with {table.knock_limit} or less" if table.knock_limit else "gin only"
    deals = "you deal" if table.near.is_dealer else f"{name} deals"
    return f"{deals} · turn {table.turn} · {limit}"


def pile_label(size: int, card: int, offered: bool) -> str:
    """What is written under the discard pile."""
    return f"t take {face(card)}" if offered else f"pile {size}"
