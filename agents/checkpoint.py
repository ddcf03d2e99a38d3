"""Checkpoints: files of tensors and plain values that rebuild themselves and run no code.

A checkpoint is written beside its place and then renamed, so that the place always holds a whole
one.  It is a zip archive whose parts carry checksums, all of which are verified before anything is
read from it.

A stranger's file is data: reading it runs no code and takes no more memory than in proportion to
its size, whatever it claims; networks and games are checked before they are built.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import math
import operator
import os
import pickletools
import reprlib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.inputs import OBSERVATION, OBSERVATION_SIZE
from agents.network import LearnedPolicy, Network, NetworkConfig
from ginenv import archive, soundness
from ginenv.archive import ArchiveError
from ginenv.rules import Rules
from ginenv.state import FIELDS, State

FORMAT = "ginenv checkpoint"
VERSION = 2  # rises when the content changes its meaning
SUFFIX = ".pt"
PRECISIONS = ("float32", "bfloat16")

_MAX_PARTS = 50_000  # tensors and what torch adds; a run with a thousand snapshots has 12,000
_MAX_STRUCTURE = 2**24  # bytes of what is no tensor; a run with a thousand snapshots has 3 million
_MAX_ITEMS = 2_000_000  # in all containers together
_MAX_SHARED = 16  # containers that stand in more than one place
_LARGEST = {"hidden_size": 16_384, "hidden_layers": 64}  # of a network, as `config` allows


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
        parts = archive.read(path, _MAX_PARTS)
    except FileNotFoundError:
        raise CheckpointError(f"there is no checkpoint {path}") from None
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror or error}") from None
    except ArchiveError as error:
        raise CheckpointError(f"{path} is no checkpoint, or damaged: {error}") from None
    try:
        _check_structure(parts)
        content = torch.load(_rewritten(parts), map_location="cpu", weights_only=True)
        _check_content(content)
    except Exception as error:  # a damaged file fails in more ways than one can list
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise CheckpointError(f"{path} is no checkpoint of ginenv: {reason:.300}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise CheckpointError(f"{path} is no checkpoint of ginenv")
    if content.get("version") != VERSION:
        raise CheckpointError(
            f"{path} is a checkpoint of version {reprlib.repr(content.get('version'))}; "
            f"this ginenv reads version {VERSION}"
        )
    return content


def _rewritten(parts: dict[str, bytes]) -> io.BytesIO:
    """The parts as an archive made here: torch has a reader of its own, which may see others."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as copied:
        for name, part in parts.items():
            copied.writestr(name, part)
    file.seek(0)
    return file


def _check_structure(parts: dict[str, bytes]) -> None:
    """Bound what unpickling takes: a few containers in many places are many containers."""
    pickles = [part for name, part in parts.items() if name.endswith("data.pkl")]
    if sum(map(len, pickles)) > _MAX_STRUCTURE:
        raise ValueError(f"more than {_MAX_STRUCTURE} bytes besides the tensors")
    shared = sum(map(_shared_containers, pickles))
    if shared > _MAX_SHARED:
        raise ValueError(f"{shared} containers stand in several places, allowed is {_MAX_SHARED}")


def _shared_containers(pickled: bytes) -> int:
    """How often a pickle puts a container that it has made already in one more place."""
    containers: set[int | None] = set()  # by their place in the memo
    shared, before = 0, ""
    for opcode, argument, _ in pickletools.genops(pickled):
        if opcode.name in ("BINPUT", "LONG_BINPUT") and before.startswith(("TUPLE", "EMPTY_")):
            containers.add(argument)
        shared += opcode.name in ("BINGET", "LONG_BINGET") and argument in containers
        before = opcode.name
    return shared


def _check_content(content: Any) -> None:
    """Every tensor has its data, and the containers are no more than they look."""
    waiting, items = [content], 0
    while waiting:
        value = waiting.pop()
        items += 1
        if items > _MAX_ITEMS:
            raise ValueError(f"more than {_MAX_ITEMS} items")
        if isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, (list, tuple, set)):
            waiting += value
        elif isinstance(value, torch.Tensor):
            plain = value.layout == torch.strided and value.device.type == "cpu"
            if not plain or value.nbytes > value.untyped_storage().nbytes():
                raise ValueError(f"a tensor {tuple(value.shape)} that is larger than its data")


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


def require_run(content: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Refuse a checkpoint that holds a policy alone.

    Raises:
        CheckpointError: if there is no training run in it to go on with.
    """
    if not isinstance(content.get("config"), dict) or "optimizer" not in content:
        raise CheckpointError(f"{path} is a policy without a training run; it cannot go on")


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
                f"{path} was trained on observation {reprlib.repr(content['observation'])}; "
                f"this ginenv has {[OBSERVATION, OBSERVATION_SIZE]}"
            )
        config = NetworkConfig(**content["network_config"])
        weights = content["network"]
        _check_shape(config)
        with torch.device("meta"):  # shapes alone: takes no memory
            frame = Network(config).state_dict()
        _check_weights(weights, frame)
        network = Network(config)
        network.load_state_dict(weights)
    except CheckpointError:
        raise
    except (KeyError, TypeError, ValueError, RuntimeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{path} holds no network that fits: {reason:.300}") from None
    return network


def _check_shape(config: NetworkConfig) -> None:
    for field in dataclasses.fields(config):
        value, wanted = getattr(config, field.name), type(field.default)
        if type(value) is not wanted:
            raise TypeError(f"{field.name} must be {wanted.__name__}, got {reprlib.repr(value)}")
    for name, largest in _LARGEST.items():
        if not 1 <= getattr(config, name) <= largest:
            raise ValueError(f"{name} is {getattr(config, name)}, allowed is 1 to {largest}")


def _check_weights(weights: Any, frame: Mapping[str, torch.Tensor]) -> None:
    """All weights of a network are there, of its shapes, and numbers."""
    if not isinstance(weights, dict) or weights.keys() != frame.keys():
        raise ValueError(f"its weights must be {', '.join(frame)}")
    for name, wanted in frame.items():
        weight = weights[name]
        if not isinstance(weight, torch.Tensor):
            raise TypeError(f"{name} is no tensor")
        if (weight.dtype, weight.shape) != (wanted.dtype, wanted.shape):
            found, needed = ((t.dtype, tuple(t.shape)) for t in (weight, wanted))
            raise ValueError(f"{name} is {found[0]} {found[1]}, wanted is {needed[0]} {needed[1]}")
        if not weight.isfinite().all():
            raise ValueError(f"{name} has entries that are no finite numbers")


def load_policy(path: str | os.PathLike[str]) -> LearnedPolicy:
    """The policy of a checkpoint, playing argmax.

    Raises:
        CheckpointError: if it cannot be read, or holds no policy that fits.
    """
    content = load(path)
    network = unpack_network(content, path)
    precision, config = content.get("precision"), content.get("config")
    points_scale = config.get("points_scale") if isinstance(config, dict) else None
    if precision not in PRECISIONS:
        raise CheckpointError(
            f"{path} plays in precision {reprlib.repr(precision)}, "
            f"allowed is {' or '.join(PRECISIONS)}"
        )
    if points_scale is not None and not (
        type(points_scale) in (int, float) and 0 < points_scale < math.inf
    ):
        raise CheckpointError(f"{path} has a points_scale of {reprlib.repr(points_scale)}")
    return LearnedPolicy(network, precision=precision, points_scale=points_scale)


def pack_state(state: State) -> dict[str, Any]:
    """Games in flight as tensors."""
    arrays = {name: torch.from_numpy(getattr(state, name).view(_signed(name))) for name in FIELDS}
    return {"arrays": arrays, "rules": vars(state.rules), "next_game_id": state.next_game_id}


def unpack_state(saved: dict[str, Any]) -> State:
    """The games that `pack_state` packed.

    Raises:
        CheckpointError: if an array has another shape or dtype, or a game is in a position that
            play cannot reach.
    """
    try:
        tensors = {name: saved["arrays"][name] for name in FIELDS}
        num_games = len(tensors["phase"])
        for name, (shape, _) in FIELDS.items():
            wanted, dtype = (num_games, *shape), torch.from_numpy(np.empty(0, _signed(name))).dtype
            found = tensors[name]
            if tuple(found.shape) != wanted or found.dtype != dtype:
                raise CheckpointError(
                    f"games in flight: {name} is {found.dtype} {tuple(found.shape)}, "
                    f"wanted is {dtype} {wanted}"
                )
        state = State(
            rules=Rules(**saved["rules"]),
            next_game_id=operator.index(saved["next_game_id"]),
            **{n: tensors[n].numpy().copy().view(dtype) for n, (_, dtype) in FIELDS.items()},
        )
        soundness.check(state)
    except CheckpointError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"games in flight: {error!s:.300}") from None
    return state


def pack_rng(rng: np.random.Generator) -> str:
    """A NumPy generator's state as text (its integers have 128 bits)."""
    return json.dumps(rng.bit_generator.state)


def unpack_rng(saved: str) -> np.random.Generator:
    """The generator that `pack_rng` packed.

    Raises:
        CheckpointError: if it is no state of a generator.
    """
    rng = np.random.default_rng()
    try:
        rng.bit_generator.state = json.loads(saved)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise CheckpointError(f"a random state that is none: {error!s:.300}") from None
    return rng


def _signed(name: str) -> np.dtype[Any]:
    dtype = FIELDS[name][1]
    return np.dtype(np.int64) if dtype == np.uint64 else dtype
