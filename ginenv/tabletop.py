"""`Table`: what a drawing of a game shows, and to whom.

A drawing shows what the viewer's `View` holds.  The other hand is on it only where someone asks to
see both (``reveal``), or where it lies open: after a knock, gin or big gin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ginenv import cards, melds
from ginenv.adapter import AGENTS
from ginenv.cards import NO_CARD
from ginenv.rules import Phase, Result, settle
from ginenv.state import State
from ginenv.view import view

_TO_DO = {
    Phase.UPCARD: "takes the upcard or passes",
    Phase.FORCED_DRAW: "draws from the stock",
    Phase.DRAW: "draws from the stock or the pile",
    Phase.DISCARD: "discards or knocks",
}
_ENDS = {
    Result.KNOCK: "knocks and wins",
    Result.GIN: "goes gin and wins",
    Result.BIG_GIN: "has big gin and wins",
    Result.UNDERCUT: "knocks and is undercut for",
}


@dataclass(frozen=True)
class Seat:
    """One side of the table.

    Attributes:
        name: the player's.
        melds: tuples of cards; empty for a hand that is not shown.
        loose: the other cards of the hand, or of a hidden hand those that the viewer knows of.
        laid_off: of the loser's cards, those laid off on the knocker's melds.
        hidden: how many cards lie face down.
        deadwood: None for a hand that is not shown.
        score: points in the match.
        is_dealer: whether this seat deals.
        to_move: whether this seat is to act.
    """

    name: str
    melds: tuple[tuple[int, ...], ...]
    loose: tuple[int, ...]
    laid_off: tuple[int, ...]
    hidden: int
    deadwood: int | None
    score: int
    is_dealer: bool
    to_move: bool


@dataclass(frozen=True)
class Table:
    """What a drawing shows.

    Attributes:
        near: the viewer's seat.
        far: the other one.
        stock_size: cards in the stock.
        upcard: the top of the discard pile; -1 = the pile is empty.
        pile_size: cards in it.
        face_down: whether a knocker's discard lies on it, face down.
        turn: the number of the turn that is being played, or was the last.
        knock_limit: of this hand.
        message: who is to do what, or how the hand ended.
    """

    near: Seat
    far: Seat
    stock_size: int
    upcard: int
    pile_size: int
    face_down: bool
    turn: int
    knock_limit: int
    message: str


def table(
    state: State, viewer: int = 0, reveal: bool = False, names: tuple[str, str] = AGENTS
) -> Table:
    """What a drawing of the first game of a state shows.

    Args:
        state: its first game is drawn.
        viewer: the seat whose knowledge is shown.
        reveal: whether both hands are.
        names: of the players, by seat.
    """
    game = state[0]
    seen = view(game, viewer)
    result = Result(game.result[0])
    settled = result not in (Result.NONE, Result.VOID)
    near = _open_seat(game, viewer, settled)
    far = _open_seat(game, 1 - viewer, settled) if reveal or settled else _hidden_seat(game, viewer)
    return Table(
        near=replace(near, name=names[viewer]),
        far=replace(far, name=names[1 - viewer]),
        stock_size=int(seen.stock_size[0]),
        upcard=int(seen.upcard[0]),
        pile_size=int(game.pile_size[0]),
        face_down=bool(game.face_down[0] != NO_CARD),
        turn=int(seen.turn[0]) + (result == Result.NONE),
        knock_limit=int(seen.knock_limit[0]),
        message=_message(game, result, names[game.player[0]]),
    )


def _open_seat(game: State, seat: int, settled: bool) -> Seat:
    own = int(game.hands[0, seat])
    laid: tuple[Any, ...] = ()
    if settled and seat != game.player[0] and game.result[0] not in (Result.GIN, Result.BIG_GIN):
        down = melds.best_melds(game.hands[0, 1 - seat])
        arrangement, laid, deadwood = melds.lay_out(down, game.hands[0, seat])
    else:
        arrangement = melds.best_melds(game.hands[0, seat])
        deadwood = int(melds.deadwood(game.hands[0, seat]))
    laid_off = _union(laid)
    return _seat(
        game,
        seat,
        melds=tuple(tuple(cards.ids(meld)) for meld in arrangement),
        loose=_by_rank(own & ~_union(arrangement) & ~laid_off),
        laid_off=_by_rank(laid_off),
        hidden=0,
        deadwood=deadwood,
    )


def _hidden_seat(game: State, viewer: int) -> Seat:
    seen = view(game, viewer)
    known = _by_rank(int(seen.opponent_known[0]))
    size = int(cards.count(game.hands[0, 1 - viewer]))  # how many is no secret, which ones is
    return _seat(
        game,
        1 - viewer,
        melds=(),
        loose=known,
        laid_off=(),
        hidden=size - len(known),
        deadwood=None,
    )


def _seat(game: State, seat: int, **hand: Any) -> Seat:
    return Seat(
        name=AGENTS[seat],
        score=int(game.scores[0, seat]),
        is_dealer=bool(game.dealer[0] == seat),
        to_move=bool(game.player[0] == seat and game.phase[0] != Phase.OVER),
        **hand,
    )


def _message(game: State, result: Result, player: str) -> str:
    if result == Result.NONE:
        return f"{player} {_TO_DO[Phase(game.phase[0])]}"
    if result == Result.VOID:
        return "the hand is void"
    mover = int(game.player[0])
    points = settle(game.hands[0, [mover]], game.hands[0, [1 - mover]], game.rules).points[0]
    return f"{player} {_ENDS[result]} {points} points"


def _by_rank(bitboard: int) -> tuple[int, ...]:
    return tuple(sorted(cards.ids(bitboard), key=lambda card: (card % 13, card)))


def _union(boards: tuple[Any, ...]) -> int:
    union = 0
    for board in boards:
        union |= int(board)
    return union
