"""Metrics as training objectives: bound to a data set once, then evaluated thousands of times."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topkit.compute import Floats, over_queries
from topkit.data import Dataset
from topkit.metrics import Convention, Metric, evaluate_arrays, metric
from topkit.metrics import convention as convention_named
from topkit.metrics.measure import FastMeasure

__all__ = ["FastMeasure", "Measured", "worst_ties"]


@dataclass(frozen=True)
class Measured:
    """A metric bound to a data set: the value of each query for any scores, with larger always better.

    Measures with a compiled form (:attr:`topkit.metrics.Measure.compiled`) use a kernel. All other measures,
    and conventions that break ties by document id, use :func:`topkit.metrics.evaluate_arrays`. Both give the
    same values.

    >>> data = Dataset.build([[0.0]] * 3, [0, 2, 1], ["a", "a", "b"])
    >>> Measured.of(data, "ndcg@1").values(np.array([0.3, 0.1, 0.2]))
    array([0., 1.])
    """

    data: Dataset
    metric: Metric
    convention: Convention
    fast: FastMeasure | None
    """The compiled form on this data set, if there is one."""

    @classmethod
    def of(cls, data: Dataset, name: str | Metric, convention: str | Convention = "yahoo") -> Measured:
        """The metric of this name, under this convention, on this data."""
        bound, rules = metric(name), convention_named(convention)
        if rules.ties == "document" and data.doc_ids is None:
            data = replace(data, doc_ids=data.names_of_documents())
        make = bound.measure.compiled
        input_order = rules.ties == "input" and not rules.single_precision
        fast = make(data, bound.depth, rules, **dict(bound.settings)) if make and input_order else None
        return cls(data, bound, rules, fast)

    def values(self, scores: Floats) -> Floats:
        """One value per query."""
        data = self.data
        if self.fast is None:
            values = evaluate_arrays(
                data.y, scores, data.ptr, self.metric, self.convention, truth=data.truth, doc_ids=data.doc_ids
            )[str(self.metric)]
            return values if self.metric.measure.greater_is_better else -values
        from topkit.metrics.compiled import kernels

        fast, values = self.fast, np.empty(data.n_queries)
        arrays = (scores, fast.gain, fast.discount, fast.fixed, data.ptr)
        over_queries(lambda a, b: kernels.list_values(fast.kind, *arrays, a, b, values), data.ptr)
        return values

    def mean(self, scores: Floats) -> float:
        """The mean over queries."""
        return float(self.values(scores).mean())


def worst_ties(data: Dataset) -> Dataset:
    """The same documents with labels ascending within each query, so that ties count against a ranker.

    Most conventions break ties by input order. In training that would reward chance, and the result would
    depend on the order of rows; with this order, a feature without information has no value. Under a
    convention that sorts ties by document id (``trec``), the ids decide and this order changes nothing.
    """
    rows = np.lexsort((data.y, data.query_index))
    return replace(
        data,
        X=np.ascontiguousarray(data.X[rows]),
        y=data.y[rows],
        doc_ids=None if data.doc_ids is None else data.doc_ids.take(rows),
        notes=None if data.notes is None else data.notes.take(rows),
    )
