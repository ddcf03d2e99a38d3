"""The application: which screen follows which, and what is saved when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from textual import events
from textual.app import App
from textual.binding import Binding, BindingType

from agents.table.levels import Level
from agents.table.match import Cut, Match, Terms
from agents.table.screens import (
    MIN_COLUMNS,
    MIN_ROWS,
    Confirm,
    CutScreen,
    HandOverScreen,
    MatchOverScreen,
    Menu,
    TooSmall,
)
from agents.table.seat import TableScreen
from agents.table.start import StartScreen
from agents.table.storage import Settings, Storage


@dataclass(frozen=True)
class Options:
    """How the game was called.

    Attributes:
        level: chosen at the start.
        coach: who advises; None for the strongest bot, or for the checkpoint that is played.
        rules_name, scoring_name: of new matches.
        seed: of the first new match, the following ones count up; None draws one.
        pace: seconds that the opponent takes for a move.
    """

    level: Level = field(default_factory=lambda: Level("normal"))
    coach: Level | None = None
    rules_name: str = "standard"
    scoring_name: str = "hands"
    seed: int | None = None
    pace: float = 0.7


class GinApp(App[str]):
    """Gin rummy in the terminal; `run` returns a message for after it."""

    CSS_PATH = "table.tcss"
    TITLE = "Gin Rummy"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", "Quit", show=False, priority=True),
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True),
    ]

    def __init__(self, storage: Storage, options: Options) -> None:
        super().__init__()
        self.storage, self.options = storage, options
        self.rules_name, self.scoring_name = options.rules_name, options.scoring_name
        self.settings = storage.settings()
        self._seed = options.seed
        self._playing: Match | None = None
        self._unsaved = ""  # why the last move could not be saved

    def on_mount(self) -> None:
        """Start at the start."""
        self.push_screen(StartScreen(self, self.options.level))
        self.tell_notices()

    def on_resize(self, event: events.Resize) -> None:
        """Hide the table while it does not fit."""
        fits = event.size.width >= MIN_COLUMNS and event.size.height >= MIN_ROWS
        if isinstance(self.screen, TooSmall):
            if fits:
                self.pop_screen()
            else:
                self.screen.tell(*event.size)
        elif not fits:
            self.push_screen(TooSmall())

    def tell_notices(self) -> None:
        """Show what the storage has to say."""
        while self.storage.notices:
            self.notify(self.storage.notices.pop(0), severity="warning", timeout=12, markup=False)

    # Matches

    def saved_match(self, level: Level) -> Match | None:
        """The match to continue at a level; one that had ended is counted and gone."""
        match = self.storage.load_match(level)
        self.tell_notices()
        if match is not None and match.over:
            self.save(match)
            return None
        return match

    def play_new(self, level: Level) -> None:
        """Cut for the deal and start a match, giving up one that waits."""
        waiting = self.saved_match(level)
        if waiting is None:
            self._cut(level)
            return
        you, other = waiting.totals

        def answered(answer: str | None) -> None:
            if answer == "yes":
                self.give_up(waiting)
                self._cut(level)

        question = f"Give up the match that stands {you} to {other}?"
        self.push_screen(Confirm(question, "Give it up"), answered)

    def _cut(self, level: Level) -> None:
        try:
            _ = level.policy
        except (ValueError, OSError) as error:
            self.notify(str(error), severity="error", markup=False)
            return
        terms = Terms(level.key, self.rules_name, self.scoring_name, self._next_seed())

        def dealt(dealer: int | None) -> None:
            if dealer is not None:
                self.play_on(Match.start(terms, dealer))

        self.push_screen(CutScreen(Cut(terms), level.name), dealt)

    def _next_seed(self) -> int:
        seed = self._seed
        if seed is None:
            return int(np.random.SeedSequence().generate_state(1)[0])
        self._seed = seed + 1
        return seed

    def play_on(self, match: Match) -> None:
        """Sit down at a match."""
        level = Level(match.terms.level)
        coached_by = self.options.coach or (level if level.is_checkpoint else Level("crazy"))
        self._playing = match
        self.save(match)
        self.push_screen(TableScreen(self, match, level, coached_by, self.options.pace))

    def save(self, match: Match) -> None:
        """Save the match as it stands, or count it if it is over."""
        try:
            if match.over:
                self.storage.close_match(match)
            else:
                self.storage.save_match(match)
            self._unsaved = ""
        except OSError as error:
            fault = f"The match cannot be saved: {error.strerror} ({self.storage.directory})"
            if fault != self._unsaved:  # once, not at every move
                self.notify(fault, severity="error", timeout=12, markup=False)
            self._unsaved = fault
        self.tell_notices()

    def give_up(self, match: Match) -> None:
        """Count a match as given up."""
        try:
            self.storage.close_match(match)
        except OSError as error:
            self.notify(f"Cannot write the results: {error}", severity="error", markup=False)

    # The table's wishes

    def show_hand(self, table: TableScreen) -> None:
        """How the hand ended; then the next one, or the end of the match."""
        self.ring()

        def shown(answer: str | None) -> None:
            if answer == "menu":
                self.show_menu(table)
            elif table.match.over:
                self.show_match(table)
            else:
                table.next_hand()

        self.push_screen(HandOverScreen(table.match, table.level.name), shown)

    def show_match(self, table: TableScreen) -> None:
        """The result of the match."""
        statistics = self.storage.statistics(table.level)
        self.push_screen(
            MatchOverScreen(table.match, table.level.name, statistics),
            lambda answer: self._leave(table, answer),
        )

    def show_menu(self, table: TableScreen) -> None:
        """Pause, and do what is chosen."""

        def chosen(answer: str | None) -> None:
            if answer == "sound":
                self.settings = Settings(sound=not self.settings.sound)
                self.storage.save_settings(self.settings)
                self.ring()
                self.show_menu(table)
            elif answer == "resume" and table.match.hand_over:
                self.show_hand(table)
            elif answer == "new":
                self._ask_new(table)
            else:
                self._leave(table, answer)

        self.push_screen(Menu(self.settings.sound), chosen)

    def _ask_new(self, table: TableScreen) -> None:
        you, other = table.match.totals

        def answered(answer: str | None) -> None:
            if answer == "yes":
                self.give_up(table.match)
                self._leave(table, "new")

        question = f"Give up this match at {you} to {other}?"
        self.push_screen(Confirm(question, "Give it up"), answered)

    def _leave(self, table: TableScreen, answer: str | None) -> None:
        if answer == "quit":
            self.exit(self.farewell())
        elif answer in ("levels", "new"):
            self._playing = None
            while self.screen is not table:
                self.pop_screen()
            self.pop_screen()
            if answer == "new":
                self._cut(table.level)

    def ring(self) -> None:
        """The bell, if it is on."""
        if self.settings.sound:
            self.bell()

    # The end

    async def action_quit(self) -> None:
        """Leave at any moment; every move has been saved already."""
        self.exit(self.farewell())

    def farewell(self) -> str:
        """What to say after the screen is gone."""
        match = self._playing
        if match is None or match.over:
            return ""
        you, other = match.totals
        level = Level(match.terms.level)
        return (
            f"Your match against {level.name} is saved at {you} to {other}.  "
            f"To go on: gin-play --level {match.terms.level}"
        )
