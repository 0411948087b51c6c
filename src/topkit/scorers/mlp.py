"""The neural scorer: one to three hidden layers, Adam on batches of queries, early stopping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Trace, one_blas_thread
from topkit.scorers.descent import AdamPlan, Architecture, adam
from topkit.scorers.model import Floats, Objective, Problem
from topkit.scorers.network import (
    ACTIVATIONS,
    Network,
    backward,
    filled,
    forward,
    initial_layers,
    pack,
    unpack,
)
from topkit.scorers.settings import Space, Span, check


@dataclass(frozen=True)
class NeuralScorer:
    """A feed-forward network fitted by Adam to the mean loss a query plus ½·l2·‖W‖².

    ``hidden`` gives the sizes of one to three hidden layers. With validation data, the epoch with the best
    measure is kept and training stops ``patience`` epochs after it; without, the epoch with the least loss.
    """

    normalisation: ClassVar[str] = "z-score"
    space: ClassVar[Space] = {
        "hidden": ((16,), (32,), (64,), (32, 16), (64, 32)),
        "rate": Span(1e-4, 1e-2, log=True),
        "l2": Span(1e-6, 1e-2, log=True),
    }

    hidden: tuple[int, ...] = (32,)
    activation: str = "relu"
    l2: float = 1e-4
    rate: float = 2e-3
    batch: int = 16
    epochs: int = 200
    patience: int = 20

    def __post_init__(self) -> None:
        given: Any = self.hidden
        sizes = (given,) if isinstance(given, int) else tuple(given)
        object.__setattr__(self, "hidden", sizes)
        fine = 1 <= len(sizes) <= 3 and all(isinstance(size, int) and size >= 1 for size in sizes)
        check(fine, "hidden", self.hidden, "one to three sizes of at least 1")
        check(self.activation in ACTIVATIONS, "activation", self.activation, " or ".join(ACTIVATIONS))
        check(self.l2 >= 0, "l2", self.l2, "0 or more")
        check(self.rate > 0, "rate", self.rate, "above 0")
        check(self.batch >= 1, "batch", self.batch, "at least 1")
        check(self.epochs >= 1, "epochs", self.epochs, "at least 1")

    @one_blas_thread()
    def fit(self, problem: Problem[Objective]) -> tuple[Network, list[Trace]]:
        """The fitted model and the trace it was chosen by."""
        X = filled(problem.train.X)
        sizes = [X.shape[1], *self.hidden, 1]
        layers = initial_layers(sizes, self.activation, problem.seed)
        penalised = pack([(np.ones_like(matrix), np.zeros_like(bias)) for matrix, bias in layers]) > 0
        plan = AdamPlan(self.rate, self.batch, self.epochs, self.patience)
        best, trace = adam(problem, X, self._shape(sizes, penalised), pack(layers), self.l2, plan)
        return Network(unpack(best, sizes), self.activation), [trace]

    def _shape(self, sizes: list[int], penalised: NDArray[np.bool_]) -> Architecture:
        def scores(X: Floats, vector: Floats) -> tuple[Floats, list[Floats]]:
            states = forward(unpack(vector, sizes), X, self.activation)
            return states[-1][:, 0], states

        def gradient(X: Floats, vector: Floats, states: list[Floats], slope: Floats) -> Floats:
            return pack(backward(unpack(vector, sizes), states, slope, self.activation))

        return Architecture(scores, gradient, penalised)
