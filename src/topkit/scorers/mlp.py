"""The neural scorer: one to three hidden layers, Adam on batches of queries, early stopping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from topkit.compute import Floats, Trace, one_blas_thread
from topkit.data import InputError
from topkit.data.settings import Setting, Span, check_fields
from topkit.scorers.adam import AdamPlan, adam
from topkit.scorers.model import HasGradient, Job
from topkit.scorers.network import (
    ACTIVATIONS,
    Network,
    backward,
    forward,
    initial_layers,
    pack,
    unpack,
)

MOST_LAYERS = 3
"""Hidden layers: deeper networks do not help on tabular ranking features."""


@dataclass(frozen=True)
class NeuralScorer:
    """A feed-forward network fitted by Adam to the mean loss per query plus ½·l2·‖W‖².

    With validation data, the epoch with the best metric is kept and training stops ``patience`` epochs after
    it; without, the epoch with the lowest loss is kept.
    """

    normalisation: ClassVar[str] = "z-score"

    hidden: Annotated[
        tuple[int, ...],
        Setting(
            "Sizes of one to three hidden layers.",
            low=1,
            search=((16,), (32,), (64,), (32, 16), (64, 32)),
        ),
    ] = (32,)
    activation: Annotated[str, Setting("Activation of the hidden layers.", choices=ACTIVATIONS)] = "relu"
    l2: Annotated[
        float, Setting("Penalty on the squared weights.", low=0, search=Span(1e-6, 1e-2, log=True))
    ] = 1e-4
    rate: Annotated[float, Setting("Adam's step size.", above=0, search=Span(1e-4, 1e-2, log=True))] = 2e-3
    batch: Annotated[int, Setting("Queries per batch.", low=1)] = 16
    epochs: Annotated[int, Setting("Maximum number of epochs.", low=1)] = 200
    patience: Annotated[int, Setting("Epochs without improvement before training stops.", low=1)] = 20

    def __post_init__(self) -> None:
        check_fields(self)
        if not 1 <= len(self.hidden) <= MOST_LAYERS:
            raise InputError(f"hidden must have one to three sizes, got {len(self.hidden)}")

    @one_blas_thread()
    def fit(self, job: Job, objective: HasGradient) -> tuple[Network, list[Trace]]:
        """The fitted model and the trace of its selection."""
        sizes = [job.train.n_features, *self.hidden, 1]
        layers = initial_layers(sizes, self.activation, job.seed)
        penalty = self.l2 * pack([(np.ones_like(matrix), np.zeros_like(bias)) for matrix, bias in layers])
        plan = AdamPlan(self.rate, self.batch, self.epochs, self.patience)

        def scores(X: Floats, vector: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
            states = forward(unpack(vector, sizes), X, self.activation)

            def pull_back(slope: Floats) -> Floats:
                return pack(backward(unpack(vector, sizes), states, slope, self.activation))

            return states[-1][:, 0], pull_back

        vector, trace = adam(job, objective, scores, pack(layers), penalty, plan)
        return Network(unpack(vector, sizes), self.activation), [trace]
