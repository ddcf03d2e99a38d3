"""The training configuration: one strict dataclass, read from YAML and the command line.

An unknown key, a wrong type or a value out of range is a `ConfigError` that says where it stands,
what is allowed and, for a key, the nearest right one.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import reprlib
import types
import typing
from dataclasses import dataclass
from typing import Any

import yaml

from agents import plain_yaml
from ginenv.rules import PRESETS


class ConfigError(ValueError):
    """A configuration that cannot be used, with the remedy in its text."""


@dataclass(frozen=True)
class Config:
    """Everything that decides a training run.  Decisions are actions chosen by any player."""

    # The run
    seed: int = 1
    total_decisions: int = 20_000_000  # the schedules end here
    run_dir: str = ""  # empty: runs/<name>-<date>-<time>
    device: str = "cpu"  # cpu, cuda, cuda:0, ...
    processes: int = 1  # on this machine; torchrun has its own say
    threads: int = 1  # of torch, in each process; a second process gains more than a second thread
    precision: str = "bfloat16"  # of matrix products: float32 or bfloat16 (weights stay float32)

    # The game
    rules: str = "standard"  # a preset of ginenv.Rules
    num_games: int = 2048  # in parallel, in each process
    opponents: tuple[str, ...] = ("greedy", "patient", "hard", "crazy")
    opponent_share: float = 0.1  # of the games, one seat is played by one of `opponents`
    past_self_share: float = 0.1  # of the games, one seat is played by an earlier policy
    snapshot_every: int = 1_000_000  # decisions between the earlier policies
    max_snapshots: int = 10

    # The network
    hidden_size: int = 256
    hidden_layers: int = 2
    init: str = ""  # a policy to begin as, maybe a narrower one: a name, a checkpoint, a run
    live_outs: bool = True  # show it what each card may still meld with
    canonical_suits: bool = True  # show it the suits in the order of the own holding
    contextual_rule: bool = True  # let the position shift the rule for each card
    belief_coef: float = 0.0  # weight of guessing the opponent's hand; 0: without that head
    average_decay: float = 0.0  # play averaged weights: what an update leaves of them; 0: the last

    # PPO
    num_steps: int = 32  # decisions of each game in a rollout
    update_epochs: int = 1
    minibatch_size: int = 4096  # decisions of each process
    learning_rate: float = 1e-3
    final_learning_rate: float = 1e-4
    ent_coef: float = 0.1
    final_ent_coef: float = 0.01
    clip_coef: float = 0.2
    vf_coef: float = 0.5
    critic: str = "all_cards"  # what advantages are measured by: all cards, or the player's view
    critic_hidden_size: int = 128
    gamma: float = 1.0
    gae_lambda: float = 0.95
    max_grad_norm: float = 0.5
    points_scale: float = 50.0  # points a unit of reward

    # A warm start: at first the learner watches a player in all seats and imitates it
    imitate: str = ""  # whom; empty: nobody
    imitate_decisions: int = 0

    # Evaluation and checkpoints, in decisions between them
    eval_every: int = 2_000_000
    eval_hands: int = 2_000
    eval_opponents: tuple[str, ...] = ("easy", "normal", "hard", "crazy")
    final_eval_hands: int = 20_000
    final_eval_games: int = 2_000
    checkpoint_every: int = 2_000_000
    keep_checkpoints: int = 3

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = coerce(field.name, getattr(self, field.name))
            object.__setattr__(self, field.name, value)
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise ConfigError(f"{name} must lie in {low:g} to {high:g}, got {value!s:.40}")
        _choice("rules", self.rules, list(PRESETS))
        _choice("precision", self.precision, ["float32", "bfloat16"])
        _choice("critic", self.critic, ["all_cards", "own_view"])
        if self.opponent_share and not self.opponents:
            raise ConfigError("opponent_share needs opponents: name some, or set it to 0")
        if self.opponent_share + self.past_self_share > 1:
            raise ConfigError("opponent_share and past_self_share must add up to at most 1")
        if self.imitate_decisions and not self.imitate:
            raise ConfigError("imitate_decisions needs imitate: name a player, or set it to 0")
        rollout = self.num_games * self.num_steps
        if self.minibatch_size > rollout:
            raise ConfigError(
                f"minibatch_size {self.minibatch_size} is larger than a rollout of num_games x "
                f"num_steps = {rollout} decisions: lower it, or play more"
            )


_RANGES: dict[str, tuple[float, float]] = {
    "seed": (0, 2**63 - 1),
    "total_decisions": (1, 1e13),
    "processes": (1, 1024),
    "threads": (1, 1024),
    "num_games": (2, 1_000_000),
    "opponent_share": (0, 1),
    "past_self_share": (0, 1),
    "snapshot_every": (1, 1e13),
    "max_snapshots": (1, 1000),
    "hidden_size": (1, 16_384),
    "hidden_layers": (1, 64),
    "critic_hidden_size": (1, 16_384),
    "num_steps": (2, 100_000),
    "update_epochs": (1, 1000),
    "minibatch_size": (1, 1e9),
    "imitate_decisions": (0, 1e13),
    "learning_rate": (0, 10),
    "final_learning_rate": (0, 10),
    "ent_coef": (0, 100),
    "final_ent_coef": (0, 100),
    "clip_coef": (1e-6, 10),
    "vf_coef": (0, 1000),
    "belief_coef": (0, 1000),
    "average_decay": (0, 1 - 1e-9),
    "gamma": (0, 1),
    "gae_lambda": (0, 1),
    "max_grad_norm": (1e-9, 1e9),
    "points_scale": (1e-6, 1e6),
    "eval_every": (1, 1e13),
    "eval_hands": (2, 1e9),
    "final_eval_hands": (2, 1e9),
    "final_eval_games": (2, 1e9),
    "checkpoint_every": (1, 1e13),
    "keep_checkpoints": (1, 1_000_000),
}


def coerce(name: str, value: Any) -> Any:
    """The value as the type that the key has; whole numbers may be written ``5e6``.

    Raises:
        ConfigError: if the key is unknown or the value has another type.
    """
    if name not in _TYPES:
        near = difflib.get_close_matches(name, _TYPES, n=1)
        hint = f", did you mean {near[0]}?" if near else "."
        raise ConfigError(f"unknown key {name!r:.80}{hint} Keys: {', '.join(_TYPES)}")
    wanted = _TYPES[name]
    try:
        return _CONVERT[wanted](value)
    except (TypeError, ValueError, KeyError, OverflowError):
        kind = _KIND_NAMES[wanted]
        raise ConfigError(f"{name} must be {kind}, got {reprlib.repr(value)}") from None


def load(path: str | os.PathLike[str] | None, overrides: dict[str, Any]) -> Config:
    """The configuration of a YAML file (None: the defaults) with some keys replaced.

    Raises:
        ConfigError: if the file cannot be read or a value cannot be used; names the file if the
            fault is there.
    """
    values: dict[str, Any] = {}
    if path is not None:
        try:
            loaded = plain_yaml.load(path)
        except OSError as error:
            raise ConfigError(f"cannot read {path}: {error.strerror}") from None
        except ValueError as error:
            raise ConfigError(f"{path} is no plain YAML: {error}") from None
        if loaded is not None and not isinstance(loaded, dict):
            raise ConfigError(f"{path} must hold 'key: value' lines, not {type(loaded).__name__}")
        values = loaded or {}
    try:
        return _made({**values, **overrides})
    except ConfigError:
        try:
            _made(values)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from None
        raise


def _made(values: dict[Any, Any]) -> Config:
    return Config(**{str(key): coerce(str(key), value) for key, value in values.items()})


def dump(config: Config) -> str:
    """The configuration as YAML that `load` reads back."""
    return yaml.safe_dump(plain(config), sort_keys=False)


def plain(config: Config) -> dict[str, Any]:
    """The configuration as numbers, texts and lists, for files."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in vars(config).items()}


def _choice(name: str, value: str, allowed: list[str]) -> None:
    if value not in allowed:
        near = difflib.get_close_matches(value, allowed, n=1)
        hint = f", did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"{name} must be one of {', '.join(allowed)}, got {value!r:.80}{hint}")


def _to_int(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    if isinstance(value, str):
        value = float(value) if any(c in value for c in ".eE") else int(value)
    if isinstance(value, float) and not value.is_integer():
        raise ValueError
    if not isinstance(value, (int, float)):
        raise TypeError
    return int(value)


def _to_bool(value: Any) -> bool:
    if isinstance(value, str):
        value = {"true": True, "false": False}[value.lower()]
    if not isinstance(value, bool):
        raise TypeError
    return value


def _to_float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError
    return number


def _to_str(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _to_names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
        raise TypeError
    return tuple(value)


_NAMES = types.GenericAlias(tuple, (str, ...))
_CONVERT: dict[Any, Any] = {
    bool: _to_bool,
    int: _to_int,
    float: _to_float,
    str: _to_str,
    _NAMES: _to_names,
}
_KIND_NAMES: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number (5e6 is fine)",
    float: "a number",
    str: "text",
    _NAMES: "a list of names",
}
_TYPES = typing.get_type_hints(Config)
