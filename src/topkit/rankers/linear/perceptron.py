"""The averaged ranking perceptron."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from topkit.compute import Trace
from topkit.data.settings import Setting, check_fields
from topkit.metrics.compiled import worst_ties
from topkit.scorers import Job, Linear
from topkit.scorers.model import filled


@dataclass(frozen=True)
class Perceptron:
    """The averaged perceptron on pairs: w ← w + (x_u − x_v) where w·x_u ≤ w·x_v although u is better.

    Each of the ``passes`` visits all pairs of different labels, with the queries in a new random order
    (seeded); the model is the mean of w over all pairs seen. A pass without a mistake is the last one. With
    validation data the pass with the best metric is kept. The trace holds the share of mistakes, or the
    validation metric. Collins & Duffy, ACL 2002; Elsas, Carvalho & Carbonell, WSDM 2008.

    Use it as a fast online start, for example for `sigmoid`. Not as a final ranker: it was significantly
    worse than RankSVM on both LETOR collections.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("perceptron").fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "min-max"
    learns_from: ClassVar[tuple[str, ...]] = ("labels",)
    summary: ClassVar[str] = "averaged perceptron on pairs"

    passes: Annotated[int, Setting("Maximum passes over all pairs.", low=1, search=(5, 20, 100))] = 5

    def __post_init__(self) -> None:
        check_fields(self)

    def train(self, job: Job) -> tuple[Linear, list[Trace]]:
        """The mean weights, and the trace."""
        from topkit.rankers.linear import kernels

        data = job.train
        X, y = filled(data.X), data.y.astype(np.float64)
        valid = None if job.valid is None else worst_ties(job.valid)
        rng = np.random.default_rng(job.seed)
        w, late, best = (np.zeros(data.n_features) for _ in range(3))
        trace = Trace(self.passes, larger_is_better=valid is not None)
        seen = 0
        going = trace.go_on(1.0 if valid is None else job.measure(valid, Linear(w).score(valid)))
        while going:
            before = seen
            order = rng.permutation(data.n_queries)
            seen, mistakes = kernels.perceptron_pass(X, y, data.ptr, order, job.query_weights, w, late, seen)
            mean = w - late / max(seen, 1)
            if valid is None:
                value = mistakes / max(seen - before, 1)
            else:
                value = job.measure(valid, Linear(mean).score(valid))
            going = trace.go_on(value)
            job.report("mistakes" if valid is None else "metric", trace.steps, self.passes, value)
            if valid is None or trace.best_step == trace.steps or trace.steps == 1:
                best = mean
            if mistakes == 0:
                trace.reason, going = "settled", False
        return Linear(best), [trace]
