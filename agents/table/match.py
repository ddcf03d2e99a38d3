"""A match of a person against a policy, as the engine plays it, and as it is saved.

The game is a `ginenv.State` of one row; nothing here knows a rule.  A saved match is the cards and
the actions of all its hands, which are played again when it is opened: a file that was tampered
with does not play.
"""

from __future__ import annotations

import dataclasses
import json
import reprlib
import uuid
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.table.faces import face
from agents.table.levels import Level
from ginenv import cards, engine, streams, tabletop
from ginenv.opponents import Policy
from ginenv.record_format import Broken, Record
from ginenv.rules import DECLARE_BIG_GIN, DRAW_STOCK, KNOCK, PASS, TAKE_PILE, Phase, Result, Rules
from ginenv.scoresheet import Scoring, Sheet
from ginenv.view import View, view

PERSON, OPPONENT = 0, 1
FORMAT = 1  # of saved matches; rises when a field changes its meaning or goes

# What random numbers are drawn for, each from a stream of its own: a match that was continued gets
# the cards and the opponent's moves that it would have had.
_DECKS, _OPPONENT, _CUT, COACH = range(4)


class DamagedMatch(ValueError):
    """A saved match that cannot be played on, with the reason in its text."""


@dataclass(frozen=True)
class Terms:
    """What is played, against whom and for what.

    Attributes:
        level: the key of the opponent's level.
        rules_name: the preset of the rules.
        scoring_name: the preset of the score sheet.
        seed: decides the cards and the opponent's random numbers.
    """

    level: str
    rules_name: str = "standard"
    scoring_name: str = "hands"
    seed: int = 0

    @property
    def scoring(self) -> Scoring:
        """The sheet; the hands' points alone count to the rules' own target."""
        target = Rules.preset(self.rules_name).target_score or 100
        return Scoring.preset(self.scoring_name, target=target)

    @property
    def rules(self) -> Rules:
        """The rules of the hands; where a sheet has bonuses, it alone ends the match."""
        rules = Rules.preset(self.rules_name)
        if self.scoring_name == "hands":
            return rules
        return dataclasses.replace(rules, target_score=None)

    def rng(self, *key: int) -> np.random.Generator:
        """A stream of random numbers for one purpose; it does not lead back to the seed."""
        seeds = np.random.SeedSequence(self.seed, spawn_key=key)
        return streams.for_players(np.random.default_rng(seeds))


_TERMS = {term.name: str(term.type) for term in dataclasses.fields(Terms)}


@dataclass(frozen=True)
class HandOver:
    """How a hand ended: `Result`, who knocked (-1: nobody), points by seat, turns."""

    result: Result
    knocker: int
    points: tuple[int, int]
    turns: int


@dataclass
class Match:
    """The match as it stands.

    Attributes:
        terms: what is played.
        state: the hand, one row; only `view` and `table` show it to the person.
        sheet: the score sheet, one row.
        log: what happened in this hand, as the person saw it.
        finished: the hands that are over.
        name: tells this match from all others.
    """

    terms: Terms
    state: engine.State
    sheet: Sheet
    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    log: list[str] = field(default_factory=list)
    finished: list[HandOver] = field(default_factory=list)
    _records: list[Record] = field(default_factory=list)
    _actions: list[int] = field(default_factory=list)

    @classmethod
    def start(cls, terms: Terms, dealer: int) -> Match:
        """Deal the first hand."""
        return cls._dealt(terms, dealer, _deck(terms, 0))

    @classmethod
    def _dealt(cls, terms: Terms, dealer: int, deck: Any) -> Match:
        state = engine.deal(None, 1, terms.rules, dealer=dealer, decks=deck)
        return cls(terms=terms, state=state, sheet=Sheet(1, terms.scoring))

    @property
    def seen(self) -> View:
        """What the person may know."""
        return view(self.state, PERSON)

    @property
    def table(self) -> tabletop.Table:
        """The same as a table to draw; the other hand lies open after a knock."""
        return tabletop.table(self.state, PERSON)

    @property
    def hand_over(self) -> bool:
        """Whether the hand has ended."""
        return bool(self.state.phase[0] == Phase.OVER)

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return bool(self.sheet.over[0])

    @property
    def person_to_move(self) -> bool:
        """Whether the person is to act."""
        return bool(not self.hand_over and self.state.player[0] == PERSON)

    @property
    def totals(self) -> tuple[int, int]:
        """What the sheet is worth, the person's first."""
        you, other = self.sheet.totals[0].tolist()
        return you, other

    @property
    def hand_number(self) -> int:
        """The number of the hand being played, from 1."""
        return len(self._records) + 1

    def act(self, action: int) -> None:
        """Play one action of the player to move.

        Raises:
            ValueError: if it is not legal; nothing has changed then.
        """
        seat, before = int(self.state.player[0]), self.seen
        outcome = engine.step(self.state, [action])
        self._actions.append(action)
        self.log.append(self._told(seat, action, before))
        if outcome.hand_over[0]:
            self.sheet.enter(outcome.points)
            mine, his = outcome.points[0].tolist()
            self.finished.append(
                HandOver(
                    result=Result(outcome.result[0]),
                    knocker=int(outcome.knocker[0]),
                    points=(mine, his),
                    turns=int(self.state.turn[0]),
                )
            )

    def opponent_action(self, policy: Policy) -> int:
        """What the policy does now, from its own view alone."""
        rng = self.terms.rng(_OPPONENT, len(self._records), len(self._actions))
        return int(np.asarray(policy(view(self.state, OPPONENT), rng))[0])

    def deal_next(self) -> None:
        """Deal the next hand, after one has ended."""
        self._next(_deck(self.terms, len(self._records) + 1))

    def _next(self, deck: Any) -> None:
        self._records.append(self._record())
        engine.redeal(self.state, [0], None, decks=deck)
        self._actions, self.log = [], []

    def _record(self) -> Record:
        ended = self.hand_over
        points = self.finished[-1].points if ended else (0, 0)
        mine, his = (
            score - max(gain, 0)
            for score, gain in zip(self.state.scores[0].tolist(), points, strict=True)
        )
        return Record(
            rules=self.state.rules,
            deck=tuple(self.state.deck[0].tolist()),
            dealer=int(self.state.dealer[0]),
            scores=(mine, his),
            actions=tuple(self._actions),
            result=Result(self.state.result[0]),
            points=points,
            players=("you", self.terms.level),
        )

    def _told(self, seat: int, action: int, before: View) -> str:
        """One line about a move, from what the person saw before and sees now."""
        you = seat == PERSON
        opponent = Level(self.terms.level).name

        def who(yours: str, his: str) -> str:
            return f"You {yours}" if you else f"{opponent} {his}"

        top = int(before.upcard[0])
        if action == PASS:
            return who(f"pass {face(top)}", f"passes {face(top)}")
        if action == TAKE_PILE:
            return who(f"take {face(top)}", f"takes {face(top)}")
        if action == DRAW_STOCK:
            new = cards.ids(int(self.seen.hand[0]) & ~int(before.hand[0]))
            return f"You draw {face(new[0])}" if you else who("", "draws from the stock")
        if action == DECLARE_BIG_GIN:
            return who("have big gin", "has big gin")
        if action < KNOCK:
            return who(f"throw {face(action)}", f"throws {face(action)}")
        if self.state.result[0] == Result.GIN:
            return who("go gin", "goes gin")
        return who("knock", "knocks")

    # Saving

    def as_dict(self) -> dict[str, Any]:
        """The match as plain values for a JSON file."""
        records = [*self._records, self._record()]
        return {
            "format": FORMAT,
            "name": self.name,
            **dataclasses.asdict(self.terms),
            "hands": [json.loads(record.line()) for record in records],
        }

    @classmethod
    def from_dict(cls, saved: Any) -> Match:
        """The match that `as_dict` described, played again.

        Raises:
            DamagedMatch: if it is not whole, or does not play by the rules.
        """
        if not isinstance(saved, dict) or saved.get("format") != FORMAT:
            raise DamagedMatch(f"it is no saved match of format {FORMAT}")
        try:
            for name, kind in {"name": "str", "hands": "list", **_TERMS}.items():
                if type(saved[name]).__name__ != kind:
                    raise TypeError(f"{name} must be a {kind}, got {reprlib.repr(saved[name])}")
            terms = Terms(**{name: saved[name] for name in _TERMS})
            _ = terms.rules, terms.scoring, terms.rng(_DECKS)
            name, hands = saved["name"], saved["hands"]
            records = [Record.parse(json.dumps(hand)) for hand in hands]
            match = cls._dealt(terms, records[0].dealer, records[0].deck)
        except KeyError as error:
            raise DamagedMatch(f"it lacks {error}") from None
        except (TypeError, ValueError, IndexError) as error:
            raise DamagedMatch(str(error)) from None
        match.name = name
        for number, record in enumerate(records, start=1):
            try:
                match._play_again(record, last=number == len(records))
            except ValueError as error:
                raise DamagedMatch(f"hand {number}: {error}") from None
            if number < len(records):
                match._next(records[number].deck)
        return match

    def _play_again(self, record: Record, last: bool) -> None:
        for action in record.actions:
            self.act(action)
        if self._record() != record:
            raise Broken("what was played does not lead to what was written")
        if not last and (not self.hand_over or self.over):
            raise Broken("another hand follows, though this one does not allow it")


def _deck(terms: Terms, hand: int) -> Any:
    return engine.deal(terms.rng(_DECKS, hand), 1, dealer=0).deck[0]


class Cut:
    """Cutting for the first deal: each draws a card, the lowest deals, aces are low.

    Attributes:
        drawn: the two cards, the person's first, once he has picked; None before.
        again: how often both had the same rank.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self.again = 0
        self.drawn: tuple[int, int] | None = None

    def pick(self, place: int) -> tuple[int, int]:
        """Turn over the card at a place of the spread pack; the opponent picks another."""
        rng = self._terms.rng(_CUT, self.again)
        pack = rng.permutation(cards.NUM_CARDS)
        others = np.delete(np.arange(cards.NUM_CARDS), place)
        self.drawn = int(pack[place]), int(pack[rng.choice(others)])
        if self.dealer is None:
            self.again += 1
        return self.drawn

    @property
    def dealer(self) -> int | None:
        """Who deals; None before the cut and after two cards of one rank."""
        if self.drawn is None:
            return None
        mine, his = (card % 13 for card in self.drawn)
        return None if mine == his else PERSON if mine < his else OPPONENT
