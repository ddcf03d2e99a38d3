"""Gymnasium's ids, registered by string: nothing is imported before someone makes an environment.

``gymnasium.make("ginenv:GinRummy-v0", opponent=…)`` imports `ginenv`, which calls `register`.
"""

from __future__ import annotations

from typing import Any

from gymnasium.envs import registration

ID = "GinRummy-v0"


def register(id: str = ID, **kwargs: Any) -> None:
    """Register the environment, for one game and for many, unless the id is taken.

    Args:
        id: of the environment.
        **kwargs: its default arguments, such as ``opponent="crazy"``.
    """
    if id not in registration.registry:
        registration.register(
            id,
            entry_point="ginenv.single:GinRummyEnv",
            vector_entry_point="ginenv.vector:GinRummyVectorEnv",
            disable_env_checker=False,
            kwargs=kwargs,
        )
