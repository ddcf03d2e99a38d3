"""Recorded hands turn by turn as text: ``python -m ginenv.replay hands.jsonl``.

Shows both hands, or with ``--seat`` what one seat could know: its own hand, and of the other one
the cards that it saw being taken.  A hand is written with its melds in brackets, then the loose
cards by rank, then its deadwood.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ginenv import cards, melds
from ginenv.record import Record, RecordError, positions, read
from ginenv.rules import DECLARE_BIG_GIN, DRAW_STOCK, KNOCK, PASS, TAKE_PILE, Phase, Result
from ginenv.state import State
from ginenv.view import view

__all__ = ["main", "summary", "tell"]


def tell(record: Record, seat: int | None = None) -> Iterator[str]:
    """A hand as lines of text.

    Args:
        record: the hand.
        seat: whose knowledge to show; None shows both hands.
    """
    names = _names(record)
    states = list(positions(record))
    yield from _opening(record, states[0], names)
    yield from _table(states[0], names, seat)
    drew = ""
    for action, before, after in zip(record.actions, states[:-1], states[1:], strict=True):
        player = int(before.player[0])
        if action == PASS:
            yield ""
            yield f"{names[player]} passes the upcard {cards.name(int(before.upcard[0]))}"
        elif action in (DRAW_STOCK, TAKE_PILE):
            drew = _drew(action, before, after, seat)
        else:
            yield ""
            yield f"turn {after.turn[0]}: {names[player]} {drew} and {_did(action, after, seat)}"
            if after.phase[0] != Phase.OVER:
                yield from _table(after, names, seat)
    yield ""
    if record.result == Result.VOID:
        yield from _void(record, states[-1], names, seat)
    else:
        yield from _settled(record, states[-1], names)


def summary(record: Record) -> str:
    """A hand in one line: who played, how it ended, and what it brought."""
    names = _names(record)
    turns = sum(action < DRAW_STOCK or action == DECLARE_BIG_GIN for action in record.actions)
    winner = int(record.points[1] > 0)
    gain = f", {record.points[winner]} to {names[winner]}" if any(record.points) else ""
    result = record.result.name.lower().replace("_", " ")
    return f"{names[0]} against {names[1]}: {result} in turn {turns}{gain}"


def _names(record: Record) -> tuple[str, str]:
    """What to call the seats: by their players, where that tells them apart."""
    if record.players is None or record.players[0] == record.players[1]:
        return "player_0", "player_1"
    return _printable(record.players[0]), _printable(record.players[1])


def _printable(text: str) -> str:
    """The text without what a terminal would obey; a name may be a stranger's."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def _opening(record: Record, state: State, names: Sequence[str]) -> Iterator[str]:
    for seat in (0, 1):
        played_by = f" is {_printable(record.players[seat])}," if record.players else ""
        deals = " and deals" if seat == record.dealer else ""
        yield f"player_{seat}{played_by} has {record.scores[seat]} points{deals}"
    limit = int(state.knock_limit[0])
    yield f"a knock takes {limit} or less" if limit else "a knock takes gin"
    yield ""
    yield f"{names[record.dealer]} has dealt"


def _table(state: State, names: Sequence[str], seat: int | None) -> Iterator[str]:
    """Both hands as far as ``seat`` knows them, what each knows of the other's, stock and pile."""
    hands = [_hand(state, player, seat) for player in (0, 1)]
    name_width, hand_width = max(map(len, names)), max(map(len, hands))
    for player, (name, hand) in enumerate(zip(names, hands, strict=True)):
        known = _by_rank(int(state.known[0, player]))
        shown = f"{names[1 - player]} knows {known}" if known else ""
        yield f"    {name:{name_width}}  {hand:{hand_width}}   {shown}".rstrip()
    pile = " ".join(cards.name(card) for card in state.pile[0, : state.pile_size[0]].tolist())
    yield f"    stock {state.stock_size[0]}, pile {pile or 'empty'}"


def _hand(state: State, player: int, seat: int | None) -> str:
    """A hand in full, or as ``seat`` knows it."""
    if seat in (None, player):
        hand = int(state.hands[0, player])
        return _laid_out(hand, melds.best_melds(hand), int(melds.deadwood(hand)))
    known = int(view(state, seat).opponent_known[0])
    hidden = int(cards.count(state.hands[0, player])) - known.bit_count()
    return " ".join([*map(cards.name, _rank_order(known)), *["??"] * hidden])


def _laid_out(hand: int, arrangement: Iterable[np.uint64], deadwood: int) -> str:
    shown = []
    for meld in arrangement:
        hand &= ~int(meld)
        shown.append(f"[{cards.show(meld)}]")
    return " ".join([*shown, *map(cards.name, _rank_order(hand)), f"= {deadwood}"])


def _by_rank(board: int) -> str:
    return " ".join(map(cards.name, _rank_order(board)))


def _rank_order(board: int) -> list[int]:
    return sorted(cards.ids(board), key=lambda card: (card % 13, card))


def _drew(action: int, before: State, after: State, seat: int | None) -> str:
    if action == TAKE_PILE:
        return f"takes {cards.name(int(before.upcard[0]))}"
    player = int(before.player[0])
    drawn = int(after.hands[0, player]) ^ int(before.hands[0, player])
    return f"draws {cards.show(drawn)}" if seat in (None, player) else "draws"


def _did(action: int, after: State, seat: int | None) -> str:
    if action == DECLARE_BIG_GIN:
        return "declares big gin"
    if action < KNOCK:
        return f"discards {cards.name(action)}"
    knocks = "goes gin" if after.result[0] == Result.GIN else "knocks"
    thrown = cards.name(action - KNOCK) if seat in (None, int(after.player[0])) else "a card"
    return f"{knocks}, {thrown} face down"


def _void(record: Record, state: State, names: Sequence[str], seat: int | None) -> Iterator[str]:
    if state.stock_size[0] <= record.rules.stock_floor:
        yield f"the hand is void: the stock is down to {state.stock_size[0]} cards"
    else:
        yield f"the hand is void: {state.turn[0]} turns are the most that a hand may take"
    yield from _table(state, names, seat)


def _settled(record: Record, state: State, names: Sequence[str]) -> Iterator[str]:
    """Both hands laid down, the layoffs, and the score."""
    knocker = int(state.player[0])
    hand, other = int(state.hands[0, knocker]), int(state.hands[0, 1 - knocker])
    laid_off: list[str] = []
    down = melds.best_melds(hand)
    if record.result in (Result.KNOCK, Result.UNDERCUT):
        own, laid, deadwood = melds.lay_out(down, other)
        for meld, some in zip(down, laid, strict=True):
            other ^= int(some)
            if some:
                laid_off.append(f"{cards.show(some)} on [{cards.show(meld)}]")
    else:
        own, deadwood = melds.best_melds(other), int(melds.deadwood(other))
    after = f" after laying off {' and '.join(laid_off)}" if laid_off else ""
    width = max(map(len, names))
    yield "both lay their hands down"
    yield f"    {names[knocker]:{width}}  {_laid_out(hand, down, int(melds.deadwood(hand)))}"
    yield f"    {names[1 - knocker]:{width}}  {_laid_out(other, own, deadwood)}{after}"
    winner = int(record.points[1] > 0)
    score = [old + max(gain, 0) for old, gain in zip(record.scores, record.points, strict=True)]
    undercut = "the undercut is worth" if record.result == Result.UNDERCUT else "it is worth"
    yield f"{undercut} {record.points[winner]} to {names[winner]}"
    yield f"the score is {names[0]} {score[0]}, {names[1]} {score[1]}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``python -m ginenv.replay``; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m ginenv.replay", description="Show recorded hands turn by turn."
    )
    parser.add_argument("file", help="hands, one JSON line each; - reads standard input")
    parser.add_argument("--hand", type=int, metavar="N", help="only the Nth hand, from 1")
    parser.add_argument("--seat", type=int, choices=(0, 1), help="only what this seat could know")
    parser.add_argument("--list", action="store_true", help="one line a hand: players and result")
    options = parser.parse_args(arguments)
    if options.hand is not None and options.hand < 1:
        parser.error(f"--hand counts from 1, got {options.hand}")
    try:
        return _show(options)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"cannot read {options.file}: {error.strerror}", file=sys.stderr)
        return 2


def _show(options: argparse.Namespace) -> int:
    records = read(sys.stdin) if options.file == "-" else read(Path(options.file))
    number = 0
    try:
        for number, record in enumerate(records, start=1):
            if options.hand not in (None, number):
                continue
            if options.list:
                print(f"hand {number}: {summary(record)}")
            else:
                print(f"hand {number}", *tell(record, options.seat), "", sep="\n")
            if options.hand == number:
                return 0
    except RecordError as error:
        sys.stdout.flush()
        print(f"{options.file}, {_printable(str(error))}", file=sys.stderr)
        return 1
    if options.hand is not None:
        print(
            f"{options.file} has {number} hands, there is no hand {options.hand}", file=sys.stderr
        )
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
