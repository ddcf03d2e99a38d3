"""Toys: three fixed positions, a hand of three decisions, and points for one of them."""

import numpy as np
import pytest
import torch

from agents.inputs import observe
from agents.network import Network, NetworkConfig
from agents.ppo import Buffer, update
from ginenv import engine
from ginenv.view import view
from tests.tiny import tiny


class Toy:
    """Seat 0 acts twice in a row, then seat 1 once, and the hand is over.

    ``points`` says what seat 0 wins for the three actions, ``(3, N)`` to ``(N,)``.
    """

    def __init__(self, points, games=256):
        self.points = points
        torch.manual_seed(0)
        self.network = Network(NetworkConfig(16, 1))
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=0.01)
        state = engine.deal(np.random.default_rng(5), 3)
        for action in (106, 106, 104):  # pass, pass, draw: now each has eleven cards to choose from
            engine.step(state, np.full(3, action))
        self.observation, self.mask, _ = observe(view(state))
        self.legal = [row.nonzero().flatten().tolist() for row in self.mask]
        self.buffer = Buffer.allocate(3, games)
        self.buffer.observation[:] = self.observation[:, None]
        self.buffer.mask[:] = self.mask[:, None]
        self.buffer.seat[:] = torch.tensor([0, 0, 1], dtype=torch.int8)[:, None]
        self.buffer.learns[:] = True
        self.buffer.done[2] = True
        self.generator = torch.Generator().manual_seed(1)
        self.config = tiny(
            num_games=games, num_steps=3, minibatch_size=3 * games, precision="float32"
        )

    def probabilities(self):
        with torch.inference_mode():
            return self.network(self.observation, self.mask)[0].exp()

    def learn(self, rounds, until=lambda probabilities: False):
        for _ in range(rounds):
            if until(self.probabilities()):
                break
            buffer, games = self.buffer, self.buffer.action.shape[1]
            with torch.inference_mode():
                log_probs, value = self.network(self.observation, self.mask)
            buffer.action[:] = torch.multinomial(
                log_probs.exp(), games, replacement=True, generator=self.generator
            )
            buffer.log_prob[:] = log_probs.gather(1, buffer.action)
            buffer.value[:] = value[:, None]
            gained = self.points(buffer.action)
            buffer.reward[2, :, 0], buffer.reward[2, :, 1] = gained, -gained
            update(self.network, None, self.optimizer, buffer, self.config, 0.0, self.generator)
        return self.probabilities()


def test_a_toy_of_two_decisions_is_learned_by_heart():
    """Seat 0 wins a point for either of its two right actions."""
    toy = Toy(lambda action: (action[0] == right[0]).float() + (action[1] == right[1]).float())
    right = [toy.legal[0][4], toy.legal[1][7]]
    before = toy.probabilities()
    assert all(before[place, right[place]] < 0.2 for place in range(2))
    after = toy.learn(120)
    assert all(after[place, right[place]] > 0.95 for place in range(2))


@pytest.mark.parametrize("decision", [0, 1, 2])
def test_credit_goes_to_the_seat_and_the_decision_that_earned_it(decision):
    """One decision alone decides; whoever makes it learns it, and nobody else learns a thing.

    Seat 1's decision (the last) costs it a point: it learns to avoid what seat 0 would like.
    """
    toy = Toy(lambda action: (action[decision] == right).float())
    right = toy.legal[decision][3]
    before = toy.probabilities()
    wanted = 0.9 if decision < 2 else 0.01

    def learned(now):
        return now[decision, right] > wanted if decision < 2 else now[decision, right] < wanted

    after = toy.learn(100, until=learned)
    assert learned(after)
    for other in {0, 1, 2} - {decision}:
        moved = (after[other] - before[other]).abs().max()
        assert moved < 0.25, "but for noise, and the weights that all positions share"
