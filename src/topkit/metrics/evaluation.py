"""Evaluation: from labels and scores to the values of metrics for every query, and their means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.compute import Floats, beside, thread_map
from topkit.data import Dataset, InputError, Strings, Truth
from topkit.data.table import Table
from topkit.data.truth import GRADED
from topkit.metrics.block import BLOCK_DOCUMENTS, Block, Lists, small_integers
from topkit.metrics.conventions import Convention
from topkit.metrics.conventions import convention as convention_named
from topkit.metrics.measure import Depths, Measure
from topkit.metrics.order import NotANumberError, Scores, as_scores, at_precision, query_blocks
from topkit.metrics.parse import Metric, metric, parse_metrics

V = TypeVar("V")

Metrics = str | Metric | Iterable[object] | object
"""Metrics by name or value: ``"ndcg@10,err"``, ``["ndcg@10", metric("err")]``, ir_measures' ``nDCG@10``."""

WORTH_A_THREAD = 1 << 17
"""Documents from which on two passes over them run at the same time."""
FLOOR = 1e-5
"""The smallest value in a geometric mean, as in trec_eval."""


class ByMetric(dict[str, V]):
    """A dictionary by metric name that also takes metrics and other spellings of their names."""

    def __missing__(self, key: str | Metric) -> V:
        name = str(metric(key))
        if name == key:
            raise KeyError(f"{key} was not evaluated; available: {', '.join(self)}")
        return self[name]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How good scores or a run are, query by query.

    ``per_query[m]`` is aligned with ``qids``; ``mean[m]`` is the mean over queries (the geometric mean for
    ``gm_map``, the sum for counts). Printing shows the convention, because values under different conventions
    cannot be compared.
    """

    qids: tuple[str, ...]
    per_query: Mapping[str, Floats]
    convention: Convention
    name: str = ""
    without_relevant: int | None = None
    """Queries without a relevant document; None if the metrics do not use grades."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "per_query", ByMetric(self.per_query))
        for values in self.per_query.values():
            values.flags.writeable = False

    @cached_property
    def mean(self) -> Mapping[str, float]:
        """One number per metric."""
        return ByMetric({name: average(metric(name), values) for name, values in self.per_query.items()})

    def interval(
        self, which: str | Metric, level: float = 0.95, samples: int = 10_000, seed: int = 0
    ) -> tuple[float, float]:
        """A bootstrap interval of the mean over queries; see :func:`topkit.metrics.bootstrap.interval`."""
        from topkit.metrics.bootstrap import interval

        chosen = metric(which)
        values = self.per_query[str(chosen)]
        if chosen.measure.average == "geometric":
            low, high = interval(np.log(np.maximum(values, FLOOR)), level, samples, seed)
            return float(np.exp(low)), float(np.exp(high))
        low, high = interval(values, level, samples, seed)
        scale = len(values) if chosen.measure.average == "sum" else 1
        return scale * low, scale * high

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with one row per query: ``qid`` and one column per metric.

        backend: ``pandas``, ``polars`` or ``pyarrow``; by default the first of them that is installed.
        """
        from topkit.data.frames_out import frame_of

        return frame_of({"qid": list(self.qids), **self.per_query}, backend)

    def table(self) -> Table:
        """One row per metric, with the convention below: ``.markdown()``, ``.latex()``, ``.csv()``, …"""
        queries = "1 query" if len(self.qids) == 1 else f"{len(self.qids)} queries"
        notes = [f"{queries}; convention {self.convention}", self.remark]
        return Table(("metric", self.name or "value"), list(self.mean.items()), [*filter(None, notes)])

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()

    @property
    def remark(self) -> str:
        """How many queries have no relevant document and what they count; empty if there are none."""
        if not self.without_relevant:
            return ""
        verb = "has" if self.without_relevant == 1 else "have"
        return (
            f"{self.without_relevant} of {len(self.qids)} queries {verb} no relevant document: NDCG, AP and "
            f"other measures that are then 0/0 count {self.convention.empty:g}, the others 0"
        )


def average(which: Metric, values: Floats) -> float:
    """The value over all queries: their mean, geometric mean or sum, as the measure says."""
    how = which.measure.average
    if how == "sum":
        return float(values.sum())
    if how == "geometric":
        return float(np.exp(np.log(np.maximum(values, FLOOR)).mean()))
    return float(values.mean())


def evaluate(
    dataset: Dataset,
    scores: ArrayLike,
    metrics: Metrics,
    convention: str | Convention = "yahoo",
    *,
    name: str = "",
) -> Evaluation:
    """Evaluate scores of the documents of a data set (larger is better) by its labels.

    >>> data = Dataset.build([[0.0]] * 3, [0, 2, 1], ["a", "a", "b"])
    >>> print(evaluate(data, [0.3, 0.1, 0.2], ["ndcg@1", "map"], convention="trec"))  # doctest: +ELLIPSIS
    metric   value
    ndcg@1  0.5000
    map     0.7500
    2 queries; convention trec: gain y; discount 1/log2(1+r); no relevant document: 0; ...
    """
    values = as_scores(scores)
    if values.shape != (len(dataset),):
        raise InputError(
            f"expected {len(dataset)} scores, got an array of shape {values.shape}",
            "give one score per document",
        )
    rules = convention_named(convention)
    lists = Lists(values, small_integers(dataset.y), dataset.ptr, dataset.doc_ids, truth=dataset.truth)
    return evaluate_lists(lists, parse_metrics(metrics), rules, dataset.qids, name)


def evaluate_arrays(
    y: ArrayLike,
    scores: ArrayLike,
    ptr: ArrayLike,
    metrics: Metrics,
    convention: str | Convention = "yahoo",
    *,
    truth: Truth = GRADED,
    doc_ids: Strings | None = None,
) -> dict[str, Floats]:
    """The value of each metric for every query, from labels and scores; query q is rows ptr[q]:ptr[q+1].

    :func:`topkit.evaluate` without names and means; fast enough for every round of training.

    >>> evaluate_arrays([0, 2, 1], [0.3, 0.1, 0.2], [0, 2, 3], "ndcg@1,rr")
    {'ndcg@1': array([0., 1.]), 'rr': array([0.5, 1. ])}
    """
    bounds = np.asarray(ptr, np.int64)
    values = as_scores(scores)
    labels = np.asarray(y)
    if labels.shape != values.shape or labels.ndim != 1:
        raise InputError(
            f"labels have the shape {labels.shape}, scores {values.shape}", "give one score per document"
        )
    if len(bounds) == 0 or bounds[0] != 0 or bounds[-1] != len(labels) or (np.diff(bounds) < 0).any():
        raise ValueError("ptr must increase from 0 to the number of documents")
    rules = convention_named(convention)
    with beside(lambda: small_integers(labels), worth_it=len(labels) > WORTH_A_THREAD) as small:
        precise = at_precision(values, rules.single_precision)
        lists = Lists(precise, small(), bounds, doc_ids, truth=truth)
    chosen = parse_metrics(metrics)
    return dict(zip(map(str, chosen), list_values(lists, chosen, rules), strict=True))


def evaluate_lists(
    lists: Lists, metrics: list[Metric], rules: Convention, qids: tuple[str, ...], name: str
) -> Evaluation:
    """The evaluation of ranked lists with labels."""
    values = list_values(lists, metrics, rules, qids)
    by_grades = any(chosen.measure.needs not in ("preferences", "clicks") for chosen in metrics)
    without = _without_relevant(lists, rules.relevant_from) if by_grades else None
    return Evaluation(qids, dict(zip(map(str, metrics), values, strict=True)), rules, name, without)


def _without_relevant(lists: Lists, least: float) -> int:
    """Queries in which no document, returned or missed, has at least this label."""
    has = np.zeros(len(lists.ptr) - 1, np.bool_)
    for labels, ptr in ((lists.labels, lists.ptr), (lists.missed, lists.missed_ptr)):
        if labels is not None and ptr is not None:
            counts = np.zeros(len(labels) + 1, np.int32)
            np.cumsum(labels >= least, out=counts[1:])
            has |= counts[ptr[1:]] > counts[ptr[:-1]]
    return int(len(has) - has.sum())


def list_values(
    lists: Lists, metrics: list[Metric], rules: Convention, qids: tuple[str, ...] = ()
) -> list[Floats]:
    """The values of each metric, one array per metric; ``qids`` are for the message if a score is NaN."""
    for chosen in metrics:
        _check_truth(chosen, lists)
    families = _families(metrics)
    lists = replace(lists, scores=at_precision(lists.scores, rules.single_precision))
    by_length, blocks = query_blocks(lists.lengths, BLOCK_DOCUMENTS)
    results = np.empty((len(metrics), len(by_length)))

    # Threads speed up sorting. They would slow down measures, whose many small steps need the interpreter.
    try:
        ranked = thread_map(lambda place: Block.of(lists, by_length[place], rules.ties), blocks)
    except NotANumberError:
        raise _not_a_number(lists.scores, lists.ptr, qids) from None
    for place in reversed(blocks):
        block = ranked.pop()  # frees its memory after this step
        # an empty result list scores 0, whatever the convention says about queries without relevant documents
        used = rules if block.lengths.any() else replace(rules, empty=0.0)
        for measure, settings, depths, rows in families:
            values = measure.function(block, depths, used, **settings)
            for row, value in zip(rows, values, strict=True):
                results[row, place] = value
    of_query = np.empty_like(by_length)
    of_query[by_length] = np.arange(len(by_length))
    return list(results.take(of_query, axis=1))


Family = tuple[Measure, dict[str, float], Depths, list[int]]
"""A measure, its settings, the depths asked for, and their places in the list of metrics."""


def _families(metrics: list[Metric]) -> list[Family]:
    """Metrics that differ only in their depth, together: they share almost all of their work."""
    families: dict[tuple[str, tuple[tuple[str, float], ...]], Family] = {}
    for place, chosen in enumerate(metrics):
        key = (chosen.name, chosen.settings)
        _, _, depths, places = families.setdefault(key, (chosen.measure, dict(chosen.settings), [], []))
        depths.append(chosen.depth)
        places.append(place)
    return list(families.values())


def _check_truth(chosen: Metric, lists: Lists) -> None:
    needs = chosen.measure.needs
    if needs == "top-k" and lists.truth.kind != "top-k":
        raise InputError(f"{chosen} needs top-k truth, got {lists.truth}", "convert it: dataset.top_k(10)")
    if needs == "order" and lists.truth.kind == "graded":
        raise InputError(f"{chosen} needs the order of the top, got grades", "convert it: dataset.top_k(10)")
    if needs == "preferences" and lists.pairs is None:
        raise InputError(f"{chosen} needs preferences", "evaluate a run by preferences")
    if needs == "clicks" and lists.clicks is None:
        raise InputError(f"{chosen} needs clicks", "evaluate a run by result pages with clicks")


def _not_a_number(scores: Scores, ptr: NDArray[np.int64], qids: tuple[str, ...]) -> InputError:
    """The error that names the first document whose score is NaN."""
    row = int(np.argmax(np.isnan(scores)))
    q = int(np.searchsorted(ptr, row, side="right")) - 1
    query = repr(qids[q]) if qids else f"number {q + 1}"
    return InputError(
        f"the score of document {row - int(ptr[q]) + 1} of query {query} is not a number (NaN)",
        "every document needs a score",
    )
