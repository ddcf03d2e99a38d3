"""The first screen: choose a level, see your record there, play or continue."""

from __future__ import annotations

from typing import ClassVar, Protocol

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Button, Footer, Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from agents.table.levels import BOTS, Level, level
from agents.table.match import Match
from agents.table.screens import record_lines
from agents.table.storage import Storage
from ginenv.rules import PRESETS
from ginenv.scoresheet import PRESETS as SHEETS

_ABOUT = {
    "easy": "throws in haste; your best discard glows",
    "normal": "discards well, slips now and then",
    "hard": "keeps live chances, does not feed you",
    "crazy": "all of that, and knocks in time",
}
_OTHER = "checkpoint"


class StartHost(Protocol):
    """What the start asks of the application."""

    storage: Storage
    rules_name: str
    scoring_name: str

    def play_new(self, level: Level) -> None:
        """Cut for the deal and start a match."""

    def play_on(self, match: Match) -> None:
        """Continue a match."""

    def saved_match(self, level: Level) -> Match | None:
        """The match to continue at a level."""


class StartScreen(Screen[None]):
    """Levels on the left, the record at the level on the right."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "play", "Play"),
        Binding("c", "continue", "Continue"),
        Binding("r", "rules", "Rules"),
        Binding("o", "scoring", "Scoring"),
        Binding("q", "app.quit", "Quit"),
    ]

    def __init__(self, host: StartHost, chosen: Level) -> None:
        super().__init__()
        self.host, self.chosen = host, chosen
        self._saved: Match | None = None

    def compose(self) -> ComposeResult:
        """Title, levels, record, buttons."""
        yield Static(
            Text.assemble(
                ("♠ ", "bold white"),
                ("♥ ", "bold #ff8a8f"),
                (" G I N   R U M M Y ", "bold #ffe08a"),
                (" ♦", "bold #ff8a8f"),
                (" ♣", "bold white"),
            ),
            id="start-title",
        )
        with Horizontal(id="start"):
            with Vertical(id="levels-pane"):
                yield Label("Play against", classes="heading")
                yield OptionList(id="levels")
                yield Input(placeholder="path of a checkpoint, *.pt", id="path")
                yield Label("", id="fault")
            with Vertical(id="record-pane"):
                yield Static(id="record")
                yield Static(id="saved")
        yield Label(id="terms")
        with Horizontal(id="start-buttons"):
            yield Button("Play (p)", id="play")
            yield Button("Continue (c)", id="continue")
        yield Footer()

    def on_mount(self) -> None:
        """List the levels and show the one chosen last."""
        self.query_one("#path", Input).display = False
        self._list_levels()
        self.query_one(OptionList).focus()

    def on_screen_resume(self) -> None:
        """After a match the record has changed."""
        self.show_level()

    def _list_levels(self) -> None:
        levels = [Level(name) for name in BOTS]
        if self.chosen.is_checkpoint:
            levels.append(self.chosen)
        options = self.query_one(OptionList)
        options.clear_options()
        for each in levels:
            about = _ABOUT.get(each.key, each.key)
            words = Text.assemble((each.name, "bold"), "\n", (about, "dim"))
            options.add_option(Option(words, id=each.key))
        options.add_option(Option(Text("Checkpoint …", "bold"), id=_OTHER))
        options.highlighted = [each.key for each in levels].index(self.chosen.key)

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option.id not in (None, _OTHER):
            self.chosen = Level(str(event.option.id))
            self.show_level()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        if event.option.id == _OTHER:
            path = self.query_one("#path", Input)
            path.display = True
            path.focus()
        elif self._saved is not None:
            self.action_continue()
        else:
            self.action_play()

    @on(Input.Submitted)
    def _path_given(self, event: Input.Submitted) -> None:
        fault = self.query_one("#fault", Label)
        try:
            chosen = level(event.value)
            _ = chosen.policy
        except (ValueError, OSError) as error:
            fault.update(Text(" ".join(str(error).split())))
            return
        fault.update("")
        event.input.display = False
        self.chosen = chosen
        self._list_levels()
        self.query_one(OptionList).focus()

    def show_level(self) -> None:
        """The record at the level, and the match that waits there."""
        self._saved = self.host.saved_match(self.chosen)
        statistics = self.host.storage.statistics(self.chosen)
        title = f"Your record against {self.chosen.name}"
        self.query_one("#record", Static).update(record_lines(statistics, title))
        saved, button = self.query_one("#saved", Static), self.query_one("#continue", Button)
        button.display = self._saved is not None
        if self._saved is None:
            saved.update("")
        else:
            you, other = self._saved.totals
            terms = self._saved.terms
            saved.update(
                Text.assemble(
                    ("A match is waiting\n", "bold white"),
                    (f"you {you}, {self.chosen.name} {other}, hand {self._saved.hand_number}", ""),
                    (f"\n{terms.rules_name} rules, scoring {terms.scoring_name}", "dim"),
                )
            )
        self._show_terms()

    def _show_terms(self) -> None:
        self.query_one("#terms", Label).update(
            f"a new match: rules {self.host.rules_name} (r), scoring {self.host.scoring_name} (o)"
        )

    def action_play(self) -> None:
        """A new match."""
        self.host.play_new(self.chosen)

    def action_continue(self) -> None:
        """The saved match."""
        if self._saved is not None:
            self.host.play_on(self._saved)
        else:
            self.app.bell()

    def action_rules(self) -> None:
        """The next preset of the rules."""
        self.host.rules_name = _next(list(PRESETS), self.host.rules_name)
        self._show_terms()

    def action_scoring(self) -> None:
        """The next score sheet."""
        self.host.scoring_name = _next(list(SHEETS), self.host.scoring_name)
        self._show_terms()

    @on(Button.Pressed, "#play")
    def _play_pressed(self) -> None:
        self.action_play()

    @on(Button.Pressed, "#continue")
    def _continue_pressed(self) -> None:
        self.action_continue()


def _next(names: list[str], name: str) -> str:
    return names[(names.index(name) + 1) % len(names)]
