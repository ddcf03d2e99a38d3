"""The policy and value network, and the policy that plays it.

Letters: B decisions; C = 16 planes of 52 cards.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from agents.inputs import NUM_INPUTS, NUM_PLANES, features, observe
from agents.layers import orthogonal, perceptron
from agents.symmetry import restore
from ginenv.cards import NUM_CARDS
from ginenv.rules import KNOCK, NUM_ACTIONS
from ginenv.view import View


@dataclass(frozen=True)
class NetworkConfig:
    """What rebuilds a network's shape.

    Attributes:
        hidden_size: units of each layer.
        hidden_layers: how many.
        live_outs: whether it is shown live outs, see `inputs.observe`.
        canonical_suits: whether it is shown the suits in the order of the own holding.
        contextual_rule: whether the rule for each card depends on the position.
        belief: whether it also guesses the opponent's hand.
    """

    hidden_size: int = 256
    hidden_layers: int = 2
    live_outs: bool = True
    canonical_suits: bool = True
    contextual_rule: bool = True
    belief: bool = False


class Outputs(NamedTuple):
    """What a network says of B positions.

    Attributes:
        log_probs: ``(B, 108)`` float32, minus infinity for illegal actions: their probability is
            exactly zero.
        value: ``(B,)`` float32, the points to come in the reward's unit.
        belief: ``(B, 52)`` float32, log-odds that the opponent holds each card; None without it.
    """

    log_probs: Tensor
    value: Tensor
    belief: Tensor | None


class Network(nn.Module):
    """A perceptron over the whole observation, and a linear rule for each card.

    Each card's logits, to discard it and to knock with it, also get a linear function of that
    card's own planes, the same for all 52 cards: what deadwood a discard leaves bears on that
    discard directly.  The function's weights are learned, and the perceptron may shift them by the
    position: what a card is worth fades with the turns.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        sizes = [NUM_INPUTS] + [config.hidden_size] * config.hidden_layers
        self.trunk = perceptron(sizes)
        self.policy = orthogonal(nn.Linear(sizes[-1], NUM_ACTIONS), 0.01)
        self.value = orthogonal(nn.Linear(sizes[-1], 1), 1.0)
        self.card_rule = nn.Parameter(torch.zeros(NUM_PLANES, 2))
        self.rule_shift: nn.Linear | None = None
        if config.contextual_rule:
            self.rule_shift = orthogonal(nn.Linear(sizes[-1], 2 * NUM_PLANES), 0.01)
        self.belief: nn.Linear | None = None
        if config.belief:
            self.belief = orthogonal(nn.Linear(sizes[-1], NUM_CARDS), 0.01)

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities of the actions, ``(B, 108)``, and the value, ``(B,)``: see `Outputs`.

        Args:
            observation: ``(B, 738)`` uint8, of `inputs.observe`.
            mask: ``(B, 108)`` bool, the legal actions.
        """
        said = self.judge(self.inputs(observation), mask)
        return said.log_probs, said.value

    def observe(self, view: View) -> tuple[Tensor, Tensor, npt.NDArray[np.intp]]:
        """What it is shown of B positions, their legal actions and suits: see `inputs.observe`."""
        return observe(view, self.config.live_outs, self.config.canonical_suits)

    def inputs(self, observation: Tensor) -> Tensor:
        """The observation as numbers, in the precision of the matrix products."""
        return features(observation, _matmul_dtype(observation.device))

    def judge(self, inputs: Tensor, mask: Tensor) -> Outputs:
        """All that the network says of positions, given as `inputs`."""
        planes = inputs[:, : NUM_PLANES * NUM_CARDS].view(-1, NUM_PLANES, NUM_CARDS)
        hidden = self.trunk(inputs)
        if self.rule_shift is None:
            by_card = torch.matmul(self.card_rule.T, planes)
        else:
            rule = self.rule_shift(hidden).view(-1, 2, NUM_PLANES) + self.card_rule.T
            by_card = torch.bmm(rule.to(planes.dtype), planes)
        logits = self.policy(hidden).float()
        logits[:, : 2 * KNOCK] += by_card.flatten(1)
        logits = logits.masked_fill(~mask, -torch.inf)
        return Outputs(
            logits.log_softmax(dim=1),
            self.value(hidden).float().squeeze(1),
            None if self.belief is None else self.belief(hidden).float(),
        )


def _matmul_dtype(device: torch.device) -> torch.dtype:
    if torch.is_autocast_enabled(device.type):
        return torch.get_autocast_dtype(device.type)
    return torch.float32


@contextlib.contextmanager
def matmul_precision(precision: str, device: torch.device) -> Iterator[None]:
    """Matrix products in ``"float32"`` or ``"bfloat16"``; weights and sums stay float32."""
    with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16"):
        yield


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
    cumulative = log_probs.softmax(dim=1).cumsum(dim=1)
    total = cumulative[:, -1:]
    below_total = torch.nextafter(total, torch.zeros_like(total))
    drawn = torch.minimum(uniform[:, None] * total, below_total)
    chosen = (cumulative <= drawn).sum(dim=1)
    if log_probs.device.type == "cpu":
        return chosen
    # A sum made in parallel may shrink from one place to the next by a rounding, and an action of
    # probability zero then has a stretch after all.
    chosen = chosen.clamp(max=log_probs.shape[1] - 1)
    possible = log_probs.gather(1, chosen[:, None]).squeeze(1).isfinite()
    return torch.where(possible, chosen, log_probs.argmax(dim=1))


_FEW_ROWS = 16  # to round the weights costs more than it saves on so few decisions


class LearnedPolicy:
    """A network as a player: argmax, or sampling from its distribution.

    A few decisions at a time are always worked out in float32.

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
        observation, mask, suits = self.network.observe(view)
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
        observation, mask, suits = self.network.observe(view)
        log_probs, value = self._forward(observation, mask)
        actions = np.arange(NUM_ACTIONS)
        probabilities = np.empty(tuple(log_probs.shape), dtype=np.float32)
        for row, order in enumerate(suits):
            real = restore(actions, np.broadcast_to(order, (NUM_ACTIONS, 4)))
            probabilities[row, real] = log_probs[row].exp().numpy()
        return probabilities, value.numpy()

    def _forward(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        device = self.network.card_rule.device
        precision = self.precision if len(mask) > _FEW_ROWS else "float32"
        with torch.inference_mode(), matmul_precision(precision, device):
            log_probs, value = self.network(observation.to(device), mask.to(device))
        return log_probs.cpu(), value.cpu()
