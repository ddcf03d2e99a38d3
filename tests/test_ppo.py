"""Updates, and the entropy in them, each against something slow and obvious."""

import copy

import numpy as np
import pytest
import scipy.stats
import torch

from agents.config import Config
from agents.ppo import gae, masked_entropy, update
from tests.rollouts import started

# Entropy


def test_masked_entropy_is_that_of_the_legal_actions():
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=2, size=(200, 108)).astype(np.float32)
    mask = rng.random((200, 108)) < rng.random((200, 1))
    mask[np.arange(200), rng.integers(108, size=200)] = True
    log_probs = torch.tensor(np.where(mask, logits, -np.inf)).log_softmax(dim=1)
    found = masked_entropy(log_probs)
    expected = [
        scipy.stats.entropy(np.exp(row[legal])) for row, legal in zip(logits, mask, strict=True)
    ]
    assert np.allclose(found, expected, atol=1e-4)


def test_masked_entropy_of_even_and_of_certain_choices():
    mask = torch.zeros(3, 108, dtype=torch.bool)
    mask[0, :7] = True
    mask[1:, :2] = True
    logits = torch.zeros(3, 108)
    logits[2, 0] = 500  # the other legal action underflows
    log_probs = logits.masked_fill(~mask, -torch.inf).log_softmax(dim=1)
    assert masked_entropy(log_probs).tolist() == pytest.approx([np.log(7), np.log(2), 0])


def test_the_gradient_of_the_entropy_is_finite_and_moves_legal_logits_only():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(20, 108, generator=generator, dtype=torch.float64)
    logits[0, 0] = 900
    mask = torch.rand(20, 108, generator=generator) < 0.2
    mask[:, :2] = True

    def total(legal_logits):
        filled = torch.zeros_like(logits).masked_scatter(mask, legal_logits)
        log_probs = filled.masked_fill(~mask, -torch.inf).log_softmax(dim=1)
        return masked_entropy(log_probs).sum()

    legal = logits[mask].requires_grad_()
    assert torch.autograd.gradcheck(total, legal)
    leaf = logits.clone().requires_grad_()
    log_probs = leaf.masked_fill(~mask, -torch.inf).log_softmax(dim=1)
    masked_entropy(log_probs).sum().backward()
    assert torch.isfinite(leaf.grad).all()
    assert (leaf.grad[~mask] == 0).all() and leaf.grad[mask].any()


# Updates


def update_once(training, **changes):
    config = Config(**{**vars(training.config), **changes})
    return update(
        training.network,
        training.critic,
        training.optimizer,
        training.buffer,
        config,
        config.ent_coef,
        training.generator,
    )


def weights_of(network):
    return {name: x.clone() for name, x in network.state_dict().items()}


def same_weights(network, weights):
    return all(torch.equal(x, weights[name]) for name, x in network.state_dict().items())


def played(**changes):
    """A run that has played one rollout and learned nothing from it yet."""
    training = started(**{"num_games": 32, "num_steps": 32, **changes})
    training.play()
    return training


@pytest.mark.parametrize(("precision", "rounding"), [("float32", 1e-5), ("bfloat16", 0.02)])
def test_the_first_minibatch_finds_the_policy_that_played(precision, rounding):
    """Its ratio is 1, so that nothing is clipped and the divergence is 0, up to rounding."""
    training = played(precision=precision, hidden_size=64)
    everything = 32 * 32
    losses = update_once(training, minibatch_size=everything, update_epochs=1)
    assert losses["clipfrac"] == 0
    assert abs(losses["approx_kl"]) <= rounding**2
    buffer = training.buffer
    advantage, settled = gae(buffer.value, buffer.seat, buffer.done, buffer.reward, 1.0, 0.95)
    assert losses["policy_loss"] == pytest.approx(0, abs=rounding), "a mean of normed advantages"
    chosen = (buffer.learns & settled).flatten()
    entropy_before = losses["entropy"]
    assert 0 < entropy_before < np.log(108)
    target = (advantage + buffer.value).flatten()[chosen]
    error = target - buffer.value.flatten()[chosen]
    assert losses["critic_loss"] == pytest.approx(float(error.square().mean() / 2), rel=0.02)
    explained = 1 - error.var() / target.var()
    assert losses["explained_variance"] == pytest.approx(float(explained), abs=1e-5)


@pytest.mark.parametrize("epochs", [1, 3])
def test_every_settled_decision_of_the_learner_is_seen_once_an_epoch_and_no_other(epochs):
    training = played(minibatch_size=100)
    buffer = training.buffer
    assert not buffer.learns.all()
    number = torch.arange(32 * 32).view(32, 32)
    for place in range(2):  # write each row's number into its observation
        buffer.observation[:, :, place] = (number >> (8 * place)) & 255
    _, settled = gae(buffer.value, buffer.seat, buffer.done, buffer.reward, 1.0, 0.95)
    seen = []

    inputs = training.network.inputs

    def note(observation):
        first, second = observation[:, :2].long().unbind(1)
        seen.append((first + 256 * second).tolist())
        return inputs(observation)

    training.network.inputs = note
    update_once(training, update_epochs=epochs)
    wanted = number[buffer.learns & settled].tolist()
    per_epoch = len(seen) // epochs
    orders = []
    for epoch in range(epochs):
        batches = seen[epoch * per_epoch : (epoch + 1) * per_epoch]
        assert all(100 <= len(batch) < 200 for batch in batches)
        orders.append([row for batch in batches for row in batch])
        assert sorted(orders[-1]) == wanted
        assert orders[-1] != wanted, "shuffled"
    assert len(set(map(tuple, orders))) == epochs, "anew in each epoch"


def test_opponents_decisions_teach_nothing():
    """Whatever stands in their rows: the same weights come out, bit for bit."""
    training = played(opponent_share=0.5, past_self_share=0.5)
    poisoned = copy.deepcopy(training)
    buffer, others = poisoned.buffer, ~poisoned.buffer.learns
    assert 100 < others.sum() < 900
    buffer.observation[others] = 99
    buffer.hidden[others] = 99
    buffer.mask[others] = True
    buffer.action[others] = 107
    buffer.log_prob[others] = torch.nan
    buffer.value[others] = 1e6
    before = weights_of(training.network)
    assert update_once(training) == update_once(poisoned)
    assert same_weights(poisoned.network, weights_of(training.network))
    assert not same_weights(training.network, before)


def test_the_opponents_points_reach_the_learner_all_the_same():
    """The hands that an opponent ends are rewarded like any others."""
    training = played(opponent_share=1.0, past_self_share=0.0)
    buffer = training.buffer
    ended_by_opponent = buffer.done & ~buffer.learns & buffer.reward.any(dim=2)
    assert ended_by_opponent.any()
    advantage, _ = gae(
        *(torch.zeros_like(buffer.value), buffer.seat, buffer.done), *(buffer.reward, 1.0, 1.0)
    )
    for t, game in ended_by_opponent.nonzero().tolist():
        learner = 1 - int(buffer.seat[t, game])
        earlier = [x for x in range(t) if buffer.seat[x, game] == learner]
        if earlier and not buffer.done[earlier[-1] : t, game].any():
            assert buffer.learns[earlier[-1], game]
            assert advantage[earlier[-1], game] == buffer.reward[t, game, learner]


@pytest.mark.parametrize("direction", ["clipped", "free"])
def test_a_policy_far_enough_off_in_the_right_direction_is_left_alone(direction):
    """Ratio 2 where the advantage is good and 1/2 where it is bad: there is no gradient."""
    training = played(minibatch_size=1024, vf_coef=0.0, ent_coef=0.0, final_ent_coef=0.0)
    buffer = training.buffer
    advantage, settled = gae(buffer.value, buffer.seat, buffer.done, buffer.reward, 1.0, 0.95)
    mean = advantage[buffer.learns & settled].mean()
    sign = torch.where(advantage > mean, 1.0, -1.0) * (1 if direction == "clipped" else -1)
    buffer.log_prob -= sign * np.log(2)
    before = weights_of(training.network)
    losses = update_once(training)
    assert losses["clipfrac"] == 1
    assert (losses["grad_norm"] == 0) == (direction == "clipped")
    assert same_weights(training.network, before) == (direction == "clipped")


def test_entropy_alone_makes_the_choices_even():
    training = played(num_games=16, num_steps=16, vf_coef=0.0, ent_coef=1.0)
    training.buffer.reward.zero_()
    training.buffer.value.zero_()
    entropies = [update_once(training)["entropy"] for _ in range(12)]
    assert entropies == sorted(entropies)
    assert entropies[-1] > entropies[0] + 0.05


@pytest.mark.parametrize("where", ["reward", "log_prob"])
def test_a_loss_that_is_no_number_stops_before_the_weights_change(where):
    training = played(minibatch_size=1024)
    before = weights_of(training.network)
    learned = training.buffer.done & training.buffer.learns
    getattr(training.buffer, where)[learned] = torch.nan
    with pytest.raises(FloatingPointError, match="loss nan"):
        update_once(training)
    assert same_weights(training.network, before)


@pytest.mark.parametrize("learns", [0, 1])
def test_a_rollout_with_nothing_to_learn_from_changes_nothing(learns):
    training = played()
    training.buffer.learns.fill_(False)
    training.buffer.learns[0, :learns] = True
    before = weights_of(training.network)
    assert update_once(training) == {}
    assert same_weights(training.network, before)


def test_a_rollout_without_a_single_decision_of_the_learner():
    """Both games wait for an opponent now and then; the learner's batch is empty then."""
    training = started(num_games=2, num_steps=32, opponent_share=1.0, past_self_share=0.0)
    training.play()
    assert (~training.buffer.learns.any(dim=1)).any()
    assert update_once(training)["entropy"] > 0
