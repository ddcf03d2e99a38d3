"""Files in the user's data directory: the match of each level, the results, the settings.

Each file is written beside its place and then renamed, so that the place always holds a whole one.
The results are kept in two equal files.  A file that cannot be read is not overwritten: it is set
aside under another name, and the person is told which.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from agents.table.levels import Level
from agents.table.match import OPPONENT, PERSON, DamagedMatch, Match
from ginenv.rules import Result

_FORMAT = 1
_LARGEST = 16_000_000  # bytes of a file; a match of a hundred hands has a third of a million
_HIGHEST = 1_000_000_000  # of any number in the results
_OUTCOMES = ("won", "lost", "drawn", "given up")
T = TypeVar("T")


@dataclass(frozen=True)
class MatchResult:
    """One match that is over, or was given up, at one level.

    Attributes:
        match: its name; a match counts once, however often it is added.
        level: the level's key.
        outcome: ``"won"``, ``"lost"``, ``"drawn"`` or ``"given up"``.
        points, opponent_points: what the sheet was worth.
        hands, hands_won, gins, undercuts: the person's figures; big gins count as gins.
        opponent_gins: the opponent's.
    """

    match: str
    level: str
    outcome: str
    points: int
    opponent_points: int
    hands: int
    hands_won: int
    gins: int
    undercuts: int
    opponent_gins: int

    @classmethod
    def of(cls, match: Match) -> MatchResult:
        """The result of a match as it stands; one that is not over has been given up."""
        points, opponent_points = match.totals
        outcome = "given up"
        if match.over:
            outcome = {PERSON: "won", OPPONENT: "lost"}.get(int(match.sheet.leader[0]), "drawn")
        return cls(
            match=match.name,
            level=match.terms.level,
            outcome=outcome,
            points=points,
            opponent_points=opponent_points,
            hands=len(match.finished),
            hands_won=sum(hand.points[PERSON] > 0 for hand in match.finished),
            gins=_gins(match, PERSON),
            undercuts=sum(
                hand.result == Result.UNDERCUT and hand.knocker == OPPONENT
                for hand in match.finished
            ),
            opponent_gins=_gins(match, OPPONENT),
        )


def _gins(match: Match, seat: int) -> int:
    gin = (Result.GIN, Result.BIG_GIN)
    return sum(hand.result in gin and hand.knocker == seat for hand in match.finished)


@dataclass(frozen=True)
class Statistics:
    """What a person's results at a level add up to."""

    won: int
    lost: int
    given_up: int
    hands: int
    hands_won: int
    gins: int
    undercuts: int
    best_margin: int
    streak: int

    @classmethod
    def of(cls, results: list[MatchResult]) -> Statistics:
        """Add results up; ``streak`` are the matches won in a row by now."""
        played = [r for r in results if r.outcome != "given up"]
        streak = 0
        for result in played:
            streak = streak + 1 if result.outcome == "won" else 0
        return cls(
            won=sum(r.outcome == "won" for r in results),
            lost=sum(r.outcome == "lost" for r in results),
            given_up=sum(r.outcome == "given up" for r in results),
            hands=sum(r.hands for r in results),
            hands_won=sum(r.hands_won for r in results),
            gins=sum(r.gins for r in results),
            undercuts=sum(r.undercuts for r in results),
            best_margin=max((r.points - r.opponent_points for r in played), default=0),
            streak=streak,
        )


@dataclass(frozen=True)
class Settings:
    """What a person chose last."""

    sound: bool = True


class Storage:
    """The files in one directory.

    Attributes:
        notices: what the person should be told, such as the name of a file set aside.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        self.notices: list[str] = []

    # The match of a level

    def match_file(self, level: Level) -> Path:
        """Where the match of a level is saved."""
        return self.directory / f"match-{level.slug}.json"

    def save_match(self, match: Match) -> None:
        """Save the match as it stands.

        Raises:
            OSError: if it cannot be written; the last saved one stays.
        """
        _write(self.match_file(Level(match.terms.level)), match.as_dict())

    def load_match(self, level: Level) -> Match | None:
        """The match to continue at a level, if there is one."""

        def parse(saved: Any) -> Match:
            match = Match.from_dict(saved)
            if match.terms.level != level.key:
                raise ValueError(f"it is a match against {match.terms.level}")
            return match

        return self._read(self.match_file(level), parse, "the saved match")

    def close_match(self, match: Match) -> None:
        """Count a match that is over or given up, and take its file away."""
        self.add_result(MatchResult.of(match))
        self.match_file(Level(match.terms.level)).unlink(missing_ok=True)

    # Results

    @property
    def _result_files(self) -> tuple[Path, Path]:
        return self.directory / "results.json", self.directory / "results.backup.json"

    def results(self, level: Level | None = None) -> list[MatchResult]:
        """All results in their order, or those of one level."""
        for file in self._result_files:
            found = self._read(file, _parse_results, "the file of results")
            if found is not None:
                return [r for r in found if level is None or r.level == level.key]
        return []

    def add_result(self, result: MatchResult) -> None:
        """Write a result down, unless that match has been counted already."""
        results = self.results()
        if all(result.match != known.match for known in results):
            results.append(result)
            content = {"format": _FORMAT, "results": [asdict(r) for r in results]}
            for file in self._result_files:
                _write(file, content)

    def statistics(self, level: Level) -> Statistics:
        """The person's record at a level."""
        return Statistics.of(self.results(level))

    # Settings

    def settings(self) -> Settings:
        """What was chosen last, or the defaults."""
        file = self.directory / "settings.json"
        return self._read(file, _parse_settings, "the settings") or Settings()

    def save_settings(self, settings: Settings) -> None:
        """Keep what was chosen."""
        _write(self.directory / "settings.json", asdict(settings))

    def _read(self, file: Path, parse: Callable[[Any], T], what: str) -> T | None:
        """What a file holds; None if there is none, or if it was damaged and is now set aside."""
        try:
            with open(file, "rb") as opened:
                content = opened.read(_LARGEST + 1)
            if len(content) > _LARGEST:
                raise ValueError(f"more than {_LARGEST} bytes")
            return parse(json.loads(content.decode("utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError) as error:
            reason = "it is cut off or damaged"
            if isinstance(error, DamagedMatch):
                reason = f"{error!s:.200}"
        except OSError as error:
            self.notices.append(f"{file} cannot be read: {error.strerror}")
            return None
        try:
            aside = _set_aside(file)
        except OSError as error:
            self.notices.append(f"{what} {file} is damaged, and stays: {error.strerror}")
        else:
            self.notices.append(f"{what} was damaged ({reason}) and is set aside as {aside}")
        return None


def _parse_results(saved: Any) -> list[MatchResult]:
    names = {field.name: field.type for field in fields(MatchResult)}
    if not isinstance(saved, dict) or saved.get("format") != _FORMAT:
        raise ValueError("no results")
    results = []
    for entry in saved["results"] if isinstance(saved.get("results"), list) else [None]:
        if not isinstance(entry, dict) or entry.keys() != names.keys():
            raise ValueError("no result")
        if any(type(entry[name]).__name__ != kind for name, kind in names.items()):
            raise ValueError("no result")
        numbers = [value for value in entry.values() if isinstance(value, int)]
        if max(map(abs, numbers)) > _HIGHEST or entry["outcome"] not in _OUTCOMES:
            raise ValueError("no result")
        results.append(MatchResult(**entry))
    return results


def _parse_settings(saved: Any) -> Settings:
    if not isinstance(saved, dict) or not isinstance(saved.get("sound"), bool):
        raise ValueError("no settings")
    return Settings(sound=saved["sound"])


def _write(file: Path, content: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with open(part, "w", encoding="utf-8") as out:
            json.dump(content, out)
            out.flush()
            os.fsync(out.fileno())
        os.replace(part, file)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def _set_aside(file: Path) -> Path:
    """Rename a damaged file to the first free ``NAME.damaged-N.json``."""
    number = 1
    while (aside := file.with_name(f"{file.stem}.damaged-{number}{file.suffix}")).exists():
        number += 1
    os.replace(file, aside)
    return aside
