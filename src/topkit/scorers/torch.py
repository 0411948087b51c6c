"""Any PyTorch module as a scorer: topkit gives it dL/dscore, PyTorch does the rest (extra ``torch``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Trace
from topkit.data import Dataset, InputError
from topkit.scorers.model import Floats, Objective, Problem


@dataclass(frozen=True)
class TorchScorer:
    """Fit an ``nn.Module`` that maps a matrix of features to one score a row, by Adam on batches of queries.

    ``module`` makes a new module for a number of features. The loss and its gradient in the scores come from
    topkit's kernels; the module's own backward pass takes the gradient from there. With validation data, the
    epoch with the best measure is kept and training stops ``patience`` epochs after it.
    """

    module: Callable[[int], Any]
    rate: float = 1e-3
    l2: float = 0.0
    batch: int = 16
    epochs: int = 100
    patience: int = 10

    def fit(self, problem: Problem[Objective]) -> tuple[TorchModel, list[Trace]]:
        """The fitted module, and the trace of the measure (or of minus the mean loss)."""
        torch = import_torch()
        torch.manual_seed(problem.seed)
        train, objective, measure = problem.train, problem.objective, problem.measure
        model = TorchModel(self.module(train.n_features))
        optimiser = torch.optim.Adam(model.module.parameters(), lr=self.rate, weight_decay=self.l2)
        rng = np.random.default_rng([problem.seed, 1])
        trace = Trace(self.epochs, patience=self.patience, larger_is_better=True)

        def judged() -> float:
            if measure is not None and problem.valid is not None:
                return measure(model.score(problem.valid))
            return -objective(model.score(train))[0] / problem.total_weight

        going = trace.go_on(judged())
        best = {name: value.clone() for name, value in model.module.state_dict().items()}
        while going:
            order = rng.permutation(train.n_queries)
            model.module.train()
            for first in range(0, train.n_queries, self.batch):
                chosen = np.sort(order[first : first + self.batch])
                rows = np.concatenate([np.arange(train.ptr[q], train.ptr[q + 1]) for q in chosen])
                scores = model.module(torch.from_numpy(known(train.X[rows]))).reshape(-1)
                _, slope = objective.select(chosen)(scores.detach().double().numpy())
                share = train.n_queries / (len(chosen) * problem.total_weight)
                optimiser.zero_grad()
                scores.backward(torch.from_numpy(slope * share).to(scores.dtype))
                optimiser.step()
            going = trace.go_on(judged())
            if trace.best_step == trace.steps:
                best = {name: value.clone() for name, value in model.module.state_dict().items()}
            problem.report("measure" if measure else "loss", trace.steps, self.epochs, abs(trace.values[-1]))
        model.module.load_state_dict(best)
        return model, [trace]


@dataclass(frozen=True)
class TorchModel:
    """A fitted module. Save it with PyTorch's own means: its shape is code, which model files do not hold."""

    module: Any

    def score(self, data: Dataset) -> Floats:
        torch = import_torch()
        self.module.eval()
        with torch.no_grad():
            scores = self.module(torch.from_numpy(known(data.X))).reshape(-1)
        return np.asarray(scores.double().numpy(), np.float64)


def known(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """Features with 0 for missing ones, writable as PyTorch wants them."""
    features: NDArray[np.float32] = np.nan_to_num(X, nan=0.0)
    return features


def import_torch() -> Any:
    """PyTorch, or an error that names the extra."""
    try:
        import torch
    except ImportError:
        raise InputError("PyTorch is not installed", "pip install 'topkit[torch]'") from None
    return torch
