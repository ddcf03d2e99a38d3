"""A training run's state: what changes from one update to the next, and how it is saved."""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents import checkpoint
from agents.config import Config, ConfigError, plain
from agents.critic import Critic
from agents.distributed import ALONE, Ranks
from agents.layers import grow
from agents.league import League
from agents.network import LearnedPolicy, Network, NetworkConfig
from agents.ppo import Buffer, HandsPlayed, rollout, update
from agents.timing import Stopwatch
from ginenv import engine, opponents
from ginenv.opponents import Policy
from ginenv.rules import Result, Rules
from ginenv.state import State


@dataclass
class Training:
    """Everything that a run needs to go on as if it had never stopped.

    Attributes:
        critic: the value function that sees all cards; None where the network's own is used.
        averaged: the network with averaged weights, which is what plays and is saved as the policy;
            the network itself where nothing is averaged.
        ranks: the processes that train together; each has its own games, all the same networks.
        decisions: decisions made so far, all players' in all processes; the schedules follow it.
        seconds: time spent training, over all stretches of the run.
        best: the best evaluation so far, in points a hand.
    """

    config: Config
    network: Network
    critic: Critic | None
    averaged: Network
    optimizer: torch.optim.Optimizer
    league: League
    state: State
    buffer: Buffer
    deal_rng: np.random.Generator
    generator: torch.Generator
    ranks: Ranks = ALONE
    watch: Stopwatch = field(default_factory=Stopwatch)
    decisions: int = 0
    updates: int = 0
    next_snapshot: int = 0
    seconds: float = 0.0
    best: float = float("-inf")

    @classmethod
    def start(cls, config: Config, ranks: Ranks = ALONE) -> Training:
        """A run at its beginning; with several processes, the part of one of them."""
        torch.set_num_threads(config.threads)
        device = usable_device(ranks.own_device(config.device))
        words = np.random.SeedSequence(config.seed).generate_state(4, np.uint64)
        weight_seed = int(words[2]) % 2**63
        if ranks.rank > 0:
            entropy = [config.seed, ranks.rank]
            words = np.random.SeedSequence(entropy).generate_state(4, np.uint64)
        deal_seed, league_seed, _, sample_seed = words
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(weight_seed)
            network = Network(network_config(config)).to(device)
            critic = None
            if config.critic == "all_cards":
                critic = Critic(config.critic_hidden_size, config.hidden_layers).to(device)
        if config.init:
            _begin_with(config.init, network, critic)
        averaged = copy.deepcopy(network) if config.average_decay else network
        parameters = [*network.parameters(), *(critic.parameters() if critic is not None else [])]
        deal_rng = np.random.default_rng(deal_seed)
        with_hidden = critic is not None or config.belief_coef > 0
        return cls(
            config=config,
            network=network,
            critic=critic,
            averaged=averaged,
            optimizer=torch.optim.Adam(parameters, lr=config.learning_rate, eps=1e-5, fused=True),
            league=League(config, np.random.default_rng(league_seed)),
            state=engine.deal(deal_rng, config.num_games, Rules.preset(config.rules)),
            buffer=Buffer.allocate(
                config.num_steps, config.num_games, with_hidden, pinned=device.type == "cuda"
            ),
            deal_rng=deal_rng,
            generator=torch.Generator().manual_seed(int(sample_seed) % 2**63),
            ranks=ranks,
            next_snapshot=config.snapshot_every,
        )

    @property
    def finished(self) -> bool:
        """Whether the schedules have come to their end."""
        return self.decisions >= self.config.total_decisions

    def advance(self) -> dict[str, float]:
        """One rollout and one update; returns the metrics by their names in the curves."""
        config = self.config
        gone = min(1.0, self.decisions / config.total_decisions)
        learning_rate = _between(config.learning_rate, config.final_learning_rate, gone)
        ent_coef = _between(config.ent_coef, config.final_ent_coef, gone)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        imitating = self.decisions < config.imitate_decisions
        played = self.play(opponents.resolve(config.imitate) if imitating else None)
        with self.watch.measure("learning"):
            losses = update(
                self.network,
                self.critic,
                self.optimizer,
                self.buffer,
                config,
                ent_coef,
                self.generator,
                self.ranks,
                imitating,
            )
            self._average()
        self.decisions += config.num_games * config.num_steps * self.ranks.size
        self.updates += 1
        if self.decisions >= self.next_snapshot:
            self.league.add_snapshot(self.network)
            self.next_snapshot += config.snapshot_every
        return {
            **{f"losses/{name}": x for name, x in losses.items()},
            **_play_metrics(played, self.buffer),
            "charts/learning_rate": learning_rate,
            "charts/ent_coef": ent_coef,
        }

    def play(self, teacher: Policy | None = None) -> HandsPlayed:
        """One rollout into the buffer, without learning from it; with a teacher it plays as he."""
        return rollout(
            self.state,
            self.league,
            self.network,
            self.critic,
            self.buffer,
            self.config,
            self.deal_rng,
            self.generator,
            self.watch,
            teacher,
        )

    def _average(self) -> None:
        """Move the averaged weights towards the network's; the first updates count in full."""
        if self.averaged is self.network:
            return
        decay = min(self.config.average_decay, self.updates / (self.updates + 10))
        with torch.no_grad():
            for mean, now in zip(
                self.averaged.parameters(), self.network.parameters(), strict=True
            ):
                mean.lerp_(now, 1 - decay)

    def policy(self) -> LearnedPolicy:
        """The policy of this moment, playing argmax."""
        return LearnedPolicy(self.averaged, precision=self.config.precision)

    def pack_policy(self) -> dict[str, Any]:
        """The policy of this moment, and the configuration that it comes from.

        It is passed on, so it names no place of this machine: `init` and `run_dir` stay empty.
        """
        anywhere = dataclasses.replace(self.config, init="", run_dir="")
        return {
            **checkpoint.pack_policy(self.averaged, self.config.precision),
            "config": plain(anywhere),
        }

    def pack(self) -> dict[str, Any]:
        """The checkpoint of this moment: the policy, and all that training goes on from.

        Of several processes each has to call it; the one that leads gets the whole.
        """
        return self._pack(self.ranks.gather(self._pack_rank()))

    def pack_alone(self) -> dict[str, Any]:
        """The same without asking the other processes for their part."""
        return self._pack([self._pack_rank()])

    def _pack(self, of_ranks: list[dict[str, Any]]) -> dict[str, Any]:
        content = {
            **self.pack_policy(),
            "config": plain(self.config),
            "optimizer": self.optimizer.state_dict(),
            "ranks": of_ranks,
            "counters": {
                "decisions": self.decisions,
                "updates": self.updates,
                "next_snapshot": self.next_snapshot,
                "seconds": self.seconds,
                "best": self.best,
            },
        }
        if self.averaged is not self.network:
            content["learning_network"] = self.network.state_dict()
        if self.critic is not None:
            content["critic"] = self.critic.state_dict()
        return content

    def _pack_rank(self) -> dict[str, Any]:
        """What is this process's own."""
        return {
            "league": self.league.state_dict(),
            "state": checkpoint.pack_state(self.state),
            "random": {
                "deal": checkpoint.pack_rng(self.deal_rng),
                "league": checkpoint.pack_rng(self.league.rng),
                "sample": self.generator.get_state(),
            },
        }

    @classmethod
    def unpack(cls, saved: dict[str, Any], config: Config, ranks: Ranks = ALONE) -> Training:
        """The run that `pack` packed, to go on under ``config``.

        Raises:
            CheckpointError: if the content does not fit, or another number of processes made it.
        """
        training = cls.start(dataclasses.replace(config, init=""), ranks)
        training.config = config
        try:
            if len(saved["ranks"]) != ranks.size:
                raise checkpoint.CheckpointError(
                    f"{len(saved['ranks'])} processes trained it and go on with it, not "
                    f"{ranks.size}: torchrun --nproc-per-node {len(saved['ranks'])} train.py ..."
                )
            training.averaged.load_state_dict(saved["network"])
            if training.averaged is not training.network:
                training.network.load_state_dict(saved["learning_network"])
            if training.critic is not None:
                training.critic.load_state_dict(saved["critic"])
            training.optimizer.load_state_dict(saved["optimizer"])
            own = saved["ranks"][ranks.rank]
            training.league.load_state_dict(own["league"], training.network)
            training.league.rng = checkpoint.unpack_rng(own["random"]["league"])
            training.state = checkpoint.unpack_state(own["state"])
            training.deal_rng = checkpoint.unpack_rng(own["random"]["deal"])
            training.generator.set_state(own["random"]["sample"])
            for name, value in saved["counters"].items():
                setattr(training, name, value)
        except checkpoint.CheckpointError:
            raise
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise checkpoint.CheckpointError(f"no training run to go on with: {error}") from None
        return training


def network_config(config: Config) -> NetworkConfig:
    """The shape of the network that a configuration asks for."""
    return NetworkConfig(
        hidden_size=config.hidden_size,
        hidden_layers=config.hidden_layers,
        live_outs=config.live_outs,
        canonical_suits=config.canonical_suits,
        contextual_rule=config.contextual_rule,
        belief=config.belief_coef > 0,
    )


def _begin_with(player: str, network: Network, critic: Critic | None) -> None:
    """Give a network the weights of a policy of its shape, or of one that is narrower.

    If it is the checkpoint of a run, its critic goes on, too.

    Raises:
        ConfigError: if the player is no network, or one that does not fit.
    """
    policy = opponents.resolve(player)
    if not isinstance(policy, LearnedPolicy):
        raise ConfigError(f"init must be a learned policy, {player} is none")
    its, own = policy.network.config, network.config
    if dataclasses.replace(its, hidden_size=own.hidden_size) != own:
        raise ConfigError(f"init: {player} has another network than this run, {its} and not {own}")
    saved = checkpoint.load(player) if Path(player).is_file() else {}
    try:
        grow(network, policy.network.state_dict())
        if critic is not None and "critic" in saved:
            grow(critic, saved["critic"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"init: {player} does not fit into this run's networks ({error!s:.300}): if it is "
            f"wider, raise hidden_size or critic_hidden_size"
        ) from None


def usable_device(name: str) -> torch.device:
    """The device, once a number has been put on it.

    Raises:
        ConfigError: if the machine has no such device.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).tolist()
    except Exception as error:  # each kind of device that is not there fails in its own way
        found = "cpu, cuda" if torch.cuda.is_available() else "cpu"
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ConfigError(
            f"device {name!r} cannot be used here ({reason}): there is {found}"
        ) from None
    return device


def _between(first: float, last: float, gone: float) -> float:
    return first + (last - first) * gone


def _play_metrics(played: HandsPlayed, buffer: Buffer) -> dict[str, float]:
    """How the hands of a rollout went, as shares of the hands that ended in it."""
    mask = buffer.mask[:, :, 52:104].any(dim=2) & buffer.learns
    knocked = (buffer.action >= 52) & (buffer.action < 104) & mask
    metrics = {"play/knock_when_legal": float(knocked.sum()) / max(1, int(mask.sum()))}
    if played.result:
        result = np.concatenate(played.result)
        deadwood = np.concatenate(played.knock_deadwood)
        for kind in (Result.KNOCK, Result.GIN, Result.BIG_GIN, Result.UNDERCUT, Result.VOID):
            metrics[f"play/{kind.name.lower()}_rate"] = float((result == kind).mean())
        metrics["play/turns"] = float(np.concatenate(played.turns).mean())
        with_knock = (result == Result.KNOCK) | (result == Result.UNDERCUT)
        if with_knock.any():
            metrics["play/knock_deadwood"] = float(deadwood[with_knock].mean())
    return metrics
