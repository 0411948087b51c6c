"""Boosted trees on a cluster: ``lightgbm.dask`` grows them, with any loss of ours as its objective."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Trace
from topkit.compute.cluster import Cluster, Kept
from topkit.data import Dataset
from topkit.data.partitions import Partition, Plan
from topkit.losses import loss
from topkit.rankers.features import Preparation
from topkit.scale.sums import Recipe
from topkit.scorers import Floats, Report, Trees, TreeScorer
from topkit.scorers.trees import settings_for

ATTEMPTS = 3
"""LightGBM's workers talk to each other: when one dies, the trees are begun again with those left."""


@dataclass(frozen=True)
class GroupLoss:
    """A loss as LightGBM's objective: each worker gives gradient and curvature of its own queries.

    Both are divided by one number for all workers, the mean curvature at the start, so that the penalty on
    leaves means what it means on one machine.
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


def prepared(part: Partition, preparation: Preparation) -> Dataset:
    return preparation(part.read())


def features_of(data: Dataset) -> NDArray[np.float32]:
    return np.array(data.X)  # a copy: LightGBM may want to write


def labels_of(data: Dataset) -> NDArray[np.float32]:
    return np.array(data.y)


def lengths_of(data: Dataset) -> NDArray[np.float32]:
    return data.lengths.astype(np.float32)


def first_curvature(data: Dataset, name: str, settings: Mapping[str, Any]) -> tuple[float, int, int]:
    """The sum of curvatures where all scores are 0, how many documents it is of, and how many queries."""
    _, _, curvature = loss(name, **settings).on(data.y, data.ptr).with_curvature(np.zeros(len(data)))
    return float(curvature.sum()), len(data), data.n_queries


def spread_trees(
    cluster: Cluster,
    plan: Plan,
    recipe: Recipe,
    scorer: TreeScorer,
    valid: Dataset | None,
    judge: Callable[[Floats], float],
    seed: int,
    report: Report,
) -> tuple[Trees, list[Trace]]:
    """Trees grown on all partitions; with validation data, as many of them as it wants."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            text = _grow(cluster, plan, recipe, scorer, seed)
            break
        except (TypeError, ValueError):
            raise  # wrong data or settings, which another attempt does not mend
        except Exception:  # what a lost worker looks like depends on where it was lost
            if attempt == ATTEMPTS:
                raise
            report("worker lost, begun again", attempt, ATTEMPTS, float("nan"))
    if valid is None:
        return Trees(text), []
    return _kept(text, scorer, valid, judge, report)


def _grow(cluster: Cluster, plan: Plan, recipe: Recipe, scorer: TreeScorer, seed: int) -> str:
    import lightgbm

    kept = cluster.keep(prepared, plan.partitions, recipe.preparation)
    told = cluster.over(kept, first_curvature, recipe.loss, recipe.settings)
    unit = sum(own for own, _, _ in told) / plan.documents or 1.0
    X, y, group = _arrays(cluster, kept, told, len(recipe.preparation.columns or recipe.preparation.names))
    objective = GroupLoss(recipe.loss, recipe.settings, unit)
    model = lightgbm.DaskLGBMRanker(
        client=cluster.client,
        objective=objective,
        n_estimators=scorer.trees,
        tree_learner="data",
        **settings_for(scorer, seed),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # LightGBM names the parameters that Dask decides
        model.fit(X, y, group=group)
    text: str = model.booster_.model_to_string()
    return text


def _arrays(cluster: Cluster, kept: Kept, told: list[tuple[float, int, int]], features: int) -> list[Any]:
    shapes: list[list[tuple[int, ...]]] = [
        [(documents, features) for _, documents, _ in told],
        [(documents,) for _, documents, _ in told],
        [(queries,) for _, _, queries in told],
    ]
    return cluster.columns(kept, [features_of, labels_of, lengths_of], shapes)


def _kept(
    text: str, scorer: TreeScorer, valid: Dataset, judge: Callable[[Floats], float], report: Report
) -> tuple[Trees, list[Trace]]:
    """As many trees as the measure on the validation data wants, by the rule that stops them elsewhere."""
    booster = Trees(text).booster
    scores = np.zeros(len(valid))
    trace = Trace(scorer.trees, patience=scorer.patience, larger_is_better=True)
    going = trace.go_on(judge(scores))
    while going and trace.steps < booster.current_iteration():
        scores = scores + booster.predict(
            valid.X, start_iteration=trace.steps, num_iteration=1, raw_score=True, num_threads=1
        )
        going = trace.go_on(judge(scores))
        report("measure", trace.steps, scorer.trees, trace.values[-1])
    trace.reason = trace.reason or "settled"
    return Trees(booster.model_to_string(num_iteration=max(trace.best_step, 1))), [trace]
