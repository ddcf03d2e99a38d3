"""Score sheets: games and bonuses laid over the points of the hands.

The hands are played and scored by `ginenv.rules` as ever, best with ``target_score=None``; a sheet
takes their points down and says when the match is over and what it is worth.  Two sheets are known
by name (`Scoring.preset`):

*classic*: one game to 100.  When it ends, its winner gets the game bonus of 100, each player 25
for each hand won (a *box* or *line*; some tables count 20), and in a shutout, where the loser has
not won a hand, the points of the hands count double (http://ginrummy.com/scoring.html).

*hollywood*: three such games at once.  A player's first win is entered in game 1, the second in
games 1 and 2, the third and all later ones in all three.  A game that has ended takes no more
entries, and who was shut out in it starts in the next one
(http://www.rummy-games.com/rules/hollywood-gin.html).  In other words: a win is entered in every
open game in which its player has won before, and in the next open one.

Other tables pay a shutout otherwise, which `Scoring.shutout` chooses: a game bonus of 200 instead
of the doubled points (https://ginrummy.cards/scoring/score-sheet/), or all that the game is worth
twice (http://www.pokerwiner.com/games-of-playing-cards/gin-rummy-1.html).

Letters: N matches; G games of a sheet, 1 or 3; 2 seats.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["PRESETS", "SHUTOUTS", "Scoring", "Sheet"]

SHUTOUTS = ("none", "points", "bonus", "everything")


@dataclass(frozen=True)
class Scoring:
    """What tables agree on before they rule a sheet; the defaults are the classic one.

    Attributes:
        games: 1, or 3 for Hollywood.
        target: points that end a game.
        box_bonus: for each hand won, to both players when the game ends.
        game_bonus: to the player who reached the target.
        shutout: what counts double when the loser has not won a hand: ``"points"`` those of the
            hands, ``"bonus"`` the game bonus, ``"everything"`` the winner's whole game,
            ``"none"``.

    Raises:
        ValueError: if a field is out of range.
        TypeError: if a field has the wrong type.
    """

    games: int = 1
    target: int = 100
    box_bonus: int = 25
    game_bonus: int = 100
    shutout: str = "points"

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"Scoring.{name} must be an integer, got {value!r}")
            if not low <= value <= high:
                raise ValueError(f"Scoring.{name} must lie in {low} to {high}, got {value}")
        if self.shutout not in SHUTOUTS:
            raise ValueError(
                f"Scoring.shutout must be one of {', '.join(SHUTOUTS)}, got {self.shutout!r}"
            )

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Scoring:
        """A sheet by its name in `PRESETS`, with changes such as ``box_bonus=20``."""
        if name not in PRESETS:
            raise ValueError(f"unknown scoring {name!r}: the presets are {', '.join(PRESETS)}")
        return dataclasses.replace(PRESETS[name], **changes)


_RANGES = {
    "games": (1, 3),
    "target": (1, 1_000_000),
    "box_bonus": (0, 1000),
    "game_bonus": (0, 1000),
}

PRESETS: dict[str, Scoring] = {
    "hands": Scoring(box_bonus=0, game_bonus=0, shutout="none"),  # the hands' points and no more
    "classic": Scoring(),
    "hollywood": Scoring(games=3),
}


class Sheet:
    """The score sheets of N matches.

    Attributes:
        scoring: what all of them are ruled for.
        points: ``(N, G, 2)`` int32, points of the hands entered for each seat.
        boxes: ``(N, G, 2)`` int32, how many hands they are.
    """

    def __init__(self, num_matches: int, scoring: Scoring) -> None:
        self.scoring = scoring
        self.points = np.zeros((num_matches, scoring.games, 2), dtype=np.int32)
        self.boxes = np.zeros((num_matches, scoring.games, 2), dtype=np.int32)

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, rows: Any) -> Sheet:
        """The sheets of some matches: a slice, integers or a ``(N,)`` bool mask."""
        chosen = Sheet(0, self.scoring)
        chosen.points, chosen.boxes = self.points[rows].copy(), self.boxes[rows].copy()
        return chosen

    def enter(self, points: npt.ArrayLike, rows: npt.ArrayLike | None = None) -> None:
        """Take down the points of hands that have ended; a void hand leaves no mark.

        Args:
            points: ``(M, 2)`` as in `engine.Outcome`: above zero for the winner's seat.
            rows: ``(M,)``, whose sheets; all of them by default.
        """
        at = np.arange(len(self)) if rows is None else np.asarray(rows)
        gain = np.maximum(np.asarray(points), 0)[:, None, :]
        started = self.boxes[at] > 0
        fresh = self.is_open[at, :, None] & ~started
        entered = self.is_open[at, :, None] & started
        entered |= fresh & (fresh.cumsum(axis=1) == 1)
        entered &= gain > 0
        self.points[at] += entered * gain.astype(np.int32)
        self.boxes[at] += entered

    @property
    def is_open(self) -> npt.NDArray[np.bool_]:
        """``(N, G)`` bool: the game goes on."""
        return np.asarray(self.points.max(axis=2) < self.scoring.target)

    @property
    def over(self) -> npt.NDArray[np.bool_]:
        """``(N,)`` bool: all games have ended, and with them the match."""
        return np.asarray(~self.is_open.any(axis=1))

    @property
    def is_shutout(self) -> npt.NDArray[np.bool_]:
        """``(N, G)`` bool: the game has ended and its loser has not won a hand of it."""
        return np.asarray(~self.is_open & (self.boxes.min(axis=2) == 0))

    @property
    def game_totals(self) -> npt.NDArray[np.int32]:
        """``(N, G, 2)`` int32: what each game is worth to each seat.

        The bonuses come at the end of a game; until then it is worth the points of the hands.
        """
        scoring = self.scoring
        ended = ~self.is_open[:, :, None]
        won = ended & (self.points >= scoring.target)
        twice = {
            part: 1 + (won & self.is_shutout[:, :, None]) * (scoring.shutout == part)
            for part in SHUTOUTS
        }
        total = self.points * twice["points"]
        total += ended * scoring.box_bonus * self.boxes
        total += won * scoring.game_bonus * twice["bonus"]
        return (total * twice["everything"]).astype(np.int32)

    @property
    def totals(self) -> npt.NDArray[np.int32]:
        """``(N, 2)`` int32: all games together."""
        return self.game_totals.sum(axis=1, dtype=np.int32)

    @property
    def leader(self) -> npt.NDArray[np.int8]:
        """``(N,)`` int8: the seat with the higher total, which at the end has won; -1 = a tie.

        With bonuses that is not always the seat that reached the target: a loser of many small
        wins may have more boxes than the winner has points.
        """
        ahead = np.sign(self.totals[:, 0] - self.totals[:, 1])
        return np.array([-1, 0, 1], dtype=np.int8)[ahead]
