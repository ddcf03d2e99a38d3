"""The interface of RLCard's `Env`, for its agents: ``python examples/rlcard_env.py``.

RLCard's trainers know environments only through this interface, so that a thin class over the
engine is all it takes. What RLCard calls a state is one seat's observation; the rules, actions and
rewards are ginenv's.
"""

from collections import OrderedDict

import numpy as np

from ginenv import engine
from ginenv.rules import NUM_ACTIONS, STANDARD, Phase, action_name
from ginenv.view import encode, observation_size, view


class RLCardEnv:
    """One hand of gin rummy at a time.

    Args:
        config: RLCard's dict; only `seed` counts.
        rules: a `ginenv.Rules`.
        scale: payoffs are points divided by this.
    """

    name = "ginenv-gin-rummy"
    num_players = 2
    num_actions = NUM_ACTIONS
    allow_step_back = False

    def __init__(self, config=None, rules=STANDARD, scale=100.0):
        self.rules, self.scale = rules, scale
        self.state_shape = [[observation_size("full")] for _ in range(2)]
        self.action_shape = [None, None]
        self.timestep = 0
        self.seed((config or {}).get("seed"))

    def seed(self, seed=None):
        self.np_random = np.random.default_rng(seed)

    def set_agents(self, agents):
        self.agents = agents

    def reset(self):
        """Deal a hand; returns the first player's state and his number."""
        self.game = engine.deal(self.np_random, 1, self.rules)
        self.payoffs = np.zeros(2)
        self.action_recorder = []
        return self.get_state(self.get_player_id()), self.get_player_id()

    def step(self, action, raw_action=False):
        """Play an action; returns the next player's state and his number."""
        self.timestep += 1
        self.action_recorder.append((self.get_player_id(), int(action)))
        outcome = engine.step(self.game, [int(action)])
        self.payoffs = outcome.points[0] / self.scale
        return self.get_state(self.get_player_id()), self.get_player_id()

    def run(self, is_training=False):
        """Play a hand with the agents; returns RLCard's trajectories and the payoffs."""
        trajectories = [[], []]
        state, player = self.reset()
        trajectories[player].append(state)
        while not self.is_over():
            agent = self.agents[player]
            action = agent.step(state) if is_training else agent.eval_step(state)[0]
            trajectories[player].append(action)
            state, player = self.step(action)
            if not self.is_over():
                trajectories[player].append(state)
        for player in range(2):
            trajectories[player].append(self.get_state(player))
        return trajectories, self.get_payoffs()

    def is_over(self):
        return bool(self.game.phase[0] == Phase.OVER)

    def get_player_id(self):
        return int(self.game.player[0])

    def get_payoffs(self):
        return self.payoffs

    def get_state(self, player_id):
        """What one player knows; nobody's legal actions but those of the player to move."""
        seen = view(self.game, player_id)
        legal = np.flatnonzero(seen.action_mask[0]).tolist()
        return {
            "obs": encode(seen)[0].astype(np.float32),
            "legal_actions": OrderedDict.fromkeys(legal),
            "raw_obs": seen,
            "raw_legal_actions": [action_name(action) for action in legal],
            "action_record": self.action_recorder,
        }


def main(hands=50):
    from rlcard.agents import RandomAgent
    from rlcard.utils import tournament

    env = RLCardEnv({"seed": 0})
    env.set_agents([RandomAgent(env.num_actions) for _ in range(2)])
    print("payoffs of RLCard's random agents:", tournament(env, hands))


if __name__ == "__main__":
    main()
