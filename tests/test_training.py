"""Training runs: the schedules, the counters, and going on as if nothing had happened."""

import copy

import numpy as np
import pytest
import torch

from agents import checkpoint
from agents.checkpoint import CheckpointError
from agents.config import ConfigError
from agents.critic import hidden_cards
from agents.network import LearnedPolicy
from agents.training import Training, usable_device
from ginenv import engine, opponents
from ginenv.view import view
from tests.tiny import A_ROLLOUT, differences, packed, tiny


def finished(config, training=None, stop=None):
    """Advances to the end, or for ``stop`` updates; returns the run and its metrics."""
    training = training or Training.start(config)
    metrics = []
    while not training.finished and len(metrics) != stop:
        metrics.append(training.advance())
    return training, metrics


@pytest.fixture(scope="module")
def whole():
    """A run of ten updates that never stopped."""
    return finished(tiny())


# What a run is made of


def test_a_seed_decides_everything(whole):
    training, metrics = whole
    torch.manual_seed(99)  # nobody else's random numbers matter
    again, its_metrics = finished(tiny())
    assert differences(packed(training), packed(again)) == []
    assert differences(metrics, its_metrics) == []
    other, _ = finished(tiny(seed=2), stop=1)
    assert differences(packed(other)["ranks"], packed(training)["ranks"])


def test_a_run_leaves_others_random_numbers_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    finished(tiny(), stop=1)
    assert torch.equal(torch.rand(3), expected)


def test_the_counters_count_every_players_decisions(whole):
    training, metrics = whole
    assert len(metrics) == training.updates == 10
    assert training.decisions == 10 * A_ROLLOUT == 1_280
    assert training.finished


def test_the_schedules_run_straight_from_first_to_last_by_decisions(whole):
    _, metrics = whole
    config = tiny()
    gone = np.arange(10) / 10
    for name, first, last in (
        ("learning_rate", config.learning_rate, config.final_learning_rate),
        ("ent_coef", config.ent_coef, config.final_ent_coef),
    ):
        found = [m[f"charts/{name}"] for m in metrics]
        assert found == pytest.approx((first + (last - first) * gone).tolist())


def test_the_optimiser_uses_the_scheduled_learning_rate():
    """The schedule begins at 0: the first update changes nothing, the second one does."""
    training = Training.start(tiny(learning_rate=0.0, final_learning_rate=0.01))
    before = copy.deepcopy(training.network.state_dict())
    training.advance()
    assert differences(before, training.network.state_dict()) == []
    training.advance()
    assert len(differences(before, training.network.state_dict())) == len(before)


def test_snapshots_are_taken_on_time(whole):
    """Every 256 decisions, two rollouts of 128; at most two are kept."""
    training = Training.start(tiny())
    kept = []
    for _ in range(6):
        training.advance()
        kept.append(len(training.league.snapshots))
    assert kept == [0, 1, 1, 2, 2, 2]
    newest = training.league.snapshots[-1].state_dict()
    assert differences(newest, training.network.state_dict()) == []


def test_weights_move_and_metrics_have_their_names(whole):
    training, metrics = whole
    start = Training.start(tiny()).network.state_dict()
    assert len(differences(start, training.network.state_dict())) == len(start)
    losses = "policy_loss value_loss entropy approx_kl clipfrac grad_norm explained_variance"
    for m in metrics:
        assert {f"losses/{name}" for name in losses.split()} < m.keys()
        assert all(np.isfinite(value) for value in m.values())
        assert 0 <= m["play/knock_when_legal"] <= 1


def test_hands_are_reported_by_how_they_end():
    training = Training.start(tiny(num_games=32, num_steps=32))
    with torch.no_grad():  # throws what leaves least deadwood, and knocks at once
        training.network.card_rule[-5] = -30
        training.network.policy.bias[52:104] = 5
        training.network.policy.bias[104] = 1
    training.advance()
    metrics = training.advance()
    shares = [metrics[f"play/{k}_rate"] for k in ("knock", "gin", "big_gin", "undercut", "void")]
    assert sum(shares) == pytest.approx(1) and shares[0] > 0.3
    assert metrics["play/knock_when_legal"] > 0.9
    assert 0 < metrics["play/knock_deadwood"] <= 10
    assert 2 < metrics["play/turns"] < 40


# Going on


@pytest.mark.parametrize("stop", [1, 4, 9])
def test_a_run_that_stopped_equals_the_one_that_did_not(tmp_path, whole, stop):
    """Weights, optimiser, league, random states, games in flight, metrics: bit for bit."""
    training, metrics = whole
    first, before = finished(tiny(), stop=stop)
    checkpoint.save(tmp_path / "latest.pt", first.pack())
    saved = checkpoint.load(tmp_path / "latest.pt")
    second, after = finished(None, Training.unpack(saved, tiny()))
    assert differences(metrics, before + after) == []
    assert differences(packed(training), packed(second)) == []
    assert second.state == training.state
    assert len(second.league.snapshots) == 2 and (second.league.seated > 2).any()


@pytest.mark.parametrize(
    "changes",
    [
        {"precision": "float32", "past_self_share": 0.5, "average_decay": 0.8},
        {"critic": "own_view", "belief_coef": 0.5, "live_outs": False, "contextual_rule": False},
        {"imitate": "easy", "imitate_decisions": 4 * A_ROLLOUT, "canonical_suits": False},
        {"opponents": (), "opponent_share": 0.0, "past_self_share": 0.0},
        {"rules": "eaai", "update_epochs": 2, "max_snapshots": 1, "snapshot_every": 1},
    ],
)
def test_so_it_does_with_other_settings(tmp_path, changes):
    config = tiny(total_decisions=6 * A_ROLLOUT, **changes)
    training, metrics = finished(config)
    first, before = finished(config, stop=3)
    checkpoint.save(tmp_path / "latest.pt", first.pack())
    second, after = finished(None, Training.unpack(checkpoint.load(tmp_path / "latest.pt"), config))
    assert differences(metrics, before + after) == []
    assert differences(packed(training), packed(second)) == []


def test_what_has_been_reached_is_not_forgotten(tmp_path):
    training = Training.start(tiny())
    training.best, training.seconds = -3.25, 17.5
    checkpoint.save(tmp_path / "latest.pt", training.pack())
    again = Training.unpack(checkpoint.load(tmp_path / "latest.pt"), tiny())
    assert (again.best, again.seconds) == (-3.25, 17.5)


def test_packing_does_not_disturb_the_run(whole):
    training = Training.start(tiny())
    while not training.finished:
        training.pack()
        training.advance()
    assert differences(packed(training), packed(whole[0])) == []


def test_the_policy_of_a_checkpoint_plays_like_the_run(tmp_path, whole):
    training, _ = whole
    checkpoint.save(tmp_path / "latest.pt", training.pack())
    policy = checkpoint.load_policy(tmp_path / "latest.pt")
    seen = view(engine.deal(np.random.default_rng(0), 100))
    rng = np.random.default_rng(1)
    assert (policy(seen, rng) == training.policy()(seen, rng)).all()
    assert isinstance(training.policy(), LearnedPolicy)


@pytest.mark.parametrize("part", ["optimizer", "ranks", "critic", "counters"])
def test_a_checkpoint_that_lacks_a_part_cannot_go_on(whole, part):
    saved = whole[0].pack()
    del saved[part]
    with pytest.raises(CheckpointError, match=f"no training run to go on with.*{part}"):
        Training.unpack(saved, tiny())


def test_a_checkpoint_of_another_network_cannot_go_on(whole):
    with pytest.raises(CheckpointError, match="no training run to go on with"):
        Training.unpack(whole[0].pack(), tiny(hidden_size=8))


# Beginnings


def test_a_run_may_begin_with_the_weights_of_another(tmp_path, whole):
    checkpoint.save(tmp_path / "before.pt", whole[0].pack())
    training = Training.start(tiny(init=str(tmp_path / "before.pt"), average_decay=0.9))
    assert differences(training.network.state_dict(), whole[0].network.state_dict()) == []
    assert differences(training.averaged.state_dict(), whole[0].network.state_dict()) == []
    assert differences(training.critic.state_dict(), whole[0].critic.state_dict()) == []
    training.advance()
    saved = training.pack()
    (tmp_path / "before.pt").unlink()
    again = Training.unpack(saved, training.config)
    assert differences(packed(again), packed(training)) == [], "it is not needed to go on"


def test_a_wider_network_begins_as_a_narrower_one_and_uses_its_new_units(tmp_path, whole):
    narrow, _ = whole
    checkpoint.save(tmp_path / "narrow.pt", narrow.pack())
    width = {"hidden_size": 40, "critic_hidden_size": 150}
    wide = Training.start(tiny(init=str(tmp_path / "narrow.pt"), **width))
    state = engine.deal(np.random.default_rng(3), 200)
    observation, mask, suits = wide.network.observe(view(state))
    hidden = hidden_cards(state, np.arange(200), suits)
    with torch.no_grad():
        for training in (wide, narrow):
            inputs = training.network.inputs(observation)
            said = training.network(observation, mask)
            training.said = (*said, training.critic(inputs, hidden))
    for its, own in zip(narrow.said, wide.said, strict=True):
        assert torch.allclose(its, own, atol=1e-5)
    new = slice(narrow.config.hidden_size, None)
    assert not wide.network.policy.weight[:, new].any()
    wide.advance()
    heard = wide.network.policy.weight[:, new].any(dim=0)
    assert heard.float().mean() > 0.5  # of the others most are silent in these few positions


@pytest.mark.parametrize(
    ("player", "reason"),
    [
        ("crazy", "must be a learned policy, crazy is none"),
        ("pretrained", r"does not fit into this run's networks \(.*, there is room for \["),
    ],
)
def test_a_beginning_that_does_not_fit_is_refused(player, reason):
    with pytest.raises(ConfigError, match=reason):
        Training.start(tiny(init=player, hidden_layers=2))


def test_a_beginning_with_a_wider_critic_is_refused(tmp_path, whole):
    checkpoint.save(tmp_path / "wide.pt", whole[0].pack())
    with pytest.raises(ConfigError, match="if it is wider, raise hidden_size or critic_hidden"):
        Training.start(tiny(init=str(tmp_path / "wide.pt"), critic_hidden_size=100))


@pytest.mark.parametrize("critic", [None, 3, {}, {"value.bias": 0}, {"value.bias": [0.0]}])
def test_a_beginning_with_a_strangers_critic_is_refused(tmp_path, whole, critic):
    checkpoint.save(tmp_path / "odd.pt", {**whole[0].pack(), "critic": critic})
    with pytest.raises(ConfigError, match="does not fit into this run's networks"):
        Training.start(tiny(init=str(tmp_path / "odd.pt")))


def test_at_first_a_teacher_plays_and_is_imitated():
    """His moves stand in the buffer, in all seats, and become likelier from update to update."""
    config = tiny(
        imitate="greedy",
        imitate_decisions=20 * A_ROLLOUT,
        total_decisions=21 * A_ROLLOUT,
        learning_rate=0.01,
        hidden_size=32,
        opponent_share=0.0,
        past_self_share=0.0,
    )
    training = Training.start(config)
    losses = []
    while training.decisions < config.imitate_decisions:
        losses.append(training.advance()["losses/policy_loss"])
    assert np.mean(losses[-3:]) < np.mean(losses[:3]) - 0.3
    seen = view(engine.deal(np.random.default_rng(0), 400))
    rng = np.random.default_rng(1)
    agreed = [
        (policy(seen, rng) == opponents.resolve("greedy")(seen, rng)).mean()
        for policy in (training.policy(), Training.start(config).policy())
    ]
    assert agreed[0] > agreed[1] + 0.1, "it answers the first upcard more often as he does"
    assert training.advance()["losses/policy_loss"] < 0.3, "from here on it is the surrogate"


def test_averaged_weights_lag_behind_and_are_the_policy():
    training = Training.start(tiny(average_decay=0.9))
    for _ in range(3):
        before = copy.deepcopy(training.averaged.state_dict())
        training.advance()
        decay = min(0.9, (training.updates - 1) / (training.updates - 1 + 10))
        for name, now in training.network.state_dict().items():
            expected = decay * before[name] + (1 - decay) * now
            assert torch.allclose(training.averaged.state_dict()[name], expected, atol=1e-6)
    assert training.policy().network is training.averaged
    assert differences(training.pack()["network"], training.averaged.state_dict()) == []
    assert differences(training.averaged.state_dict(), training.network.state_dict())


# Devices


def test_the_cpu_is_there():
    assert usable_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["", "gpu", "cuda:99", "meta", "hpu", "mps:7", "cpu:x"])
def test_a_device_that_is_not_there_is_refused_in_one_line(name):
    with pytest.raises(ConfigError) as caught:
        usable_device(name)
    line = str(caught.value)
    assert line.startswith(f"device {name!r} cannot be used here") and "\n" not in line
    assert "there is cpu" in line
