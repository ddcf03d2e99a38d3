"""A player's report as one page of HTML that needs nothing else, neither files nor network.

The page is put together from the parts in ``agents/report_page``; all figures and hands travel in
it as one JSON text.
"""

from __future__ import annotations

import datetime as dt
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

import ginenv
from agents import report
from agents.play_statistics import PlayStatistics
from agents.players import Policy
from agents.sample_hands import laid_out, sample_hands
from ginenv.rules import Result, Rules

_PAGE, _STYLE, _SCRIPTS = "page.html", ("style.css",), ("charts.js", "hands.js", "page.js")
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)

Figures = Mapping[str, Any]


@dataclass(frozen=True)
class Pairing:
    """What the report shows of one opponent.

    Attributes:
        figures: the result, as `agents.evaluation.figures` gives it.
        statistics: of the same play.
        policies: the player and this opponent, for sample hands; none without.
    """

    figures: Figures
    statistics: PlayStatistics
    policies: tuple[Policy, Policy] | None = None


def page(
    pairings: Sequence[Pairing], rules: Rules, rules_name: str, seed: int, num_samples: int = 12
) -> str:
    """The page of one player against some opponents."""
    player = pairings[0].figures["player"]
    content = {
        "player": report.short(player),
        "date": dt.datetime.now(dt.timezone.utc).date().isoformat(),
        "version": ginenv.__version__,
        "rules": rules_name,
        "seed": seed,
        "pairings": [_pairing(pairing, rules, seed, num_samples) for pairing in pairings],
    }
    title = f"{report.short(player)}: how it plays gin rummy"
    return assemble(title, content)


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


def _pairing(pairing: Pairing, rules: Rules, seed: int, num_samples: int) -> Figures:
    names = (pairing.figures["player"], pairing.figures["opponent"])
    hands = []
    if pairing.policies is not None:
        records = sample_hands(pairing.policies, names, seed, rules, num_samples)
        hands = [laid_out(record, names, pairing.policies) for record in records]
    return {
        "opponent": report.short(names[1]),
        "result": {
            "points": report.points(pairing.figures["points_a_hand"]),
            "games": report.share(pairing.figures["games_won"]),
            "hands": pairing.figures["hands"],
            "matches": pairing.figures["games"],
            "mean": (pairing.figures["points_a_hand"] or {}).get("mean"),
        },
        "statistics": statistics_as_dict(pairing.statistics),
        "hands": hands,
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
