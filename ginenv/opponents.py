"""Who may sit in the other seat: names to policies.

A *policy* takes a `View` of M decisions and a random generator and returns ``(M,)`` actions, the
whole batch at once, without state between calls.  ``random`` is known here; ``import agents``
registers the scripted bots, checkpoint files and outside programs.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ginenv.uniform import random_actions
from ginenv.view import View

Policy: TypeAlias = Callable[[View, np.random.Generator], npt.NDArray[Any]]

_factories: dict[str, Callable[[], Policy]] = {}
_loaders: list[tuple[Callable[[str], bool], Callable[[str], Policy]]] = []


def register(name: str, factory: Callable[[], Policy]) -> None:
    """Give a policy a name.  A name that is taken gets the new factory.

    Args:
        name: what users write, for example ``"crazy"``.
        factory: called at each use of the name; returns the policy.
    """
    _factories[name] = factory


def register_loader(matches: Callable[[str], bool], load: Callable[[str], Policy]) -> None:
    """Teach `resolve` a kind of text that is no name: a file, or a command to run.

    Args:
        matches: whether a text is of this kind.
        load: the policy that the text stands for.
    """
    _loaders.append((matches, load))


def names() -> list[str]:
    """All names that `resolve` knows, in the order of their registration."""
    return list(_factories)


def resolve(player: str | Policy) -> Policy:
    """The policy that a name, a text of a registered kind or a policy itself stands for.

    Raises:
        ValueError: if nobody knows the name; says which ones there are, and the nearest.
        TypeError: if it is neither text nor callable.
    """
    if callable(player):
        return player
    if not isinstance(player, str):
        raise TypeError(f"a player is a name or a policy (a callable), got {player!r}")
    if player in _factories:
        return _factories[player]()
    for matches, load in _loaders:
        if matches(player):
            return load(player)
    near = difflib.get_close_matches(player, _factories, n=1)
    hint = f", did you mean {near[0]!r}?" if near else "."
    more = "" if len(_factories) > 1 else "; 'import agents' registers the scripted bots"
    raise ValueError(f"unknown player {player!r}{hint} Known: {', '.join(_factories)}{more}")


def random_legal(view: View, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Every legal action with the same probability."""
    return random_actions(view.action_mask, rng)


register("random", lambda: random_legal)
