"""What the network sees of a position: `observe` makes bytes of a view, `features` numbers of them.

The bytes are `ginenv.view.encode`'s "full" observation with the suits in canonical order and,
after it, what a good player works out: for each card the melds that it may still make, and the
melds that it might make for the opponent; and how many live cards would give gin.

Letters: B decisions; C = 16 planes of 52 cards.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from agents import features as worked_out
from agents.symmetry import as_dealt, canonical
from ginenv import cards
from ginenv.cards import NUM_CARDS
from ginenv.rules import Phase
from ginenv.view import NOT_HELD, OBSERVATIONS, View, encode, observation_size

OBSERVATION = "full, with live outs"
_PLANES, _COUNTS = OBSERVATIONS["full"]
_BASE = observation_size("full")
OBSERVATION_SIZE = _BASE + 2 * NUM_CARDS + 1

_SEEN_PLANES = len(_PLANES) - 1  # all but the last, `deadwood_after`
NUM_PLANES = _SEEN_PLANES + 3 + 2
_PHASES = len(Phase) - 1  # nobody decides when the hand is over
# The numbers that it is told beside the phase, and what each is divided by; then the gin outs.
_SCALES = {
    "stock_size": 31.0,
    "turn": 30.0,
    "is_dealer": 1.0,
    "knock_limit": 10.0,
    "deadwood": 50.0,
    "best_deadwood_after": 50.0,
}
_LIMIT, _DEADWOOD, _LEAST = map(
    [*_SCALES].index, ("knock_limit", "deadwood", "best_deadwood_after")
)
_READ = torch.tensor(
    [len(_PLANES) * NUM_CARDS + _COUNTS.index(name) for name in _SCALES] + [OBSERVATION_SIZE - 1]
)
_UNITS = torch.tensor([*_SCALES.values(), 4.0])
_NUMBERS = len(_UNITS)
NUM_INPUTS = NUM_PLANES * NUM_CARDS + _PHASES + _NUMBERS

# The chance that a card is there to be melded with, as `scripted.Style` has it for its bots.
_LIVE, _MELDED = 0.2, 0.2
_CHANCE_UNIT = 80.0  # bytes to one expected meld; three and more are one value
_NEAR_GIN = 10  # gin is a draw away with at most so much deadwood: one loose card is worth 10


def observe(
    view: View, live_outs: bool = True, canonical_suits: bool = True
) -> tuple[Tensor, Tensor, npt.NDArray[np.intp]]:
    """What the network sees of B positions.

    Args:
        view: B positions.
        live_outs: whether to work out live outs; zeros stand there otherwise.
        canonical_suits: whether to order the suits by the own holding.

    Returns:
        ``(B, 738)`` uint8, the observation; ``(B, 108)`` bool, the legal actions, both with the
        suits in that order; ``(B, 4)`` intp, the real suit that stands at each place.
    """
    reordered, suits = canonical(view) if canonical_suits else as_dealt(view)
    observation = np.empty((len(view), OBSERVATION_SIZE), dtype=np.uint8)
    encode(reordered, "full", out=observation[:, :_BASE])
    if live_outs:
        _work_out(reordered, observation[:, _BASE:])
    else:
        observation[:, _BASE:] = 0
    return torch.from_numpy(observation), torch.from_numpy(reordered.action_mask), suits


def _work_out(view: View, out: npt.NDArray[np.uint8]) -> None:
    """Melds to be expected of each card, own and the opponent's, and gin outs, ``(B, 105)``."""
    in_sets, in_runs = view.melded
    loose = view.hand & ~(in_sets | in_runs)
    there = worked_out.plane(view.hand ^ loose, _MELDED)
    there += worked_out.plane(loose)
    there += worked_out.plane(view.unseen, _LIVE)
    his = worked_out.opponent_holds(view)
    for first, chances in ((0, there), (NUM_CARDS, his)):
        melds = worked_out.by_card(worked_out.meld_chances(chances))
        melds *= np.float32(_CHANCE_UNIT)
        np.minimum(melds, 255, out=melds)
        out[:, first : first + NUM_CARDS] = melds
    out[:, -1] = 0
    discarding = view.phase == Phase.DISCARD
    after = view.deadwood_after
    least = np.where(discarding, after.min(axis=1, initial=NOT_HELD), view.deadwood)
    near = np.flatnonzero((least > 0) & (least <= _NEAR_GIN))
    if near.size:
        thrown = np.where(discarding[near], after[near].argmin(axis=1), cards.NO_CARD)
        waiting = view.hand[near] & ~cards.bit_of(thrown.astype(np.int8))
        out[near, -1] = worked_out.gin_outs(waiting, view.unseen[near])


def features(observation: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The observation as small numbers, planes first.

    The deadwood left after each discard becomes three planes: scaled, above its minimum, and
    whether it allows a knock.

    Args:
        observation: ``(B, 738)`` uint8 of `observe`.
        dtype: of the result.

    Returns:
        ``(B, 16 * 52 + 11)``: 16 planes by card, then the phase one-hot and seven numbers.
    """
    seen, end = _SEEN_PLANES * NUM_CARDS, len(_PLANES) * NUM_CARDS
    device = observation.device
    after = observation[:, seen:end].float()
    held = after != NOT_HELD
    numbers = observation.index_select(1, _READ.to(device)).float()
    limit, deadwood, least = (numbers[:, place, None] for place in (_LIMIT, _DEADWOOD, _LEAST))
    inputs = torch.empty(observation.shape[0], NUM_INPUTS, dtype=dtype, device=device)
    inputs[:, :seen] = observation[:, :seen]
    inputs[:, seen:end] = after * held / 50
    inputs[:, end : end + NUM_CARDS] = (after - least) * held / 20
    inputs[:, end + NUM_CARDS : end + 2 * NUM_CARDS] = after <= limit
    chances = observation[:, _BASE : _BASE + 2 * NUM_CARDS] / _CHANCE_UNIT
    inputs[:, end + 2 * NUM_CARDS : end + 4 * NUM_CARDS] = chances
    phase = observation[:, end + _COUNTS.index("phase"), None].clamp(max=_PHASES - 1)
    inputs[:, end + 4 * NUM_CARDS : -_NUMBERS] = phase == torch.arange(_PHASES, device=device)
    numbers[:, _LEAST, None] = torch.where(least == NOT_HELD, deadwood, least)
    inputs[:, -_NUMBERS:] = numbers / _UNITS.to(device)
    return inputs
