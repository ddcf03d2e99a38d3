"""Suits are interchangeable, and the policy plays as if it knew."""

import itertools

import numpy as np
import pytest

from agents.network import LearnedPolicy, Network, NetworkConfig
from agents.symmetry import canonical, reorder, restore
from ginenv import engine, opponents
from ginenv.rules import Phase, Rules
from ginenv.view import encode, view
from tests.tiny import relabelled, relabelled_actions

PERMUTATIONS = [np.array(p) for p in itertools.permutations(range(4))]
IDENTITY = np.arange(4)


def positions(num_games, seed=0, rules="standard"):
    """Real positions from all stages of hands, played by bots of all kinds."""
    rng = np.random.default_rng(seed)
    state = engine.deal(rng, num_games, Rules.preset(rules))
    players = [opponents.resolve(name) for name in ("greedy", "random", "crazy")]
    stops = rng.integers(45, size=num_games)
    for step in range(45):
        actions = players[step % 3](view(state), rng)
        ended = engine.step(state, np.where(step < stops, actions, -1)).hand_over
        engine.redeal(state, ended, rng)
    assert set(state.phase.tolist()) >= {Phase.UPCARD, Phase.DRAW, Phase.DISCARD}
    return state


@pytest.fixture(scope="module")
def policy():
    """A policy with opinions: its weights are far from the even ones of a new network."""
    network = Network(NetworkConfig(hidden_size=32, hidden_layers=1))
    rng = np.random.default_rng(1)
    for weights in network.parameters():
        noise = rng.normal(scale=0.3, size=tuple(weights.shape)).astype(np.float32)
        weights.data.copy_(weights.data.new_tensor(noise))
    return LearnedPolicy(network)


# Renaming suits is a symmetry of the game itself


def test_games_with_renamed_suits_go_the_same_way():
    """So that the other tests here compare positions that really are the same."""
    rng = np.random.default_rng(3)
    state = engine.deal(rng, 24)
    suits = PERMUTATIONS[17]
    other = relabelled(state, suits)
    for _ in range(60):
        actions = opponents.random_legal(view(state), rng)
        mask = engine.legal_actions(state)
        renamed = relabelled_actions(np.arange(108), suits)
        assert (engine.legal_actions(other)[:, renamed] == mask).all()
        engine.step(state, actions)
        engine.step(other, relabelled_actions(actions, suits))
        assert relabelled(state, suits) == other
        decks = np.array([rng.permutation(52) for _ in range(int((state.result > 0).sum()))])
        if len(decks):
            rows = state.result > 0
            engine.redeal(state, rows, None, decks=decks)
            engine.redeal(other, rows, None, decks=relabelled_actions(decks, suits))


# Reordering and back


def test_a_reordered_position_is_the_same_position_with_other_suits():
    state = positions(200)
    seen = view(state)
    reordered, suits = canonical(seen)
    for row in range(len(state)):
        places = np.argsort(suits[row])  # where each real suit went
        expected = view(relabelled(state[row], places))
        assert (encode(expected) == encode(reordered[row])).all()
        assert (expected.action_mask == reordered[row].action_mask).all()
        for field in ("opponent_declined", "own_declined", "unseen", "opponent_known"):
            assert getattr(expected, field) == getattr(reordered[row], field)


def test_suits_stand_in_order_of_the_own_holding():
    reordered, _ = canonical(view(positions(300)))
    held = reordered.hand.view("<u2").reshape(-1, 4).astype(int)
    assert (np.diff(held, axis=1) <= 0).all()


def test_restored_actions_are_legal_exactly_where_the_reordered_ones_are():
    seen = view(positions(200))
    reordered, suits = canonical(seen)
    for action in range(108):
        real = restore(np.full(len(seen), action), suits)
        rows = np.arange(len(seen))
        assert (seen.action_mask[rows, real] == reordered.action_mask[:, action]).all()
    every = [restore(np.arange(108), np.tile(order, (108, 1))) for order in suits]
    assert all(set(actions) == set(range(108)) for actions in every)


def test_the_view_itself_stays_as_it_is():
    seen = view(positions(20))
    before = encode(seen).copy()
    canonical(seen)
    assert (encode(seen) == before).all()


# Invariance


def has_tied_suits(seen):
    """``(N,)``: two suits agree in what they are ordered by, own cards and unseen cards."""
    hand, unseen = (board.view("<u2").reshape(-1, 4) for board in (seen.hand, seen.unseen))
    tied = np.zeros(len(seen), dtype=bool)
    for a, b in itertools.combinations(range(4), 2):
        tied |= (hand[:, a] == hand[:, b]) & (unseen[:, a] == unseen[:, b])
    return tied


@pytest.mark.parametrize("rules", ["standard", "oklahoma"])
def test_the_policy_plays_alike_in_all_24_namings_of_the_suits(policy, rules):
    state = positions(150, rules=rules)
    seen = view(state)
    chosen = policy(seen, np.random.default_rng(0))
    probabilities, value = policy.explain(seen)
    tied = has_tied_suits(seen)
    assert tied.mean() < 0.02, "too rare to matter: about one position in 700"
    differs = np.zeros(len(seen), dtype=bool)
    for suits in PERMUTATIONS:
        other = view(relabelled(state, suits))
        others, its_value = policy.explain(other)
        renamed = relabelled_actions(np.arange(108), suits)
        differs |= (np.abs(others[:, renamed] - probabilities) > 1e-5).any(axis=1)
        differs |= np.abs(its_value - value) > 1e-5
        differs |= policy(other, np.random.default_rng(0)) != relabelled_actions(chosen, suits)
    assert not differs[~tied].any()
    assert len(np.unique(chosen)) > 15, "the policy plays all kinds of actions"


def test_reordered_actions_are_restored():
    rng = np.random.default_rng(0)
    suits = rng.permuted(np.tile(np.arange(4), (500, 1)), axis=1)
    actions = rng.integers(108, size=500)
    assert (restore(reorder(actions, suits), suits) == actions).all()
    assert (reorder(restore(actions, suits), suits) == actions).all()
    assert (reorder(actions, suits) != actions)[actions < 104].any()
