"""Evaluation: values of metrics for every query, their means, and the convention they follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from topkit.metrics.block import Floats
from topkit.metrics.conventions import Convention
from topkit.metrics.parse import Metric, metric

V = TypeVar("V")

FLOOR = 1e-5
"""The least value in a geometric mean, as in trec_eval."""


class ByMetric(dict[str, V]):
    """A dictionary by metric name that also takes metrics and other spellings of their names."""

    def __missing__(self, key: str | Metric) -> V:
        name = str(metric(key))
        if name == key:
            raise KeyError(f"{key} was not evaluated; there is {', '.join(self)}")
        return self[name]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How good some scores or a run are, query by query.

    ``per_query[m]`` is aligned with ``qids``; ``mean[m]`` is the mean over queries (the geometric mean for
    ``gm_map``, the sum for counts). Printing shows the convention, without which the figures mean little.
    """

    qids: tuple[str, ...]
    per_query: Mapping[str, Floats]
    convention: Convention
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "per_query", ByMetric(self.per_query))
        for values in self.per_query.values():
            values.flags.writeable = False

    @cached_property
    def mean(self) -> Mapping[str, float]:
        """One figure a metric."""
        return ByMetric({name: average(metric(name), values) for name, values in self.per_query.items()})

    def interval(
        self, which: str | Metric, level: float = 0.95, samples: int = 10_000, seed: int = 0
    ) -> tuple[float, float]:
        """A bootstrap interval of the mean over queries; see :func:`topkit.metrics.bootstrap.interval`."""
        from topkit.metrics.bootstrap import interval

        one = metric(which)
        values = self.per_query[str(one)]
        if one.measure.average == "geometric":
            low, high = interval(np.log(np.maximum(values, FLOOR)), level, samples, seed)
            return float(np.exp(low)), float(np.exp(high))
        low, high = interval(values, level, samples, seed)
        scale = len(values) if one.measure.average == "sum" else 1
        return scale * low, scale * high

    def __str__(self) -> str:
        width = max(map(len, self.per_query))
        lines = [f"{name:<{width}}  {value:.4f}" for name, value in self.mean.items()]
        queries = "1 query" if len(self.qids) == 1 else f"{len(self.qids)} queries"
        return "\n".join([*lines, f"{queries}; convention {self.convention}"])


def average(which: Metric, values: Floats) -> float:
    """The figure for all queries: their mean, or what the measure says instead."""
    how = which.measure.average
    if how == "sum":
        return float(values.sum())
    if how == "geometric":
        return float(np.exp(np.log(np.maximum(values, FLOOR)).mean()))
    return float(values.mean())
