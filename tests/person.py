"""Someone who plays at the terminal: reads what is on the screen, presses keys, clicks."""

import asyncio
from contextlib import asynccontextmanager

import numpy as np

from agents.table.app import GinApp, Options
from agents.table.levels import level
from agents.table.screens import CutScreen, HandOverScreen, MatchOverScreen
from agents.table.seat import TableScreen
from agents.table.storage import Storage
from agents.table.widgets import HandView
from ginenv.rules import DECLARE_BIG_GIN, DRAW_STOCK, KNOCK, PASS, TAKE_PILE

_KEYS = {DRAW_STOCK: "d", TAKE_PILE: "t", PASS: "p", DECLARE_BIG_GIN: "b"}


class Person:
    """At the keyboard of a running app."""

    def __init__(self, app, pilot):
        self.app, self.pilot = app, pilot

    @property
    def screen(self):
        return self.app.screen

    @property
    def match(self):
        return self.screen.match

    def text(self):
        """The characters on the screen, line by line."""
        return "\n".join(
            "".join(segment.text for segment in strip)
            for strip in self.screen._compositor.render_strips()
        )

    async def press(self, *keys):
        await self.pilot.press(*keys)

    async def settle(self, until=lambda: True):
        """Wait for the opponent, at most some seconds."""
        for _ in range(2000):
            await self.pilot.pause()
            if until():
                return
            await asyncio.sleep(0.002)
        raise AssertionError(f"nothing happens any more at\n{self.text()}")

    async def sit_down(self):
        """Press play and cut until somebody deals."""
        await self.press("p")
        await self.settle(lambda: isinstance(self.screen, CutScreen))
        while isinstance(self.screen, CutScreen):
            await self.press("enter")
        await self.my_turn()

    def is_my_turn(self):
        if isinstance(self.screen, (HandOverScreen, MatchOverScreen)):
            return True
        return isinstance(self.screen, TableScreen) and self.match.person_to_move

    async def my_turn(self):
        """Wait for my turn, or for the hand to end."""
        await self.settle(self.is_my_turn)

    async def choose(self, card):
        """Point at a card with the arrow keys."""
        table = self.screen
        order = table.arrangement.order
        if table.chosen is None:
            await self.press("right")
        steps = order.index(card) - order.index(table.chosen)
        await self.press(*["right" if steps > 0 else "left"] * abs(steps))
        assert table.chosen == card

    def column(self, card):
        """Where a card of the hand is painted."""
        hand = self.screen.query_one(HandView)
        row, start = hand._row()
        return start + dict(row.places)[card] + 1

    async def click_card(self, card):
        await self.pilot.click(HandView, offset=(self.column(card), 2))

    async def act(self, action):
        """Play an action by its key."""
        if action in _KEYS:
            await self.press(_KEYS[action])
        elif action < KNOCK:
            await self.choose(action)
            await self.press("enter")
        else:
            await self.press("k")
        await self.my_turn()

    async def play_as(self, bot):
        """Take one turn as a bot would; next hand where one has ended."""
        if isinstance(self.screen, HandOverScreen):
            await self.press("n")
            await self.my_turn()
        else:
            seen = self.match.seen
            await self.act(int(bot(seen, np.random.default_rng(0))[0]))


@asynccontextmanager
async def sitting(directory, size=(80, 24), **options):
    """A running app with a person before it."""
    options.setdefault("seed", 4)
    options.setdefault("pace", 0.0)
    app = GinApp(Storage(directory), Options(level=level(options.pop("at", "normal")), **options))
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        yield Person(app, pilot)
