"""Boosted trees on a cluster: ``lightgbm.dask`` grows them, with any loss of topkit as its objective."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Floats32, Trace
from topkit.compute.cluster import Cluster, Kept
from topkit.data import Dataset, Truth
from topkit.data.partitions import Partition, Plan
from topkit.losses import Loss, loss
from topkit.rankers.preparation import Preparation
from topkit.scorers import Job, Trees, TreeScorer
from topkit.scorers.trees import settings_for

ATTEMPTS = 3
"""LightGBM's workers depend on each other: if one dies, training restarts with the remaining ones."""


@dataclass(frozen=True)
class GroupLoss:
    """A loss as LightGBM's objective: each worker computes gradient and curvature of its own queries.

    Both are divided by the mean curvature at the start over all workers, so that the penalty on leaves means
    the same as on one machine.
    """

    name: str
    settings: Mapping[str, Any]
    unit: float

    def __call__(
        self, labels: NDArray[Any], scores: NDArray[Any], weights: object, groups: NDArray[Any]
    ) -> tuple[Floats, Floats]:
        ptr = np.append(0, np.cumsum(groups)).astype(np.int64)
        objective = loss(self.name, **self.settings).on(labels, ptr)
        _, gradient, curvature = objective.with_curvature(np.asarray(scores, np.float64))
        return gradient / self.unit, curvature / self.unit


def prepared(part: Partition, preparation: Preparation, truth: str, k: int | None) -> Dataset:
    """A partition with prepared features and the truth of the whole file, of which the top k count."""
    data = part.read()
    labelled = data.with_labels(data.y, Truth.parse(truth))
    return preparation(labelled if k is None else labelled.top_k(k))


def features_of(data: Dataset) -> Floats32:
    return np.array(data.X)  # a copy, because LightGBM may write to it


def labels_of(data: Dataset) -> Floats32:
    return np.array(data.y)


def lengths_of(data: Dataset) -> Floats32:
    return data.lengths.astype(np.float32)


def first_curvature(data: Dataset, name: str, settings: Mapping[str, Any]) -> tuple[float, int, int]:
    """The sum of curvatures at scores of 0, the number of documents, and the number of queries."""
    _, _, curvature = loss(name, **settings).on(data.y, data.ptr).with_curvature(np.zeros(len(data)))
    return float(curvature.sum()), len(data), data.n_queries


def spread_trees(
    cluster: Cluster,
    plan: Plan,
    preparation: Preparation,
    bound: Loss,
    scorer: TreeScorer,
    job: Job,
    k: int | None = None,
) -> tuple[Trees, list[Trace]]:
    """Trees grown on all partitions; validation data selects their number. ``job.train`` is not used.

    With ``k``, the trees learn the top k of top-k truth.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            text = _grow(cluster, plan, preparation, bound, scorer, job.seed, k)
            break
        except (TypeError, ValueError):
            raise  # wrong data or settings, which another attempt does not fix
        except Exception:  # the type of the error depends on where a worker was lost
            if attempt == ATTEMPTS:
                raise
            job.report("worker lost, restarted", attempt, ATTEMPTS, float("nan"))
    return (Trees(text), []) if job.valid is None else _select_trees(text, scorer, job, job.valid)


def _grow(
    cluster: Cluster,
    plan: Plan,
    preparation: Preparation,
    bound: Loss,
    scorer: TreeScorer,
    seed: int,
    k: int | None,
) -> str:
    import lightgbm

    kept = cluster.keep(prepared, plan.partitions, preparation, plan.truth, k)
    sizes = cluster.over(kept, first_curvature, bound.name, bound.settings)
    unit = sum(curvature for curvature, _, _ in sizes) / plan.documents or 1.0
    X, y, group = _arrays(cluster, kept, sizes, preparation.width)
    objective = GroupLoss(bound.name, bound.settings, unit)
    model = lightgbm.DaskLGBMRanker(
        client=cluster.client,
        objective=objective,
        n_estimators=scorer.trees,
        tree_learner="data",
        **settings_for(scorer, seed),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about parameters that Dask overrides
        model.fit(X, y, group=group)
    text: str = model.booster_.model_to_string()
    return text


def _arrays(cluster: Cluster, kept: Kept, sizes: list[tuple[float, int, int]], features: int) -> list[Any]:
    """Features, labels and list lengths as Dask arrays."""
    shapes: list[list[tuple[int, ...]]] = [
        [(documents, features) for _, documents, _ in sizes],
        [(documents,) for _, documents, _ in sizes],
        [(queries,) for _, _, queries in sizes],
    ]
    return cluster.columns(kept, [features_of, labels_of, lengths_of], shapes)


def _select_trees(text: str, scorer: TreeScorer, job: Job, valid: Dataset) -> tuple[Trees, list[Trace]]:
    """The first trees, as many as have the best validation metric, by the usual stopping rule."""
    booster = Trees(text).booster
    scores = np.zeros(len(valid))
    trace = Trace(scorer.trees, patience=scorer.patience, larger_is_better=True)
    going = trace.go_on(job.judge(scores))
    while going and trace.steps < booster.current_iteration():
        scores = scores + booster.predict(
            valid.X, start_iteration=trace.steps, num_iteration=1, raw_score=True, num_threads=1
        )
        going = trace.go_on(job.judge(scores))
        job.report("metric", trace.steps, scorer.trees, trace.values[-1])
    trace.reason = trace.reason or "settled"
    return Trees(booster.model_to_string(num_iteration=max(trace.best_step, 1))), [trace]
