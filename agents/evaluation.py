"""The referee: what is played to compare players, and the figures that come of it.

Points a hand come from single hands, games won from matches; both are paired (`agents.players`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

from agents import ratings
from agents.players import BLOCK, Policy, Recorder, play_blocks
from agents.ratings import Ratings
from agents.tally import Estimate, Tally
from ginenv.rules import STANDARD, Rules
from ginenv.scoresheet import Scoring

ANCHOR = "greedy"  # the player whose rating is fixed, where he takes part
_MOST_PARTS = 64

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Plan:
    """What is played for each pair of players.

    Attributes:
        num_hands: hands, or with ``until`` the most of them; even.
        num_games: matches; even.
        seed: the same one for every pairing, so that all of them get the same cards.
        rules: of all hands.
        scoring: a score sheet that ends the matches and says who won them; None: the rules' target.
        until: stop playing hands once the interval's half-width in points a hand is so small.
    """

    num_hands: int = 20_000
    num_games: int = 2_000
    seed: int = 0
    rules: Rules = STANDARD
    until: float | None = None
    scoring: Scoring | None = None


@dataclass
class Comparison:
    """One player against another, as far as it has been measured."""

    player: str
    opponent: str
    parts: dict[str, list[Tally]] = field(default_factory=lambda: {"hand": [], "match": []})

    @property
    def hands(self) -> Tally | None:
        """The hands, or None before the first block of them."""
        return self._merged("hand")

    @property
    def games(self) -> Tally | None:
        """The matches, or None before the first block of them."""
        return self._merged("match")

    def swapped(self) -> Comparison:
        """The same as the opponent's comparison with the player."""
        parts = {unit: [tally.swapped() for tally in self.parts[unit]] for unit in self.parts}
        return Comparison(self.opponent, self.player, parts)

    def add(self, unit: str, tally: Tally) -> None:
        """Take the results of one block; blocks are joined in time, so that they never are many."""
        self.parts[unit].append(tally)
        if len(self.parts[unit]) >= _MOST_PARTS:
            self._merged(unit)

    def _merged(self, unit: str) -> Tally | None:
        if len(self.parts[unit]) > 1:
            self.parts[unit] = [Tally.merge(self.parts[unit])]
        return self.parts[unit][0] if self.parts[unit] else None


def measure(
    comparison: Comparison,
    policies: dict[str, Policy],
    plan: Plan,
    progress: Progress | None = None,
    recorder: Recorder | None = None,
) -> None:
    """Play a plan; the comparison grows block by block and keeps what it has when interrupted.

    Args:
        comparison: names the two players and takes the results.
        policies: by name.
        plan: what to play.
        progress: told the unit (``"hand"`` or ``"match"``), how many have been played and how many
            there will be, which with ``until`` is an estimate.
        recorder: told every step.
    """
    names = (comparison.player, comparison.opponent)
    planned = {"hand": plan.num_hands, "match": plan.num_games}
    expected = dict(planned)

    def report(unit: str, done: int, _: int) -> None:
        if progress is not None:
            progress(unit, done, max(done, expected[unit]))

    for unit, number in planned.items():
        blocks = play_blocks(
            policies[names[0]],
            policies[names[1]],
            num_pairs=number // 2,
            seed=plan.seed,
            rules=plan.rules,
            unit=unit,
            progress=partial(report, unit),
            recorder=recorder,
            names=names,
            scoring=plan.scoring if unit == "match" else None,
        )
        for tally in blocks if number else ():
            comparison.add(unit, tally)
            if unit == "hand" and plan.until is not None:
                hands = Tally.merge(comparison.parts[unit])
                width = hands.points_a_hand.half_width
                if width <= plan.until:
                    break
                needed = hands.num_hands * (width / plan.until) ** 2
                expected[unit] = min(number, 2 * BLOCK * math.ceil(needed / (2 * BLOCK)))


def round_robin(players: Sequence[str]) -> list[Comparison]:
    """Every pairing of some players once, nothing measured yet."""
    return [Comparison(a, b) for a, b in combinations(players, 2)]


def rate(players: Sequence[str], comparisons: Sequence[Comparison]) -> Ratings | None:
    """Ratings from the matches of a round robin; None if they do not connect all players."""
    place = {name: number for number, name in enumerate(players)}
    pair_wins = {
        (place[c.player], place[c.opponent]): 1 + c.games.won.sum(axis=1) / 2
        for c in comparisons
        if c.games is not None
    }
    try:
        return ratings.rate(pair_wins, len(players), anchor=place.get(ANCHOR))
    except ValueError:
        return None


def standings(players: Sequence[str], comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """A round robin's ``ratings``, the best first, and ``comparisons`` in both directions."""
    both = [side for comparison in comparisons for side in (comparison, comparison.swapped())]
    found = rate(players, comparisons)
    rows = []
    if found is not None:
        columns = (players, found.rating.tolist(), found.low.tolist(), found.high.tolist())
        rows = [
            dict(zip(("player", "rating", "low", "high"), row, strict=True))
            for row in zip(*columns, strict=True)
        ]
        rows.sort(key=lambda row: -row["rating"])
    return {"ratings": rows, "comparisons": [figures(side) for side in both]}


def figures(comparison: Comparison) -> dict[str, Any]:
    """All figures of a comparison, as the JSON file has them.

    Rates and turns are those of the hands, or of the matches' hands if only matches were played.
    """
    hands, games = comparison.hands, comparison.games
    found: dict[str, Any] = {
        "player": comparison.player,
        "opponent": comparison.opponent,
        "hands": hands.num_hands if hands else 0,
        "points_a_hand": as_dict(hands.points_a_hand) if hands else None,
        "games": 2 * games.num_pairs if games else 0,
        "games_won": as_dict(games.games_won) if games else None,
        "games_drawn": games.draws if games else 0,
        "hands_a_game": games.num_hands / (2 * games.num_pairs) if games else None,
    }
    shown = hands or games
    for who, side in enumerate(("player_rates", "opponent_rates")):
        found[side] = None
        if shown:
            rates = shown.rates(who)
            found[side] = {name: _finite(value) for name, value in rates.items()}
    return found


def as_dict(estimate: Estimate) -> dict[str, float | None]:
    """An estimate as the JSON file has it; an infinite bound is None."""
    return {
        "mean": estimate.mean,
        "low": _finite(estimate.low),
        "high": _finite(estimate.high),
        "half_width": _finite(estimate.half_width),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
