"""diagnose: which queries, documents and features are behind the difference of two systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.compute import Floats, Report, silent
from topkit.data import Dataset
from topkit.metrics import Convention, compare, evaluate
from topkit.metrics import convention as convention_named
from topkit.metrics import metric as metric_named
from topkit.rankers import Ranker
from topkit.reporting.tables import Table
from topkit.studies.diagnosis.groups import group_table
from topkit.studies.diagnosis.result import Diagnosis, Move, QueryChange, Shares
from topkit.studies.diagnosis.sides import Side, help_by_margin, help_by_shuffling

DEPTH = 10
"""Documents of each ranking that are shown, and of which the moves are listed."""
MOST_FEATURES = 5
"""Features that are named for a query or a document."""

NEGLIGIBLE = 0.1
"""A change of less than this share of the largest one is not listed."""

System = Ranker | ArrayLike | str | PathLike[str]


@dataclass(frozen=True)
class _Help:
    """What features do for the order of the grades: (queries, features) in both systems."""

    old: Floats
    """Of the old system: queries × features."""
    new: Floats
    """Of the new system."""
    features: tuple[str, ...]
    """Names of the columns."""
    meaning: str
    """How the numbers were computed, for the report."""


def diagnose(
    data: Dataset,
    old: System,
    new: System,
    metric: str = "ndcg@10",
    convention: str | Convention = "yahoo",
    *,
    queries: Mapping[str, str] | None = None,
    report: Report = silent,
) -> Diagnosis:
    """Explain the difference of two systems on a data set, query by query.

    old, new: a fitted ranker, the path of a model, scores, or the path of a score file. queries: query id →
    text, to group queries by their length. The result lists the change of every query, the documents that
    moved and, if both systems are rankers, the features behind it: exact contributions if both are linear
    models, boosted trees or boosted steps, else by shuffling features (always in the same way). With scores
    there is no model to ask, so features are not explained; ``explanation`` says which it was. ``report`` is
    called after each feature that was shuffled.

    >>> import topkit as tk
    >>> X = [[1.0, 0.0], [0.0, 1.0], [0.3, 0.2]]
    >>> data = tk.Dataset.build(X, [2, 0, 1], ["q"] * 3, feature_names=["bm25", "age"])
    >>> d = diagnose(data, [3.0, 1.0, 2.0], [1.0, 3.0, 2.0], "ndcg@1")
    >>> d["q"].change, [(move.document, move.old_rank, move.new_rank) for move in d["q"].moves]
    (-1.0, [('q:1', 1, 3), ('q:2', 3, 1)])
    """
    which, rules = str(metric_named(metric)), convention_named(convention)
    if data.doc_ids is None:
        data = replace(data, doc_ids=data.names_of_documents())
    sides = [Side.of(data, old, "old", rules), Side.of(data, new, "new", rules)]
    results = {side.name: evaluate(data, side.scores, which, rules, name=side.name) for side in sides}
    before, after = results["old"], results["new"]
    values = before.per_query[which], after.per_query[which]
    helped, explanation = _help(data, sides, which, rules, report)
    greater = metric_named(metric).measure.greater_is_better
    worst_first = np.argsort((values[1] - values[0]) * (1 if greater else -1), kind="stable")
    changes = tuple(
        _query_change(data, q, sides, (float(values[0][q]), float(values[1][q])), helped, queries or {})
        for q in worst_first.tolist()
    )
    return Diagnosis(
        which,
        before,
        after,
        compare(results, which, "t", None)["new", "old"],
        changes,
        group_table(data, *values, queries),
        _feature_table(helped, values),
        explanation,
        greater_is_better=greater,
    )


def _help(
    data: Dataset, sides: Sequence[Side], which: str, rules: Convention, report: Report
) -> tuple[_Help | None, str]:
    """What the features do in both systems, and how that was found out."""
    old, new = sides
    features = data.names_of_features()
    if old.contributions is not None and new.contributions is not None:
        before, after = (help_by_margin(data, side) for side in (old.contributions, new.contributions))
        meaning = "how far a feature puts better documents above worse ones, in standard deviations of scores"
        return _Help(before, after, features, meaning), (
            "Features are explained exactly: both models have a formula for what each feature adds to a "
            "score. The numbers are in standard deviations of the scores within queries."
        )
    if old.ranker is None or new.ranker is None:
        known = " and ".join(side.name for side in sides if side.ranker is None)
        return None, (
            f"Features are not explained: of {known} only scores are known. Give model files to explain them."
        )
    names = " and ".join(side.name for side in sides if side.contributions is None)
    rankers = (old.ranker, new.ranker)
    before, after = (help_by_shuffling(data, ranker, which, rules, report) for ranker in rankers)
    return _Help(before, after, features, f"loss of {which} when a feature is shuffled within queries"), (
        f"Features are explained by shuffling: {names} has no formula for what each feature adds to a score. "
        f"The numbers are the loss of {which} when a feature is shuffled within a query; they are estimates, "
        "and moves of single documents are not explained."
    )


def _query_change(
    data: Dataset,
    q: int,
    sides: Sequence[Side],
    values: tuple[float, float],
    helped: _Help | None,
    texts: Mapping[str, str],
) -> QueryChange:
    rows = slice(int(data.ptr[q]), int(data.ptr[q + 1]))
    documents = data.names_of_documents()[rows].tolist()
    grades = data.y[rows]
    old, new = (side.ranks[rows] for side in sides)
    shares: Shares = () if helped is None else _largest(helped.new[q] - helped.old[q], helped.features)
    return QueryChange(
        data.qids[q],
        texts.get(data.qids[q], ""),
        *values,
        _moves(data, rows, documents, sides),
        shares,
        _first(documents, grades, old, new),
        _first(documents, grades, new, old),
    )


def _moves(data: Dataset, rows: slice, documents: list[str], sides: Sequence[Side]) -> tuple[Move, ...]:
    """Documents of either top that moved; a move counts as much as it changes the discount 1/log2(1 + r)."""
    old, new = (side.ranks[rows] for side in sides)
    effect = np.abs(1 / np.log2(1 + new) - 1 / np.log2(1 + old))
    order = np.argsort(-effect, kind="stable")
    shown = [i for i in order.tolist() if old[i] != new[i] and min(old[i], new[i]) <= DEPTH][:DEPTH]
    before, after = (side.contributions for side in sides)
    names = data.names_of_features()
    moves = []
    for i in shown:
        shares: Shares = ()
        if before is not None and after is not None:
            shares = _largest(after[rows.start + i] - before[rows.start + i], names)
        grade = float(data.y[rows.start + i])
        moves.append(Move(documents[i], grade, int(old[i]), int(new[i]), shares))
    return tuple(moves)


def _largest(changes: Floats, names: Sequence[str]) -> Shares:
    """The features with the largest changes, in descending order of size; negligible ones are left out."""
    sizes = np.abs(changes)
    order = np.argsort(-sizes, kind="stable")[:MOST_FEATURES]
    least = NEGLIGIBLE * sizes.max(initial=0.0)
    return tuple((names[f], float(changes[f])) for f in order.tolist() if sizes[f] > least)


def _first(
    documents: list[str], grades: NDArray[np.float32], ranks: NDArray[np.int64], others: NDArray[np.int64]
) -> tuple[tuple[str, float, int], ...]:
    """The first documents of a ranking, each with its grade and its rank in the other ranking."""
    order = np.argsort(ranks, kind="stable")[:DEPTH].tolist()
    return tuple((documents[i], float(grades[i]), int(others[i])) for i in order)


def _feature_table(helped: _Help | None, values: tuple[Floats, Floats]) -> Table:
    """One row per feature: what it does in both systems, and the change in queries that fell and rose."""
    columns = ("feature", "old", "new", "change", "in lower queries", "in higher queries")
    if helped is None:
        return Table(columns, [])
    lower, higher = values[1] < values[0], values[1] > values[0]
    change = helped.new - helped.old
    rows = [
        (
            name,
            float(helped.old[:, f].mean()),
            float(helped.new[:, f].mean()),
            float(change[:, f].mean()),
            float(change[lower, f].mean()) if lower.any() else None,
            float(change[higher, f].mean()) if higher.any() else None,
        )
        for f, name in enumerate(helped.features)
    ]
    focus = 4 if lower.any() else 3
    rows.sort(key=lambda row: -abs(float(row[focus] or 0.0)))
    return Table(columns, rows, [f"{helped.meaning}; means over queries"])
