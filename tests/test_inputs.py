"""What the network is shown: small numbers, and live outs against their definition."""

import itertools

import numpy as np
import pytest
import torch

from agents.inputs import NUM_INPUTS, NUM_PLANES, OBSERVATION_SIZE, features, observe
from ginenv import cards, melds
from ginenv.rules import Phase
from ginenv.view import NOT_HELD
from tests.positions import positions


@pytest.mark.parametrize("rules", ["standard", "oklahoma", "straight"])
def test_the_inputs_are_small_and_finite(rules):
    observation, _, _ = observe(positions(rules=rules))
    inputs = features(observation)
    assert inputs.shape == (len(observation), NUM_INPUTS)
    assert torch.isfinite(inputs).all()
    assert inputs.min() >= 0 and inputs.max() <= 10


def test_the_deadwood_planes_say_what_each_discard_leaves():
    seen = positions()
    observation, mask, suits = observe(seen)
    planes = features(observation)[:, : NUM_PLANES * 52].view(-1, NUM_PLANES, 52)
    scaled, above_least, allows_knock = planes[:, -5:-2].unbind(1)
    real = torch.as_tensor(13 * suits[:, :, None] + np.arange(13)).reshape(-1, 52)
    after = torch.as_tensor(seen.deadwood_after.astype(np.float32)).gather(1, real)
    held = after != NOT_HELD
    assert torch.allclose(scaled, after / 50 * held)
    least = after.min(dim=1, keepdim=True).values
    assert torch.allclose(above_least, (after - least) / 20 * held)
    assert torch.equal(allows_knock.bool(), after <= 10)
    discarding = mask[:, :52].any(dim=1)
    assert torch.equal(allows_knock[discarding].bool(), mask[discarding][:, 52:104])


# Live outs


def melds_of_three():
    """All of them, as triples of card ids."""
    runs = [(13 * s + r, 13 * s + r + 1, 13 * s + r + 2) for s in range(4) for r in range(11)]
    sets = [
        tuple(13 * s + r for s in suits)
        for r in range(13)
        for suits in itertools.combinations(range(4), 3)
    ]
    return runs + sets


def held(board):
    return [card for card in range(52) if int(board) >> (16 * (card // 13) + card % 13) & 1]


def real_order(planes, suits):
    """Planes ``(52,)`` told in canonical suits, by real card id."""
    real = np.empty(52)
    for place, suit in enumerate(suits):
        real[13 * suit : 13 * suit + 13] = planes[13 * place : 13 * place + 13]
    return real


def test_expected_melds_are_those_of_the_definition():
    """For each card, over all melds of three with it: the product of the chances of the others."""
    seen = positions(40, seed=3)
    observation, _, suits = observe(seen)
    for row in range(40):
        in_melds = set(held(seen.melded[0, row] | seen.melded[1, row]))
        hand, unseen = set(held(seen.hand[row])), set(held(seen.unseen[row]))
        chance = {
            card: 0.2 if card in in_melds else 1.0 if card in hand else 0.2 * (card in unseen)
            for card in range(52)
        }
        expected = np.zeros(52)
        for meld in melds_of_three():
            for card in meld:
                expected[card] += np.prod([chance[other] for other in meld if other != card])
        shown = real_order(observation[row, 633:685].numpy() / 80, suits[row])
        assert np.abs(shown - np.minimum(expected, 255 / 80)).max() <= 1 / 80 + 1e-5


def test_gin_outs_are_counted_by_trying_every_card():
    seen = positions(800, seed=5)
    observation, _, _ = observe(seen)
    checked = 0
    for row in range(800):
        hand, live = seen.hand[row], held(seen.unseen[row])
        deadwood = int(seen.deadwood[row])
        if seen.phase[row] == Phase.DISCARD:
            after = seen.deadwood_after[row]
            deadwood = int(after.min())
        if not 0 < deadwood <= 10:
            assert observation[row, -1] == 0
            continue
        counts = set()
        ways = [hand]
        if seen.phase[row] == Phase.DISCARD:  # of equal discards any may be the one
            ways = [hand ^ cards.CARD_BIT[c] for c in np.flatnonzero(after == deadwood)]
        for waiting in ways:
            outs = 0
            for card in live:
                eleven = waiting | cards.CARD_BIT[card]
                ten = np.array([eleven ^ cards.CARD_BIT[c] for c in held(eleven)])
                outs += bool((melds.deadwood(ten) == 0).any())
            counts.add(outs)
        assert int(observation[row, -1]) in counts
        checked += max(counts) > 0
    assert checked > 20


def test_without_live_outs_zeros_stand_there():
    seen = positions(64)
    shown, mask, _ = observe(seen)
    plain, same_mask, _ = observe(seen, live_outs=False)
    assert torch.equal(mask, same_mask)
    assert torch.equal(shown[:, :633], plain[:, :633])
    assert shown[:, 633:].any() and not plain[:, 633:].any()
    assert shown.shape[1] == OBSERVATION_SIZE
