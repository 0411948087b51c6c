"""The histogram of pair margins: how many pairs a ranker gets right, and how far off the outliers are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from topkit.compute import Floats, Ints
from topkit.data import Dataset, InputError


@dataclass(frozen=True)
class Margins:
    """Margins s_u − s_v of all pairs with u better than v, in units of their root mean square."""

    edges: Floats
    """Edges of the bins: one more than the number of bins."""
    counts: Ints
    deviation: float
    """Root mean square of the margins: the unit of ``edges``."""
    wrong: float
    """Share of pairs whose margin is not positive."""
    outliers: float
    """Share of pairs below −``outlier`` deviations."""

    @property
    def pairs(self) -> int:
        return int(self.counts.sum())


def pair_margins(data: Dataset, scores: ArrayLike, bins: int = 50, outlier: float = 2.0) -> Margins:
    """The histogram of the pair margins of scores, with the shares of wrong pairs and of outliers.

    Outliers are pairs that a ranker gets wrong by more than ``outlier`` deviations. Most likely they are
    noise in the labels, and a hinge loss gives them the largest weight. Pairs are not stored. Carvalho et
    al., LR4IR 2008, figure 1.

    >>> data = Dataset.build([[0.0]] * 3, [2, 1, 0], ["q"] * 3)
    >>> margins = pair_margins(data, [2.0, 0.0, 1.0], bins=3)
    >>> margins.counts.tolist(), round(margins.wrong, 3)
    ([1, 0, 2], 0.333)
    """
    from topkit.rankers.linear import kernels

    values = np.ascontiguousarray(scores, np.float64)
    if values.shape != (len(data),):
        raise InputError(f"expected one score for each of {len(data)} documents, got shape {values.shape}")
    if bins < 1:
        raise InputError(f"bins must be at least 1, got {bins}")
    labels = data.y.astype(np.float64)
    count, square, wrong = kernels.margin_sums(values, labels, data.ptr)
    if count == 0:
        return Margins(np.linspace(-1, 1, bins + 1), np.zeros(bins, np.int64), 0.0, 0.0, 0.0)
    deviation = float(np.sqrt(square / count))
    unit = deviation or 1.0
    low, high = kernels.margin_range(values, labels, data.ptr)
    edges = np.linspace(low / unit, high / unit if high > low else low / unit + 1.0, bins + 1)
    counts = np.zeros(bins, np.int64)
    far = kernels.margin_counts(values / unit, labels, data.ptr, edges, counts, -outlier)
    return Margins(edges, counts, deviation, wrong / count, far / count)
