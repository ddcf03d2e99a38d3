"""Who plays the other seat: the four levels, and checkpoints."""

from __future__ import annotations

import difflib
import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from agents import scripted
from ginenv.opponents import Policy

BOTS = ("easy", "normal", "hard", "crazy")
SUFFIX = ".pt"


@dataclass(frozen=True)
class Level:
    """An opponent to choose.

    Attributes:
        key: what records are kept under: a bot's name, or a checkpoint's full path.
    """

    key: str

    @property
    def is_checkpoint(self) -> bool:
        """Whether a file plays."""
        return self.key.endswith(SUFFIX)

    @property
    def name(self) -> str:
        """What to call the opponent at the table."""
        if not self.is_checkpoint:
            return self.key.capitalize()
        path = Path(self.key)
        return path.stem if path.parent.name == "" else f"{path.parent.name}/{path.stem}"

    @property
    def slug(self) -> str:
        """A name for files, different for each level."""
        if not self.is_checkpoint:
            return self.key
        return f"{Path(self.key).stem}-{hashlib.sha256(self.key.encode()).hexdigest()[:8]}"

    @cached_property
    def policy(self) -> Policy:
        """Who plays; a checkpoint is read at the first use.

        Raises:
            ValueError: if the file is no usable checkpoint.
        """
        if not self.is_checkpoint:
            return scripted.Scripted(scripted.STYLES[self.key])
        from agents import checkpoint  # brings torch

        return checkpoint.load_policy(self.key)

    @cached_property
    def points_scale(self) -> float:
        """Points that a unit of the policy's value stands for."""
        points_scale = getattr(self.policy, "points_scale", None)
        return 1.0 if points_scale is None else float(points_scale)


def level(text: str) -> Level:
    """The level that a person named.

    Raises:
        ValueError: if there is none; says which there are, and the nearest.
    """
    name = text.strip()
    if name.lower() in BOTS:
        return Level(name.lower())
    if name.endswith(SUFFIX):
        path = os.path.abspath(os.path.expanduser(name))
        if not os.path.isfile(path):
            raise ValueError(f"there is no checkpoint {name}")
        return Level(path)
    near = difflib.get_close_matches(name.lower(), BOTS, n=1)
    hint = f", did you mean {near[0]!r}?" if near else "."
    raise ValueError(
        f"unknown level {text!r}{hint} Levels: {', '.join(BOTS)}, or a checkpoint file (*{SUFFIX})"
    )
