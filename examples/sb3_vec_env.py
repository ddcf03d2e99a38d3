"""`GinRummyVectorEnv` as a Stable-Baselines3 `VecEnv`.

`DummyVecEnv` over many single environments works just as well and asks for no adapter; this steps
all games in one call, which is many times as fast.
"""

import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from ginenv.vector import GinRummyVectorEnv


class BatchVecEnv(VecEnv):
    """N games of one learner, stepped together.

    Args:
        num_envs: N.
        reward_scale: rewards are points divided by this.
        **options: those of `GinRummyVectorEnv`.
    """

    def __init__(self, num_envs, reward_scale=1.0, **options):
        self.envs = GinRummyVectorEnv(num_envs, **options)
        self.reward_scale = reward_scale
        super().__init__(
            num_envs, self.envs.single_observation_space, self.envs.single_action_space
        )

    def reset(self):
        seed, self._seeds = self._seeds[0], [None] * self.num_envs
        observations, _ = self.envs.reset(seed=seed)
        self._lengths = np.zeros(self.num_envs, dtype=int)
        self._returns = np.zeros(self.num_envs)
        return observations

    def step_async(self, actions):
        self._actions = actions

    def step_wait(self):
        observations, rewards, done, _, infos = self.envs.step(self._actions)
        self._lengths += 1
        self._returns += rewards
        told = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(done):
            told[row] = {
                "terminal_observation": infos["final_obs"][row],
                "TimeLimit.truncated": False,
                "episode": {"r": self._returns[row], "l": int(self._lengths[row]), "t": 0.0},
            }
        self._lengths[done] = 0
        self._returns[done] = 0.0
        return observations, (rewards / self.reward_scale).astype(np.float32), done, told

    def env_method(self, method_name, *args, indices=None, **kwargs):
        """One result a game; `action_masks` is what `MaskablePPO` asks for."""
        results = getattr(self.envs, method_name)(*args, **kwargs)
        return [results[row] for row in self._get_indices(indices)]

    def get_attr(self, attr_name, indices=None):
        return [getattr(self.envs, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name, value, indices=None):
        setattr(self.envs, attr_name, value)

    def env_is_wrapped(self, wrapper_class, indices=None):
        return [False] * len(list(self._get_indices(indices)))

    def close(self):
        self.envs.close()
