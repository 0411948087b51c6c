"""Summary statistics of a data set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topkit.data.dataset import Dataset


class Facts(NamedTuple):
    """Counts of queries, documents and features, and documents per query (shortest, median, longest)."""

    queries: int
    documents: int
    shortest: int
    median: float
    longest: int
    features: int
    constant: int
    """Features that have the same value in all documents."""
    labels: list[tuple[float, int]]
    """The eight most frequent labels with their counts, in the order of the labels."""
    single_label: int
    """Queries whose documents all have the same label: no method can learn from them."""
    missing: float
    """Share of feature values that are missing."""


def describe(data: Dataset) -> Facts:
    """Summary statistics of a data set."""
    values, counts = np.unique(data.y, return_counts=True)
    frequent = np.sort(np.argsort(-counts, kind="stable")[:8])
    low = np.minimum.reduceat(data.y, data.ptr[:-1])
    high = np.maximum.reduceat(data.y, data.ptr[:-1])
    constant = 0
    if data.n_features:
        constant = int((np.fmin.reduce(data.X, axis=0) == np.fmax.reduce(data.X, axis=0)).sum())
    return Facts(
        data.n_queries,
        len(data),
        int(data.lengths.min()),
        float(np.median(data.lengths)),
        int(data.lengths.max()),
        data.n_features,
        constant,
        [(float(values[i]), int(counts[i])) for i in frequent],
        int((low == high).sum()),
        float(np.isnan(data.X).mean()) if data.X.size else 0.0,
    )
