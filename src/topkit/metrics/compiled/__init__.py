"""Measures as training objectives: bound to a data set once, then evaluated thousands of times."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from topkit.compute import over_queries
from topkit.data import Dataset
from topkit.metrics import Convention, Metric, evaluate_arrays, metric
from topkit.metrics import convention as convention_named
from topkit.metrics.conventions import discounts, gain_function

Floats = NDArray[np.float64]

__all__ = ["FastMeasure", "Measured", "worst_ties"]


@dataclass(frozen=True)
class FastMeasure:
    """What the kernels need to know of a measure on a data set."""

    kind: int
    gain: Floats
    """One number a document."""
    discount: Floats
    """One number a rank, down to the depth."""
    fixed: Floats
    """The value of each query that no order changes, else NaN."""


@dataclass(frozen=True)
class Measured:
    """A measure bound to a data set: the value of each query for any scores, turned so that larger is better.

    NDCG, DCG, ERR, their top-k forms, AP, precision and reciprocal rank go by kernels; every other measure,
    and conventions that order ties by document, by :func:`topkit.metrics.evaluate_arrays`. Both give the same
    values.

    >>> data = Dataset.build([[0.0]] * 3, [0, 2, 1], ["a", "a", "b"])
    >>> Measured.of(data, "ndcg@1").values(np.array([0.3, 0.1, 0.2]))
    array([0., 1.])
    """

    data: Dataset
    metric: Metric
    convention: Convention
    fast: FastMeasure | None

    @classmethod
    def of(cls, data: Dataset, name: str | Metric, convention: str | Convention = "yahoo") -> Measured:
        """The measure of this name, under this convention, on this data."""
        one, rules = metric(name), convention_named(convention)
        return cls(data, one, rules, _fast(data, one, rules))

    def values(self, scores: Floats) -> Floats:
        """One value a query."""
        if self.fast is None:
            data = self.data
            found = evaluate_arrays(
                data.y, scores, data.ptr, self.metric, self.convention, truth=data.truth, doc_ids=data.doc_ids
            )[str(self.metric)]
            return found if self.metric.measure.greater_is_better else -found
        from topkit.metrics.compiled import kernels

        fast, ptr = self.fast, self.data.ptr
        out = np.empty(self.data.n_queries)
        over_queries(
            lambda a, b: kernels.list_values(
                fast.kind, scores, fast.gain, fast.discount, fast.fixed, ptr, a, b, out
            ),
            ptr,
        )
        return out

    def mean(self, scores: Floats) -> float:
        """The mean over queries."""
        return float(self.values(scores).mean())


def worst_ties(data: Dataset) -> Dataset:
    """The same documents with labels rising within each query, so that equal scores count against a ranker.

    Measures break ties by input order. In training that would reward chance, and make the result depend on
    the order of rows; this way a feature that says nothing is worth nothing.
    """
    rows = np.lexsort((data.y, data.query_index))
    return replace(
        data,
        X=np.ascontiguousarray(data.X[rows]),
        y=data.y[rows],
        doc_ids=None if data.doc_ids is None else data.doc_ids.take(rows),
        notes=None if data.notes is None else data.notes.take(rows),
    )


def _fast(data: Dataset, one: Metric, rules: Convention) -> FastMeasure | None:
    """The measure for the kernels, if they know it."""
    from topkit.metrics.compiled import kernels

    settings = dict(one.settings)
    if rules.ties != "input" or rules.single_precision:
        return None
    if one.name in ("kndcg", "kerr") and data.truth.kind != "top-k":
        return None
    lengths, width = data.lengths, int(data.lengths.max(initial=1))
    depth = width if one.depth is None else min(one.depth, width)
    labels = data.y.astype(np.float64)
    flat = np.ones(depth)
    relevant = labels >= settings.get("rel", rules.relevant_from)
    count = np.add.reduceat(relevant, data.ptr[:-1], dtype=np.int64) if len(data) else np.zeros(0, np.int64)
    unset = np.full(data.n_queries, np.nan)

    def spread(per_query: NDArray[np.float64]) -> Floats:
        return np.repeat(per_query, lengths)

    if one.name in ("ndcg", "kndcg"):
        if rules.gain == "exponential" and labels.max(initial=0) > 1000:
            return None
        gain, discount = gain_function(rules.gain)(labels), discounts(rules.discount, depth)
        ideal = np.empty(data.n_queries)
        kernels.list_values(kernels.SUM, labels, gain, discount, unset, data.ptr, 0, data.n_queries, ideal)
        fixed = np.where(ideal == 0, rules.empty, np.nan)
        if rules.short_is_zero and one.depth is not None:
            fixed[lengths < one.depth] = 0.0
        return FastMeasure(kernels.SUM, gain / spread(np.where(ideal == 0, 1.0, ideal)), discount, fixed)
    if one.name == "map":
        share = np.divide(1.0, count, out=np.zeros(data.n_queries), where=count > 0)
        fixed = np.where(count == 0, rules.empty, np.nan)
        return FastMeasure(kernels.PRECISION, relevant * spread(share), flat, fixed)
    if one.name in ("err", "kerr"):
        top = settings.get("top", rules.err_maximum)
        largest = float(labels.max(initial=0)) if top is None else float(top)
        scale = np.full(data.n_queries, largest)
        if one.name == "kerr":
            scale = np.minimum(lengths, data.truth.k or 1).astype(np.float64)
        elif labels.max(initial=0) > largest:
            return None
        stops = (np.exp2(np.maximum(labels, 0)) - 1) / np.exp2(spread(scale))
        return FastMeasure(kernels.CASCADE, stops, 1.0 / np.arange(1, depth + 1), unset)
    if one.name == "rr":
        return FastMeasure(kernels.FIRST, relevant.astype(np.float64), 1.0 / np.arange(1, depth + 1), unset)
    if one.name == "p":
        size = lengths if one.depth is None else np.full(data.n_queries, one.depth)
        size = np.minimum(lengths, size) if rules.precision_over_list else size
        return FastMeasure(kernels.SUM, relevant / spread(size.astype(np.float64)), flat, unset)
    return None
