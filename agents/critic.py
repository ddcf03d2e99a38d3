"""A value function that sees all cards, for training alone.

The policy decides by its own view.  What its decisions are compared with may know more: both
hands, and the order of the stock, since no action changes it.  The luck of the deal and of the
draw then cancels out of the advantages; their mean stays as it is.

Letters: B decisions.

Sources: asymmetric actor and critic, Pinto et al. 2017 (arXiv:1710.06542); baselines that know
the randomness to come, Mao et al. 2018 (arXiv:1807.02264).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from agents.inputs import NUM_INPUTS, NUM_PLANES
from agents.layers import orthogonal, perceptron
from ginenv import cards, melds
from ginenv.cards import BITBOARD, LANES, NUM_CARDS, BitboardArray
from ginenv.rules import Phase
from ginenv.state import State

# The opponent's hand; then the stock cards that I draw if nobody takes from the pile: the next, the
# one after it, two more, four more; then the same of the opponent's draws.
_DRAWS = (0, 1, 2, 4)
_LAST_DRAW = 8
_HIDDEN_PLANES = 1 + 2 * len(_DRAWS)
HIDDEN_SIZE = _HIDDEN_PLANES * NUM_CARDS + 1  # and the deadwood of the opponent's hand

# Of the policy's inputs, as stretches of columns: own hand and upcard, the card just taken, the
# three planes of deadwood left after each discard, and all numbers.
_SEEN = (
    slice(0, 2 * NUM_CARDS),
    slice(8 * NUM_CARDS, 9 * NUM_CARDS),
    slice((NUM_PLANES - 5) * NUM_CARDS, (NUM_PLANES - 2) * NUM_CARDS),
    slice(NUM_PLANES * NUM_CARDS, NUM_INPUTS),
)
_SEEN_SIZE = sum(part.stop - part.start for part in _SEEN)


def hidden_cards(state: State, games: npt.NDArray[np.intp], suits: npt.NDArray[np.intp]) -> Tensor:
    """What the players to move in some games cannot see.

    Args:
        state: N games.
        games: ``(B,)`` those in question.
        suits: ``(B, 4)`` the order of suits to tell it in, as `inputs.observe` gives it.

    Returns:
        ``(B, 469)`` uint8: nine planes of 52 cards, then the deadwood of the opponent's hand.
    """
    player, phase = state.player[games], state.phase[games]
    opponent = state.hands[games, 1 - player]
    place = state.stock_start[games, None] + np.arange(2 * _LAST_DRAW)
    card = np.take_along_axis(state.deck[games], np.minimum(place, NUM_CARDS - 1), axis=1)
    bits = np.where(place < NUM_CARDS, cards.CARD_BIT[card], np.uint64(0))
    by_drawer = np.bitwise_or.reduceat(bits.reshape(-1, _LAST_DRAW, 2), _DRAWS, axis=1)
    # After two passes the non-dealer, who passed first, draws first.
    next_is_mine = np.where(
        phase == Phase.UPCARD, player != state.dealer[games], phase != Phase.DISCARD
    )
    mine = np.where(next_is_mine[:, None], by_drawer[:, :, 0], by_drawer[:, :, 1])
    his = np.where(next_is_mine[:, None], by_drawer[:, :, 1], by_drawer[:, :, 0])
    boards = _reordered(np.concatenate([opponent[:, None], mine, his], axis=1), suits)
    hidden = np.empty((len(games), HIDDEN_SIZE), dtype=np.uint8)
    hidden[:, :-1] = cards.planes(*boards.T)
    hidden[:, -1] = melds.least_deadwood(opponent)
    return torch.from_numpy(hidden)


def opponent_hand(hidden: Tensor) -> Tensor:
    """The opponent's cards among what is hidden, ``(B, 52)`` uint8 of 0 and 1."""
    return hidden[:, :NUM_CARDS]


class Critic(nn.Module):
    """A perceptron over a position with all its cards face up."""

    def __init__(self, hidden_size: int, hidden_layers: int) -> None:
        super().__init__()
        sizes = [_SEEN_SIZE + HIDDEN_SIZE, *[hidden_size] * hidden_layers]
        self.trunk = perceptron(sizes)
        self.value = orthogonal(nn.Linear(sizes[-1], 1), 1.0)

    def forward(self, inputs: Tensor, hidden: Tensor) -> Tensor:
        """The points to come in the reward's unit, ``(B,)`` float32.

        Args:
            inputs: ``(B, 843)``, the policy's, of `inputs.features`.
            hidden: ``(B, 469)`` uint8, of `hidden_cards`.
        """
        revealed = hidden.to(inputs.dtype)
        revealed[:, -1] /= 50
        return (
            self.value(
                self.trunk(torch.cat([*(inputs[:, part] for part in _SEEN), revealed], dim=1))
            )
            .float()
            .squeeze(1)
        )


def _reordered(boards: BitboardArray, suits: npt.NDArray[np.intp]) -> BitboardArray:
    """Boards ``(B, K)`` with their suits in another order, ``(B, K)``, made contiguous by board."""
    lanes = np.ascontiguousarray(boards, dtype=BITBOARD).view(LANES).reshape(*boards.shape, 4)
    moved = np.take_along_axis(lanes, suits[:, None], axis=2)
    return np.ascontiguousarray(moved).view(BITBOARD)[..., 0]
