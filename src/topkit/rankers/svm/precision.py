"""The structural hinge of average precision on (lists, relevant documents): the loss of SVM-MAP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topkit.compute import Bools, Floats, Ints, over_queries
from topkit.data import Dataset
from topkit.losses.focused import top_rows


@dataclass(frozen=True)
class PrecisionTasks:
    """Lists of rows, some of them relevant; each list is a weighted problem of SVM-MAP.

    Lists may share rows: FocusedSVM cuts one list at several places.
    """

    rows: Ints
    relevant: Bools
    ptr: Ints
    weights: Floats

    def per_list(self, scores: Floats) -> tuple[Floats, Floats]:
        """The value of each list, and its gradient in the scores of its rows (without weights).

        The value is max_z [1 − AP(z) + Ψ(z)·s − Ψ(truth)·s] over all rankings z, with Ψ(z)·s = Σ z_ij (s_i −
        s_j)/(|R||N|) over relevant i and irrelevant j, z_ij = 1 if i is above j, else −1.
        """
        from topkit.rankers.svm import kernels

        values, slopes = np.empty(len(self.ptr) - 1), np.empty(len(self.rows))
        list_scores = np.ascontiguousarray(scores[self.rows])
        over_queries(
            lambda a, b: kernels.average_precision_hinge(
                list_scores, self.relevant, self.ptr, a, b, values, slopes
            ),
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
    """One task per query: documents with labels of at least ``rel`` are relevant.

    The labels of a full order do not express relevance; there the first k are relevant, but at most half of
    the list.
    """
    least: Floats | float = rel
    if data.truth.kind == "order":
        half = np.minimum(k, (data.lengths + 1) // 2)
        least = np.repeat(data.lengths - half + 1, data.lengths).astype(np.float64)
    relevant = data.y >= least
    count = np.add.reduceat(relevant, data.ptr[:-1], dtype=np.int64)
    useful = (count > 0) & (count < data.lengths)
    return PrecisionTasks(np.arange(len(data)), relevant, data.ptr, np.where(useful, weights, 0.0))


def cuts_of_top(data: Dataset, k: int) -> tuple[PrecisionTasks, Ints]:
    """The top k of each query, once for every cut of its order; documents above the cut are relevant.

    The weights of a query's cuts sum to 1. A cut never separates equal labels, so a total order of k
    documents has k − 1 cuts. Also returns the query of each cut.
    """
    top = top_rows(data.y.astype(np.float64), data.ptr, k)
    bounds = np.searchsorted(top, data.ptr)
    rows, relevant, lengths, weights, query = [], [], [], [], []
    for q in range(data.n_queries):
        rows_of_query = top[bounds[q] : bounds[q + 1]]
        labels = data.y[rows_of_query]
        borders = np.unique(labels)[1:]
        for border in borders:
            rows.append(rows_of_query)
            relevant.append(labels >= border)
            lengths.append(len(rows_of_query))
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
