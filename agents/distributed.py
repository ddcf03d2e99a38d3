"""Several processes that train one policy: each plays its own games, and they learn together.

Without `torchrun` there is one process, and everything here does nothing at no cost.  Gradients
are averaged by hand rather than by `DistributedDataParallel`: decisions that are learned from are
not equally many in each process, and an exact average weighs each process by how many it has.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


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


def join() -> Ranks:
    """Meet the other processes that `torchrun` started; alone without it."""
    if os.environ.get("WORLD_SIZE", "1") == "1":
        return ALONE
    if not dist.is_initialized():
        dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    return Ranks(dist.get_rank(), dist.get_world_size())


def leave() -> None:
    """Take leave of the other processes."""
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()
