"""Masked PPO for two seats that share one network: `rollout`, `gae`, `update`.

Letters: T decisions of each game in a rollout, N games, B decisions that are learned from.  A step
of the rollout is one decision of every game, by whichever seat is to move.

Sources: PPO is Schulman et al. 2017 (arXiv:1707.06347), generalised advantage estimation Schulman
et al. 2015 (arXiv:1506.02438).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from agents.config import Config
from agents.critic import HIDDEN_SIZE, Critic, hidden_cards, opponent_hand
from agents.distributed import ALONE, Ranks
from agents.inputs import OBSERVATION_SIZE
from agents.league import League
from agents.network import Network, matmul_precision, sample
from agents.symmetry import reorder, restore
from agents.timing import Stopwatch
from ginenv import engine
from ginenv.opponents import Policy
from ginenv.rules import NUM_ACTIONS
from ginenv.state import State
from ginenv.view import view


@dataclass
class Buffer:
    """What a rollout leaves behind.  Allocated once.

    Attributes:
        observation: ``(T, N, 738)`` uint8.
        hidden: ``(T, N, 469)`` uint8, what the player could not see, see `critic.hidden_cards`;
            ``(T, N, 0)`` where nothing learns from it.
        mask: ``(T, N, 108)`` bool, legal actions.
        action: ``(T, N)`` int64, with the suits in the observation's order.
        log_prob: ``(T, N)`` float32, of that action when it was drawn.
        value: ``(T, N)`` float32, estimated points to come over `points_scale`.
        seat: ``(T, N)`` int8, who decided.
        learns: ``(T, N)`` bool, the learner decided and not an opponent.
        done: ``(T, N)`` bool, the decision ended the hand.
        reward: ``(T, N, 2)`` float32, points over `points_scale` of each seat at a hand's end.
    """

    observation: Tensor
    hidden: Tensor
    mask: Tensor
    action: Tensor
    log_prob: Tensor
    value: Tensor
    seat: Tensor
    learns: Tensor
    done: Tensor
    reward: Tensor

    @classmethod
    def allocate(
        cls, num_steps: int, num_games: int, with_hidden: bool = False, pinned: bool = False
    ) -> Buffer:
        """A buffer of T = ``num_steps`` and N = ``num_games``, with or without hidden cards.

        Pinned memory goes to a GPU faster.
        """
        shape = (num_steps, num_games)
        hidden_size = HIDDEN_SIZE if with_hidden else 0
        buffer = cls(
            observation=torch.zeros((*shape, OBSERVATION_SIZE), dtype=torch.uint8),
            hidden=torch.zeros((*shape, hidden_size), dtype=torch.uint8),
            mask=torch.zeros((*shape, NUM_ACTIONS), dtype=torch.bool),
            action=torch.zeros(shape, dtype=torch.int64),
            log_prob=torch.zeros(shape),
            value=torch.zeros(shape),
            seat=torch.zeros(shape, dtype=torch.int8),
            learns=torch.zeros(shape, dtype=torch.bool),
            done=torch.zeros(shape, dtype=torch.bool),
            reward=torch.zeros((*shape, 2)),
        )
        if pinned:
            buffer = cls(**{name: tensor.pin_memory() for name, tensor in vars(buffer).items()})
        return buffer


@dataclass
class HandsPlayed:
    """The hands that ended in a rollout, of the learner against whomever.

    Attributes:
        result: ``(H,)`` int8 of `rules.Result`.
        turns: ``(H,)`` int16.
        knock_deadwood: ``(H,)`` int16 of the knocker; -1 where nobody knocked.
    """

    result: list[npt.NDArray[np.int8]] = field(default_factory=list)
    turns: list[npt.NDArray[np.int16]] = field(default_factory=list)
    knock_deadwood: list[npt.NDArray[np.int16]] = field(default_factory=list)

    def add(self, state: State, outcome: engine.Outcome, rows: npt.NDArray[np.intp]) -> None:
        """Note the hands that ended in ``rows``."""
        self.result.append(outcome.result[rows])
        self.turns.append(state.turn[rows])
        self.knock_deadwood.append(outcome.deadwood[rows, outcome.knocker[rows]])


def rollout(
    state: State,
    league: League,
    network: Network,
    critic: Critic | None,
    buffer: Buffer,
    config: Config,
    deal_rng: np.random.Generator,
    generator: torch.Generator,
    watch: Stopwatch,
    teacher: Policy | None = None,
) -> HandsPlayed:
    """Play T decisions of every game and fill the buffer; hands that end are dealt anew.

    With a teacher the learner's decisions are his.
    """
    played = HandsPlayed()
    device = network.card_rule.device
    network.eval()
    league.invite()
    # Around all steps: so the weights are rounded once (in inference mode they are each time).
    with torch.no_grad(), matmul_precision(config.precision, device):
        for t in range(len(buffer.action)):
            with watch.measure("engine"):
                seen = view(state)
                learner, opponents = league.to_move(state)
            with watch.measure("encode"):
                own = seen if opponents is None else seen[learner]
                observation, mask, suits = network.observe(own)
                if buffer.hidden.shape[2]:
                    hidden = hidden_cards(state, learner, suits)
                    _put(buffer.hidden[t], learner, hidden)
            with watch.measure("inference"):
                inputs = network.inputs(observation.to(device))
                log_probs, value, _ = network.judge(inputs, mask.to(device))
                if critic is not None:
                    value = critic(inputs, hidden.to(device))
                uniform = torch.rand(len(value), generator=generator).to(device)
                action = sample(log_probs, uniform)
                if teacher is not None:
                    taught = reorder(teacher(own, league.rng), suits)
                    action = torch.from_numpy(taught).to(device)
                log_prob = log_probs.gather(1, action[:, None]).squeeze(1)
                if not log_prob.isfinite().all():
                    raise FloatingPointError("the network's output is not finite")
            actions = np.empty(len(state), dtype=np.int64)
            actions[learner] = restore(action.cpu().numpy(), suits)
            with watch.measure("bots"):
                if opponents is not None:
                    league.act(seen, opponents, actions)
            with watch.measure("encode"):
                _put(buffer.observation[t], learner, observation)
                _put(buffer.mask[t], learner, mask)
                _put(buffer.action[t], learner, action.cpu())
                _put(buffer.log_prob[t], learner, log_prob.cpu())
                _put(buffer.value[t], learner, value.cpu())
                buffer.seat[t] = torch.from_numpy(seen.seat)
                buffer.learns[t] = False
                _put(buffer.learns[t], learner, torch.tensor(True))
            with watch.measure("engine"):
                outcome = engine.step(state, actions)
                buffer.done[t] = torch.from_numpy(outcome.hand_over)
                buffer.reward[t] = torch.from_numpy(
                    outcome.points / np.float32(config.points_scale)
                )
                ended = np.flatnonzero(outcome.hand_over)
                if ended.size:
                    played.add(state, outcome, ended)
                    engine.redeal(state, ended, deal_rng)
                    league.seat_players(ended)
    return played


def _put(where: Tensor, rows: npt.NDArray[np.intp], what: Tensor) -> None:
    """Write rows of a tensor in the processor's memory; NumPy is several times faster at it."""
    where.numpy()[rows] = what.numpy()


def gae(
    value: Tensor, seat: Tensor, done: Tensor, reward: Tensor, gamma: float, gae_lambda: float
) -> tuple[Tensor, Tensor]:
    """Advantages that follow seats, not plies.

    Each decision bootstraps from the same seat's next decision in the hand, or, after the last
    one, gets that seat's points.  (The opponent's value does not know my cards, so minus his value
    would be a biased bootstrap.)

    Args:
        value: ``(T, N)`` float32.
        seat: ``(T, N)`` int8.
        done: ``(T, N)`` bool.
        reward: ``(T, N, 2)`` float32, read where ``done``.
        gamma: discount from one decision of a seat to its next.
        gae_lambda: the weight of later estimates.

    Returns:
        ``(T, N)`` float32 advantages; ``(T, N)`` bool, False for a seat's last decision before the
        rollout breaks off, which has nothing to bootstrap from yet (its advantage is 0).
    """
    steps, games = value.shape
    rows = torch.arange(games)
    advantage = torch.zeros_like(value)
    settled = torch.zeros_like(done)
    next_value = torch.zeros(games, 2)
    next_advantage = torch.zeros(games, 2)
    points = torch.zeros(games, 2)
    known = torch.zeros(games, 2, dtype=torch.bool)
    for t in reversed(range(steps)):
        ends = done[t][:, None]
        next_value.masked_fill_(ends, 0)
        next_advantage.masked_fill_(ends, 0)
        points = torch.where(ends, reward[t], points)
        known |= ends
        who = seat[t].long()
        discounted = gamma * next_value[rows, who]
        delta = points[rows, who] + discounted - value[t]
        settled[t] = known[rows, who]
        estimate = delta + gamma * gae_lambda * next_advantage[rows, who]
        advantage[t] = torch.where(settled[t], estimate, torch.zeros(()))
        next_value[rows, who] = value[t]
        next_advantage[rows, who] = advantage[t]
        points[rows, who] = 0
        known[rows, who] = True
    return advantage, settled


class Minibatch(NamedTuple):
    """B decisions to learn from: `Buffer`'s fields, and for each its advantage and return."""

    observation: Tensor
    hidden: Tensor
    mask: Tensor
    action: Tensor
    log_prob: Tensor
    advantage: Tensor
    target: Tensor


def update(
    network: Network,
    critic: Critic | None,
    optimizer: torch.optim.Optimizer,
    buffer: Buffer,
    config: Config,
    ent_coef: float,
    generator: torch.Generator,
    ranks: Ranks = ALONE,
    imitate: bool = False,
) -> dict[str, float]:
    """Learn from the buffer, together with the other processes if there are any.

    To imitate is to make the buffer's actions likely, whatever came of them.

    Returns:
        The losses and diagnostics, averaged over the minibatches, by their usual names.

    Raises:
        FloatingPointError: if a loss or a gradient is not finite; the weights stay as they were
            before that minibatch.
    """
    device = network.card_rule.device
    advantage, settled = gae(
        buffer.value, buffer.seat, buffer.done, buffer.reward, config.gamma, config.gae_lambda
    )
    chosen = (buffer.learns & settled).flatten().nonzero().squeeze(1)
    if ranks.least(len(chosen)) < 2:
        return {}  # a very short rollout of very few games can hold nothing to learn from
    target = (advantage + buffer.value).flatten()
    advantage = advantage.flatten()
    mean, variance, decisions = _moments(advantage[chosen], ranks)
    advantage = (advantage - mean) / max(variance**0.5, 1e-8)

    flat = [x.flatten(0, 1) for x in (buffer.observation, buffer.hidden, buffer.mask)]
    flat += [buffer.action.flatten(), buffer.log_prob.flatten(), advantage, target]
    flat = [x.to(device, non_blocking=True) for x in flat]
    network.train()
    models: list[nn.Module] = [network] if critic is None else [network, critic]
    parameters = [p for model in models for p in model.parameters()]
    sums: dict[str, float] = {}
    minibatches = max(1, decisions // (config.minibatch_size * ranks.size))
    minibatches = min(minibatches, ranks.least(len(chosen)))
    for _ in range(config.update_epochs):
        order = chosen[torch.randperm(len(chosen), generator=generator)]
        for rows in order.tensor_split(minibatches):
            rows = rows.to(device)
            batch = Minibatch(*(x.index_select(0, rows) for x in flat))
            losses = _losses(network, critic, batch, config, ent_coef, imitate)
            optimizer.zero_grad(set_to_none=True)
            losses["loss"].backward()
            found = torch.stack([x.detach() for x in losses.values()])
            found = ranks.average(parameters, len(rows), found)
            norms = [
                nn.utils.clip_grad_norm_(model.parameters(), config.max_grad_norm)
                for model in models
            ]
            losses = dict(zip(losses, found.unbind(), strict=True))
            if not (losses["loss"].isfinite() and torch.stack(norms).isfinite().all()):
                raise FloatingPointError(
                    f"loss {float(losses['loss'])}, gradient norm {float(max(norms))}"
                )
            optimizer.step()
            losses["grad_norm"] = norms[0]
            for name, x in losses.items():
                sums[name] = sums.get(name, 0.0) + float(x)
    means = {name: x / (minibatches * config.update_epochs) for name, x in sums.items()}
    wanted, value = target[chosen], buffer.value.flatten()[chosen]
    means["explained_variance"] = float(1 - (wanted - value).var() / wanted.var().clamp(min=1e-8))
    return means


def _moments(numbers: Tensor, ranks: Ranks) -> tuple[float, float, int]:
    """Mean, variance and count of the numbers of all processes."""
    exact = numbers.double()
    sums = torch.stack([exact.sum(), exact.square().sum(), exact.new_tensor(len(numbers))])
    total, squares, count = ranks.total(sums).tolist()
    mean = total / count
    return mean, max(0.0, squares / count - mean**2) * count / (count - 1), int(count)


def _losses(
    network: Network,
    critic: Critic | None,
    batch: Minibatch,
    config: Config,
    ent_coef: float,
    imitate: bool,
) -> dict[str, Tensor]:
    """The clipped surrogate, the squared value errors and the entropy of one minibatch."""
    with matmul_precision(config.precision, batch.mask.device):
        inputs = network.inputs(batch.observation)
        log_probs, value, belief = network.judge(inputs, batch.mask)
        all_cards_value = None if critic is None else critic(inputs, batch.hidden)
    log_ratio = log_probs.gather(1, batch.action[:, None]).squeeze(1) - batch.log_prob
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - config.clip_coef, 1 + config.clip_coef)
    policy_loss = -torch.min(batch.advantage * ratio, batch.advantage * clipped).mean()
    if imitate:
        policy_loss = -(log_ratio + batch.log_prob).mean()
    value_loss = 0.5 * (value - batch.target).square().mean()
    entropy = masked_entropy(log_probs).mean()
    loss = policy_loss + config.vf_coef * value_loss - ent_coef * entropy
    losses = {
        "policy_loss": policy_loss,
        "value_loss": value_loss,
        "entropy": entropy,
        "approx_kl": (ratio - 1 - log_ratio).mean(),
        "clipfrac": ((ratio - 1).abs() > config.clip_coef).float().mean(),
    }
    if all_cards_value is not None:
        losses["critic_loss"] = 0.5 * (all_cards_value - batch.target).square().mean()
        loss = loss + losses["critic_loss"]
    if belief is not None:
        held = opponent_hand(batch.hidden).float()
        losses["belief_loss"] = nn.functional.binary_cross_entropy_with_logits(belief, held)
        loss = loss + config.belief_coef * losses["belief_loss"]
    return {"loss": loss, **losses}


def masked_entropy(log_probs: Tensor) -> Tensor:
    """The entropy of each row over its legal actions, ``(B, 108)`` to ``(B,)``, in nats."""
    # An illegal action has probability zero, and p log p is zero as it is for a certain one.
    finite = log_probs.nan_to_num(nan=torch.nan, posinf=torch.inf, neginf=0)
    return -(finite.exp() * finite).sum(dim=1)
