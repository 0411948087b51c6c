"""The structural hinge of average precision on (lists, relevant documents): the loss of SVM-MAP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkit.compute import over_queries
from topkit.data import Dataset
from topkit.losses.focused import top_rows
from topkit.scorers import Floats


@dataclass(frozen=True)
class PrecisionTasks:
    """Lists of rows with relevant ones among them, each a problem of SVM-MAP with a weight.

    Lists may share rows: FocusedSVM cuts one list in several places.
    """

    rows: NDArray[np.int64]
    relevant: NDArray[np.bool_]
    ptr: NDArray[np.int64]
    weights: Floats

    def per_list(self, scores: Floats) -> tuple[Floats, Floats]:
        """Values of the lists, and the slope of each in the scores of its own rows (without weights).

        The value is max_z [1 − AP(z) + Ψ(z)·s − Ψ(truth)·s] over all rankings z, with Ψ(z)·s = Σ z_ij (s_i −
        s_j)/(|R||N|) over relevant i and irrelevant j, z_ij = 1 if i is above j, else −1.
        """
        from topkit.rankers.svm import kernels

        values, slopes = np.empty(len(self.ptr) - 1), np.empty(len(self.rows))
        own = np.ascontiguousarray(scores[self.rows])
        over_queries(
            lambda a, b: kernels.average_precision_hinge(own, self.relevant, self.ptr, a, b, values, slopes),
            self.ptr,
        )
        return values, slopes

    def __call__(self, scores: Floats) -> tuple[float, Floats]:
        """The weighted sum of the lists, and a subgradient in the scores."""
        values, slopes = self.per_list(scores)
        slopes *= np.repeat(self.weights, np.diff(self.ptr))
        gradient = np.bincount(self.rows, weights=slopes, minlength=len(scores))
        return float(self.weights @ values), gradient.astype(np.float64)


def whole_lists(data: Dataset, weights: Floats, rel: float, k: int) -> PrecisionTasks:
    """One task a query: documents of label ≥ ``rel`` are relevant.

    In a full order, whose labels say nothing about relevance, the first k are, but no more than half the
    list.
    """
    least: NDArray[np.float64] | float = rel
    if data.truth.kind == "order":
        half = np.minimum(k, (data.lengths + 1) // 2)
        least = np.repeat(data.lengths - half + 1, data.lengths).astype(np.float64)
    relevant = data.y >= least
    found = np.add.reduceat(relevant, data.ptr[:-1], dtype=np.int64)
    useful = (found > 0) & (found < data.lengths)
    return PrecisionTasks(np.arange(len(data)), relevant, data.ptr, np.where(useful, weights, 0.0))


def cuts_of_top(data: Dataset, k: int) -> tuple[PrecisionTasks, NDArray[np.int64]]:
    """The top k of each query, once for every cut of its order, the documents above the cut being relevant.

    The weights of a query's cuts sum to 1; a cut never parts equal labels, so a total order of k documents
    has k − 1. Also returns the query of each cut.
    """
    top = top_rows(data.y.astype(np.float64), data.ptr, k)
    bounds = np.searchsorted(top, data.ptr)
    rows, relevant, lengths, weights, query = [], [], [], [], []
    for q in range(data.n_queries):
        mine = top[bounds[q] : bounds[q + 1]]
        labels = data.y[mine]
        borders = np.unique(labels)[1:]
        for border in borders:
            rows.append(mine)
            relevant.append(labels >= border)
            lengths.append(len(mine))
            weights.append(1.0 / len(borders))
            query.append(q)
    ptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
    none = np.empty(0, np.int64)
    tasks = PrecisionTasks(
        np.concatenate(rows) if rows else none,
        np.concatenate(relevant) if rows else none.astype(np.bool_),
        ptr,
        np.array(weights, np.float64),
    )
    return tasks, np.array(query, np.int64)
