"""evaluate_run: the evaluation of a run by judgments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data import InputError, Judgments, Page, Preference, Run
from topkit.data.foreign import judgments_of, run_of
from topkit.metrics.block import Lists, small_integers
from topkit.metrics.conventions import Convention
from topkit.metrics.conventions import convention as convention_named
from topkit.metrics.evaluation import Evaluation, Metrics, evaluate_lists
from topkit.metrics.measure import Needs
from topkit.metrics.measures import METRICS
from topkit.metrics.order import at_precision, ranked_order
from topkit.metrics.parse import Metric, parse_metrics
from topkit.metrics.preferred import levels


def evaluate_run(
    judgments: Any,
    run: Any,
    metrics: Metrics,
    convention: str | Convention = "trec",
    missing: Literal["skip", "zero"] = "skip",
    *,
    relevant_from: float | None = None,
    depth: int | None = None,
) -> Evaluation:
    """Evaluate a run by judgments: grades, or preferences and clicks for the measures that need those.

    A query counts if it has every kind of judgment that the metrics need. Documents without a grade, or with
    a grade below 0, count as unjudged. Judged queries that are missing from the run are skipped, or count as
    empty lists (``missing="zero"``, ``-c`` of trec_eval). ``relevant_from`` is the smallest relevant grade
    (``-l``), ``depth`` truncates every list (``-M``). Preferences without grades suffice for ``compat``: its
    ideal order is that of :func:`topkit.metrics.preferred.levels`.

    ``judgments`` is a :class:`Judgments` and ``run`` a :class:`Run`, or what other tools have: data frames
    (see :meth:`Run.from_frame`), dictionaries query → document → number, iterables of ir_measures' records,
    ranx's objects, data sets of ir_datasets, a :class:`topkit.Collection`. ``metrics`` may be objects of
    ir_measures, such as ``nDCG@10``.

    >>> from topkit.data import Grade
    >>> judged = Judgments((Grade("q", "d1", 1), Grade("q", "d2", 0)))
    >>> evaluate_run(judged, Run.of({"q": [("d2", 2.0), ("d1", 1.0)]}), ["rr"]).mean["rr"]
    0.5
    """
    judgments, run = judgments_of(judgments), run_of(run)
    chosen = parse_metrics(metrics)
    rules = convention_named(convention)
    if relevant_from is not None:
        rules = replace(rules, relevant_from=relevant_from)
    if depth is not None and depth < 1:
        raise InputError(f"depth must be at least 1, got {depth}")
    needs = {metric.measure.needs for metric in chosen}
    grades = judgments.grades_by_query()
    preferences = judgments.preferences_by_query()
    if not grades and preferences and needs - {"preferences", "clicks"}:
        _check_preferences_suffice(chosen)
        grades = {qid: levels(answers) for qid, answers in preferences.items()}
    pages = _pages_by_query(judgments)
    qids = _judged(needs, grades, preferences, pages)
    if missing == "skip":
        qids = [qid for qid in qids if qid in run]
    if not any(qid in run for qid in qids):
        raise InputError("the judgments and the run have no query in common", "compare their query ids")
    rows, ptr = _rows(run, qids, rules, depth)
    docs = run.docs.take(rows)
    names = docs.tolist()
    places = [{doc: i for i, doc in enumerate(names[ptr[q] : ptr[q + 1]])} for q in range(len(qids))]
    lists = Lists(run.scores[rows], np.zeros(0, np.int8), ptr, docs)
    lists = _with_grades(lists, [grades.get(qid, {}) for qid in qids], places)
    if "preferences" in needs:
        lists = replace(lists, pairs=_pairs([preferences[qid] for qid in qids], places))
    if "clicks" in needs:
        clicks, looks = _clicks([pages[qid] for qid in qids], places, ptr)
        lists = replace(lists, clicks=clicks, looks=looks)
    return evaluate_lists(lists, chosen, rules, tuple(qids), run.name)


def _check_preferences_suffice(metrics: Sequence[Metric]) -> None:
    """InputError if a metric needs grades; compat needs only an ideal order, which preferences imply."""
    for metric in metrics:
        if metric.measure.needs not in ("preferences", "clicks") and metric.measure is not METRICS["compat"]:
            raise InputError(
                f"{metric} needs grades, and the judgments are preferences", "use ppref or compat"
            )


def _judged(
    needs: set[Needs],
    grades: dict[str, dict[str, float]],
    preferences: dict[str, list[Preference]],
    pages: dict[str, list[Page]],
) -> list[str]:
    """The queries that have every kind of judgment needed, in the order of the judgments."""
    kinds: list[Iterable[str]] = []
    if needs - {"preferences", "clicks"}:
        kinds.append(grades)
    if "preferences" in needs:
        kinds.append(preferences)
    if "clicks" in needs:
        kinds.append(pages)
    common = set(kinds[0]).intersection(*kinds[1:])
    return [qid for qid in kinds[0] if qid in common]


def _rows(
    run: Run, qids: list[str], rules: Convention, depth: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of these queries in the run, and where each query starts; ``depth`` keeps the first of each."""
    slices = [run.rows(qid) if qid in run else slice(0, 0) for qid in qids]
    rows = np.concatenate([np.arange(places.start, places.stop) for places in slices])
    ptr = np.zeros(len(qids) + 1, np.int64)
    np.cumsum([places.stop - places.start for places in slices], out=ptr[1:])
    if depth is None:
        return rows, ptr
    scores = at_precision(run.scores[rows], rules.single_precision)
    order = ranked_order(scores, ptr, rules.ties, run.docs.take(rows))
    first = np.arange(len(rows)) - np.repeat(ptr[:-1], np.diff(ptr)) < depth
    np.cumsum(np.minimum(np.diff(ptr), depth), out=ptr[1:])
    return rows[order[first]], ptr


def _with_grades(lists: Lists, grades: list[dict[str, float]], places: list[dict[str, int]]) -> Lists:
    """The lists with their labels, and the labels of documents that were not returned."""
    rows: list[int] = []
    returned: list[float] = []
    missed: list[float] = []
    missed_ptr = [0]
    for start, of_query, place in zip(lists.ptr.tolist(), grades, places, strict=False):
        for doc, grade in of_query.items():  # most documents of a run are not judged
            at = place.get(doc)
            if at is None:
                missed.append(grade)
            else:
                rows.append(start + at)
                returned.append(grade)
        missed_ptr.append(len(missed))
    labels = np.full(int(lists.ptr[-1]), np.nan)  # NaN: not in the pool
    labels[rows] = returned
    labels[labels < 0] = -2.0  # in the pool, but unjudged
    labels[np.isnan(labels)] = -1.0
    return replace(
        lists,
        labels=small_integers(labels),
        missed=small_integers(np.array(missed)),
        missed_ptr=np.array(missed_ptr),
    )


def _pairs(preferences: list[list[Preference]], places: list[dict[str, int]]) -> NDArray[np.int64]:
    """Query, place of the better and place of the worse document of every answer that is not a tie."""
    pairs = []
    for q, (answers, place) in enumerate(zip(preferences, places, strict=True)):
        for answer in answers:
            if answer.winner is not None:
                loser = answer.b if answer.winner == answer.a else answer.a
                pairs.append((q, place.get(answer.winner, -1), place.get(loser, -1)))
    return np.array(pairs, np.int64).reshape(-1, 3)


def _pages_by_query(judgments: Judgments) -> dict[str, list[Page]]:
    pages: dict[str, list[Page]] = {}
    for page in judgments.pages:
        pages.setdefault(page.query, []).append(page)
    return pages


def _clicks(
    pages: list[list[Page]], places: list[dict[str, int]], ptr: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Clicks and examinations of each document: it is examined if shown at or above the last click."""
    clicks, looks = np.zeros(int(ptr[-1])), np.zeros(int(ptr[-1]))
    for start, shown, place in zip(ptr.tolist(), pages, places, strict=False):
        for page in shown:
            last = max((i for i, clicked in enumerate(page.clicks) if clicked), default=-1)
            for i, doc in enumerate(page.docs[: last + 1]):
                if doc in place:
                    looks[start + place[doc]] += 1
                    clicks[start + place[doc]] += page.clicks[i]
    return clicks, looks
