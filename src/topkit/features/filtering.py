"""Cutting ranked lists: at a fixed depth, or at a score threshold for all queries; measured by F1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.data import Dataset


class Kept(NamedTuple):
    """Quality of a selection of documents: means over queries."""

    precision: float
    recall: float
    f1: float


def keep_depth(data: Dataset, scores: ArrayLike, depth: int) -> NDArray[np.bool_]:
    """The first ``depth`` documents of each query by score; ties in input order."""
    values = np.asarray(scores, np.float64)
    order = np.lexsort((-values, data.query_index))
    place = np.empty(len(values), np.int64)
    place[order] = np.arange(len(values)) - np.repeat(data.ptr[:-1], data.lengths)
    kept: NDArray[np.bool_] = place < depth
    return kept


def keep_threshold(scores: ArrayLike, threshold: float) -> NDArray[np.bool_]:
    """The documents with at least this score, in any query."""
    return np.asarray(scores, np.float64) >= threshold


def kept_quality(data: Dataset, kept: NDArray[np.bool_]) -> Kept:
    """Precision, recall and F1 of the kept documents, as means over queries with relevant documents.

    A query without kept documents has precision, recall and F1 of 0.

    >>> data = Dataset.build([[0.0]] * 4, [1, 1, 0, 0], ["q"] * 4)
    >>> kept_quality(data, np.array([True, False, True, False]))
    Kept(precision=0.5, recall=0.5, f1=0.5)
    """
    relevant = data.y > 0
    starts = data.ptr[:-1]
    hits = np.add.reduceat((relevant & kept).astype(np.float64), starts)
    selected = np.add.reduceat(kept.astype(np.float64), starts)
    total = np.add.reduceat(relevant.astype(np.float64), starts)
    has_relevant = total > 0
    precision = (hits / np.maximum(selected, 1))[has_relevant]
    recall = (hits / np.maximum(total, 1))[has_relevant]
    f1 = (2 * hits / np.maximum(selected + total, 1))[has_relevant]
    return Kept(float(precision.mean()), float(recall.mean()), float(f1.mean()))


def best_threshold(data: Dataset, scores: ArrayLike, steps: int = 200) -> float:
    """The threshold with the largest F1 on this data, from ``steps`` quantiles of the scores."""
    values = np.asarray(scores, np.float64)
    thresholds = np.unique(np.quantile(values, np.linspace(0, 1, steps)))
    quality = [kept_quality(data, keep_threshold(values, threshold)).f1 for threshold in thresholds]
    return float(thresholds[int(np.argmax(quality))])


def best_depth(data: Dataset, scores: ArrayLike, most: int = 10) -> int:
    """The depth from 1 to ``most`` with the largest F1 on this data."""
    quality = [kept_quality(data, keep_depth(data, scores, depth)).f1 for depth in range(1, most + 1)]
    return int(np.argmax(quality)) + 1
