"""The policy and value network, and the policy that plays it.

Letters: B decisions; C = 14 planes of 52 cards.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from agents.symmetry import canonical, restore
from ginenv.cards import NUM_CARDS
from ginenv.rules import KNOCK, NUM_ACTIONS, Phase
from ginenv.view import NOT_HELD, OBSERVATIONS, View, encode, observation_size

OBSERVATION = "full"
OBSERVATION_SIZE = observation_size(OBSERVATION)

_PLANES, _COUNTS = OBSERVATIONS[OBSERVATION]
_SEEN_PLANES = len(_PLANES) - 1  # all but the last, `deadwood_after`
NUM_PLANES = _SEEN_PLANES + 3
_PHASES = len(Phase) - 1  # nobody decides when the hand is over
_NUMBERS = 6
NUM_INPUTS = NUM_PLANES * NUM_CARDS + _PHASES + _NUMBERS


@dataclass(frozen=True)
class NetworkConfig:
    """What rebuilds a network's shape."""

    hidden_size: int = 256
    hidden_layers: int = 2


class Network(nn.Module):
    """A perceptron over the whole observation, and a linear rule for each card.

    Each card's logits, to discard it and to knock with it, also get one learned linear function of
    that card's own planes, the same for all 52 cards: what deadwood a discard leaves bears on that
    discard directly.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        sizes = [NUM_INPUTS] + [config.hidden_size] * config.hidden_layers
        layers: list[nn.Module] = []
        for before, after in itertools.pairwise(sizes):
            layers += [_orthogonal(nn.Linear(before, after), 2**0.5), nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        self.policy = _orthogonal(nn.Linear(sizes[-1], NUM_ACTIONS), 0.01)
        self.value = _orthogonal(nn.Linear(sizes[-1], 1), 1.0)
        self.card_rule = nn.Parameter(torch.zeros(NUM_PLANES, 2))

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities of the actions, and the value.

        Args:
            observation: ``(B, 633)`` uint8, `ginenv.view.encode`'s "full" observation.
            mask: ``(B, 108)`` bool, the legal actions.

        Returns:
            ``(B, 108)`` float32, minus infinity for illegal actions: their probability is exactly
            zero.  ``(B,)`` float32, the points to come in the reward's unit.
        """
        inputs = features(observation, _matmul_dtype(observation.device))
        planes = inputs[:, : NUM_PLANES * NUM_CARDS].view(-1, NUM_PLANES, NUM_CARDS)
        hidden = self.trunk(inputs)
        by_card = torch.matmul(self.card_rule.T, planes).flatten(1)
        logits = self.policy(hidden).float()
        logits[:, : 2 * KNOCK] += by_card
        logits = logits.masked_fill(~mask, -torch.inf)
        return logits.log_softmax(dim=1), self.value(hidden).float().squeeze(1)


def features(observation: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The observation as small numbers, planes first.

    The deadwood left after each discard becomes three planes: scaled, above its minimum, and
    whether it allows a knock.

    Args:
        observation: ``(B, 633)`` uint8.
        dtype: of the result.

    Returns:
        ``(B, 14 * 52 + 10)``: 14 planes by card, then the phase one-hot and six numbers.
    """
    seen, end = _SEEN_PLANES * NUM_CARDS, len(_PLANES) * NUM_CARDS
    counts = dict(zip(_COUNTS, observation[:, end:].float().unbind(1), strict=True))
    after = observation[:, seen:end].float()
    held = after != NOT_HELD
    least = counts["best_deadwood_after"]
    phase = nn.functional.one_hot(counts["phase"].long().clamp(max=_PHASES - 1), _PHASES)
    inputs = torch.empty(len(observation), NUM_INPUTS, dtype=dtype, device=observation.device)
    inputs[:, :seen] = observation[:, :seen]
    inputs[:, seen:end] = after * held / 50
    inputs[:, end : end + NUM_CARDS] = (after - least[:, None]) * held / 20
    inputs[:, end + NUM_CARDS : end + 2 * NUM_CARDS] = after <= counts["knock_limit"][:, None]
    inputs[:, end + 2 * NUM_CARDS : -_NUMBERS] = phase
    inputs[:, -_NUMBERS:] = torch.stack(
        [
            counts["stock_size"] / 31,
            counts["turn"] / 30,
            counts["is_dealer"],
            counts["knock_limit"] / 10,
            counts["deadwood"] / 50,
            torch.where(least == NOT_HELD, counts["deadwood"], least) / 50,
        ],
        dim=1,
    )
    return inputs


def _matmul_dtype(device: torch.device) -> torch.dtype:
    if torch.is_autocast_enabled(device.type):
        return torch.get_autocast_dtype(device.type)
    return torch.float32


def _orthogonal(layer: nn.Linear, gain: float) -> nn.Linear:
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


@contextlib.contextmanager
def matmul_precision(precision: str, device: torch.device) -> Iterator[None]:
    """Matrix products in ``"float32"`` or ``"bfloat16"``; weights and sums stay float32."""
    with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16"):
        yield


def observe(view: View) -> tuple[Tensor, Tensor, npt.NDArray[np.intp]]:
    """What the network sees of N positions: ``(N, 633)`` uint8, ``(N, 108)`` bool, the suits."""
    reordered, suits = canonical(view)
    observation = torch.from_numpy(encode(reordered, OBSERVATION))
    return observation, torch.from_numpy(reordered.action_mask), suits


def sample(log_probs: Tensor, uniform: Tensor) -> Tensor:
    """Draw an action from each row.

    The uniform number falls into one action's stretch of the cumulative distribution; an action of
    probability zero has a stretch of no length.

    Args:
        log_probs: ``(B, 108)``.
        uniform: ``(B,)`` in [0, 1).

    Returns:
        ``(B,)`` int64.
    """
    cumulative = log_probs.exp().cumsum(dim=1)
    total = cumulative[:, -1:]
    below_total = torch.nextafter(total, torch.zeros_like(total))
    drawn = torch.minimum(uniform[:, None] * total, below_total)
    return (cumulative <= drawn).sum(dim=1)


class LearnedPolicy:
    """A network as a player: argmax, or sampling from its distribution.

    Attributes:
        points_scale: how many points a unit of its value is worth; None where that is not known.
    """

    def __init__(
        self,
        network: Network,
        sampled: bool = False,
        precision: str = "float32",
        points_scale: float | None = None,
    ) -> None:
        self.network = network.eval()
        self.sampled = sampled
        self.precision = precision
        self.points_scale = points_scale

    def sampling(self, sampled: bool = True) -> LearnedPolicy:
        """The same network that samples its actions, or plays the likeliest."""
        return LearnedPolicy(self.network, sampled, self.precision, self.points_scale)

    def __call__(self, view: View, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """The actions, ``(N,)`` int64."""
        observation, mask, suits = observe(view)
        log_probs, _ = self._forward(observation, mask)
        if self.sampled:
            uniform = torch.from_numpy(rng.random(len(log_probs), dtype=np.float32))
            chosen = sample(log_probs, uniform).numpy()
        else:
            chosen = log_probs.argmax(dim=1).numpy()
        return restore(chosen, suits)

    def explain(self, view: View) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """The probability of each action and the value.

        Returns:
            ``(N, 108)`` float32; ``(N,)`` float32, expected points in units of ``points_scale``.
        """
        observation, mask, suits = observe(view)
        log_probs, value = self._forward(observation, mask)
        actions = np.arange(NUM_ACTIONS)
        probabilities = np.empty(tuple(log_probs.shape), dtype=np.float32)
        for row, order in enumerate(suits):
            real = restore(actions, np.broadcast_to(order, (NUM_ACTIONS, 4)))
            probabilities[row, real] = log_probs[row].exp().numpy()
        return probabilities, value.numpy()

    def _forward(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        device = self.network.card_rule.device
        with torch.inference_mode(), matmul_precision(self.precision, device):
            log_probs, value = self.network(observation.to(device), mask.to(device))
        return log_probs.cpu(), value.cpu()
