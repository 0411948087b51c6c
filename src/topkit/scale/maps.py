"""Evaluation, fusion and feature extraction as maps over queries on a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any

import numpy as np

from topkit.compute.cluster import Cluster
from topkit.data import Dataset, InputError, Run, Strings, Truth, concatenate
from topkit.data.partitions import Partition, plan_partitions
from topkit.features import NoCandidatesError, build_dataset, open_index
from topkit.features.assemble import judged_among
from topkit.fusion import fuse, learns_across_queries
from topkit.metrics import Evaluation, evaluate
from topkit.rankers import load_ranker


def evaluate_on(
    cluster: Cluster,
    model: str | PathLike[str],
    data: str | PathLike[str],
    metrics: str | Sequence[str],
    convention: str = "yahoo",
    *,
    rows: int = 1 << 16,
) -> Evaluation:
    """A model's metrics on a Parquet file: workers load the model, then score and measure their partitions.

    Every worker must see the model file and the data file. Only metric values are sent, 8 bytes per query.
    """
    plan = plan_partitions(data, rows)
    parts = cluster.map(_evaluate, plan.partitions, fspath(model), metrics, convention, plan.truth)
    first = parts[0]
    return Evaluation(
        tuple(qid for part in parts for qid in part.qids),
        {name: np.concatenate([part.per_query[name] for part in parts]) for name in first.per_query},
        first.convention,
        first.name,
    )


def _evaluate(
    part: Partition, model: str, metrics: str | Sequence[str], convention: str, truth: str
) -> Evaluation:
    data = part.read()
    data = data.with_labels(data.y, Truth.parse(truth))
    ranker = load_ranker(model)
    return evaluate(data, ranker.ordering_scores(data), metrics, convention, name=ranker.name)


def fuse_on(cluster: Cluster, runs: Sequence[Run], method: str, *, queries: int = 50, **settings: Any) -> Run:
    """:func:`topkit.fusion.fuse` with ``queries`` queries per task, for methods that separate them."""
    if learns_across_queries(method):
        raise InputError(
            f"the method {method!r} learns from all queries together, so they cannot be distributed",
            "use topkit.fusion.fuse, or choose another method",
        )
    names = list(dict.fromkeys(qid for run in runs for qid in run))
    groups = [names[i : i + queries] for i in range(0, len(names), queries)]
    tasks = [[_restrict(run, group) for run in runs] for group in groups]
    return _join(cluster.map(_fuse, tasks, method, settings))


def _restrict(run: Run, qids: Iterable[str]) -> Run:
    return Run.of({qid: run[qid] for qid in qids if qid in run}, run.name)


def _fuse(runs: list[Run], method: str, settings: Mapping[str, Any]) -> Run:
    return fuse(runs, method, **settings).run


def _join(runs: Sequence[Run]) -> Run:
    ptr = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(run.ptr) for run in runs]))])
    return Run(
        tuple(qid for run in runs for qid in run.qids),
        ptr.astype(np.int64),
        Strings.concatenate([run.docs for run in runs]),
        np.concatenate([run.scores for run in runs]),
        runs[0].name,
    )


def build_dataset_on(
    cluster: Cluster,
    index: str | PathLike[str],
    queries: Mapping[str, str],
    grades: Mapping[str, Mapping[str, float]],
    *,
    at_once: int = 25,
    **settings: Any,
) -> Dataset:
    """:func:`topkit.features.build_dataset` with ``at_once`` queries per task; workers open the index folder.

    As there, queries without judgments or without candidates are left out.
    """
    names = list(judged_among(queries, grades))
    tasks = []
    for i in range(0, len(names), at_once):
        group = names[i : i + at_once]
        tasks.append(({q: queries[q] for q in group}, {q: grades[q] for q in group if q in grades}))
    parts = [part for part in cluster.map(_build, tasks, fspath(index), settings) if part is not None]
    if not parts:
        raise NoCandidatesError("no query has a candidate", "check that queries and corpus match")
    return concatenate(parts)


def _build(
    task: tuple[dict[str, str], dict[str, Any]], index: str, settings: Mapping[str, Any]
) -> Dataset | None:
    """The data set of some queries; None if they have no candidates, since those of other tasks may."""
    queries, grades = task
    try:
        return build_dataset(open_index(index), queries, grades, **settings)[0]
    except NoCandidatesError:
        return None
