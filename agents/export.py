"""A learned policy as a file for other programs: ``python -m agents.export``.

The file holds the network with its mask, as ONNX or as TorchScript, in float32.  It takes what
`agents.inputs.observe` makes of B positions, and B may differ from call to call::

    observation  (B, size) uint8
    mask         (B, 108) bool, the legal actions
    log_probs    (B, 108) float32, minus infinity for illegal actions
    value        (B,) float32, points to come in units of points_scale

Before a file takes its place, it is compared with the network on decisions of played games: none is
left that says something else.  docs/export.md shows its use.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import ginenv
from agents.checkpoint import pack_policy
from agents.command_line import Parser
from agents.network import LearnedPolicy, Network
from agents.players import play, player
from ginenv import opponents

__all__ = ["SUFFIXES", "ExportError", "about", "export", "main", "played_decisions"]

SUFFIXES = {"onnx": ".onnx", "torchscript": ".ts"}
ABOUT = "ginenv"  # the key of what `about` tells; in TorchScript the file ginenv.json
TOLERANCE = 1e-5  # of numbers up to 1, and relative to greater ones: float32 has seven digits
PAIRS = 256  # of hands whose decisions are compared

_INPUTS, _OUTPUTS = ("observation", "mask"), ("log_probs", "value")
_NEEDED = ("onnx", "onnxscript", "onnxruntime")
_EPILOG = """\
POLICY is a checkpoint file, the directory of a training run, or the name of a learned player, such
as pretrained

exit status: 0; 1 if the file could not be written or says something else than the policy; 2 if the
command line is wrong or a package is missing
"""

# Public in torch, though its types do not say so.
_TracerWarning: type[Warning] = torch.jit.TracerWarning  # type: ignore[attr-defined]

_Pair = tuple[Tensor, Tensor]
_Says = Callable[[Tensor, Tensor], _Pair]


class ExportError(Exception):
    """Why a policy was not exported."""


def export(policy: LearnedPolicy, path: str | os.PathLike[str], kind: str) -> float:
    """Write a policy to a file and check it; what stands there stays whole until the new one is.

    Args:
        policy: whose network to write, on the CPU.
        path: where to.
        kind: one of `SUFFIXES`.

    Returns:
        The largest difference between what the file and what the network says, relative where the
        number is greater than 1.

    Raises:
        ExportError: if the format is unknown or a package missing, or if the file would say
            something else than the network.
        OSError: if the place cannot be written; names the file.
    """
    check_installed(kind)
    write, read = (_write_onnx, _read_onnx) if kind == "onnx" else (_write_script, _read_script)
    observation, mask = played_decisions(policy, PAIRS)
    told = json.dumps(about(policy))
    with _replacing(Path(path)) as part, torch.no_grad():
        write(policy.network, (observation[:2], mask[:2]), told, part)
        return _compared(policy.network, read, part, observation, mask)


def check_installed(kind: str) -> None:
    """Make sure that a format can be written here.

    Raises:
        ExportError: if it is unknown, or packages are missing; says which, and the remedy.
    """
    if kind not in SUFFIXES:
        raise ExportError(f"unknown format {kind!r}. Known: {', '.join(SUFFIXES)}")
    if kind == "onnx":
        missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            raise ExportError(
                f"ONNX needs {', '.join(missing)}: pip install 'ginenv[export]', or take "
                f"--format torchscript"
            )


def about(policy: LearnedPolicy) -> dict[str, Any]:
    """What one needs to know to use an exported policy; it travels in the file as JSON."""
    packed = pack_policy(policy.network, policy.precision)
    observation, size = packed["observation"]
    return {
        "ginenv": ginenv.__version__,
        "observation": observation,
        "observation_size": size,
        "points_scale": policy.points_scale,
        "network_config": packed["network_config"],
    }


def played_decisions(policy: LearnedPolicy, num_pairs: int) -> _Pair:
    """All that a network is asked in hands against ``greedy``, where it samples its actions.

    Returns:
        ``(B, size)`` uint8, the observations; ``(B, 108)`` bool, the legal actions.
    """
    asked: list[_Pair] = []
    hook = policy.network.register_forward_pre_hook(lambda _, inputs: asked.append(inputs))
    try:
        play(policy.sampling(), player("greedy"), num_pairs, seed=0)
    finally:
        hook.remove()
    observations, masks = zip(*asked, strict=True)
    return torch.cat(observations), torch.cat(masks)


# The two formats


def _write_onnx(network: Network, example: _Pair, told: str, path: Path) -> None:
    batch = ({0: torch.export.Dim("batch")}, {0: torch.export.Dim.DYNAMIC})  # one, named once
    with _quiet("torch.onnx"):  # it remarks on packages that it does without
        try:
            program = torch.onnx.export(
                network,
                example,
                input_names=_INPUTS,
                output_names=_OUTPUTS,
                dynamic_shapes=batch,
                dynamo=True,
                verbose=False,
            )
        except Exception as error:  # the exporter fails in more ways than one can list
            raise ExportError(f"the network cannot be written as ONNX: {_first(error)}") from error
    assert program is not None  # the older exporter returned nothing
    for node in program.model.graph:
        node.metadata_props.clear()  # where the network's source lies on this machine
    program.model.metadata_props[ABOUT] = told
    program.save(path, external_data=False)


def _read_onnx(path: Path) -> _Says:
    import onnxruntime

    session = onnxruntime.InferenceSession(os.fspath(path), providers=["CPUExecutionProvider"])

    def says(observation: Tensor, mask: Tensor) -> _Pair:
        asked = dict(zip(_INPUTS, (observation.numpy(), mask.numpy()), strict=True))
        log_probs, value = session.run(_OUTPUTS, asked)
        return torch.from_numpy(log_probs), torch.from_numpy(value)

    return says


def _write_script(network: Network, example: _Pair, told: str, path: Path) -> None:
    with _deprecated_but_asked_for():
        # What the tracer warns of would hold for this one example only.
        warnings.simplefilter("error", _TracerWarning)
        try:
            script = torch.jit.trace(network, example, check_trace=False)
        except (RuntimeError, _TracerWarning) as error:
            reason = _first(error)
            raise ExportError(f"the network cannot be written as TorchScript: {reason}") from error
        with open(path, "wb") as file:  # given a path, torch would write its name into the file
            torch.jit.save(script, file, _extra_files={f"{ABOUT}.json": told})


def _read_script(path: Path) -> _Says:
    with _deprecated_but_asked_for():
        return torch.jit.load(path)


@contextlib.contextmanager
def _deprecated_but_asked_for() -> Iterator[None]:
    """TorchScript is deprecated in recent releases of torch, which say so at each call."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"`torch\.jit\.", DeprecationWarning)
        yield


@contextlib.contextmanager
def _quiet(logger: str) -> Iterator[None]:
    log = logging.getLogger(logger)
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


# The check, and the place


def _compared(
    network: Network, read: Callable[[Path], _Says], path: Path, observation: Tensor, mask: Tensor
) -> float:
    """The largest difference on B decisions; refuses one that is above the tolerance."""
    largest = 0.0
    for size in (1, 7, len(mask)):  # the file must take any number at once
        asked = observation[:size], mask[:size]
        try:
            found = read(path)(*asked)
        except Exception as error:  # of onnxruntime or of TorchScript, whatever it is
            raise ExportError(f"the file fails for {size} positions: {_first(error)}") from error
        for name, wanted, said in zip(_OUTPUTS, network(*asked), found, strict=True):
            if (said.shape, said.dtype) != (wanted.shape, wanted.dtype):
                raise ExportError(
                    f"the file's {name} is {said.dtype} {tuple(said.shape)}, "
                    f"the network's {wanted.dtype} {tuple(wanted.shape)}"
                )
            off = (said - wanted).abs() / wanted.abs().clamp(min=1)
            off[said == wanted] = 0  # two infinities have no difference
            largest = max(largest, float(off.nan_to_num(torch.inf).max()))
    if largest > TOLERANCE:
        raise ExportError(
            f"the file differs from the policy by {largest:.1e}, more than {TOLERANCE:.0e}, and "
            f"was not kept"
        )
    return largest


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A place to write beside ``path``; it becomes ``path`` if all goes well."""
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        with open(part, "rb") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
    except (OSError, RuntimeError) as error:  # torch reports a full disk as a RuntimeError
        raise OSError(f"cannot write {path}: {_first(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def _first(error: BaseException) -> str:
    """The first line of what an error says."""
    said = getattr(error, "strerror", None) or str(error).strip() or type(error).__name__
    return str(said).splitlines()[0]


# The command


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``python -m agents.export``; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        check_installed(options.format)
    except ExportError as error:
        parser.error(str(error))
    policy = _checked_policy(parser, options.policy)
    path = _checked_place(parser, options)
    try:
        difference = export(policy, path, options.format)
    except (ExportError, OSError) as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 1
    print(f"{path}: {path.stat().st_size:,} bytes, within {difference:.1e} of the policy")
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="python -m agents.export",
        description="Write a learned policy as ONNX or TorchScript, and check what was written.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("policy", metavar="POLICY", help="what to export")
    add("--format", choices=SUFFIXES, default="onnx", help="of the file (default onnx)")
    add(
        "--output",
        metavar="FILE",
        help="where to (default: beside the checkpoint; of a name, NAME.onnx or NAME.ts here)",
    )
    return parser


def _checked_policy(parser: Parser, spec: str) -> LearnedPolicy:
    try:
        policy = player(spec)
    except (ValueError, OSError) as error:
        parser.error(" ".join(str(error).split()))
    if not isinstance(policy, LearnedPolicy):
        parser.error(f"{spec!r} is no learned policy: it has no network to export")
    return policy


def _checked_place(parser: Parser, options: argparse.Namespace) -> Path:
    """Where to write; what is wrong with the place is told before the work."""
    source, suffix = Path(options.policy), SUFFIXES[options.format]
    if options.output is not None:
        path = Path(options.output)
    elif options.policy in opponents.names():
        path = Path(options.policy + suffix)
    elif source.is_dir():
        path = source / f"policy{suffix}"
    else:
        path = source.with_suffix(suffix)
    if path.is_dir():
        parser.error(f"cannot write {path}: it is a directory")
    if not path.parent.is_dir():
        parser.error(f"cannot write {path}: there is no directory {path.parent}")
    if path.exists() and source.exists() and path.samefile(source):
        parser.error(f"cannot write {path}: it is the policy itself")
    return path


if __name__ == "__main__":
    sys.exit(main())
