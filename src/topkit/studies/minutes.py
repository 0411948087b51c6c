"""Measurements of a ranker after some minutes of labelling, for several kinds of study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from topkit.compute import Floats
from topkit.studies.fits import Fit, measure_test
from topkit.studies.sources import FoldData


@dataclass(frozen=True)
class MinutesFit(Fit):
    """A labelling with a measurement of the ranker at each of these minutes."""

    minutes: tuple[int, ...]
    k: int
    """The documents per query that assessors put in order."""


def mean_measures(work: Fit, data: FoldData, scores: Floats, seed: int = 0) -> dict[str, float]:
    """Metric → its mean over the test queries, for these scores of the test documents."""
    per_query = measure_test(data.learn.test, data.labelled.test, scores, work.metrics, work.convention, seed)
    return {name: float(values.mean()) for name, values in per_query.items()}


def minute_columns(measurements: Iterable[tuple[int, Mapping[str, float]]]) -> dict[str, list[Any]]:
    """Measurements, each with its minute, as the columns minutes, metric and value.

    >>> minute_columns([(10, {"queries": 3.0, "ndcg@10": 0.4}), (20, {"queries": 7.0})])["minutes"]
    [10, 10, 20]
    """
    rows = [(minute, name, value) for minute, values in measurements for name, value in values.items()]
    minutes, names, values = zip(*rows, strict=True) if rows else ((), (), ())
    return {"minutes": list(minutes), "metric": list(names), "value": list(values)}
