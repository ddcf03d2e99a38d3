"""`Pool`: the opponents that an environment may seat, one drawn for each hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ginenv import opponents
from ginenv.opponents import Policy
from ginenv.view import View

Opponents: TypeAlias = "str | Policy | Sequence[str | Policy] | Mapping[str | Policy, float]"


class Pool:
    """Policies and how often each plays.

    Args:
        given: a name, a policy or a checkpoint file (whatever `opponents.resolve` takes); a list
            of such, each as likely as the others; or a dict from such to weights.

    Attributes:
        policies: the policies, in the order given.
        weights: ``(P,)`` float64, the share of hands that each plays.
    """

    def __init__(self, given: Opponents) -> None:
        if isinstance(given, Mapping):
            members, weights = list(given), list(given.values())
        elif isinstance(given, Sequence) and not isinstance(given, str):
            members, weights = list(given), [1.0] * len(given)
        else:
            members, weights = [given], [1.0]
        if not members:
            raise ValueError("a pool of opponents needs at least one member")
        shares = np.asarray(weights, dtype=np.float64)
        if not np.isfinite(shares).all() or (shares < 0).any() or shares.sum() == 0:
            raise ValueError(
                f"weights of opponents are numbers of 0 or more, not all 0, got {weights}"
            )
        self.policies = [opponents.resolve(member) for member in members]
        self.weights = shares / shares.sum()

    def draw(self, num_hands: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
        """Who plays each of M hands: ``(M,)`` places in `policies`."""
        if len(self.policies) == 1:
            return np.zeros(num_hands, dtype=np.intp)
        return rng.choice(len(self.policies), size=num_hands, p=self.weights)

    def act(
        self, view: View, who: npt.NDArray[np.intp], rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """The actions of M decisions.

        Args:
            view: M rows.
            who: ``(M,)`` which policy decides each.
            rng: for policies that play at random.
        """
        actions = np.empty(len(view), dtype=np.int64)
        for place in np.unique(who):
            rows = np.flatnonzero(who == place)
            chosen = np.asarray(self.policies[place](view[rows], rng))
            if chosen.shape != rows.shape or chosen.dtype.kind not in "iu":
                raise ValueError(
                    f"opponent {place} must return {rows.shape} integers, "
                    f"got {chosen.dtype} {chosen.shape}"
                )
            actions[rows] = chosen
        return actions
