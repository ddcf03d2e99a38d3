"""Signal and noise of the policy gradient, against their definitions."""

import itertools

import numpy as np
import pytest
import torch

from agents import gradient_noise
from agents.gradient_noise import Noise, gradients
from agents.ppo import gae
from tests.rollouts import started
from tests.train_command import start


def test_signal_and_noise_by_definition():
    rng = np.random.default_rng(0)
    samples = torch.from_numpy(rng.normal(0.3, 1, size=(7, 3, 20)).astype(np.float32))
    noise = Noise()
    for sample in samples:
        noise.add(sample)
    exact = samples.double()
    pairs = list(itertools.permutations(range(7), 2))
    signal = sum((exact[a] * exact[b]).sum(dim=1) for a, b in pairs) / len(pairs)
    assert torch.allclose(noise.signal, signal, atol=1e-4)
    length = exact.square().sum(dim=2).mean(dim=0)
    assert torch.allclose(noise.noise, length - signal, atol=1e-4)


def test_the_same_gradient_each_time_is_signal_alone():
    noise = Noise()
    for _ in range(3):
        noise.add(torch.tensor([[3.0, 4.0]]))
    assert noise.signal.item() == pytest.approx(25)
    assert noise.noise.item() == pytest.approx(0)


def test_the_gradients_are_those_of_advantage_times_log_probability():
    training = started(num_games=16, num_steps=32, minibatch_size=50, precision="float32")
    before = {name: x.clone() for name, x in training.network.state_dict().items()}
    found, deviation, decisions = next(gradients(training, (1.0, 0.3)))
    buffer, network = training.buffer, training.network
    assert all(torch.equal(x, before[name]) for name, x in network.state_dict().items())
    for place, gae_lambda in enumerate((1.0, 0.3)):
        advantage, settled = gae(
            buffer.value, buffer.seat, buffer.done, buffer.reward, 1.0, gae_lambda
        )
        rows = buffer.learns & settled
        assert decisions == rows.sum() and not buffer.learns.all()
        advantage = advantage[rows]
        assert deviation[place] == pytest.approx(float(advantage.std()), rel=1e-5)
        log_probs, _ = network(buffer.observation[rows], buffer.mask[rows])
        log_prob = log_probs.gather(1, buffer.action[rows][:, None]).squeeze(1)
        network.zero_grad()
        ((advantage - advantage.mean()) * log_prob).mean().backward()
        wanted = torch.cat(
            [
                torch.zeros(p.numel()) if p.grad is None else p.grad.flatten()
                for p in network.parameters()
            ]
        )
        assert wanted.any()
        assert torch.allclose(found[place], wanted, atol=1e-5)


def test_the_command_prints_a_line_for_each_lambda(tmp_path, capsys):
    run = tmp_path / "run"
    assert start(run, "--stop_after", 128) == 0
    capsys.readouterr()
    words = [str(run / "latest.pt"), "--rollouts", "3", "--lambdas", "1", "0.5"]
    assert gradient_noise.main(words) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[1] for row in rows if row[:1] == ["│"]] == ["1", "0.5"]


def test_what_it_cannot_use_is_one_line(tmp_path, capsys):
    run = tmp_path / "run"
    assert start(run, total_decisions=128) == 0
    capsys.readouterr()
    for words, says in (
        ([str(run / "policy.pt")], "policy.pt is a policy without a training run"),
        (["nobody.pt"], "there is no checkpoint nobody.pt"),
        ([str(run / "latest.pt"), "--rollouts", "1"], "--rollouts must be 2 or more"),
        ([str(run / "latest.pt"), "--lambdas", "1.5"], "--lambdas must lie in 0 to 1"),
    ):
        with pytest.raises(SystemExit) as stopped:
            gradient_noise.main(words)
        assert stopped.value.code == 2
        assert says in capsys.readouterr().err
