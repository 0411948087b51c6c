"""evaluate_run: judgments with a run become an Evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError, Judgments, Run
from topkit.metrics.arrays import evaluate_lists
from topkit.metrics.block import Lists, small_integers
from topkit.metrics.conventions import Convention
from topkit.metrics.conventions import convention as convention_named
from topkit.metrics.evaluation import Evaluation
from topkit.metrics.order import ranked_order
from topkit.metrics.parse import Metric, parse_metrics


def evaluate_run(
    judgments: Judgments,
    run: Run,
    metrics: str | Metric | Iterable[str | Metric],
    convention: str | Convention = "trec",
    missing: Literal["skip", "zero"] = "skip",
    *,
    relevant_from: float | None = None,
    depth: int | None = None,
) -> Evaluation:
    """Evaluate a run by judgments.

    Documents without a grade, or with one below 0, count as not judged. Judged queries that the run leaves
    out are skipped, or count as empty lists (``missing="zero"``, trec_eval's ``-c``). ``relevant_from`` is
    the smallest relevant grade (``-l``), ``depth`` cuts every list (``-M``).

    >>> from topkit.data import Grade
    >>> judged = Judgments((Grade("q", "d1", 1), Grade("q", "d2", 0)))
    >>> evaluate_run(judged, Run.of({"q": [("d2", 2.0), ("d1", 1.0)]}), ["rr"]).mean["rr"]
    0.5
    """
    rules = convention_named(convention)
    if relevant_from is not None:
        rules = replace(rules, relevant_from=relevant_from)
    grades = judgments.grades_by_query()
    qids = tuple(grades) if missing == "zero" else tuple(qid for qid in grades if qid in run)
    if not any(qid in run for qid in qids):
        raise InputError("the judgments and the run have no query in common", "check the query ids of both")
    lists = _lists(grades, run, qids, rules, depth)
    chosen = parse_metrics(metrics)
    per_query = dict(zip(map(str, chosen), evaluate_lists(lists, chosen, rules), strict=True))
    return Evaluation(qids, per_query, rules, run.name)


def _lists(
    grades: dict[str, dict[str, float]], run: Run, qids: tuple[str, ...], rules: Convention, depth: int | None
) -> Lists:
    """The documents of the run with their grades, and the grades of documents that it did not return."""
    rows, ptr = _rows(run, qids, rules, depth)
    docs = run.docs.take(rows)
    names = docs.tolist()
    labels = np.empty(len(names))
    missed: list[float] = []
    missed_ptr = [0]
    for q, qid in enumerate(qids):
        of_query = grades[qid]
        here = slice(int(ptr[q]), int(ptr[q + 1]))
        labels[here] = [of_query.get(doc, -1.0) for doc in names[here]]
        returned = set(names[here])
        missed += [grade for doc, grade in of_query.items() if doc not in returned]
        missed_ptr.append(len(missed))
    return Lists(
        run.scores[rows],
        small_integers(labels),
        ptr,
        docs,
        small_integers(np.array(missed)),
        np.array(missed_ptr),
    )


def _rows(
    run: Run, qids: tuple[str, ...], rules: Convention, depth: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of these queries in the run, and where each query starts; ``depth`` keeps the first of each."""
    none = slice(0, 0)
    slices = [run.rows(qid) if qid in run else none for qid in qids]
    rows = np.concatenate([np.arange(places.start, places.stop) for places in slices])
    ptr = np.zeros(len(qids) + 1, np.int64)
    np.cumsum([places.stop - places.start for places in slices], out=ptr[1:])
    if depth is None:
        return rows, ptr
    scores = run.scores[rows]
    if rules.single_precision:
        scores = scores.astype(np.float32).astype(np.float64)
    order = ranked_order(scores, ptr, rules.ties, run.docs.take(rows))
    first = np.arange(len(rows)) - np.repeat(ptr[:-1], np.diff(ptr)) < depth
    np.cumsum(np.minimum(np.diff(ptr), depth), out=ptr[1:])
    return rows[order[first]], ptr
