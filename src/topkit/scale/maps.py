"""Work on queries that know nothing of each other: evaluation, aggregation and feature building as maps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any

import numpy as np

from topkit.compute.cluster import Cluster
from topkit.data import Dataset, InputError, Run, Strings, Truth, concatenate
from topkit.data.partitions import Partition, plan_partitions
from topkit.features import NoCandidatesError, build_dataset, open_index
from topkit.fusion import AGGREGATORS, fuse
from topkit.metrics import Evaluation, evaluate
from topkit.rankers import load_ranker

LEARN_ACROSS_QUERIES = ("agreement", "mallows", "ulara", "weighted-borda")
"""Aggregators that weigh rankers by what they do on all queries, which a map cannot see."""


def evaluate_on(
    cluster: Cluster,
    model: str | PathLike[str],
    data: str | PathLike[str],
    metrics: str | Sequence[str],
    convention: str = "yahoo",
    *,
    rows: int = 1 << 16,
) -> Evaluation:
    """A model's measures on a Parquet file: workers load the model, score and measure their partitions.

    Model and data must be files that every worker sees. Only values of measures travel, 8 bytes a query.
    """
    plan = plan_partitions(data, rows)
    parts = cluster.map(_evaluated, plan.partitions, fspath(model), metrics, convention, plan.truth)
    first = parts[0]
    return Evaluation(
        tuple(qid for part in parts for qid in part.qids),
        {name: np.concatenate([part.per_query[name] for part in parts]) for name in first.per_query},
        first.convention,
        first.name,
    )


def _evaluated(
    part: Partition, model: str, metrics: str | Sequence[str], convention: str, truth: str
) -> Evaluation:
    data = part.read()
    data = data.with_labels(data.y, Truth.parse(truth))
    ranker = load_ranker(model)
    return evaluate(data, ranker.score(data), metrics, convention, name=ranker.name)


def fuse_on(cluster: Cluster, runs: Sequence[Run], method: str, *, queries: int = 50, **settings: Any) -> Run:
    """:func:`topkit.fusion.fuse` of ``queries`` queries a task, for methods that take each by itself."""
    if method not in AGGREGATORS:
        raise InputError(f"unknown aggregation method {method!r}", f"choose from {', '.join(AGGREGATORS)}")
    if method in LEARN_ACROSS_QUERIES:
        raise InputError(
            f"{method} learns from all queries together, so they cannot be shared out",
            "fuse here, or choose another method",
        )
    names = list(dict.fromkeys(qid for run in runs for qid in run))
    chosen = [names[i : i + queries] for i in range(0, len(names), queries)]
    tasks = [[_restricted(run, part) for run in runs] for part in chosen]
    return _joined(cluster.map(_fused, tasks, method, settings))


def _restricted(run: Run, qids: Iterable[str]) -> Run:
    return Run.of({qid: run[qid] for qid in qids if qid in run}, run.name)


def _fused(runs: list[Run], method: str, settings: Mapping[str, Any]) -> Run:
    return fuse(runs, method, **settings).run


def _joined(runs: Sequence[Run]) -> Run:
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
    """:func:`topkit.features.build_dataset` with ``at_once`` queries a task; workers open the index folder.

    Queries without candidates are left out, as there.
    """
    names = list(queries)
    tasks = []
    for i in range(0, len(names), at_once):
        own = names[i : i + at_once]
        tasks.append(({q: queries[q] for q in own}, {q: grades[q] for q in own if q in grades}))
    parts = [part for part in cluster.map(_built, tasks, fspath(index), settings) if part is not None]
    if not parts:
        raise NoCandidatesError("no query has a candidate", "check that queries and corpus belong together")
    return concatenate(parts)


def _built(
    task: tuple[dict[str, str], dict[str, Any]], index: str, settings: Mapping[str, Any]
) -> Dataset | None:
    queries, grades = task
    try:
        return build_dataset(open_index(index), queries, grades, **settings)[0]
    except NoCandidatesError:
        return None  # the queries of other tasks may have some
