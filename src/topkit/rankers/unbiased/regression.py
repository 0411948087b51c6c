"""The model of relevance that makes the doubly robust estimate: ridge regression on the features."""

from __future__ import annotations

import numpy as np

from topkit.clicks.relevance import Sums, relevance
from topkit.compute import Floats, one_blas_thread
from topkit.data import Dataset
from topkit.scorers.model import filled

PENALTY = 1.0
"""Ridge penalty, in units of the mean weight of a document."""


@one_blas_thread()
def predicted_relevance(data: Dataset, sums: Sums) -> Floats:
    """The relevance of each document by its features, from the clicks of the other half of the queries.

    The halves keep a document's own clicks out of its prediction; otherwise the estimate would not be doubly
    robust. Documents count by their exposure. With one query there is no other half, and it is the average.
    """
    target, weight = relevance(sums, "snips", 1.0), sums.exposure
    average = float(target @ weight / weight.sum())
    X = filled(data.X)
    half = np.repeat(np.arange(data.n_queries) % 2, data.lengths)
    values = np.full(len(data), average)
    for side in (0, 1):
        other = (half != side) & (weight > 0)
        if other.any():
            values[half == side] = _ridge(X[other], target[other], weight[other], X[half == side])
    bounded: Floats = np.clip(values, 0.0, 1.0)
    return bounded


def _ridge(X: Floats, y: Floats, weight: Floats, new: Floats) -> Floats:
    share = weight / weight.sum()
    centre, mean = share @ X, float(share @ y)
    spread = np.sqrt(share @ (X - centre) ** 2) + 1e-12
    Z = (X - centre) / spread
    gram = Z.T @ (Z * share[:, None]) + np.eye(X.shape[1]) * (PENALTY / len(X) + 1e-9)
    beta = np.linalg.solve(gram, Z.T @ (share * (y - mean)))
    predicted: Floats = mean + (new - centre) / spread @ beta
    return predicted
