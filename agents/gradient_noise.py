"""How much of a policy gradient is signal, by ``gae_lambda``: ``python -m agents.gradient_noise``.

A run's policy plays rollout after rollout with its weights as they are, and each rollout gives a
gradient for every lambda.  Rollouts are independent, so products of different ones tell the mean
gradient's squared length without bias: the *signal*.  What is left of the mean squared length is
*noise*.  A lower lambda trusts the critic more: less noise, and less signal where the critic is
wrong.  The best has the smallest noise scale: the decisions after which both are equal.

Letters: L lambdas, P weights, R rollouts.

Source: the gradient noise scale, McCandlish et al. 2018 (arXiv:1812.06162).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table
from torch import Tensor

from agents import checkpoint
from agents.config import Config
from agents.network import matmul_precision
from agents.ppo import gae
from agents.training import Training

__all__ = ["Noise", "gradients", "main"]

LAMBDAS = (1.0, 0.95, 0.9, 0.8, 0.6, 0.0)
_WARM_UP = 3  # rollouts, so that hands are at all stages


class Noise:
    """Sums over R gradients for each of L lambdas, and what follows from them."""

    def __init__(self) -> None:
        self.rollouts = 0
        self._sum: Tensor = torch.zeros(())
        self._squares: Tensor = torch.zeros(())

    def add(self, gradients: Tensor) -> None:
        """Take in one rollout's gradients, ``(L, P)`` float32."""
        self.rollouts += 1
        self._sum = self._sum + gradients
        self._squares = self._squares + gradients.square().sum(dim=1).double()

    @property
    def signal(self) -> Tensor:
        """``(L,)`` float64, squared length of each lambda's mean gradient; needs R > 1."""
        pairs = self.rollouts * (self.rollouts - 1)
        return (self._sum.square().sum(dim=1).double() - self._squares) / pairs

    @property
    def noise(self) -> Tensor:
        """``(L,)`` float64, the mean squared length of what a gradient has beside the signal."""
        return self._squares / self.rollouts - self.signal


def gradients(training: Training, lambdas: Sequence[float]) -> Iterator[tuple[Tensor, Tensor, int]]:
    """Rollout after rollout with the weights as they are; for each, what every lambda makes of it.

    Yields:
        ``(L, P)`` float32, gradients of the mean over the rollout's settled decisions of the
        advantage, less its mean, times the action's log-probability; ``(L,)``, the advantages'
        standard deviation in the reward's unit; how many decisions there were.
    """
    buffer, config = training.buffer, training.config
    weights = list(training.network.parameters())
    device = weights[0].device
    while True:
        training.play()
        found = [
            gae(buffer.value, buffer.seat, buffer.done, buffer.reward, config.gamma, gae_lambda)
            for gae_lambda in lambdas
        ]
        chosen = (buffer.learns & found[0][1]).flatten().nonzero().squeeze(1)
        advantage = torch.stack([a.flatten()[chosen] for a, _ in found])
        centred = (advantage - advantage.mean(dim=1, keepdim=True)).to(device)
        observation, mask = (x.flatten(0, 1) for x in (buffer.observation, buffer.mask))
        action = buffer.action.flatten()
        total = torch.zeros(len(lambdas), sum(p.numel() for p in weights), device=device)
        for part in torch.arange(len(chosen)).split(config.minibatch_size):
            rows = chosen[part]
            with matmul_precision(config.precision, device):
                inputs = training.network.inputs(observation[rows].to(device))
                log_probs, _, _ = training.network.judge(inputs, mask[rows].to(device))
            log_prob = log_probs.gather(1, action[rows, None].to(device)).squeeze(1)
            for place, worth in enumerate(centred[:, part]):
                parts = torch.autograd.grad(
                    (worth * log_prob).sum() / len(chosen),
                    weights,
                    retain_graph=True,
                    allow_unused=True,  # the value's own layers
                    materialize_grads=True,
                )
                total[place] += torch.cat([p.flatten() for p in parts])
        yield total.cpu(), advantage.std(dim=1), len(chosen)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``python -m agents.gradient_noise``; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m agents.gradient_noise")
    parser.description = "How much of a run's policy gradient is signal, by gae_lambda."
    parser.add_argument("checkpoint", help="of a training run: its policy, critic and opponents")
    parser.add_argument("--rollouts", type=int, default=40, help="two or more (40)")
    parser.add_argument("--lambdas", type=float, nargs="+", default=LAMBDAS)
    options = parser.parse_args(arguments)
    if options.rollouts < 2 or not all(0 <= x <= 1 for x in options.lambdas):
        parser.error("--rollouts must be 2 or more, --lambdas must lie in 0 to 1")
    try:
        saved = checkpoint.load(options.checkpoint)
        checkpoint.require_run(saved, options.checkpoint)
        config = Config(**{**saved["config"], "init": options.checkpoint, "processes": 1})
        training = Training.start(config)
    except (KeyError, TypeError, ValueError) as error:
        parser.error(str(error))
    for _ in range(_WARM_UP):
        training.play()
    samples = gradients(training, options.lambdas)
    noise, spread, decisions = Noise(), torch.zeros(len(options.lambdas)), 0
    for _ in track(range(options.rollouts), "rollouts"):
        gradient, deviation, count = next(samples)
        noise.add(gradient)
        spread += deviation / options.rollouts
        decisions += count
    Console().print(_table(noise, options.lambdas, spread * config.points_scale, decisions))
    return 0


def _table(noise: Noise, lambdas: Sequence[float], spread: Tensor, decisions: int) -> Table:
    table = Table("gae_lambda", title=f"the policy gradient over {decisions:,} decisions")
    table.add_column("advantages' standard deviation, points", justify="right")
    table.add_column(f"noise, of that at {lambdas[0]:g}", justify="right")
    table.add_column(f"signal, of that at {lambdas[0]:g}", justify="right")
    table.add_column("decisions until both are equal", justify="right")
    signal, rest = noise.signal, noise.noise
    for place, gae_lambda in enumerate(lambdas):
        known = signal[place] > 0
        equal = rest[place] / signal[place] * decisions / noise.rollouts
        table.add_row(
            f"{gae_lambda:g}",
            f"{spread[place]:.1f}",
            f"{rest[place] / rest[0]:.2f}",
            f"{signal[place] / signal[0]:.2f}" if known and signal[0] > 0 else "",
            f"{equal:,.0f}" if known else "too few to tell",
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
