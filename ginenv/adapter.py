"""What all environments share: spaces, options, checks and the account of a hand's end.

An environment is an adapter over a `State`.  It holds no rule: it asks `engine`, `view` and
`rules`, and turns their arrays into what PettingZoo or Gymnasium expects.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import error, spaces

from ginenv.cards import NUM_CARDS
from ginenv.engine import Outcome
from ginenv.rules import NO_ACTION, NUM_ACTIONS, PRESETS, Result, Rules
from ginenv.view import OBSERVATIONS, observation_size

AGENTS = ("player_0", "player_1")
RENDER_MODES = ("human", "ansi", "rgb_array")
RENDER_FPS = 2


def observation_space(observation: str = "full") -> spaces.Box:
    """The space of one encoded observation: ``(size,)`` uint8.

    Planes of cards are zeros and ones; the plane ``deadwood_after`` and the counts go to 255.
    """
    high = np.full(observation_size(observation), 255, dtype=np.uint8)
    for place, plane in enumerate(OBSERVATIONS[observation][0]):
        if plane != "deadwood_after":
            high[place * NUM_CARDS : (place + 1) * NUM_CARDS] = 1
    return spaces.Box(np.zeros_like(high), high, dtype=np.uint8)


def action_space() -> spaces.Discrete:
    """The space of the 108 actions."""
    return spaces.Discrete(NUM_ACTIONS)


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


def checked_render_mode(mode: str | None) -> str | None:
    """The mode, if it is one and what draws it is installed."""
    if mode is None:
        return None
    checked_choice("render_mode", mode, RENDER_MODES)
    if mode == "rgb_array":
        try:
            import PIL  # noqa: F401
        except ImportError as missing:
            raise error.DependencyNotInstalled(
                "render_mode 'rgb_array' draws with Pillow: pip install 'ginenv[render]'"
            ) from missing
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


def settlement(outcome: Outcome, row: int, scores: npt.NDArray[np.integer]) -> dict[str, Any]:
    """The account of a hand that ended in a step, the same for both seats.

    Args:
        outcome: of the step.
        row: the game.
        scores: ``(2,)`` the match scores after the hand.

    Returns:
        ``result`` the name of a `rules.Result`; ``knocker`` the agent that ended the hand, or
        None; ``points``, ``deadwood`` (after layoffs; None in a void hand) and ``scores`` by
        agent; ``match_over``.
    """
    settled = outcome.result[row] != Result.VOID
    deadwood = outcome.deadwood[row].tolist() if settled else (None, None)
    return {
        "result": Result(outcome.result[row]).name,
        "knocker": AGENTS[outcome.knocker[row]] if settled else None,
        "points": dict(zip(AGENTS, map(float, outcome.points[row]), strict=True)),
        "deadwood": dict(zip(AGENTS, deadwood, strict=True)),
        "scores": dict(zip(AGENTS, scores.tolist(), strict=True)),
        "match_over": bool(outcome.match_over[row]),
    }
