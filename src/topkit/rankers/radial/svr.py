"""Support vector regression on labels, with a radial kernel and separate costs for relevant documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from topkit.compute import Floats, Trace, one_blas_thread, require
from topkit.data.settings import Setting, Span, check_fields
from topkit.rankers.classes import grades_of
from topkit.rankers.radial.model import Gamma, RadialKernel, Scale, gammas_to_try, nothing_learned
from topkit.scorers import Job

COSTS = (1.0, 0.1)
"""C of irrelevant documents, tried on validation data; the first is the default."""
RATIOS = (3.0, 1.0, 10.0)
"""C of relevant over C of irrelevant documents, tried on validation data; the first is the default."""
CACHE_MB = 500
"""Memory of the solver for kernel values."""


@dataclass(frozen=True)
class SVR:
    """Support vector regression: ½‖f‖² + C₊ Σ_relevant |y − f(x)|_ε + C₋ Σ_irrelevant |y − f(x)|_ε.

    |e|_ε = max(0, |e| − ε), f is a sum of kernels exp(−γ‖x − z‖²) and a constant. The targets are the labels
    scaled from −1 (irrelevant) to 1 (the largest label). Irrelevant documents are many, so C₊ = ``ratio``·C₋
    with a ratio above 1 usually ranks better. Settings that are none are selected on validation data one
    after the other: γ, then C₋, then the ratio. Solved by scikit-learn (extra ``sklearn``); the time grows
    with the square of the number of documents. Metzler & Kanungo, LR4IR 2008.

    Use it for short lists with few relevant documents, such as sentences. Not for more than about 20,000
    documents, and not before a linear ranker was tried.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.5]], [0, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("svr", gamma=1.0).fit(data).rank(data)["q"][0][0]
    'q:3'
    """

    normalisation: ClassVar[str] = "z-score"
    learns_from: ClassVar[tuple[str, ...]] = ("labels",)
    summary: ClassVar[str] = "support vector regression on labels, radial kernel, separate costs"

    gamma: Gamma = None
    C: Annotated[
        float | None,
        Setting(
            "Cost C₋ of errors on irrelevant documents; none selects it on validation data.",
            above=0,
            search=Span(0.01, 10.0, log=True),
        ),
    ] = None
    ratio: Annotated[
        float | None,
        Setting(
            "Cost of relevant over that of irrelevant documents; none selects it on validation data.",
            above=0,
            search=(1.0, 3.0, 10.0),
        ),
    ] = None
    epsilon: Annotated[float, Setting("Errors up to this size cost nothing.", low=0)] = 0.1

    def __post_init__(self) -> None:
        check_fields(self)

    @one_blas_thread()
    def train(self, job: Job) -> tuple[RadialKernel, list[Trace]]:
        """The model with the best settings on validation data; the solver has no trace."""
        problem = Problem.of(job, self.epsilon)
        choices = (
            gammas_to_try(self.gamma, job),
            COSTS if self.C is None else (self.C,),
            RATIOS if self.ratio is None else (self.ratio,),
        )
        chosen = tuple(values[0] for values in choices)
        if job.valid is None:
            return problem.fit(*chosen), []
        valid, total = job.valid, sum(len(values) - 1 for values in choices) + 1
        tried: dict[tuple[float, ...], tuple[float, RadialKernel]] = {}

        def measure(settings: tuple[float, ...]) -> float:
            if settings not in tried:
                model = problem.fit(*settings)
                tried[settings] = job.judge(model.score(valid)), model
                job.report("fit", len(tried), total, tried[settings][0])
            return tried[settings][0]

        for place, values in enumerate(choices):
            options = [(*chosen[:place], value, *chosen[place + 1 :]) for value in values]
            chosen = max(options, key=measure)
        return tried[chosen][1], []


@dataclass(frozen=True)
class Problem:
    """Standardised features, targets, and the weights of documents with and without relevance."""

    scale: Scale
    X: Floats
    targets: Floats
    weights: Floats
    epsilon: float

    @classmethod
    def of(cls, job: Job, epsilon: float) -> Problem:
        """The documents of queries whose weight is not 0."""
        grades = grades_of(job.train)
        weights = np.repeat(job.query_weights, job.train.lengths)
        used = weights > 0
        scale = Scale.of(job.train.X[used])
        top = float(grades.max(initial=0.0)) or 1.0
        return cls(scale, scale(job.train.X[used]), 2 * grades[used] / top - 1, weights[used], epsilon)

    def fit(self, gamma: float, cost: float, ratio: float) -> RadialKernel:
        """The model for these settings."""
        if np.ptp(self.targets) == 0:
            return nothing_learned(self.scale)
        svm = require("sklearn.svm", "sklearn")
        machine = svm.SVR(C=cost, gamma=gamma, epsilon=self.epsilon, cache_size=CACHE_MB)
        machine.fit(self.X, self.targets, self.weights * np.where(self.targets > -1, ratio, 1.0))
        return RadialKernel(
            self.scale,
            np.ascontiguousarray(machine.support_vectors_, np.float64),
            np.ascontiguousarray(machine.dual_coef_[0], np.float64),
            gamma,
            float(machine.intercept_[0]),
        )
