"""Advantages against their definition, by pencil, and over the game as it is played."""

import itertools

import numpy as np
import pytest
import torch

from agents.ppo import gae
from tests.rollouts import started


def naive_gae(value, seat, done, reward, gamma, gae_lambda):
    """By definition, one seat of one hand of one game at a time, in plain numbers."""
    steps, games = done.shape
    value, seat, reward = value.tolist(), seat.tolist(), reward.tolist()
    advantage = np.zeros((steps, games))
    settled = np.zeros((steps, games), dtype=bool)
    for game in range(games):
        ends = done[:, game].nonzero().flatten().tolist()
        starts = [0, *(end + 1 for end in ends)]
        for start, end in zip(starts, [*ends, None], strict=True):
            hand = range(start, steps if end is None else end + 1)
            for who in (0, 1):
                mine = [t for t in hand if seat[t][game] == who]
                deltas = []
                for here, after in itertools.zip_longest(mine, mine[1:]):
                    if after is not None:
                        gained = gamma * value[after][game]
                    elif end is not None:
                        gained = reward[end][game][who]
                    else:
                        break  # the rollout broke off: nothing to bootstrap from
                    deltas.append(gained - value[here][game])
                for place in range(len(deltas)):
                    weights = [(gamma * gae_lambda) ** k for k in range(len(deltas) - place)]
                    terms = zip(weights, deltas[place:], strict=True)
                    advantage[mine[place], game] = sum(w * delta for w, delta in terms)
                    settled[mine[place], game] = True
    return advantage, settled


def random_rollout(rng, steps=24, games=40, end=0.12):
    """Seats in any order at all, hands that end at any time, rewards that are not even zero-sum."""
    return (
        torch.from_numpy(rng.normal(size=(steps, games)).astype(np.float32)),
        torch.from_numpy(rng.integers(2, size=(steps, games)).astype(np.int8)),
        torch.from_numpy(rng.random((steps, games)) < end),
        torch.from_numpy(rng.normal(size=(steps, games, 2)).astype(np.float32)),
    )


@pytest.mark.parametrize("gamma", [1.0, 0.9])
@pytest.mark.parametrize("gae_lambda", [0.0, 0.95, 1.0])
@pytest.mark.parametrize("end", [0.0, 0.12, 1.0])
def test_gae_is_the_slow_sum_over_each_seats_own_decisions(gamma, gae_lambda, end):
    rollout = random_rollout(np.random.default_rng(0), end=end)
    advantage, settled = gae(*rollout, gamma, gae_lambda)
    expected, expected_settled = naive_gae(*rollout, gamma, gae_lambda)
    assert (settled.numpy() == expected_settled).all()
    assert np.allclose(advantage.numpy(), expected, atol=1e-4)
    assert settled.any() and (end == 1.0 or not settled.all())


def test_gae_over_rollouts_as_they_are_played():
    """Draw and discard, passes, knocks and void hands: the order of seats in the real game."""
    training = started(num_games=16, num_steps=64)
    training.play()
    buffer = training.buffer
    assert buffer.done.sum() > 5
    rollout = (buffer.value, buffer.seat, buffer.done, buffer.reward)
    advantage, settled = gae(*rollout, 1.0, 0.95)
    expected, expected_settled = naive_gae(*rollout, 1.0, 0.95)
    assert (settled.numpy() == expected_settled).all()
    assert np.allclose(advantage.numpy(), expected, atol=1e-4)


def test_a_hand_by_hand():
    """North draws and throws, South draws and knocks with a score of 12: by pencil.

    ::

        t   who     value   next own value, or points   delta
        0   North     1      2 (at t = 1)                 1
        1   North     2    -12                          -14
        2   South    -3     -1 (at t = 3)                 2
        3   South    -1     12                           13
    """
    value = torch.tensor([[1.0], [2.0], [-3.0], [-1.0]])
    seat = torch.tensor([[0], [0], [1], [1]], dtype=torch.int8)
    done = torch.tensor([[False], [False], [False], [True]])
    reward = torch.zeros(4, 1, 2)
    reward[3, 0] = torch.tensor([-12.0, 12.0])
    one_step, settled = gae(value, seat, done, reward, 1.0, 0.0)
    assert one_step.squeeze().tolist() == [1, -14, 2, 13]
    to_the_end, _ = gae(value, seat, done, reward, 1.0, 1.0)
    assert to_the_end.squeeze().tolist() == [-13, -14, 15, 13]
    half, _ = gae(value, seat, done, reward, 1.0, 0.5)
    assert half.squeeze().tolist() == [-6, -14, 8.5, 13]
    assert settled.all()


def test_a_rollout_that_breaks_off_leaves_each_seats_last_decision_open():
    """What came after would change nothing that was settled before."""
    rng = np.random.default_rng(1)
    value, seat, done, reward = random_rollout(rng)
    full, full_settled = gae(value, seat, done, reward, 1.0, 0.0)
    part, settled = gae(value[:10], seat[:10], done[:10], reward[:10], 1.0, 0.0)
    assert torch.equal(part[settled], full[:10][settled])
    assert full_settled[:10][settled].all()
    assert (part[~settled] == 0).all()
    for game in range(value.shape[1]):
        last_end = max([-1, *done[:10, game].nonzero().flatten().tolist()])
        open_ones = [t for t in range(10) if not settled[t, game]]
        assert all(t > last_end for t in open_ones)
        assert len({int(seat[t, game]) for t in open_ones}) == len(open_ones) <= 2


def test_the_rewards_of_unfinished_hands_are_not_read():
    value, seat, done, reward = random_rollout(np.random.default_rng(2))
    poisoned = torch.where(done[:, :, None], reward, torch.full((), torch.nan))
    for wanted, found in zip(
        gae(value, seat, done, reward, 1.0, 0.9),
        gae(value, seat, done, poisoned, 1.0, 0.9),
        strict=True,
    ):
        assert torch.equal(wanted, found)
