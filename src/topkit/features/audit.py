"""audit_dataset: find what makes results on a data set misleading, before anyone learns from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from topkit.data import Dataset, InputError, concatenate
from topkit.features.audit_checks import (
    Finding,
    constants,
    contradictions,
    empty_queries,
    leaks,
    shared_queries,
)
from topkit.features.audit_report import Audit
from topkit.features.audit_singles import bias, direction, random_order, single_features
from topkit.features.audit_tails import added_beyond_cut, beyond_cut
from topkit.metrics import evaluate

ORDER = "order in the file"
"""The name of the file order among the features that may leak the label."""


def audit_dataset(
    data: Dataset | Mapping[str, Dataset],
    *,
    metric: str = "map",
    cut: int | None = None,
    by: str | None = None,
    falling: Collection[str] = (),
    seed: int = 0,
) -> Audit:
    """Look for problems that make results on a data set misleading.

    It checks every feature as a ranker, in both directions, and whether one is far better reversed; whether
    relevant documents were added below a cut (the last documents by a feature are relevant far more often
    than others, although the feature ranks well); relevant documents below ``cut`` by a feature; duplicate
    and contradictory documents; constant and leaking features; a file order that reveals the labels; queries
    without relevant documents; and, if ``data`` names several parts (train, vali, test), queries that occur
    in more than one of them, exactly or nearly.

    Documents are shuffled within queries (seeded) first, so that ties do not benefit from the file order.
    Single features are measured on queries with both relevant (label above 0) and other documents.

    cut, by: a depth and the feature that defines it; by default the first with bm25 in its name, otherwise
    the best single feature. falling: names of features whose smaller values are better; lengths, depths,
    positions and the like are known by their names.

    >>> X = [[3.0], [1.0], [2.0], [4.0], [5.0], [9.0]]
    >>> print(audit_dataset(Dataset.build(X, [2, 1, 0, 0, 1, 0], list("aaabbc"))).findings[0].text)
    1 of 3 queries has no relevant document, so it cannot be learned from
    """
    parts = {"data": data} if isinstance(data, Dataset) else dict(data)
    if not parts:
        raise InputError("no data set to audit", "give at least one")
    findings = shared_queries(parts) if len(parts) > 1 else []
    whole = _joined(list(parts.values()))
    findings += empty_queries(whole) + contradictions(whole) + constants(whole)
    usable = _usable(whole)
    if usable is None:
        findings.append(Finding("problem", "no query has both relevant and other documents"))
        return Audit(metric, whole.n_queries, len(whole), 0.0, _worst_first(findings), (), ())
    shuffled = _shuffled(usable, seed)
    singles = single_features(shuffled, metric)
    random = random_order(shuffled, metric, seed)
    tails = tuple(added_beyond_cut(shuffled))
    findings += bias(tails, singles)
    findings += direction(singles, tails, _known_features(falling, whole))
    order = -np.arange(len(usable), dtype=np.float64)
    by_order = max(evaluate(usable, scores, metric).mean[metric] for scores in (order, -order))
    findings += leaks([*((s.feature, s.best) for s in singles), (ORDER, by_order)], metric, random)
    if cut is not None:
        column = _cut_feature(shuffled, [single.forward for single in singles], by)
        findings.append(beyond_cut(shuffled, cut, column))
    if not any(finding.verdict != "fine" for finding in findings):
        findings.append(Finding("fine", "no problems found"))
    return Audit(metric, whole.n_queries, len(whole), random, _worst_first(findings), tuple(singles), tails)


def _known_features(names: Collection[str], data: Dataset) -> Collection[str]:
    features = data.names_of_features()
    for name in names:
        if name not in features:
            raise InputError(f"the data has no feature {name!r}", f"choose from {', '.join(features[:20])}")
    return names


def _worst_first(findings: list[Finding]) -> tuple[Finding, ...]:
    rank = {"problem": 0, "warning": 1, "fine": 2}
    return tuple(sorted(findings, key=lambda finding: rank[finding.verdict]))


def _joined(parts: list[Dataset]) -> Dataset:
    """All parts together, each query once."""
    known: set[str] = set()
    kept = []
    for part in parts:
        new = np.array([qid not in known for qid in part.qids])
        known.update(part.qids)
        if new.any():
            kept.append(part if new.all() else part.select(new))
    return concatenate(kept) if len(kept) > 1 else kept[0]


def _usable(data: Dataset) -> Dataset | None:
    """The queries with both relevant and other documents; None if there are none."""
    relevant = np.add.reduceat((data.y > 0).astype(np.int64), data.ptr[:-1])
    mixed = (relevant > 0) & (relevant < data.lengths)
    return data.select(mixed) if mixed.any() else None


def _shuffled(data: Dataset, seed: int) -> Dataset:
    """The documents of each query in random order; missing values below the minimum of their feature."""
    random = np.random.default_rng(seed).random(len(data))
    order = np.lexsort((random, data.query_index))
    X = data.X[order]
    if np.isnan(X).any():
        X = np.where(np.isnan(X), np.nan_to_num(np.fmin.reduce(X, axis=0)) - 1, X)
    X = np.ascontiguousarray(X, np.float32)
    return Dataset(X, data.y[order], data.ptr, data.qids, None, data.names_of_features())


def _cut_feature(data: Dataset, forward: list[float], by: str | None) -> int:
    """The column of the feature that defines the cut."""
    names = list(data.names_of_features())
    if by is not None:
        _known_features([by], data)
        return names.index(by)
    named = [i for i, name in enumerate(names) if "bm25" in name]
    return named[0] if named else int(np.argmax(forward))
