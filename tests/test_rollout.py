"""Rollouts: what stands in the buffer is what was played."""

import numpy as np
import pytest
import torch

from agents.critic import hidden_cards
from agents.inputs import observe
from agents.league import LEARNER
from agents.network import matmul_precision
from agents.symmetry import restore
from agents.training import Training
from ginenv import engine
from ginenv.view import view
from tests.rollouts import started
from tests.tiny import tiny

CPU = torch.device("cpu")


class Witness:
    """Notes every step that the engine takes: the state before it, the actions, what came."""

    def __init__(self, monkeypatch, league):
        self.steps = []
        step = engine.step

        def noting(state, actions):
            before, seated = state.copy(), league.seated.copy()
            outcome = step(state, actions)
            self.steps.append((before, seated, np.array(actions), outcome))
            return outcome

        monkeypatch.setattr(engine, "step", noting)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5])
@pytest.mark.parametrize(
    ("precision", "critic"),
    [("float32", "all_cards"), ("bfloat16", "all_cards"), ("float32", "own_view")],
)
def test_every_row_of_the_buffer_is_what_was_played(monkeypatch, share, precision, critic):
    training = started(
        num_games=24,
        num_steps=40,
        opponent_share=share,
        past_self_share=share,
        precision=precision,
        critic=critic,
        points_scale=20.0,
    )
    training.play()  # so that hands are in all stages, and the buffer holds old rows
    witness = Witness(monkeypatch, training.league)
    training.play()
    buffer, games = training.buffer, np.arange(24)
    assert len(witness.steps) == 40
    for t, (state, seated, actions, outcome) in enumerate(witness.steps):
        learns = seated[games, state.player] == LEARNER
        assert (buffer.learns[t].numpy() == learns).all()
        assert (buffer.seat[t].numpy() == state.player).all()
        assert (buffer.done[t].numpy() == outcome.hand_over).all()
        assert np.allclose(buffer.reward[t], outcome.points / 20.0)
        observation, mask, suits = observe(view(state)[learns])
        assert torch.equal(buffer.observation[t, learns], observation)
        assert torch.equal(buffer.mask[t, learns], mask)
        chosen = buffer.action[t, learns]
        assert mask.gather(1, chosen[:, None]).all()
        assert (restore(chosen.numpy(), suits) == actions[learns]).all()
        with torch.inference_mode(), matmul_precision(precision, CPU):
            log_probs, value = training.network(observation, mask)
        log_prob = log_probs.gather(1, chosen[:, None]).squeeze(1)
        assert torch.allclose(buffer.log_prob[t, learns], log_prob, atol=1e-5)
        if critic == "all_cards":
            hidden = hidden_cards(state, np.flatnonzero(learns), suits)
            assert torch.equal(buffer.hidden[t, learns], hidden)
            with torch.inference_mode(), matmul_precision(precision, CPU):
                value = training.critic(training.network.inputs(observation), hidden)
        assert torch.allclose(buffer.value[t, learns], value, atol=1e-5)
    assert buffer.done.sum() > 5 and buffer.reward.any()
    assert bool(share) == (not buffer.learns.all())


def test_hands_are_counted_as_they_end(monkeypatch):
    training = started(num_games=24, num_steps=64)
    witness = Witness(monkeypatch, training.league)
    played = training.play()
    ends = [np.flatnonzero(outcome.hand_over) for *_, outcome in witness.steps]
    results = [
        outcome.result[rows] for (*_, outcome), rows in zip(witness.steps, ends, strict=True)
    ]
    assert np.array_equal(np.concatenate(played.result), np.concatenate(results))
    turns = [
        before.turn[rows] + (actions[rows] < 104) + (actions[rows] == 107)
        for (before, _, actions, _), rows in zip(witness.steps, ends, strict=True)
    ]
    assert np.array_equal(np.concatenate(played.turns), np.concatenate(turns))
    assert (training.state.result == 0).all(), "every hand that ended was dealt anew"


def test_a_network_that_has_gone_to_pieces_is_noticed_before_it_plays():
    training = Training.start(tiny())
    with torch.no_grad():
        training.network.policy.bias[0] = torch.nan
    with pytest.raises(FloatingPointError, match="output is not finite"):
        training.play()
