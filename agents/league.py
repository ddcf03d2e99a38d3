"""Who plays the learner's games: itself, scripted players, and its own earlier selves."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from agents.config import Config
from agents.network import LearnedPolicy, Network
from ginenv import opponents
from ginenv.opponents import Policy
from ginenv.state import State
from ginenv.view import View

LEARNER = 0


class League:
    """Seats players at N games, hand by hand.

    In most games the learner plays both seats.  In a share of them one seat, drawn at random, is
    an opponent's: a fixed player, or a snapshot of the learner's own past.  All hands that begin in
    one rollout meet the same two guests, so that each guest decides for many games at a time.

    Attributes:
        seated: ``(N, 2)`` int16, who plays each seat: 0 the learner, then the fixed players in the
            config's order, then the snapshots.
        snapshots: the earlier networks, oldest first.
        guests: the fixed player and the snapshot that new hands meet now, by number; the learner's
            own where there is none.
    """

    def __init__(self, config: Config, rng: np.random.Generator) -> None:
        self.config = config
        self.rng = rng
        self.fixed: list[Policy] = [opponents.resolve(name) for name in config.opponents]
        self.snapshots: list[Network] = []
        self.guests = (LEARNER, LEARNER)
        self.seated = np.zeros((config.num_games, 2), dtype=np.int16)
        self.invite()
        self.seat_players(np.arange(config.num_games))

    def invite(self) -> None:
        """Draw the guests of the hands that begin from now on."""
        fixed, past = self.rng.random(2)
        snapshot = 1 + len(self.fixed) + int(past * len(self.snapshots))
        self.guests = (
            1 + int(fixed * len(self.fixed)) if self.fixed else LEARNER,
            snapshot if self.snapshots else LEARNER,
        )

    def seat_players(self, games: npt.NDArray[np.intp]) -> None:
        """Draw who plays the next hand of some games."""
        share, seat = self.rng.random((2, len(games)))
        fixed = share < self.config.opponent_share
        past = ~fixed & (share < self.config.opponent_share + self.config.past_self_share)
        player = np.select([fixed, past], self.guests, LEARNER)
        self.seated[games] = LEARNER
        self.seated[games, (seat < 0.5).astype(np.intp)] = player

    def to_move(self, state: State) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int16] | None]:
        """Whose decision each game waits for.

        Returns:
            The games where the learner decides; ``(N,)`` int16 who decides in each game, or None
            where it is the learner in all of them.
        """
        who = self.seated[np.arange(len(state)), state.player]
        learner = np.flatnonzero(who == LEARNER)
        return learner, None if len(learner) == len(who) else who

    def act(self, view: View, who: npt.NDArray[np.int16], actions: npt.NDArray[np.int64]) -> None:
        """Let the opponents choose their actions, in place."""
        for player in np.unique(who[who != LEARNER]):
            rows = np.flatnonzero(who == player)
            actions[rows] = self._policy(int(player))(view[rows], self.rng)

    def _policy(self, player: int) -> Policy:
        if player <= len(self.fixed):
            return self.fixed[player - 1]
        network = self.snapshots[player - 1 - len(self.fixed)]
        return LearnedPolicy(network, sampled=True, precision=self.config.precision)

    def add_snapshot(self, network: Network) -> None:
        """Keep the network as an opponent; beyond `max_snapshots` a random older one goes.

        Dropping at random keeps the pool spread over the whole past, the recent past densest.
        """
        self.snapshots.append(copy.deepcopy(network).eval().requires_grad_(False))
        if len(self.snapshots) > self.config.max_snapshots:
            gone = int(self.rng.integers(len(self.snapshots) - 1))
            del self.snapshots[gone]
            number = 1 + len(self.fixed) + gone
            bereft = self.seated == number
            self.seated[self.seated > number] -= 1
            self.seated[bereft] = len(self.fixed) + len(self.snapshots)  # the newest takes over

    def state_dict(self) -> dict[str, Any]:
        """All that changes in training, as tensors and plain values."""
        return {
            "seated": torch.from_numpy(self.seated.copy()),
            "guests": list(self.guests),
            "snapshots": [network.state_dict() for network in self.snapshots],
        }

    def load_state_dict(self, saved: dict[str, Any], network: Network) -> None:
        """Continue from `state_dict`; ``network`` gives the snapshots their shape."""
        self.seated = saved["seated"].numpy().copy()
        self.guests = tuple(saved["guests"])
        self.snapshots = []
        for weights in saved["snapshots"]:
            past = copy.deepcopy(network).eval().requires_grad_(False)
            past.load_state_dict(weights)
            self.snapshots.append(past)
