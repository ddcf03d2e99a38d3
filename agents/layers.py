"""The layers that policy and critic are made of."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TypeVar

from torch import nn

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
