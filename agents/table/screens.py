"""The screens around the table: the start, the cut, the end of a hand and of a match, the menu."""

from __future__ import annotations

from typing import ClassVar

from rich.console import Group as Lines
from rich.table import Table as Grid
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Label, Static

from agents.table.drawing import (
    CHOSEN,
    MEDIUM,
    Canvas,
    Row,
    paint_back,
    paint_card,
    row_of_cards,
)
from agents.table.faces import face
from agents.table.match import OPPONENT, PERSON, Cut, Match
from agents.table.storage import Statistics
from agents.table.widgets import score_lines
from ginenv.rules import Result
from ginenv.tabletop import Seat

MIN_COLUMNS, MIN_ROWS = 80, 24
_LABEL = "#cfe8d8"
_EDGES = ("#1b3270", "#5f7fc4")  # the edges of the spread cards, in turn


class TooSmall(ModalScreen[None]):
    """Shown for as long as the terminal has no room for the table."""

    def compose(self) -> ComposeResult:
        """One message."""
        yield Label(id="too-small")

    def on_mount(self) -> None:
        """Say how much is missing."""
        self.tell(self.app.size.width, self.app.size.height)

    def tell(self, columns: int, rows: int) -> None:
        """Say how much is missing."""
        self.query_one(Label).update(
            f"The table needs {MIN_COLUMNS} x {MIN_ROWS} characters,\n"
            f"this terminal has {columns} x {rows}.\n\nMake it larger to play on;\n"
            "the match is saved.  (ctrl+c quits)"
        )


class Choices(ModalScreen[str]):
    """A dialogue that ends with one of its buttons, by key or by mouse."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,up", "app.focus_previous", show=False),
        Binding("right,down", "app.focus_next", show=False),
    ]

    def choices(self) -> dict[str, str]:
        """The buttons: what `dismiss` gets, and the label."""
        raise NotImplementedError

    def buttons(self) -> ComposeResult:
        """A row of buttons, the first one focused."""
        with Horizontal(classes="buttons"):
            for name, label in self.choices().items():
                yield Button(label, id=name)

    def on_mount(self) -> None:
        """The first button takes the enter key."""
        self.query(Button).first().focus()

    @on(Button.Pressed)
    def _chosen(self, event: Button.Pressed) -> None:
        self.dismiss(str(event.button.id))

    def action_choose(self, name: str) -> None:
        """A key that stands for a button."""
        self.dismiss(name)


class Menu(Choices):
    """Pause."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,m,r", "choose('resume')", show=False),
        Binding("n", "choose('new')", show=False),
        Binding("s", "choose('sound')", show=False),
        Binding("l", "choose('levels')", show=False),
        Binding("q", "choose('quit')", show=False),
    ]

    def __init__(self, sound: bool) -> None:
        super().__init__()
        self.sound = sound

    def choices(self) -> dict[str, str]:
        """What one can do in a pause."""
        return {
            "resume": "Resume (esc)",
            "new": "New match (n)",
            "sound": f"Sound is {'on' if self.sound else 'off'} (s)",
            "levels": "Levels (l)",
            "quit": "Quit (q)",
        }

    def compose(self) -> ComposeResult:
        """A column of buttons."""
        with Vertical(classes="dialogue narrow"):
            yield Label("Paused", classes="title")
            yield Label("The match is saved.", classes="note")
            for name, label in self.choices().items():
                yield Button(label, id=name)


class Confirm(Choices):
    """A question before something is lost."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "choose('yes')", show=False),
        Binding("n,escape", "choose('no')", show=False),
    ]

    def __init__(self, question: str, yes: str) -> None:
        super().__init__()
        self.question, self.yes = question, yes

    def choices(self) -> dict[str, str]:
        """Keeping is the default."""
        return {"no": "No, play on (n)", "yes": f"{self.yes} (y)"}

    def compose(self) -> ComposeResult:
        """The question and the answers."""
        with Vertical(classes="dialogue"):
            yield Label(self.question, classes="title")
            yield from self.buttons()


class Spread(Widget):
    """The pack, spread face down, and what has been cut."""

    class Cut(Message):
        """A place of the spread was clicked, or the two cards were."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    place = 20
    drawn: tuple[int, int] | None = None

    def render(self) -> Text:
        """The spread with the cursor, or the two cards."""
        canvas = Canvas(56, 6)
        if self.drawn is None:
            for place in range(52):
                top = 0 if place == self.place else 1
                paint_back(canvas, 1 + place, top, MEDIUM)
                canvas.fill(1 + place, top, 1, 3, f"on {_EDGES[place % 2]}")
            canvas.fill(1 + self.place, 0, 1, 3, f"on {CHOSEN}")
            canvas.write(1 + self.place, 5, "▲", CHOSEN)
        else:
            for x, card, label in zip((14, 36), self.drawn, ("you", "opponent"), strict=True):
                paint_card(canvas, x, 0, card, MEDIUM)
                canvas.write(x + 2 - len(label) // 2, 4, label, _LABEL)
        return canvas.text()

    def on_click(self, event: events.Click) -> None:
        """Cut there, or go on."""
        self.post_message(self.Cut(min(max(event.x - 1, 0), 51)))


class CutScreen(ModalScreen[int]):
    """Cutting for the first deal; ends with the seat that deals."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "point(-1)", show=False),
        Binding("right", "point(1)", show=False),
        Binding("enter,space", "cut", show=False),
    ]

    def __init__(self, cut: Cut, name: str) -> None:
        super().__init__()
        self.cut, self.opponent = cut, name

    def compose(self) -> ComposeResult:
        """The spread and what to do."""
        with Vertical(classes="dialogue"):
            yield Label("Cut for the deal", classes="title")
            yield Label("The lowest card deals first; the ace is low.", classes="note")
            yield Spread(id="spread")
            yield Label("Click a card, or use ← → and ⏎.", id="cut-note")

    def action_point(self, step: int) -> None:
        """Another place."""
        spread = self.query_one(Spread)
        spread.place = (spread.place + step) % 52
        spread.refresh()

    def action_cut(self) -> None:
        """Cut at the cursor, or go on after it."""
        if self.cut.dealer is not None:
            self.dismiss(self.cut.dealer)
            return
        spread = self.query_one(Spread)
        if spread.drawn is not None:  # one rank twice: cut again
            spread.drawn = None
            note = "Click a card, or use ← → and ⏎."
        else:
            spread.drawn = self.cut.pick(spread.place)
            mine, his = map(face, spread.drawn)
            cards = f"You cut {mine}, {self.opponent} cuts {his}: "
            who = {PERSON: "you deal.", OPPONENT: f"{self.opponent} deals.", None: "cut again."}
            note = f"{cards}{who[self.cut.dealer]}  ⏎ goes on."
        self.query_one("#cut-note", Label).update(note)
        spread.refresh()

    @on(Spread.Cut)
    def _clicked(self, message: Spread.Cut) -> None:
        self.query_one(Spread).place = message.place
        self.action_cut()


class HandOverScreen(Choices):
    """Both hands, the layoffs and the points."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n,space", "choose('next')", show=False),
        Binding("m,escape", "choose('menu')", show=False),
    ]

    def __init__(self, match: Match, name: str) -> None:
        super().__init__()
        self.match, self.opponent = match, name

    def choices(self) -> dict[str, str]:
        """On, or a pause."""
        return {"next": "Result (n)" if self.match.over else "Next hand (n)", "menu": "Menu (m)"}

    def compose(self) -> ComposeResult:
        """The knocker's hand above the other one."""
        hand, table = self.match.finished[-1], self.match.table
        seats = [(table.near, "You"), (table.far, self.opponent)]
        if hand.knocker == OPPONENT:
            seats.reverse()
        with Vertical(classes="dialogue wide"):
            yield Label(_headline(self.match, self.opponent), classes="title")
            if hand.result == Result.VOID:
                seats = seats[:1]
                yield Label("The stock has run out, or too many turns: nobody scores.")
            for seat, name in seats:
                yield Static(_open_hand(seat, name), classes="open-hand")
            yield Label(_summary(self.match, self.opponent), id="summary")
            yield Static(score_lines(self.match.sheet, ("You", self.opponent)), id="sheet")
            yield from self.buttons()


class MatchOverScreen(Choices):
    """The result, and the person's record at the level."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "choose('new')", show=False),
        Binding("l,escape", "choose('levels')", show=False),
        Binding("q", "choose('quit')", show=False),
    ]

    def __init__(self, match: Match, name: str, statistics: Statistics) -> None:
        super().__init__()
        self.match, self.opponent, self.statistics = match, name, statistics

    def choices(self) -> dict[str, str]:
        """What next."""
        return {"new": "New match (n)", "levels": "Levels (l)", "quit": "Quit (q)"}

    def compose(self) -> ComposeResult:
        """From the result to the statistics."""
        you, other = self.match.totals
        winner = int(self.match.sheet.leader[0])
        headline = {PERSON: "You win the match", OPPONENT: f"{self.opponent} wins the match"}
        gins = sum(
            hand.result in (Result.GIN, Result.BIG_GIN) and hand.knocker == PERSON
            for hand in self.match.finished
        )
        with Vertical(classes="dialogue wide"):
            yield Label(headline.get(winner, "The match is drawn"), classes="title")
            yield Label(f"{you} to {other}", id="result")
            yield Static(_bonuses(self.match, self.opponent), id="sheet")
            hands = len(self.match.finished)
            yield Label(
                f"{hands} hand{'s' * (hands != 1)} played, {gins} gin{'s' * (gins != 1)} of yours",
                id="summary",
            )
            yield Static(record_lines(self.statistics, f"Your record against {self.opponent}"))
            yield from self.buttons()


def record_lines(statistics: Statistics, title: str) -> Lines:
    """The person's record at a level as a small table."""
    played = statistics.won + statistics.lost
    if not played and not statistics.given_up:
        return Lines(Text(title, "bold #ffffff"), Text("no match yet", _LABEL))
    grid = Grid.grid(padding=(0, 2))
    won = f"{statistics.won} of {played}"
    hands = f"{statistics.hands_won} of {statistics.hands}"
    facts = [
        ("matches won", won),
        ("won in a row", str(statistics.streak)),
        ("given up", str(statistics.given_up)),
        ("best margin", str(statistics.best_margin)),
        ("hands won", hands),
        ("your gins", str(statistics.gins)),
        ("undercuts", str(statistics.undercuts)),
    ]
    for row in range(0, len(facts), 2):
        cells: list[Text] = []
        for label, value in facts[row : row + 2]:
            cells += [Text(label, _LABEL), Text(value, "bold #ffffff")]
        grid.add_row(*cells)
    return Lines(Text(title, "bold #ffffff"), grid)


def _open_hand(seat: Seat, name: str) -> Text:
    groups = row_of_cards(seat.melds, seat.loose, seat.laid_off)
    canvas = Canvas(74, MEDIUM.height + 2)
    row = Row.of(groups, MEDIUM)
    row.paint(canvas, 0, 0, MEDIUM)
    if seat.laid_off:
        start = next(x for card, x in row.places if card == seat.laid_off[0])
        canvas.write(start, MEDIUM.height + 1, "laid off", CHOSEN)
    about = Text.assemble((name, "bold #ffffff"), (f"   deadwood {seat.deadwood}\n", _LABEL))
    return about.append_text(canvas.text())


def _headline(match: Match, opponent: str) -> str:
    hand = match.finished[-1]
    you = hand.knocker == PERSON
    who = "You" if you else opponent
    return {
        Result.KNOCK: f"{who} {'knock' if you else 'knocks'}",
        Result.GIN: f"{who} {'go' if you else 'goes'} gin",
        Result.BIG_GIN: f"{who} {'have' if you else 'has'} big gin",
        Result.UNDERCUT: f"{opponent} undercuts you" if you else f"You undercut {opponent}",
        Result.VOID: "The hand is void",
    }[hand.result]


def _summary(match: Match, opponent: str) -> str:
    """The points as their sum: the difference of deadwood, and the bonus."""
    hand, table = match.finished[-1], match.table
    if hand.result == Result.VOID:
        return "No points."
    points = max(hand.points)
    low, high = sorted((table.near.deadwood or 0, table.far.deadwood or 0))
    bonus = points - (high - low)
    kind = {Result.GIN: "for gin", Result.BIG_GIN: "for big gin", Result.UNDERCUT: "for it"}
    extra = f" + {bonus} {kind.get(hand.result, '')}" if bonus else ""
    to = "you" if hand.points[PERSON] > 0 else opponent
    return f"{high} − {low}{extra} = {points} points to {to}"


def _bonuses(match: Match, opponent: str) -> Grid:
    """What the sheet adds up to for both players, game by game."""
    grid = Grid.grid(padding=(0, 2))
    for heading in ("", "points", "boxes", "total"):
        grid.add_column(justify="right" if heading else "left", no_wrap=True, min_width=6)
    grid.add_row(*(Text(text, _LABEL) for text in ("", "points", "boxes", "total")))
    sheet = match.sheet
    for game in range(sheet.scoring.games):
        for seat, name in enumerate(("You", opponent)):
            shutout = sheet.is_shutout[0, game] and sheet.points[0, game, seat] > 0
            about = f"{name}{f', game {game + 1}' if sheet.scoring.games > 1 else ''}"
            numbers = (
                sheet.points[0, game, seat],
                sheet.boxes[0, game, seat],
                sheet.game_totals[0, game, seat],
            )
            note = Text("shutout", CHOSEN) if shutout and sheet.scoring.shutout != "none" else ""
            grid.add_row(
                Text(about, "#ffffff"), *(Text(str(n), "bold #ffffff") for n in numbers), note
            )
    return grid
