"""Feed-forward networks in NumPy: scores, and gradients of the parameters."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data import Dataset
from topkit.scorers.model import Parts, ScoreModel, filled, row_products

__all__ = [
    "ACTIVATIONS",
    "Network",
    "backward",
    "filled",
    "forward",
    "initial_layers",
    "pack",
    "row_products",
    "unpack",
]

ACTIVATIONS = ("relu", "tanh")
"""Activations of hidden layers."""
MAX_LAYERS = 1000
"""Layers in a model file; the limit keeps a damaged number from being counted to."""


@dataclass(frozen=True)
class Network(ScoreModel):
    """Hidden layers h = activation(W·h + b), then one linear output; a missing feature counts as 0."""

    kind: ClassVar[str] = "network"
    layers: tuple[tuple[Floats, Floats], ...]
    """(matrix of inputs × outputs, bias) of each layer; the last layer has one output."""
    activation: str = "relu"

    def score(self, data: Dataset) -> Floats:
        state = filled(data.X)
        for i, (matrix, bias) in enumerate(self.layers):
            state = row_products(state, matrix) + bias
            if i + 1 < len(self.layers):
                state = np.maximum(state, 0) if self.activation == "relu" else np.tanh(state)
        return np.ascontiguousarray(state[:, 0])

    def parts(self) -> Parts:
        arrays: dict[str, NDArray[np.float64]] = {}
        for i, (matrix, bias) in enumerate(self.layers):
            arrays[f"matrix{i}"], arrays[f"bias{i}"] = matrix, bias
        return Parts(values={"layers": len(self.layers), "activation": self.activation}, arrays=arrays)

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        layers = tuple(
            (parts.floats(f"matrix{i}", 2), parts.floats(f"bias{i}"))
            for i in range(parts.count("layers", 1, MAX_LAYERS))
        )
        if parts.values["activation"] not in ACTIVATIONS:
            raise ValueError(f"unknown activation {parts.values['activation']!r}")
        sizes = [len(matrix) for matrix, _ in layers] + [1]
        for i, (matrix, bias) in enumerate(layers):
            if matrix.shape != (sizes[i], sizes[i + 1]) or bias.shape != (sizes[i + 1],):
                raise ValueError(f"the sizes of layer {i} do not match the next layer")
        return cls(layers, parts.values["activation"])

    def check_features(self, features: int) -> None:
        inputs = len(self.layers[0][0])
        if inputs != features:
            raise ValueError(f"the network has {inputs} inputs, the model {features} features")


def initial_layers(sizes: list[int], activation: str, seed: int) -> list[tuple[Floats, Floats]]:
    """Random layers for these sizes (He scaling for relu, Glorot for tanh), biases 0."""
    rng = np.random.default_rng(seed)
    layers = []
    for inputs, outputs in pairwise(sizes):
        spread = np.sqrt(2.0 / inputs) if activation == "relu" else np.sqrt(2.0 / (inputs + outputs))
        layers.append((rng.normal(scale=spread, size=(inputs, outputs)), np.zeros(outputs)))
    return layers


def forward(layers: tuple[tuple[Floats, Floats], ...], X: Floats, activation: str) -> list[Floats]:
    """The input and the output of every layer; the last one is the column of scores."""
    states = [X]
    for i, (matrix, bias) in enumerate(layers):
        raw = states[-1] @ matrix + bias
        if i + 1 < len(layers):
            raw = np.maximum(raw, 0, out=raw) if activation == "relu" else np.tanh(raw, out=raw)
        states.append(raw)
    return states


def backward(
    layers: tuple[tuple[Floats, Floats], ...], states: list[Floats], slope: Floats, activation: str
) -> list[tuple[Floats, Floats]]:
    """Gradient of every layer, from the gradient in the scores."""
    gradients: list[tuple[Floats, Floats]] = []
    flow = slope[:, None]
    for i in range(len(layers) - 1, -1, -1):
        gradients.append((states[i].T @ flow, flow.sum(axis=0)))
        if i > 0:
            back = flow @ layers[i][0].T
            state = states[i]
            flow = back * (state > 0) if activation == "relu" else back * (1 - state * state)
    return gradients[::-1]


def pack(layers: list[tuple[Floats, Floats]] | tuple[tuple[Floats, Floats], ...]) -> Floats:
    """The parameters of all layers as one vector."""
    return np.concatenate([part.ravel() for layer in layers for part in layer])


def unpack(vector: Floats, sizes: list[int]) -> tuple[tuple[Floats, Floats], ...]:
    """The layers of a parameter vector, as views of it."""
    layers, start = [], 0
    for inputs, outputs in pairwise(sizes):
        matrix = vector[start : start + inputs * outputs].reshape(inputs, outputs)
        start += inputs * outputs
        layers.append((matrix, vector[start : start + outputs]))
        start += outputs
    return tuple(layers)
