"""What all environments share: names, checks of arguments and the account of a hand's end.

An environment is an adapter over a `State`.  It holds no rule: it asks `engine`, `view` and
`rules`, and turns their arrays into what PettingZoo or Gymnasium expects.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import error

from ginenv.rules import NO_ACTION, NUM_ACTIONS, PRESETS, Result, Rules

AGENTS = ("player_0", "player_1")
RENDER_MODES = ("human", "ansi", "rgb_array")
RENDER_FPS = 2


def checked_rules(rules: Rules | str) -> Rules:
    """Rules, or the preset that a name stands for."""
    if isinstance(rules, str):
        return Rules.preset(rules)
    if not isinstance(rules, Rules):
        raise TypeError(
            f"rules must be a ginenv.Rules or the name of a preset ({', '.join(PRESETS)}), "
            f"got {rules!r}; write Rules(knock_limit=5), for example"
        )
    return rules


def checked_choice(what: str, value: str, allowed: Iterable[str]) -> str:
    """The value, if it is allowed."""
    allowed = list(allowed)
    if value not in allowed:
        near = difflib.get_close_matches(str(value), allowed, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(f"unknown {what} {value!r}{hint}: choose one of {', '.join(allowed)}")
    return value


def require(package: str, wanted: str, remedy: str) -> None:
    """Check that a library is there and recent enough.

    Raises:
        ImportError: says which version there is, which is wanted, and how to get it.
    """
    try:
        found = version(package)
    except PackageNotFoundError:
        found = ""
    numbers = [int(part) for part in re.findall(r"\d+", found)[:2]]
    if numbers < [int(part) for part in wanted.split(".")]:
        there = f"found {package} {found}" if found else f"{package} is not installed"
        raise ImportError(f"this needs {package} {wanted} or newer, {there}: pip install {remedy}")


def checked_render_mode(mode: str | None) -> str | None:
    """The mode, if it is one and what draws it is installed."""
    if mode is None:
        return None
    checked_choice("render_mode", mode, RENDER_MODES)
    if mode == "rgb_array":
        try:
            require("pillow", "10.1", "'ginenv[render]'")
        except ImportError as missing:
            raise error.DependencyNotInstalled(f"render_mode 'rgb_array': {missing}") from None
    return mode


def checked_options(options: Mapping[str, Any] | None, allowed: Iterable[str]) -> dict[str, Any]:
    """Reset options as a dict.

    A key that looks like a slip of the pen is an error.  Any other unknown one is left alone:
    wrappers have options of their own, and PettingZoo's `api_test` makes one up.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(f"options must be a dict, got {options!r}")
    allowed = list(allowed)
    for key in options:
        if key not in allowed and difflib.get_close_matches(str(key).lower(), allowed, n=1):
            checked_choice("reset option", key, allowed)
    return {key: options[key] for key in allowed if key in options}


def checked_seat(what: str, value: Any) -> int:
    """A seat, given as 0 or 1 or as the agent's name."""
    if isinstance(value, str) and value in AGENTS:
        return AGENTS.index(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value in (0, 1):
        return int(value)
    raise ValueError(f"{what} must be 0, 1, 'player_0' or 'player_1', got {value!r}")


def one_action(action: Any) -> npt.NDArray[np.integer]:
    """One action as the engine takes it, ``(1,)``."""
    array = np.asarray(action)
    if array.size != 1 or array.dtype.kind not in "iu" or array.reshape(-1)[0] == NO_ACTION:
        raise ValueError(
            f"an action is one integer 0 to {NUM_ACTIONS - 1} that the action mask allows, "
            f"got {action!r}"
        )
    return array.reshape(1)


def settlement(
    result: int,
    knocker: int,
    points: npt.NDArray[np.integer],
    deadwood: npt.NDArray[np.integer],
    scores: npt.NDArray[np.integer],
) -> dict[str, Any]:
    """The account of a hand that has ended, the same for both seats.

    Args:
        result: of `rules.Result`.
        knocker: the seat that ended the hand; -1 = none.
        points: ``(2,)`` by seat.
        deadwood: ``(2,)`` by seat, after layoffs; -1 in a void hand.
        scores: ``(2,)`` by seat, of the match after the hand.

    Returns:
        The result's name, the knocker's (None = none), and the rest by agent, with None for the
        deadwood of a void hand.
    """
    void = result == Result.VOID
    return {
        "result": Result(result).name,
        "knocker": None if void else AGENTS[knocker],
        "points": dict(zip(AGENTS, map(float, points), strict=True)),
        "deadwood": dict.fromkeys(AGENTS) if void else _by_agent(deadwood),
        "scores": _by_agent(scores),
    }


def _by_agent(numbers: npt.NDArray[np.integer]) -> dict[str, int]:
    return dict(zip(AGENTS, numbers.tolist(), strict=True))
