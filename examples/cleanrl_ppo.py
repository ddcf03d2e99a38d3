"""PPO in one file, in CleanRL's manner, over the vector environment with masked actions.

``python examples/cleanrl_ppo.py`` learns against `easy`; ``--help`` lists what may be changed. The
names are CleanRL's. Two things differ from its `ppo.py`: logits of illegal actions are minus
infinity before the distribution is built, and the mask is stored beside the observation.
"""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import agents  # noqa: F401 (registers the bots by name)
from ginenv.vector import GinRummyVectorEnv
from ginenv.view import NOT_HELD, observation_size

POINTS = 50.0  # rewards are in units of so many points
AFTER = slice(11 * 52, 12 * 52)  # the plane of deadwood left after each discard


def scaled(observations):
    """uint8 observations as floats of about one; see `ginenv.view.OBSERVATIONS`."""
    x = torch.as_tensor(observations).float()
    after = x[:, AFTER]
    above = torch.where(after < NOT_HELD, after - after.amin(1, keepdim=True), 0.0)
    counts = x[:, AFTER.stop :].clamp(max=110) / 50
    return torch.cat([x[:, : AFTER.start], (after < NOT_HELD) * after / 50, above / 10, counts], 1)


class Agent(nn.Module):
    def __init__(self, hidden=256):
        super().__init__()
        inputs = observation_size("full") + 52
        self.trunk = nn.Sequential(
            nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.actor, self.critic = nn.Linear(hidden, 108), nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.actor.weight, 0.01)

    def get_action_and_value(self, observations, masks, action=None):
        hidden = self.trunk(scaled(observations))
        logits = self.actor(hidden).masked_fill(~masks, -torch.inf)
        distribution = Categorical(logits=logits)
        if action is None:
            action = distribution.sample()
        # p log p of an illegal action is 0, not the 0 x -inf that Categorical.entropy computes
        log_probs = distribution.logits.masked_fill(~masks, 0.0)
        entropy = -(distribution.probs * log_probs).sum(1)
        return action, distribution.log_prob(action), entropy, self.critic(hidden).squeeze(1)


def main(
    opponent="easy",
    total_timesteps=1_000_000,
    num_envs=256,
    num_steps=32,
    num_minibatches=4,
    update_epochs=3,
    learning_rate=1e-3,
    gae_lambda=0.95,
    clip_coef=0.2,
    ent_coef=0.02,
    vf_coef=0.5,
    max_grad_norm=0.5,
    seed=0,
):
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    envs = GinRummyVectorEnv(num_envs, opponent)  # AutoresetMode.SAME_STEP: no idle rows
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters(), learning_rate, eps=1e-5)

    shape = (num_steps, num_envs)
    obs = torch.zeros((*shape, observation_size("full")), dtype=torch.uint8)
    masks = torch.zeros((*shape, 108), dtype=torch.bool)
    actions = torch.zeros(shape, dtype=torch.long)
    logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(4))

    next_obs, infos = envs.reset(seed=seed)
    next_mask = torch.as_tensor(infos["action_mask"]).bool()
    num_iterations = max(total_timesteps // (num_envs * num_steps), 1)
    history, start = [], time.monotonic()
    for iteration in range(num_iterations):
        optimizer.param_groups[0]["lr"] = learning_rate * (1 - iteration / num_iterations)
        ended = []
        with torch.no_grad():
            for step in range(num_steps):
                obs[step], masks[step] = torch.as_tensor(next_obs), next_mask
                actions[step], logprobs[step], _, values[step] = agent.get_action_and_value(
                    next_obs, next_mask
                )
                next_obs, reward, done, _, infos = envs.step(actions[step].numpy())
                next_mask = torch.as_tensor(infos["action_mask"]).bool()
                rewards[step] = torch.as_tensor(reward) / POINTS
                dones[step] = torch.as_tensor(done)
                ended += reward[done].tolist()

            # An episode's end is a true one, never a truncation: nothing follows it.
            next_value = agent.get_action_and_value(next_obs, next_mask)[3]
            advantages, last = torch.zeros_like(rewards), 0.0
            for t in reversed(range(num_steps)):
                following = next_value if t == num_steps - 1 else values[t + 1]
                goes_on = 1.0 - dones[t]
                delta = rewards[t] + following * goes_on - values[t]
                advantages[t] = last = delta + gae_lambda * goes_on * last
            returns = advantages + values

        flat = [x.flatten(0, 1) for x in (obs, masks, actions, logprobs, advantages, returns)]
        for _ in range(update_epochs):
            for rows in torch.randperm(num_envs * num_steps).chunk(num_minibatches):
                b_obs, b_masks, b_actions, b_logprobs, b_advantages, b_returns = (
                    x[rows] for x in flat
                )
                _, logprob, entropy, value = agent.get_action_and_value(b_obs, b_masks, b_actions)
                ratio = (logprob - b_logprobs).exp()
                b_advantages = (b_advantages - b_advantages.mean()) / (b_advantages.std() + 1e-8)
                clipped = ratio.clamp(1 - clip_coef, 1 + clip_coef)
                pg_loss = -torch.min(b_advantages * ratio, b_advantages * clipped).mean()
                v_loss = 0.5 * (value - b_returns).square().mean()
                loss = pg_loss - ent_coef * entropy.mean() + vf_coef * v_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), max_grad_norm)
                optimizer.step()

        if ended:
            history.append(float(np.mean(ended)))
            done_steps = (iteration + 1) * num_envs * num_steps
            print(
                f"{done_steps:>9,} steps, {done_steps / (time.monotonic() - start):6.0f} a second: "
                f"{history[-1]:+6.2f} points a hand against {opponent}, sampled",
                flush=True,
            )
    return agent, history


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    defaults = dict(zip(main.__code__.co_varnames, main.__defaults__, strict=False))
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    main(**vars(parser.parse_args()))
