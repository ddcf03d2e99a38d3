"""Golden playthroughs: hands told as stories, whose diff is the change of behaviour.

``tests/playthroughs/`` has one for each preset of the rules and one for each way a hand can end.
Each ends with the hands as records, one JSON line each.  When a change is meant, write them anew
and read the diff::

    python -m tests.test_playthroughs
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from ginenv import engine, melds
from ginenv.record import Record, positions, read
from ginenv.replay import tell
from ginenv.rules import PRESETS, Phase, Result, Rules
from ginenv.view import view
from tests.players import greedy, never_knocks, waits_for_gin

FOLDER = Path(__file__).parent / "playthroughs"


class Story(NamedTuple):
    """What a playthrough shows: the first game of a seeded batch that fits is told."""

    title: str
    rules: Rules
    players: tuple[Callable, Callable]
    fits: Callable[[list[Record]], bool]
    num_hands: int = 1


def ends_with(result):
    return lambda hands: hands[-1].result == result


def upcard_is(kind):
    """A knock, or gin where the upcard leaves nothing else, after a first upcard of that kind."""
    ranks = {"an ace": (0,), "a face card": (10, 11, 12), "low": (2, 3)}[kind]
    return lambda hands: hands[0].deck[20] % 13 in ranks and hands[0].result != Result.VOID


def has_eleven_in_melds(hands):
    """Somebody goes gin with eleven cards in melds: he has to throw one of them."""
    last = list(positions(hands[0]))[-2]
    return hands[0].result == Result.GIN and melds.deadwood(last.hands[0]).min() == 0


def undercut_by_layoffs(hands):
    """The defender has more deadwood at first, and lays cards off on two melds or more."""
    if hands[0].result != Result.UNDERCUT:
        return False
    *_, end = positions(hands[0])
    knocker, defender = end.hands[0, end.player[0]], end.hands[0, 1 - end.player[0]]
    _, laid, _ = melds.lay_out(melds.best_melds(knocker), defender)
    return melds.deadwood(defender) > melds.deadwood(knocker) and sum(map(bool, laid)) > 1


def void_hand_and_another(hands):
    return hands[0].result == Result.VOID != hands[1].result


STANDARD = Rules()
STORIES = {
    "preset_standard": Story(
        "Standard rules: the deal alternates and scores add up.",
        STANDARD,
        (greedy, greedy),
        lambda hands: hands[1].scores != (0, 0) and hands[1].result == Result.KNOCK,
        num_hands=2,
    ),
    "preset_no_big_gin": Story(
        "Without big gin: eleven cards in melds are gin, and one of them is thrown.",
        Rules.preset("no_big_gin"),
        (waits_for_gin, waits_for_gin),
        has_eleven_in_melds,
    ),
    "preset_oklahoma": Story(
        "Oklahoma: a low first upcard is a low limit for knocks.",
        Rules.preset("oklahoma"),
        (greedy, greedy),
        upcard_is("low"),
    ),
    "preset_oklahoma_faces": Story(
        "Oklahoma with faces: after a face card as the first upcard a knock takes gin.",
        Rules.preset("oklahoma_faces"),
        (greedy, greedy),
        upcard_is("a face card"),
    ),
    "preset_straight": Story(
        "Straight gin: a knock takes gin.",
        Rules.preset("straight"),
        (greedy, greedy),
        ends_with(Result.GIN),
    ),
    "preset_eaai": Story(
        "EAAI rules: after a void hand the same player deals again.",
        Rules.preset("eaai"),
        (never_knocks, waits_for_gin),
        void_hand_and_another,
        num_hands=2,
    ),
    "end_knock": Story(
        "A knock with less deadwood than the other hand.",
        STANDARD,
        (greedy, waits_for_gin),
        ends_with(Result.KNOCK),
    ),
    "end_gin": Story(
        "Gin: no deadwood, and no layoffs.",
        STANDARD,
        (waits_for_gin, greedy),
        ends_with(Result.GIN),
    ),
    "end_big_gin": Story(
        "Big gin: eleven cards in melds, and no discard.",
        STANDARD,
        (waits_for_gin, waits_for_gin),
        ends_with(Result.BIG_GIN),
    ),
    "end_undercut": Story(
        "An undercut: after layoffs the other hand has as little deadwood, or less.",
        STANDARD,
        (greedy, greedy),
        undercut_by_layoffs,
    ),
    "end_void_by_the_stock": Story(
        "A void hand: the stock is down to its last two cards.",
        STANDARD,
        (never_knocks, never_knocks),
        ends_with(Result.VOID),
    ),
    "end_void_by_turns": Story(
        "A void hand: as many turns as a hand may have, eight in this house.",
        Rules(max_turns=8),
        (never_knocks, never_knocks),
        ends_with(Result.VOID),
    ),
}


def played_hand(state, players, rng):
    """The records of one hand in each of N games, played to its end."""
    dealt, actions, points = state.copy(), [], 0
    while (state.phase != Phase.OVER).any():
        seen = view(state)
        of_seat = [players[seat](seen, rng) for seat in (0, 1)]
        chosen = np.where(state.player == 0, *of_seat)
        actions.append(np.where(state.phase == Phase.OVER, -1, chosen))
        points = points + engine.step(state, actions[-1]).points
    return [
        Record(
            rules=state.rules,
            deck=tuple(dealt.deck[row].tolist()),
            dealer=int(dealt.dealer[row]),
            scores=tuple(dealt.scores[row].tolist()),
            actions=tuple(a for a in row_actions.tolist() if a >= 0),
            result=Result(state.result[row]),
            points=tuple(points[row].tolist()),
        )
        for row, row_actions in enumerate(np.stack(actions, axis=1))
    ]


def hands_of(story):
    """The records of the first game that fits the story."""
    rng = np.random.default_rng(0)
    while True:
        state = engine.deal(rng, 64, story.rules)
        hands = [played_hand(state, story.players, rng)]
        while len(hands) < story.num_hands:
            engine.redeal(state, np.arange(len(state)), rng)
            hands.append(played_hand(state, story.players, rng))
        for game in zip(*hands, strict=True):
            if story.fits(list(game)):
                return list(game)


def written(title, hands):
    """A playthrough as text."""
    parts = [title, *("\n".join(tell(hand)) for hand in hands)]
    records = "\n".join(hand.line() for hand in hands)
    return "\n\n".join([*parts, "as records", records]) + "\n"


@pytest.mark.parametrize("name", STORIES)
def test_the_story_is_told_as_before(name):
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    records = text[text.index("{") :].splitlines()
    assert written(text.splitlines()[0], list(read(records))) == text


@pytest.mark.parametrize("name", STORIES)
def test_the_story_is_what_the_command_writes(name):
    story = STORIES[name]
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert written(story.title, hands_of(story)) == text


def test_every_preset_and_every_ending_has_its_story():
    assert {path.stem for path in FOLDER.iterdir()} == set(STORIES)
    assert {f"preset_{name}" for name in PRESETS} < set(STORIES)


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, story in STORIES.items():
        (FOLDER / f"{name}.txt").write_text(written(story.title, hands_of(story)), encoding="utf-8")
        print(f"wrote {FOLDER / name}.txt")


if __name__ == "__main__":
    main()
