"""sb3-contrib's `MaskablePPO` learns to beat the bot `easy`.

``python examples/sb3_maskable_ppo.py`` trains for about five minutes on one core and writes
``maskable_ppo.json`` and ``maskable_ppo.png``, the learning curve.  With ``--single`` it steps the
single-agent environment of ``gymnasium.make`` in a `DummyVecEnv` instead of the batch: the same,
more slowly.
"""

import argparse
import json
import time
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv

import agents  # noqa: F401 (registers the bots by name)
from ginenv.vector import GinRummyVectorEnv
from ginenv.view import OBSERVATIONS

try:
    from examples.sb3_vec_env import BatchVecEnv
except ImportError:  # run as a script: this folder is on the path
    from sb3_vec_env import BatchVecEnv

PLANES, COUNTS = OBSERVATIONS["full"]
POINTS = 50.0  # rewards are in units of so many points


class Scaled(BaseFeaturesExtractor):
    """Brings the observation's numbers to about one.

    The last plane, the deadwood left after each discard, says more than all others together if a
    network can read it, so it is given as it is, and above its least, and whether one could knock.
    """

    def __init__(self, observation_space):
        cards = 52 * (len(PLANES) - 1)
        super().__init__(observation_space, features_dim=cards + 3 * 52 + len(COUNTS) + 4)
        self.cards = cards

    def forward(self, observation):
        cards, after, counts = observation.float().split([self.cards, 52, len(COUNTS)], dim=1)
        thrown = (after < 255).float()
        above = after - after.amin(dim=1, keepdim=True)
        limit = counts[:, [COUNTS.index("knock_limit")]]
        phase = torch.nn.functional.one_hot(counts[:, 0].long(), 5)[:, :4]
        return torch.cat(
            [
                cards,
                thrown * after / 50,
                thrown * above / 10,
                thrown * (after <= limit),
                counts.clamp(max=110) / 50,
                phase,
            ],
            dim=1,
        )


def points_a_hand(model, opponent, hands, seed=10_000):
    """Mean points of the model's argmax play, and half the width of the 95 % interval.

    Each game plays as many hands as the others: to stop with the first so many that end would
    favour short ones.
    """
    num_envs = min(hands, 500)
    envs = GinRummyVectorEnv(num_envs, opponent)
    observations, infos = envs.reset(seed=seed)
    left = np.full(num_envs, -(-hands // num_envs))
    scored = []
    while left.any():
        masks = infos["action_mask"]
        actions, _ = model.predict(observations, action_masks=masks, deterministic=True)
        observations, rewards, done, _, infos = envs.step(actions)
        scored += rewards[done & (left > 0)].tolist()
        left -= done & (left > 0)
    return np.mean(scored), 1.96 * np.std(scored) / len(scored) ** 0.5


class Curve(BaseCallback):
    """Evaluates every so many steps."""

    def __init__(self, opponent, every, hands):
        super().__init__()
        self.opponent, self.every, self.hands = opponent, every, hands
        self.rows, self.start = [], time.process_time()

    def _on_rollout_start(self):
        if not self.rows or self.num_timesteps - self.rows[-1]["steps"] >= self.every:
            self.evaluate()

    def _on_training_end(self):
        self.evaluate()

    def _on_step(self):
        return True

    def evaluate(self):
        mean, margin = points_a_hand(self.model, self.opponent, self.hands)
        seconds = time.process_time() - self.start
        row = {"steps": self.num_timesteps, "seconds": seconds, "points": mean, "margin": margin}
        self.rows.append(row)
        print(
            f"{self.num_timesteps:>9,} steps {seconds:5.0f} s of processor time  "
            f"{mean:+6.2f} ± {margin:.2f} points a hand against {self.opponent}",
            flush=True,
        )


def train(opponent="easy", steps=1_000_000, num_envs=256, single=False, seed=0, hands=2000):
    """Returns the model and the rows of its learning curve."""
    torch.set_num_threads(1)
    if single:
        make = lambda: gym.wrappers.TransformReward(  # noqa: E731
            gym.make("ginenv:GinRummy-v0", opponent=opponent), lambda points: points / POINTS
        )
        envs = DummyVecEnv([make] * num_envs)
    else:
        envs = BatchVecEnv(num_envs, POINTS, opponent=opponent)
    n_steps = max(min(8192, steps) // num_envs, 2)
    model = MaskablePPO(
        "MlpPolicy",
        envs,
        n_steps=n_steps,
        batch_size=min(2048, n_steps * num_envs),
        n_epochs=3,
        learning_rate=lambda left: 1e-3 * left + 1e-4,
        gamma=1.0,
        gae_lambda=0.95,
        ent_coef=0.02,
        seed=seed,
        device="cpu",
        policy_kwargs={
            "features_extractor_class": Scaled,
            "net_arch": [256, 256],
            "activation_fn": torch.nn.ReLU,
        },
    )
    curve = Curve(opponent, max(steps // 12, 1), hands)
    model.learn(steps, callback=curve)
    return model, curve.rows


def draw(rows, opponent, path):
    from matplotlib.figure import Figure

    steps, points, margin = (
        np.array([row[key] for row in rows]) for key in ("steps", "points", "margin")
    )
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.fill_between(steps, points - margin, points + margin, alpha=0.25)
    axes.plot(steps, points, marker="o")
    axes.axhline(0, color="grey", linewidth=1)
    axes.set_xlabel("learner's decisions")
    axes.set_ylabel(f"points a hand against {opponent}")
    axes.set_title("MaskablePPO, argmax play, 95 % intervals")
    figure.savefig(path, dpi=120)


def main(out=".", **options):
    model, rows = train(**options)
    out = Path(out)
    (out / "maskable_ppo.json").write_text(json.dumps(rows, indent=1) + "\n")
    draw(rows, options["opponent"], out / "maskable_ppo.png")
    model.save(out / "maskable_ppo.zip")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opponent", default="easy")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--num_envs", type=int, default=256)
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hands", type=int, default=2000, help="for each point of the curve")
    parser.add_argument("--out", default=".", help="folder for the curve and the model")
    main(**vars(parser.parse_args()))
