"""The screen at which the person plays: keys and clicks to actions, the game to pictures."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Button, Footer, Label, Static

from agents.table import coach
from agents.table.arrangement import Arrangement
from agents.table.drawing import LARGE
from agents.table.faces import face
from agents.table.levels import Level
from agents.table.match import COACH, PERSON, Match
from agents.table.widgets import (
    HandView,
    OpponentView,
    PanelView,
    PileView,
    card_size,
    pile_label,
    score_lines,
    turn_line,
)
from ginenv import cards
from ginenv.rules import DECLARE_BIG_GIN, DISCARD, DRAW_STOCK, KNOCK, PASS, TAKE_PILE, Phase


class Host(Protocol):
    """What the table asks of the application around it."""

    def save(self, match: Match) -> None:
        """Save the match as it stands, or count it if it is over."""

    def show_hand(self, table: TableScreen) -> None:
        """Show how the hand ended, then call the table's `next_hand`."""

    def show_menu(self, table: TableScreen) -> None:
        """Pause."""


class TableScreen(Screen[None]):
    """One match being played.

    Attributes:
        match: the game.
        level: who plays the other seat.
        pace: seconds that the opponent takes for a move.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "draw", "Draw", show=False),
        Binding("t", "take", "Take", show=False),
        Binding("p", "pass_up", "Pass", show=False),
        Binding("enter", "throw", "Throw", show=False),
        Binding("k", "knock", "Knock", show=False),
        Binding("g", "gin", "Gin", show=False),
        Binding("b", "big_gin", "Big gin", show=False),
        Binding("left", "choose(-1)", "Choose", key_display="← →"),
        Binding("right", "choose(1)", "Choose", show=False),
        Binding("shift+left,less_than_sign,comma", "move(-1)", "Move", key_display="< >"),
        Binding("shift+right,greater_than_sign,full_stop", "move(1)", "Move", show=False),
        Binding("s", "sort", "Sort"),
        Binding("h", "coach", "Coach"),
        Binding("m,escape", "menu", "Menu", key_display="m"),
        Binding("q", "app.quit", "Quit"),
    ]

    def __init__(
        self, host: Host, match: Match, level: Level, coached_by: Level, pace: float
    ) -> None:
        super().__init__()
        self.host, self.match, self.level, self.pace = host, match, level, pace
        self.coached_by, self.coaching = coached_by, False
        self.arrangement = Arrangement()
        self.chosen: int | None = None
        self._shown_hand = 0  # the last hand whose end was shown
        self._held = 0  # the hand as it was painted last
        self._fresh: int | None = None
        self._pending: Timer | None = None
        self._advice: tuple[tuple[int, int], coach.Advice] | None = None  # and for which position

    def compose(self) -> ComposeResult:
        """The table from top to bottom."""
        yield Label(id="caption")
        with Horizontal(id="upper"):
            with Vertical(id="board"):
                yield OpponentView(id="opponent")
                with Horizontal(id="piles"):
                    yield PileView(id="stock")
                    yield PileView(id="pile")
            with Vertical(id="side"):
                yield Static(id="score")
                yield PanelView(id="panel")
        yield Label(id="prompt")
        yield HandView(id="hand")
        with Horizontal(id="actions"):
            for name in ("draw", "take", "pass_up", "throw", "knock", "big_gin"):
                yield Button(name, id=name, classes="action")
        yield Footer()

    def on_mount(self) -> None:
        """Keys belong to the table, not to a button."""
        for button in self.query(Button):
            button.can_focus = False
        self.refresh_table()

    def on_screen_resume(self) -> None:
        """Go on after a pause."""
        self.advance()

    def on_resize(self) -> None:
        """Larger terminals get larger cards."""
        self.set_class(card_size(*self.app.size) == LARGE, "spacious")
        self.refresh_table()

    # The game goes on

    def act(self, action: int) -> None:
        """Play an action of whoever is to move, save, and go on."""
        self.match.act(action)
        self.chosen = None
        self.host.save(self.match)
        self.refresh_table()
        self.advance()

    def advance(self) -> None:
        """Let the opponent move, or show how the hand ended, after a moment."""
        if self._pending is not None:
            self._pending.stop()
            self._pending = None
        if not self.match.person_to_move and self.is_current:
            if self.pace:
                self._pending = self.set_timer(self.pace, self._go_on)
            else:
                self.call_later(self._go_on)

    def _go_on(self) -> None:
        if not self.is_current:  # paused: `on_screen_resume` comes here again
            return
        if not self.match.hand_over:
            if not self.match.person_to_move:
                self.act(self.match.opponent_action(self.level.policy))
        elif self._shown_hand < self.match.hand_number:
            self._shown_hand = self.match.hand_number
            self.host.show_hand(self)

    def next_hand(self) -> None:
        """Deal the next hand."""
        self.match.deal_next()
        self.arrangement = Arrangement()
        self._held = 0
        self.host.save(self.match)
        self.refresh_table()
        self.advance()

    # What the person does

    def may(self, action: int) -> bool:
        """Whether the person may do this now."""
        return bool(self.match.seen.action_mask[0, action])

    def knock_action(self) -> int | None:
        """The knock on offer: with the chosen card where that allows it, or else the best one."""
        seen = self.match.seen
        knocks = seen.action_mask[0, KNOCK:DRAW_STOCK]
        if not knocks.any():
            return None
        if self.chosen is not None and knocks[self.chosen]:
            return KNOCK + self.chosen
        return KNOCK + int(np.where(knocks, seen.deadwood_after[0], 999).argmin())

    def is_gin(self, action: int) -> bool:
        """Whether this knock leaves no deadwood."""
        return bool(self.match.seen.deadwood_after[0, action - KNOCK] == 0)

    def _try(self, action: int | None) -> None:
        if action is not None and self.may(action):
            self.act(action)
        else:
            self.app.bell()

    def action_draw(self) -> None:
        """Draw from the stock."""
        self._try(DRAW_STOCK)

    def action_take(self) -> None:
        """Take the top of the pile."""
        self._try(TAKE_PILE)

    def action_pass_up(self) -> None:
        """Pass the first upcard."""
        self._try(PASS)

    def action_throw(self) -> None:
        """Discard the chosen card."""
        self._try(None if self.chosen is None else DISCARD + self.chosen)

    def action_knock(self) -> None:
        """Knock, or go gin where the knock leaves nothing."""
        self._try(self.knock_action())

    def action_gin(self) -> None:
        """Go gin."""
        knock = self.knock_action()
        self._try(knock if knock is not None and self.is_gin(knock) else None)

    def action_big_gin(self) -> None:
        """Lay all eleven cards down."""
        self._try(DECLARE_BIG_GIN)

    def action_choose(self, step: int) -> None:
        """Pick the next card to the left or to the right."""
        order = self.arrangement.order
        if self.chosen is None:
            self.chosen = order[-1 if step < 0 else 0]
        else:
            self.chosen = order[(order.index(self.chosen) + step) % len(order)]
        self._paint_choice()

    def action_move(self, step: int) -> None:
        """Lay the chosen card one place further."""
        if self.chosen is not None:
            self.arrangement.move(self.chosen, self.arrangement.order.index(self.chosen) + step)
            self._paint_choice()

    def action_sort(self) -> None:
        """Sort the hand."""
        self.arrangement.sort()
        self._paint_choice()

    def action_coach(self) -> None:
        """Ask the coach, or send him away."""
        self.coaching = not self.coaching
        self._paint_panel()

    def action_menu(self) -> None:
        """Pause."""
        self.host.show_menu(self)

    @on(HandView.Picked)
    def _picked(self, message: HandView.Picked) -> None:
        if self.chosen == message.card and self.may(DISCARD + message.card):
            self.act(DISCARD + message.card)
        else:
            self.chosen = message.card
            self._paint_choice()

    @on(HandView.Moved)
    def _moved(self, message: HandView.Moved) -> None:
        self.arrangement.move(message.card, message.place)
        self._paint_choice()

    @on(PileView.Clicked, "#stock")
    def _stock_clicked(self) -> None:
        self.action_draw()

    @on(PileView.Clicked, "#pile")
    def _pile_clicked(self) -> None:
        if self.may(TAKE_PILE):
            self.action_take()
        else:
            self.action_throw()

    @on(Button.Pressed)
    async def _pressed(self, event: Button.Pressed) -> None:
        await self.run_action(str(event.button.id))

    # What the person sees

    def refresh_table(self) -> None:
        """Paint everything anew."""
        if not self.is_mounted:
            return
        drawn, seen = self.match.table, self.match.seen
        self._follow(int(seen.hand[0]), bool(seen.phase[0] == Phase.DISCARD))
        names = ("You", self.level.name)
        terms = self.match.terms
        title = f" Hand {self.match.hand_number} · {turn_line(drawn, self.level.name)}"
        about = f"{terms.rules_name} · {terms.scoring_name} "
        width = max(self.app.size.width - len(about), len(title) + 1)
        self.query_one("#caption", Label).update(title.ljust(width) + about, layout=False)
        self.query_one(OpponentView).show(drawn.far, self.level.name)
        self._paint_piles(drawn.stock_size, drawn.upcard, drawn.pile_size)
        score = score_lines(self.match.sheet, names)
        self.query_one("#score", Static).update(score, layout=False)
        self._paint_choice()
        self.query_one("#prompt", Label).update(self._prompt(), layout=False)
        self._paint_panel()

    def _follow(self, hand: int, discarding: bool) -> None:
        """Note which card is new, and bring the arrangement up to date."""
        if hand != self._held:
            new = cards.ids(hand & ~self._held) if self._held else []
            self._fresh = new[0] if len(new) == 1 and discarding else None
            self._held = hand
            self.arrangement.update(hand)
        if self.chosen is not None and self.chosen not in self.arrangement.order:
            self.chosen = None

    def _paint_piles(self, stock_size: int, upcard: int, pile_size: int) -> None:
        stock, pile = self.query_one("#stock", PileView), self.query_one("#pile", PileView)
        stock.offered, pile.offered = self.may(DRAW_STOCK), self.may(TAKE_PILE)
        stock.label = f"d stock {stock_size}" if stock.offered else f"stock {stock_size}"
        pile.card, pile.label = upcard, pile_label(pile_size, upcard, pile.offered)
        stock.refresh()
        pile.refresh()

    def _paint_choice(self) -> None:
        """Paint the hand and what can be done with it."""
        hand = self.query_one(HandView)
        hand.arrangement, hand.deadwood_then = self.arrangement, None
        hand.deadwood = int(self.match.seen.deadwood[0])
        if self.chosen is not None and self.may(DISCARD + self.chosen):
            hand.deadwood_then = int(self.match.seen.deadwood_after[0, self.chosen])
        hand.chosen, hand.fresh, hand.glowing = self.chosen, self._fresh, self._glowing()
        hand.refresh()
        self._paint_actions()

    def _glowing(self) -> int | None:
        """On Easy, the card that the coach would throw."""
        if self.level.key != "easy" or not self.match.person_to_move:
            return None
        if self.match.seen.phase[0] != Phase.DISCARD:
            return None
        action = int(self.coached_by.policy(self.match.seen, np.random.default_rng(0))[0])
        return action % KNOCK if action < DRAW_STOCK else None

    def _paint_actions(self) -> None:
        knock = self.knock_action()
        top = int(self.match.seen.upcard[0])
        throws = self.chosen is not None and self.may(DISCARD + self.chosen)
        shown: dict[str, tuple[bool, str]] = {
            "draw": (self.may(DRAW_STOCK), "Draw (d)"),
            "take": (self.may(TAKE_PILE), f"Take {face(top)} (t)" if top >= 0 else ""),
            "pass_up": (self.may(PASS), "Pass (p)"),
            "throw": (throws, f"Throw {face(self.chosen)} (⏎)" if self.chosen is not None else ""),
            "knock": (knock is not None, ""),
            "big_gin": (self.may(DECLARE_BIG_GIN), "BIG GIN (b)"),
        }
        if knock is not None:
            word = "GIN (g)" if self.is_gin(knock) else "KNOCK (k)"
            shown["knock"] = (True, f"{word} throws {face(knock - KNOCK)}")
        for name, (is_shown, label) in shown.items():
            button = self.query_one(f"#{name}", Button)
            button.display = is_shown
            if label and str(button.label) != label:
                button.label = label

    def _prompt(self) -> str:
        match, seen = self.match, self.match.seen
        last = match.log[-1] + ". " if match.log else ""
        if match.hand_over:
            return last
        if not match.person_to_move:
            return f"{last}{self.level.name} is thinking …"
        todo = {
            Phase.DISCARD: "Choose a card to throw: click it or use ← →, then ⏎.",
            Phase.UPCARD: f"Take the {face(int(seen.upcard[0]))} or pass?",
            Phase.FORCED_DRAW: "Both have passed: draw from the stock.",
            Phase.DRAW: "Draw from the stock or take from the pile.",
        }[Phase(int(seen.phase[0]))]
        return last + todo

    def _paint_panel(self) -> None:
        panel = self.query_one(PanelView)
        here = (self.match.hand_number, len(self.match.log))
        if not self.coaching:
            panel.show_log(self.match.log, max(panel.size.height, 8))
        elif not self.match.person_to_move:
            panel.show_waiting()
        elif self._advice is not None and self._advice[0] == here:
            panel.show_advice(self._advice[1], int(self.match.seen.upcard[0]))
        else:
            panel.show_thinking()
            self._ask_coach(here)

    @work(thread=True, exclusive=True)
    def _ask_coach(self, here: tuple[int, int]) -> None:
        """Work the advice out beside the screen; it comes too late if the person has moved."""
        state, rng = self.match.state.copy(), self.match.terms.rng(COACH, *here)
        if here == (self.match.hand_number, len(self.match.log)):
            advice = coach.advise(state, self.coached_by, PERSON, rng)
            self.app.call_from_thread(self._take_advice, here, advice)

    def _take_advice(self, here: tuple[int, int], advice: coach.Advice) -> None:
        if here == (self.match.hand_number, len(self.match.log)):
            self._advice = (here, advice)
            self._paint_panel()
