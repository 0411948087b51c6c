"""Bootstrap confidence intervals of a mean over queries."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats

_BATCH = 2_000_000
"""Values drawn at a time, which bounds the memory."""


def interval(
    values: Floats, level: float = 0.95, samples: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """The percentile bootstrap interval: the central ``level`` of means of queries drawn with replacement.

    Seeded: the same values give the same interval. Efron and Tibshirani, An Introduction to the Bootstrap,
    1993, chapter 13.

    >>> interval(np.array([0.5, 0.5, 0.5]))
    (0.5, 0.5)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}")
    rng = np.random.default_rng(seed)
    n = len(values)
    step = max(1, _BATCH // n)
    means = [
        values[rng.integers(0, n, (min(step, samples - start), n))].mean(axis=1)
        for start in range(0, samples, step)
    ]
    low, high = np.quantile(np.concatenate(means), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
