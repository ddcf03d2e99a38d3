"""Rollouts, advantages and updates, each against something slow and obvious."""

import copy
import itertools

import numpy as np
import pytest
import scipy.stats
import torch

from agents import ppo
from agents.config import Config
from agents.critic import hidden_cards
from agents.inputs import observe
from agents.league import LEARNER
from agents.network import Network, NetworkConfig, matmul_precision
from agents.ppo import Buffer, gae, masked_entropy, update
from agents.symmetry import restore
from agents.training import Training
from ginenv import engine
from ginenv.view import view
from tests.tiny import tiny

CPU = torch.device("cpu")


# Advantages


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
    play(training)
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


# Rollouts


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
    play(training)  # so that hands are in all stages, and the buffer holds old rows
    witness = Witness(monkeypatch, training.league)
    play(training)
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
    played = play(training)
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


def test_a_rollout_without_a_single_decision_of_the_learner(monkeypatch):
    """Both games wait for an opponent now and then; the learner's batch is empty then."""
    training = started(num_games=2, num_steps=32, opponent_share=1.0, past_self_share=0.0)
    play(training)
    assert (~training.buffer.learns.any(dim=1)).any()
    assert update_once(training)["entropy"] > 0


def test_a_network_that_has_gone_to_pieces_is_noticed_before_it_plays():
    training = Training.start(tiny())
    with torch.no_grad():
        training.network.policy.bias[0] = torch.nan
    with pytest.raises(FloatingPointError, match="output is not finite"):
        play(training)


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
    play(training)
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


# Toys: three fixed positions, a hand of three decisions, and points for one of them


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
