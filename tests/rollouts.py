"""Runs that can play already, and one rollout of each."""

import torch

from agents import ppo
from agents.training import Training
from tests.tiny import tiny


def started(**changes):
    """A run whose network can play already: it throws what leaves least, and knocks at once."""
    training = Training.start(tiny(**changes))
    with torch.no_grad():
        training.network.card_rule[-5] = -30  # the plane of deadwood left, over 50
        training.network.policy.bias[52:104] = 3
        training.network.policy.bias[104] = 1  # rather the stock than the pile
    training.league.add_snapshot(training.network)
    return training


def play(training):
    """One rollout of a training run."""
    return ppo.rollout(
        training.state,
        training.league,
        training.network,
        training.critic,
        training.buffer,
        training.config,
        training.deal_rng,
        training.generator,
        training.watch,
    )
