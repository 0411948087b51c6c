"""Estimates with 95 % intervals, from values that belong together in clusters."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import nan, sqrt
from typing import NamedTuple

import numpy as np

from topkit.compute import Floats
from topkit.labelling.judges.routing import wilson

LEVEL = 0.95


class Estimate(NamedTuple):
    """A value with the ends of its 95 % interval; NaN if it could not be measured."""

    value: float = nan
    low: float = nan
    high: float = nan
    n: int = 0
    """The number of independent units (pairs, queries) behind it."""

    @property
    def measured(self) -> bool:
        """Whether there is a value."""
        return self.n > 0

    def covers(self, truth: float) -> bool:
        """Whether the interval contains a value."""
        return self.low <= truth <= self.high


def mean_interval(values: Sequence[float], low: float = -np.inf, high: float = np.inf) -> Estimate:
    """The mean of independent values with Student's interval, limited to what is possible.

    >>> [round(end, 3) for end in mean_interval([1.0, 2.0, 3.0, 4.0])[:3]]  # 2.5 ± 3.182·1.291/2
    [2.5, 0.446, 4.554]
    """
    n = len(values)
    if n < 2:
        return Estimate(float(values[0]) if n else nan, low, high, n)
    array = np.asarray(values, np.float64)
    half = _t_quantile(n - 1) * float(array.std(ddof=1)) / sqrt(n)
    mean = float(array.mean())
    return Estimate(mean, max(low, mean - half), min(high, mean + half), n)


def share_interval(values: Sequence[float]) -> Estimate:
    """The mean of shares from 0 to 1; if all are 0 or all are 1, Wilson's interval instead of none."""
    estimate = mean_interval(values, 0.0, 1.0)
    if estimate.n and estimate.value in (0.0, 1.0):
        return Estimate(estimate.value, *wilson(int(estimate.value) * estimate.n, estimate.n), estimate.n)
    return estimate


def regression(X: Floats, y: Floats, clusters: Sequence[Hashable]) -> list[Estimate]:
    """Least squares with intervals that allow for clusters of dependent rows.

    The covariance is the jackknife over G clusters, (G−1)/G Σ_g (β_g − β)(β_g − β)ᵀ, where β_g leaves cluster
    g out; the quantile is Student's with G − 1 degrees of freedom. Unlike the sandwich of Liang and Zeger
    (Biometrika 1986) its intervals are not too narrow when some clusters have much weight. Bell and
    McCaffrey, Survey Methodology 2002.
    """
    p = X.shape[1]
    number = {cluster: i for i, cluster in enumerate(dict.fromkeys(clusters))}
    groups = len(number)
    if groups < p + 2 or np.linalg.matrix_rank(X) < p:
        return [Estimate() for _ in range(p)]
    cluster_of = np.array([number[cluster] for cluster in clusters])
    squares, products = np.zeros((groups, p, p)), np.zeros((groups, p))
    np.add.at(squares, cluster_of, X[:, :, None] * X[:, None, :])
    np.add.at(products, cluster_of, X * y[:, None])
    beta = np.linalg.solve(squares.sum(0), products.sum(0))
    try:
        without = np.linalg.solve(squares.sum(0) - squares, (products.sum(0) - products)[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:  # without one of the clusters the columns are dependent
        return [Estimate() for _ in range(p)]
    variance = (groups - 1) / groups * np.square(without - beta).sum(0)
    half = _t_quantile(groups - 1) * np.sqrt(variance)
    return [Estimate(float(b), float(b - h), float(b + h), groups) for b, h in zip(beta, half, strict=True)]


def _t_quantile(degrees: int) -> float:
    from scipy.special import stdtrit  # scipy.stats is slow to import

    return float(stdtrit(degrees, (1 + LEVEL) / 2))
