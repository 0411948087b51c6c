"""Any PyTorch module as a scorer: topkit computes the gradient in the scores, PyTorch the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Trace, require
from topkit.data import Dataset
from topkit.data.settings import Setting, check_fields
from topkit.scorers.adam import Batches, report_epoch
from topkit.scorers.model import HasGradient, Job, ScoreModel


@dataclass(frozen=True)
class TorchScorer:
    """Fit an ``nn.Module`` that maps features to one score per row, by Adam on batches of queries.

    ``module`` makes a new module for a number of features; ``tk.ranker("listnet", scorer=TorchScorer(make))``
    trains it. The loss and its gradient in the scores come from topkit; the module's backward pass does the
    rest. With validation data, the epoch with the best metric is kept and training stops ``patience`` epochs
    after it. Needs the extra ``torch``.
    """

    normalisation: ClassVar[str] = "z-score"

    module: Callable[[int], Any]
    rate: Annotated[float, Setting("Adam's step size.", above=0)] = 1e-3
    l2: Annotated[float, Setting("Weight decay.", low=0)] = 0.0
    batch: Annotated[int, Setting("Queries per batch.", low=1)] = 16
    epochs: Annotated[int, Setting("Maximum number of epochs.", low=1)] = 100
    patience: Annotated[int, Setting("Epochs without improvement before training stops.", low=1)] = 10

    def __post_init__(self) -> None:
        check_fields(self)

    def fit(self, job: Job, objective: HasGradient) -> tuple[TorchModel, list[Trace]]:
        """The fitted module, and the trace of the metric (or of minus the mean loss)."""
        torch = require("torch", "torch")
        torch.manual_seed(job.seed)
        train = job.train
        model = TorchModel(self.module(train.n_features))
        optimiser = torch.optim.Adam(model.module.parameters(), lr=self.rate, weight_decay=self.l2)
        batches = Batches(job, objective, self.batch)
        trace = Trace(self.epochs, patience=self.patience, larger_is_better=True)

        def evaluate() -> float:
            if job.valid is not None:
                return job.judge(model.score(job.valid))
            return -objective(model.score(train))[0] / job.total_weight

        going = trace.go_on(evaluate())
        best = _copy_of_state(model.module)
        while going:
            model.module.train()
            for rows, part, share in batches:
                scores = model.module(torch.from_numpy(known(train.X[rows]))).reshape(-1)
                _, slope = part(scores.detach().double().numpy())
                optimiser.zero_grad()
                scores.backward(torch.from_numpy(slope * share).to(scores.dtype))
                optimiser.step()
            going = trace.go_on(evaluate())
            if trace.best_step == trace.steps:
                best = _copy_of_state(model.module)
            report_epoch(job, trace)
        model.module.load_state_dict(best)
        return model, [trace]


@dataclass(frozen=True)
class TorchModel(ScoreModel):
    """A fitted module. Save it with PyTorch: its structure is code, which model files do not hold."""

    kind: ClassVar[str] = "torch"
    requires: ClassVar[tuple[str, ...]] = ("torch",)
    module: Any

    def score(self, data: Dataset) -> Floats:
        torch = require("torch", "torch")
        self.module.eval()
        with torch.no_grad():
            scores = self.module(torch.from_numpy(known(data.X))).reshape(-1)
        return np.asarray(scores.double().numpy(), np.float64)


def known(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """A writable copy of the features, as PyTorch expects it, with 0 for missing values."""
    features: NDArray[np.float32] = np.nan_to_num(X, nan=0.0)
    return features


def _copy_of_state(module: Any) -> dict[str, Any]:
    return {name: value.clone() for name, value in module.state_dict().items()}
