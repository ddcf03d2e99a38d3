"""Several processes that train one policy: each plays its own games, and they learn together.

`torchrun` starts them, on one machine or many, or `launched` does, on this one.  Where there is one
process everything here does nothing at no cost.  Gradients are averaged by hand rather than by
`DistributedDataParallel`: decisions that are learned from are not equally many in each process, and
an exact average weighs each process by how many it has.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

_PATIENCE = 20.0  # seconds that the other processes have to end when the first one does


@dataclass(frozen=True)
class Ranks:
    """The processes of a run.

    Attributes:
        rank: the number of this one; 0 logs and saves.
        size: how many there are.
    """

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process logs and saves."""
        return self.rank == 0

    def own_device(self, name: str) -> str:
        """The device of this process: of several GPUs each process of a machine takes its own."""
        if name != "cuda" or self.size == 1 or not torch.cuda.is_available():
            return name
        return f"cuda:{int(os.environ['LOCAL_RANK']) % torch.cuda.device_count()}"

    def total(self, numbers: Tensor) -> Tensor:
        """The sum over all processes, in place."""
        if self.size > 1:
            dist.all_reduce(numbers)
        return numbers

    def least(self, number: int) -> int:
        """The smallest of the processes' numbers."""
        if self.size == 1:
            return number
        smallest = torch.tensor(number)
        dist.all_reduce(smallest, dist.ReduceOp.MIN)
        return int(smallest)

    def any(self, here: bool) -> bool:
        """Whether it is so in any process."""
        return self.least(-int(here)) < 0 if self.size > 1 else here

    def average(self, parameters: Iterable[nn.Parameter], rows: int, also: Tensor) -> Tensor:
        """Replace each gradient by the mean over the rows of all processes.

        Args:
            parameters: their gradients are means over this process's rows.
            rows: how many rows these are.
            also: ``(K,)`` further means over the rows.

        Returns:
            ``(K,)`` those means over the rows of all processes.
        """
        if self.size == 1:
            return also
        gradients = [p.grad for p in parameters if p.grad is not None]
        weight = torch.full((1,), float(rows), device=also.device)
        flat = torch.cat([*(g.flatten() for g in gradients), also, weight / rows]) * weight
        dist.all_reduce(flat)
        flat /= flat[-1].clone()
        place = 0
        for gradient in gradients:
            gradient.copy_(flat[place : place + gradient.numel()].view_as(gradient))
            place += gradient.numel()
        return flat[place:-1]

    def gather(self, content: Any) -> list[Any]:
        """What each process holds, by rank, for the one that leads; empty for the others."""
        if self.size == 1:
            return [content]
        gathered = [None] * self.size if self.leads else None
        dist.gather_object(content, gathered)
        return gathered or []

    def share(self, content: Any) -> Any:
        """The leading process's content, for all."""
        if self.size == 1:
            return content
        shared = [content]
        dist.broadcast_object_list(shared)
        return shared[0]


ALONE = Ranks()


@contextlib.contextmanager
def launched(processes: int) -> Iterator[None]:
    """Run this command in so many processes: this one is the first of them.

    The others are gone at the end of the ``with`` block.  Under `torchrun` nothing happens.
    """
    if processes == 1 or "WORLD_SIZE" in os.environ:
        yield
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(processes)}
    others = [
        subprocess.Popen(
            [sys.executable, *sys.orig_argv[1:]],
            env={**os.environ, **meeting, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.DEVNULL,
        )
        for rank in range(1, processes)
    ]
    os.environ.update(meeting, RANK="0", LOCAL_RANK="0")
    try:
        yield
    finally:
        for name in (*meeting, "RANK", "LOCAL_RANK"):
            del os.environ[name]
        for other in others:
            try:
                other.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                other.kill()


def join() -> Ranks:
    """Meet the other processes of this run; alone if there are none."""
    if os.environ.get("WORLD_SIZE", "1") == "1":
        return ALONE
    if not dist.is_initialized():
        dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    return Ranks(dist.get_rank(), dist.get_world_size())


def leave() -> None:
    """Take leave of the other processes."""
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()
