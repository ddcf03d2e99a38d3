"""A player's report as one page of HTML that needs nothing else, neither files nor network.

The page is put together from the parts in ``agents/report_page``; all figures and hands travel in
it as one JSON text.
"""

from __future__ import annotations

import datetime as dt
import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

import ginenv
from agents import report
from agents.evaluation import Comparison, Plan, figures
from agents.play_statistics import PlayStatistics, Recorders
from agents.players import Policy, Recorder
from agents.sample_hands import laid_out, sample_hands
from ginenv.rules import Result

_PAGE, _STYLE, _SCRIPTS = "page.html", ("style.css",), ("charts.js", "hands.js", "page.js")
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)

Figures = Mapping[str, Any]


@dataclass
class Pairing:
    """What the page shows of one opponent.

    Attributes:
        comparison: the result.
        statistics: of the same play.
        hands: some to step through, as `agents.sample_hands.laid_out` gives them.
    """

    comparison: Comparison
    statistics: PlayStatistics
    hands: list[Figures]


class PlayReport:
    """Watches an evaluation pairing by pairing and makes a page of it.

    ::

        play_report = PlayReport(plan, "standard")
        watching = play_report.watch(comparison)
        measure(comparison, policies, plan, recorder=watching)
        play_report.pick_hands(policies)
        text = play_report.page()
    """

    def __init__(self, plan: Plan, rules_name: str) -> None:
        self.plan, self.rules_name = plan, rules_name
        self.pairings: list[Pairing] = []

    def watch(self, comparison: Comparison, recorder: Recorder | None = None) -> Recorders:
        """A recorder for a comparison's play, which passes everything on to another one."""
        names = (comparison.player, comparison.opponent)
        statistics = PlayStatistics(*names, self.plan.rules)
        self.pairings.append(Pairing(comparison, statistics, []))
        return Recorders([statistics] if recorder is None else [statistics, recorder])

    def pick_hands(self, policies: Mapping[str, Policy], number: int = 12) -> None:
        """Adds sample hands to the pairing that was watched last."""
        pairing = self.pairings[-1]
        names = (pairing.comparison.player, pairing.comparison.opponent)
        pair = (policies[names[0]], policies[names[1]])
        records = sample_hands(pair, names, self.plan.seed, self.plan.rules, number)
        pairing.hands = [laid_out(record, names, pair) for record in records]

    def page(self) -> str:
        """The page, of all pairings that have a result; there must be one."""
        shown = [one for one in self.pairings if one.comparison.hands or one.comparison.games]
        player = report.short(shown[0].comparison.player)
        content = {
            "player": player,
            "date": dt.datetime.now(dt.timezone.utc).date().isoformat(),
            "version": ginenv.__version__,
            "rules": self.rules_name,
            "seed": self.plan.seed,
            "pairings": [_pairing_as_dict(one) for one in shown],
        }
        return assemble(f"How {player} plays gin rummy", content)


def assemble(title: str, content: Figures) -> str:
    """The page's parts with a title and the figures, neither of which can break out of its place.

    JSON within a script element ends at ``</script``, whatever its quotes say: every ``<`` is
    written as an escape.
    """
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    parts = {
        "title": html.escape(title),
        "style": "\n".join(map(_part, _STYLE)),
        "content": text,
        "script": "\n".join(map(_part, _SCRIPTS)),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], _part(_PAGE))


def _part(name: str) -> str:
    return resources.files("agents").joinpath("report_page", name).read_text(encoding="utf-8")


def _pairing_as_dict(pairing: Pairing) -> Figures:
    found = figures(pairing.comparison)
    return {
        "opponent": report.short(found["opponent"]),
        "result": {
            "points": report.points(found["points_a_hand"]),
            "games": report.share(found["games_won"]),
            "hands": found["hands"],
            "matches": found["games"],
            "mean": (found["points_a_hand"] or {}).get("mean"),
        },
        "statistics": statistics_as_dict(pairing.statistics),
        "hands": pairing.hands,
    }


def statistics_as_dict(statistics: PlayStatistics) -> Figures:
    """What the charts draw, as plain numbers; turns that were hardly ever played are left out."""
    turns = statistics.turns_played()
    values = np.flatnonzero(statistics.points)
    return {
        "sides": statistics.num_sides,
        "hands": statistics.hands,
        "points": [
            [int(value) - statistics.reach, int(statistics.points[value])] for value in values
        ],
        "endings": {
            result.name.lower().replace("_", " "): statistics.endings[:, result].tolist()
            for result in Result
            if result != Result.NONE
        },
        "deadwood": [
            _without_nan(statistics.deadwood_quantiles(_QUANTILES, side)[:turns])
            for side in range(statistics.num_sides)
        ],
        "knocks": statistics.knocks[:, :turns].tolist(),
        "chances": statistics.chances[:, :turns].tolist(),
        "upcard": statistics.upcard.tolist(),
        "draws": statistics.draws[:, :turns].tolist(),
        "ranks": statistics.ranks.tolist(),
        "thrown": statistics.thrown[:, :turns].tolist(),
    }


def _without_nan(array: np.ndarray[Any, Any]) -> list[Any]:
    return [[None if np.isnan(x) else float(x) for x in row] for row in array]
