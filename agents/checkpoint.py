"""Checkpoints: files of tensors and plain values that rebuild themselves and run no code.

A checkpoint is written beside its place and then renamed, so that the place always holds a whole
one.  It is a zip archive whose parts carry checksums, all of which are verified before anything is
read from it.
"""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.network import OBSERVATION, OBSERVATION_SIZE, LearnedPolicy, Network, NetworkConfig
from ginenv.rules import Rules
from ginenv.state import FIELDS, State

FORMAT = "ginenv checkpoint"
VERSION = 1  # rises when the content changes its meaning
SUFFIX = ".pt"


class CheckpointError(ValueError):
    """A file that is no usable checkpoint, with the reason in its text."""


def save(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write a checkpoint atomically.

    Args:
        path: where it shall stand; what stands there stays whole until the new one is.
        content: tensors, numbers, text and containers of them.

    Raises:
        OSError: if the disk is full or the place cannot be written; names the file.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.part")
    try:
        with open(part, "wb") as file:
            torch.save({"format": FORMAT, "version": VERSION, **content}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except (OSError, RuntimeError) as error:  # torch reports a full disk as a RuntimeError
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise OSError(f"cannot write checkpoint {path}: {reason}") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def load(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a checkpoint; a stranger's file runs no code.

    Raises:
        CheckpointError: if the file is missing, damaged, foreign or of another version.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise CheckpointError(f"{path} is a directory, not a checkpoint")
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
            # torch reads nothing into a part that a flipped bit marks as a directory.
            marked = [part.filename for part in archive.infolist() if part.external_attr & 0x10]
        if damaged is not None:
            raise CheckpointError(f"{path} is damaged: the checksum of {damaged} does not match")
        if marked:
            raise CheckpointError(f"{path} is damaged: {marked[0]} is marked as a directory")
        content = torch.load(path, map_location="cpu", weights_only=True)
    except CheckpointError:
        raise
    except FileNotFoundError:
        raise CheckpointError(f"there is no checkpoint {path}") from None
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror or error}") from None
    except zipfile.BadZipFile:
        raise CheckpointError(f"{path} is no checkpoint, or was cut off") from None
    except Exception as error:  # a damaged file fails in more ways than one can list
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise CheckpointError(f"{path} is no checkpoint of ginenv: {reason}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise CheckpointError(f"{path} is no checkpoint of ginenv")
    if content.get("version") != VERSION:
        raise CheckpointError(
            f"{path} is a checkpoint of version {content.get('version')}; "
            f"this ginenv reads version {VERSION}"
        )
    return content


def newest_good(paths: Iterable[Path]) -> tuple[Path, dict[str, Any], list[str]]:
    """The first of several checkpoints, newest first, that can be read.

    Returns:
        Its path and content, and what is wrong with those passed over.

    Raises:
        CheckpointError: if none can; says why for each.
    """
    faults: list[str] = []
    for path in paths:
        try:
            return path, load(path), faults
        except CheckpointError as error:
            faults.append(str(error))
    raise CheckpointError("; ".join(faults) or "there is no checkpoint")


def pack_policy(network: Network, precision: str) -> dict[str, Any]:
    """What rebuilds a policy to play with."""
    return {
        "network_config": vars(network.config),
        "network": network.state_dict(),
        "observation": [OBSERVATION, OBSERVATION_SIZE],
        "precision": precision,
    }


def unpack_network(content: dict[str, Any], path: str | os.PathLike[str]) -> Network:
    """The network of a checkpoint.

    Raises:
        CheckpointError: if it was trained on another observation, or the weights do not fit.
    """
    try:
        if content["observation"] != [OBSERVATION, OBSERVATION_SIZE]:
            raise CheckpointError(
                f"{path} was trained on observation {content['observation']}; "
                f"this ginenv has {[OBSERVATION, OBSERVATION_SIZE]}"
            )
        network = Network(NetworkConfig(**content["network_config"]))
        network.load_state_dict(content["network"])
    except (KeyError, TypeError, RuntimeError) as error:
        raise CheckpointError(f"{path} holds no network that fits: {error}") from None
    return network


def load_policy(path: str | os.PathLike[str]) -> LearnedPolicy:
    """The policy of a checkpoint, playing argmax."""
    content = load(path)
    return LearnedPolicy(
        unpack_network(content, path),
        precision=content["precision"],
        points_scale=content.get("config", {}).get("points_scale"),
    )


def pack_state(state: State) -> dict[str, Any]:
    """Games in flight as tensors."""
    arrays = {name: torch.from_numpy(getattr(state, name).view(_signed(name))) for name in FIELDS}
    return {"arrays": arrays, "rules": vars(state.rules), "next_game_id": state.next_game_id}


def unpack_state(saved: dict[str, Any]) -> State:
    """The games that `pack_state` packed."""
    arrays = {
        name: saved["arrays"][name].numpy().copy().view(dtype)
        for name, (_, dtype) in FIELDS.items()
    }
    return State(rules=Rules(**saved["rules"]), next_game_id=saved["next_game_id"], **arrays)


def pack_rng(rng: np.random.Generator) -> str:
    """A NumPy generator's state as text (its integers have 128 bits)."""
    return json.dumps(rng.bit_generator.state)


def unpack_rng(saved: str) -> np.random.Generator:
    """The generator that `pack_rng` packed."""
    rng = np.random.default_rng()
    rng.bit_generator.state = json.loads(saved)
    return rng


def _signed(name: str) -> np.dtype[Any]:
    dtype = FIELDS[name][1]
    return np.dtype(np.int64) if dtype == np.uint64 else dtype
