"""The network: illegal actions have probability exactly zero, whatever the weights say."""

import copy

import numpy as np
import pytest
import scipy.stats
import torch

from agents.inputs import NUM_PLANES, features, observe
from agents.network import LearnedPolicy, Network, NetworkConfig, matmul_precision, sample
from ginenv import engine
from ginenv.rules import Phase
from ginenv.view import view
from tests.positions import positions

CPU = torch.device("cpu")
PRECISIONS = ["float32", "bfloat16"]


def network(scale=0.3, seed=0, hidden_size=24):
    """A network whose weights are normal numbers of this scale."""
    made = Network(NetworkConfig(hidden_size, 1))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weights in made.parameters():
            weights.copy_(scale * torch.randn(weights.shape, generator=generator))
    return made


def outputs(net, observation, mask, precision="float32"):
    with torch.inference_mode(), matmul_precision(precision, CPU):
        return net(observation, mask)


# Probabilities


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("scale", [0.0, 0.01, 1.0, 1e2, 1e5])
def test_illegal_actions_have_probability_exactly_zero(scale, precision):
    """At 1e5 the logits are so far apart that most legal actions underflow as well."""
    observation, mask, _ = observe(positions())
    log_probs, value = outputs(network(scale), observation, mask, precision)
    assert log_probs.dtype == value.dtype == torch.float32
    probabilities = log_probs.exp()
    assert (probabilities[~mask] == 0).all()
    assert (log_probs[~mask] == -torch.inf).all()
    assert torch.isfinite(log_probs[mask]).all()
    assert torch.allclose(probabilities.sum(dim=1), torch.ones(()), atol=1e-5)
    if scale:
        assert log_probs[mask].min() < -scale / 10, "the weights have some say"


@pytest.mark.parametrize("precision", PRECISIONS)
def test_an_action_alone_is_certain(precision):
    """After two passes the first player must draw from the stock: no matter what, log 1 = 0."""
    state = engine.deal(np.random.default_rng(0), 8)
    for _ in range(2):
        engine.step(state, np.full(8, 106))
    assert (state.phase == Phase.FORCED_DRAW).all()
    observation, mask, _ = observe(view(state))
    log_probs, _ = outputs(network(50.0), observation, mask, precision)
    assert (log_probs[:, 104] == 0).all()


def test_the_distribution_over_the_legal_actions_is_the_softmax_of_their_logits_alone():
    """What the logits of illegal actions are makes no difference, by one bit."""
    observation, mask, _ = observe(positions())
    net = network()
    before, _ = outputs(net, observation, mask)
    louder = copy.deepcopy(net)
    discarding = mask[:, :52].any(dim=1)
    with torch.no_grad():
        louder.policy.bias[104:107] += 20.0  # draw, take, pass: none is legal in a discard phase
    after, _ = outputs(louder, observation, mask)
    assert discarding.sum() > 50
    assert torch.equal(before[discarding], after[discarding])
    assert not torch.equal(before, after)


def test_a_new_network_has_no_opinion_yet():
    """Close to even over the legal actions: what it explores at first is anything."""
    torch.manual_seed(0)
    observation, mask, _ = observe(positions())
    log_probs, _ = outputs(Network(NetworkConfig()), observation, mask)
    even = -mask.sum(dim=1, keepdim=True).log().expand_as(log_probs)
    assert (log_probs - even)[mask].abs().max() < 0.2


def test_bfloat16_is_close_to_float32():
    observation, mask, _ = observe(positions())
    net = network(0.05)
    exact, _ = outputs(net, observation, mask, "float32")
    rough, _ = outputs(net, observation, mask, "bfloat16")
    error = (exact.exp() - rough.exp()).abs().max()
    assert 0 < error < 0.02


# Sampling


def test_sampling_hits_each_action_as_often_as_it_should():
    """A chi-square test that errs once in 10,000 runs, had it another seed."""
    weights = torch.tensor([0.0, 5.0, 0.0, 1.0, 3.0, 0.0, 0.0, 1.0, 0.0])
    n = 20_000
    log_probs = (weights / weights.sum()).log().expand(n, -1)
    uniform = torch.rand(n, generator=torch.Generator().manual_seed(0))
    counts = torch.bincount(sample(log_probs, uniform), minlength=len(weights)).numpy()
    assert (counts[weights.numpy() == 0] == 0).all()
    legal = weights.numpy() > 0
    expected = n * (weights / weights.sum()).numpy()[legal]
    assert scipy.stats.chisquare(counts[legal], expected).pvalue > 1e-4


def test_no_draw_falls_on_an_action_of_probability_zero():
    """Not even the smallest and the largest number that the generator gives."""
    rows = []
    for place in range(108):
        for second in (place, (place + 50) % 108):
            log_probs = torch.full((108,), -torch.inf)
            log_probs[[place, second]] = 0.0
            rows.append(log_probs)
    log_probs = torch.stack(rows).log_softmax(dim=1)
    for uniform in (0.0, 2.0**-24, 0.25, 0.5, 0.75, 1 - 2.0**-24):
        drawn = sample(log_probs, torch.full((len(rows),), uniform))
        assert torch.isfinite(log_probs.gather(1, drawn[:, None])).all(), uniform


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("scale", [0.0, 1.0, 1e5])
def test_the_policy_never_chooses_an_illegal_action(scale, sampled, precision):
    seen = positions(512, seed=4)
    policy = LearnedPolicy(network(scale), sampled, precision)
    rng = np.random.default_rng(0)
    for _ in range(20 if sampled else 1):
        actions = policy(seen, rng)
        assert seen.action_mask[np.arange(len(seen)), actions].all()


def test_sampled_play_follows_the_probabilities_that_are_explained():
    seen = positions()
    seen = seen[np.flatnonzero(seen.action_mask.sum(axis=1) > 8)[:1]]
    policy = LearnedPolicy(network(0.05), sampled=True)
    probabilities, _ = policy.explain(seen)
    n = 20_000
    many = seen[np.zeros(n, dtype=int)]
    counts = np.bincount(policy(many, np.random.default_rng(1)), minlength=108)
    expected = n * probabilities[0].astype(float)
    likely = expected > 5
    assert (counts[expected == 0] == 0).all()
    assert counts[~likely].sum() <= 10 * max(1.0, expected[~likely].sum())
    scaled = expected[likely] * counts[likely].sum() / expected[likely].sum()
    assert scipy.stats.chisquare(counts[likely], scaled).pvalue > 1e-4


def test_argmax_play_takes_the_likeliest_of_the_explained_actions():
    seen = positions(300)
    policy = LearnedPolicy(network())
    probabilities, value = policy.explain(seen)
    assert (probabilities[~seen.action_mask] == 0).all()
    assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    assert (policy(seen, np.random.default_rng(0)) == probabilities.argmax(axis=1)).all()
    assert value.shape == (300,)
    sampling = policy.sampling()
    assert sampling.sampled and sampling.network is policy.network and not policy.sampled


def test_one_decision_at_a_time_or_all_at_once():
    """A batch is no more than its rows, but for rounding."""
    seen = positions(40)
    policy = LearnedPolicy(network())
    together, value = policy.explain(seen)
    for row in range(40):
        alone, its_value = policy.explain(seen[row])
        assert np.allclose(alone[0], together[row], atol=1e-5)
        assert np.allclose(its_value[0], value[row], atol=1e-4)


def test_no_decision_at_all():
    nothing = positions(8)[np.zeros(0, dtype=int)]
    for sampled in (False, True):
        assert LearnedPolicy(network(), sampled)(nothing, np.random.default_rng(0)).shape == (0,)


def test_the_rule_for_each_card_bears_on_that_card_alone():
    """One weight for the plane of deadwood left: every card's two logits move by its own plane."""
    observation, mask, _ = observe(positions())
    net = network()
    everything = torch.ones_like(mask)
    before, _ = outputs(net, observation, everything)
    with torch.no_grad():
        net.card_rule[-5, 0] += 2.0
        net.card_rule[-5, 1] -= 1.0
    after, _ = outputs(net, observation, everything)
    moved = (after - before) - (after - before)[:, 107:]  # the last action has no card
    plane = features(observation)[:, (NUM_PLANES - 5) * 52 : (NUM_PLANES - 4) * 52]
    assert torch.allclose(moved[:, :52], 2 * plane, atol=1e-4)
    assert torch.allclose(moved[:, 52:104], -plane, atol=1e-4)
    assert torch.allclose(moved[:, 104:], torch.zeros(()), atol=1e-4)
