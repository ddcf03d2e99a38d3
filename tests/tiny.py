"""The smallest training runs that still have every part, and comparing two of them."""

from typing import Any

import numpy as np
import torch

from agents.config import Config
from agents.training import Training
from ginenv.state import FIELDS, State

SMALL: dict[str, Any] = {
    "threads": 1,
    "num_games": 16,
    "num_steps": 8,
    "minibatch_size": 64,
    "hidden_size": 16,
    "hidden_layers": 1,
    "total_decisions": 1_280,  # ten updates
    "opponents": ("greedy", "easy"),
    "opponent_share": 0.25,
    "past_self_share": 0.25,
    "snapshot_every": 256,
    "max_snapshots": 2,
    "eval_every": 1_000_000,
    "eval_hands": 20,
    "eval_opponents": ("greedy",),
    "final_eval_hands": 20,
    "final_eval_games": 2,
    "checkpoint_every": 512,
}
A_ROLLOUT = SMALL["num_games"] * SMALL["num_steps"]


def tiny(**changes: Any) -> Config:
    """A run of ten updates with opponents and snapshots, some keys changed."""
    return Config(**{**SMALL, **changes})


def words(**changes: Any) -> list[str]:
    """The same run as words of a command line."""
    pairs = {**SMALL, **changes}.items()
    return [
        word
        for key, value in pairs
        for word in (f"--{key}", " ".join(value) if isinstance(value, tuple) else str(value))
    ]


def differences(a: Any, b: Any, where: str = "") -> list[str]:
    """The places where two nested containers differ, bit for bit; NaN equals NaN."""
    if type(a) is not type(b):
        return [f"{where}: {type(a).__name__} and {type(b).__name__}"]
    if isinstance(a, dict):
        if a.keys() != b.keys():
            return [f"{where}: keys {sorted(map(str, a.keys() ^ b.keys()))}"]
        return [d for key in a for d in differences(a[key], b[key], f"{where}/{key}")]
    if isinstance(a, (list, tuple)):
        if len(a) != len(b):
            return [f"{where}: lengths {len(a)} and {len(b)}"]
        pairs = enumerate(zip(a, b, strict=True))
        return [d for i, pair in pairs for d in differences(*pair, f"{where}/{i}")]
    if isinstance(a, torch.Tensor):
        same = a.dtype == b.dtype and a.shape == b.shape
        return [] if same and torch.equal(a.nan_to_num(7), b.nan_to_num(7)) else [where]
    if isinstance(a, float):
        return [] if a == b or (a != a and b != b) else [f"{where}: {a} and {b}"]
    return [] if a == b else [f"{where}: {a!r} and {b!r}"]


def packed(training: Training) -> dict[str, Any]:
    """What a checkpoint holds, but for the seconds it took and where it was made."""
    content = training.pack()
    content["counters"] = {k: v for k, v in content["counters"].items() if k != "seconds"}
    return content


def relabelled(state: State, suits: np.ndarray) -> State:
    """The same games with suit s renamed to ``suits[s]`` on every card, hidden ones too."""
    renamed = state.copy()
    for name, (_, dtype) in FIELDS.items():
        array = getattr(renamed, name)
        if dtype == np.uint64:
            lanes = array.view("<u2")
            lanes.reshape(-1, 4)[:, suits] = lanes.reshape(-1, 4).copy()
        elif name in ("pile", "upcard", "face_down", "deck", "drawn"):
            real = array >= 0
            array[real] = 13 * suits[array[real] // 13] + array[real] % 13
    return renamed


def relabelled_actions(actions: np.ndarray, suits: np.ndarray) -> np.ndarray:
    """The same actions in games that `relabelled` renamed."""
    card = actions % 52
    return np.where(actions < 104, actions - card + 13 * suits[card // 13] + card % 13, actions)
