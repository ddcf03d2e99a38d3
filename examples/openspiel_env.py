"""The interface of OpenSpiel's `rl_environment`, for its Python agents.

OpenSpiel has a gin rummy of its own, in C++, with chance nodes and states that can be cloned: take
that for its game-tree algorithms (and see the notes on migrating for what differs). Its learning
agents only ask for `TimeStep`s, and for them this thin class gives these rules and observations.
"""

import numpy as np
from open_spiel.python.rl_environment import StepType, TimeStep

from ginenv import engine
from ginenv.rules import NUM_ACTIONS, STANDARD, Phase
from ginenv.view import encode, observation_size, view


class OpenSpielEnv:
    """One hand of gin rummy at a time.

    Args:
        rules: a `ginenv.Rules`.
        scale: rewards are points divided by this.
        seed: of the deals.
    """

    num_players = 2
    is_turn_based = True
    name = "ginenv_gin_rummy"

    def __init__(self, rules=STANDARD, scale=100.0, seed=None):
        self.rules, self.scale = rules, scale
        self._rng = np.random.default_rng(seed)

    def observation_spec(self):
        size = (observation_size("full"),)
        return {"info_state": size, "legal_actions": (NUM_ACTIONS,), "current_player": ()}

    def action_spec(self):
        return {"num_actions": NUM_ACTIONS, "min": 0, "max": NUM_ACTIONS - 1, "dtype": int}

    def reset(self):
        self._game = engine.deal(self._rng, 1, self.rules)
        return self._time_step(None, StepType.FIRST)

    def step(self, actions):
        """Play the action of the player to move, the only one in the list."""
        if self._game.phase[0] == Phase.OVER:
            return self.reset()
        outcome = engine.step(self._game, [int(actions[0])])
        over = StepType.LAST if outcome.hand_over[0] else StepType.MID
        return self._time_step((outcome.points[0] / self.scale).tolist(), over)

    def _time_step(self, rewards, step_type):
        seen = [view(self._game, seat) for seat in range(2)]
        observations = {
            "info_state": [encode(one)[0].astype(np.float32).tolist() for one in seen],
            "legal_actions": [np.flatnonzero(one.action_mask[0]).tolist() for one in seen],
            "current_player": int(self._game.player[0]),
            "serialized_state": [],
        }
        discounts = [0.0 if step_type == StepType.LAST else 1.0] * 2
        return TimeStep(observations, rewards, discounts, step_type)


def main(hands=50, seed=0):
    from open_spiel.python.algorithms.random_agent import RandomAgent

    env = OpenSpielEnv(seed=seed)
    agents = [RandomAgent(player, NUM_ACTIONS) for player in range(2)]
    total = np.zeros(2)
    for _ in range(hands):
        step = env.reset()
        while not step.last():
            step = env.step([agents[step.current_player()].step(step).action])
        for agent in agents:
            agent.step(step)
        total += step.rewards
    print("mean rewards of OpenSpiel's random agents:", total / hands)


if __name__ == "__main__":
    main()
