"""The layers that policy and critic are made of."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

Layer = TypeVar("Layer", bound=nn.Linear)


def perceptron(sizes: Sequence[int]) -> nn.Sequential:
    """Linear layers of these sizes, each with its rectifier."""
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(sizes):
        layers += [orthogonal(nn.Linear(before, after), 2**0.5), nn.ReLU()]
    return nn.Sequential(*layers)


def orthogonal(layer: Layer, gain: float) -> Layer:
    """The layer with orthogonal weights of this gain and without bias."""
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def grow(module: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Give a module the weights of one like it whose layers may be narrower; it does the same.

    The units that are new keep the weights by which they listen, and nobody listens to them yet:
    theirs to the old units are zero, and learning finds out what they are good for.

    Source: function-preserving growth, Chen et al. 2016 (arXiv:1511.05641).

    Raises:
        ValueError: if a layer is wider than the module's.
    """
    with torch.no_grad():
        for name, wide in module.state_dict().items():
            narrow = weights[name]
            if any(size > room for size, room in zip(narrow.shape, wide.shape, strict=True)):
                raise ValueError(f"{name} is {[*narrow.shape]}, there is room for {[*wide.shape]}")
            wide[: len(narrow)] = 0
            wide[tuple(map(slice, narrow.shape))] = narrow
