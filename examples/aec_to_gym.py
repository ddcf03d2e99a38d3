"""Any two-player PettingZoo AEC environment with action masks as a Gymnasium environment.

The wrapper in PettingZoo's documentation steps both seats in turn and returns, after each action,
one seat's reward: what `last()` says or, in later versions, what the actor was awarded. In a game
that ends with one player's action the other never acts again, so that one seat never sees its
terminal reward (in gin rummy: whoever is knocked against).
Here the learner has a seat, a policy plays the other one, and the learner is paid whatever his
seat was awarded since his last action, whoever ended the game.

For gin rummy itself `gymnasium.make("ginenv:GinRummy-v0")` does the same without PettingZoo.
"""

import gymnasium as gym
import numpy as np

from ginenv import gin_rummy_v0


class AECToGym(gym.Env):
    """One learner's seat of an AEC environment.

    Args:
        env: the AEC environment, with observations of `observation` and `action_mask`.
        opponent: plays the other seat: (observation, random generator) -> action.
        seat: the learner's agent, or None to draw it for each episode.
    """

    def __init__(self, env, opponent, seat=None):
        self.env, self.opponent, self.seat = env, opponent, seat
        first = env.possible_agents[0]
        self.observation_space = env.observation_space(first)["observation"]
        self.action_space = env.action_space(first)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        while True:
            self.env.reset(seed=int(self.np_random.integers(2**31)), options=options)
            self.agent = self.seat or self.env.possible_agents[int(self.np_random.integers(2))]
            self._let_opponent_play()
            if not self.env.terminations[self.agent]:
                return self._observe(), self.env.infos[self.agent]
            # The opponent ended the game before the learner had anything to decide: play another.

    def step(self, action):
        self.env.step(action)
        reward = self.env.rewards[self.agent]
        reward += self._let_opponent_play()
        over = self.env.terminations[self.agent]
        truncated = self.env.truncations[self.agent]
        return self._observe(), float(reward), over, truncated, self.env.infos[self.agent]

    def action_masks(self):
        return self.env.observe(self.agent)["action_mask"].astype(bool)

    def _let_opponent_play(self):
        """Until the learner is to move or the game is over; returns what he was awarded."""
        awarded = 0.0
        while self.env.agent_selection != self.agent and not self.env.terminations[self.agent]:
            observation = self.env.observe(self.env.agent_selection)
            self.env.step(self.opponent(observation, self.np_random))
            awarded += self.env.rewards[self.agent]
        return awarded

    def _observe(self):
        return self.env.observe(self.agent)["observation"]


def random_opponent(observation, rng):
    return int(rng.choice(np.flatnonzero(observation["action_mask"])))


def main(hands=100):
    env = AECToGym(gin_rummy_v0.raw_env(), random_opponent)
    total = 0.0
    for seed in range(hands):
        env.reset(seed=seed)
        over = False
        while not over:
            action = env.np_random.choice(np.flatnonzero(env.action_masks()))
            _, reward, over, _, _ = env.step(int(action))
            total += reward
    print(f"random scores {total / hands:+.1f} points a hand against random")


if __name__ == "__main__":
    main()
