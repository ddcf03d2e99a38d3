"""PettingZoo's documented AEC loop, with a policy in each seat: ``python examples/aec_loop.py``."""

import argparse

import numpy as np

from ginenv import gin_rummy_v0


def random_policy(observation, action_space):
    return action_space.sample(observation["action_mask"])


def greedy_policy(observation, action_space):
    """Knocks when it may; else draws from the stock and throws what leaves the least deadwood."""
    legal = np.flatnonzero(observation["action_mask"])
    if 52 <= legal[-1] < 104 or legal[-1] == 107:
        return int(legal[-1])
    deadwood_after = observation["observation"][11 * 52 : 12 * 52]  # the last plane of "full"
    if legal[0] < 52:
        return int(legal[deadwood_after[legal].argmin()])
    return int(legal[legal != 105][0])


def main(hands=200, seed=0):
    env = gin_rummy_v0.env()
    policies = {"player_0": greedy_policy, "player_1": random_policy}
    points = dict.fromkeys(policies, 0.0)
    for hand in range(hands):
        env.reset(seed=seed + hand)
        for agent in env.agent_iter():
            observation, reward, termination, truncation, _ = env.last()
            points[agent] += reward
            if termination or truncation:
                action = None
            else:
                action = policies[agent](observation, env.action_space(agent))
            env.step(action)
    env.close()
    print(f"greedy scores {points['player_0'] / hands:+.1f} points a hand against random")
    return points


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hands", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    main(**vars(parser.parse_args()))
