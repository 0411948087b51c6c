"""Relevance labels as classes: the class of each document, and the gain of each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topkit.compute import Floats, Ints
from topkit.data import Dataset
from topkit.metrics.conventions import convention, gain_function

MOST_CLASSES = 6
"""Data with more distinct grades is grouped into fewer classes: rare classes are hard to learn."""
ORDER_CLASSES = 4
"""Classes of a full order: rank 1, ranks 2–3, ranks 4–7, and the rest."""
LARGEST_GRADE = 10.0
"""Above it labels are not grades (2^label would dominate everything), so the class number gives the gain."""


@dataclass(frozen=True)
class Classes:
    """Classes 0..K−1 of rising relevance; the class of a grade is the number of ``cuts`` at or below it.

    >>> three = Classes.of(np.array([0.0, 2.0, 1.0, 0.0]))
    >>> three.index(np.array([0.0, 1.0, 2.0])), three.gains
    (array([0, 1, 2]), array([0., 1., 3.]))
    """

    cuts: Floats
    gains: Floats
    """Gain of a document of each class, rising."""

    def __len__(self) -> int:
        return len(self.gains)

    @classmethod
    def of(cls, grades: Floats, rules: str = "yahoo") -> Classes:
        """One class per grade that occurs; more than six distinct grades are grouped into five classes."""
        values = np.unique(grades)
        gain = gain_function(convention(rules).gain)
        if len(values) <= MOST_CLASSES:
            gains = gain(values if values[-1] <= LARGEST_GRADE else np.arange(len(values)))
            return cls((values[1:] + values[:-1]) / 2, gains)
        places = np.linspace(0, len(values), MOST_CLASSES)[1:-1].astype(int)
        return cls((values[places - 1] + values[places]) / 2, gain(np.arange(MOST_CLASSES - 1)))

    def index(self, grades: Floats) -> Ints:
        """The class of each grade."""
        return np.searchsorted(self.cuts, grades, side="right").astype(np.int64)

    def merged(self, cut: int, counts: Sequence[float]) -> Classes:
        """Two classes, separated at one cut; each has the mean gain of its documents.

        ``counts`` is the number of documents in each of the original classes.
        """
        weight = np.maximum(np.asarray(counts, np.float64), 1e-12)
        parts = (slice(0, cut + 1), slice(cut + 1, None))
        means = [float(self.gains[part] @ weight[part] / weight[part].sum()) for part in parts]
        return Classes(self.cuts[cut : cut + 1], np.array(means))


def grades_of(data: Dataset) -> Floats:
    """The grade of each document, as input of a classifier.

    A full order has as many labels as documents, so grades come from ranks: ranks 1, 2–3, 4–7 and below get
    the grades 3, 2, 1 and 0. Graded labels, and top-k labels with few levels, are returned as they are.
    """
    labels = data.y.astype(np.float64)
    if data.truth.kind == "graded" or (data.truth.k is not None and data.truth.k < MOST_CLASSES):
        return labels
    best = np.repeat(np.maximum.reduceat(labels, data.ptr[:-1]), data.lengths)
    grades = np.maximum(ORDER_CLASSES - 1 - np.floor(np.log2(best - labels + 1)), 0.0)
    return np.where(labels > 0, grades, 0.0)
