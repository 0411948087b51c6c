"""BestFeature: the single feature, ascending or descending, that ranks the training data best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from topkit.compute import Floats, Trace, thread_map
from topkit.metrics.compiled import Measured, worst_ties
from topkit.scorers import Job, Linear
from topkit.scorers.model import filled


@dataclass(frozen=True)
class BestFeature:
    """score = x_f or −x_f, whichever has the best training mean of the setting ``metric``.

    The baseline that every trained ranker should beat. Ties count as ordered badly, so a constant feature is
    never selected by luck; a missing feature is 0. The trace holds the mean of each feature, then of each
    reversed one.

    Use it as the baseline of every comparison. Not as the final ranker, unless nothing beats it.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9, 3.0], [0.1, 1.0], [0.4, 2.0]], [0, 2, 1], ["q", "q", "q"])
    >>> tk.ranker("bestfeature").fit(data).rank(data)["q"][0][0]
    'q:2'
    """

    normalisation: ClassVar[str] = "none"
    learns_from: ClassVar[tuple[str, ...]] = ("labels",)
    summary: ClassVar[str] = "the best single feature"

    def train(self, job: Job) -> tuple[Linear, list[Trace]]:
        """The model with one weight, 1 or −1, and the trace of the means."""
        data = worst_ties(job.train)
        means = feature_means(job, Measured.of(data, job.metric, job.convention), filled(data.X))
        features = data.n_features
        best = int(np.argmax(means))
        weights = np.zeros(features)
        weights[best % features] = 1.0 if best < features else -1.0
        trace = Trace(2 * features, larger_is_better=True)
        for step, mean in enumerate(means, 1):
            trace.go_on(mean)
            job.report("feature", step, 2 * features, mean)
        trace.reason = "settled"
        return Linear(weights), [trace]


def feature_means(job: Job, measured: Measured, X: Floats) -> list[float]:
    """The weighted mean of the metric for each column, then for each reversed column."""
    shares = job.query_weights / job.total_weight

    def mean(place: int) -> float:
        column = np.ascontiguousarray(X[:, place % X.shape[1]])
        return float(shares @ measured.values(column if place < X.shape[1] else -column))

    return thread_map(mean, range(2 * X.shape[1]))
