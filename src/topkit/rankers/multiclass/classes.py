"""Labels as classes: which class a document belongs to, what it gains, and which queries calibrate."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset
from topkit.metrics.conventions import convention, gain_function
from topkit.scorers import Floats

Ints = NDArray[np.int64]

MOST_CLASSES = 6
"""Labels of more kinds are put into classes of neighbours first."""
ORDER_CLASSES = 4
"""Classes of a full order: the first place, two more, four more, and the rest."""
LARGEST_GRADE = 10.0
"""Labels beyond are not grades: the gain goes by the number of the class instead."""


@dataclass(frozen=True)
class Classes:
    """Classes 0..K−1 of rising relevance: class = the number of ``cuts`` at or below a grade.

    >>> three = Classes.of(np.array([0.0, 2.0, 1.0, 0.0]))
    >>> three.index(np.array([0.0, 1.0, 2.0])), three.gains
    (array([0, 1, 2]), array([0., 1., 3.]))
    """

    cuts: Floats
    gains: Floats
    """What a document of each class gains, rising."""

    def __len__(self) -> int:
        return len(self.gains)

    @classmethod
    def of(cls, grades: Floats, rules: str = "yahoo") -> Classes:
        """One class a grade that occurs; more than six kinds of grades make five classes of neighbours."""
        values = np.unique(grades)
        gain = gain_function(convention(rules).gain)
        if len(values) <= MOST_CLASSES:
            known = gain(values if values[-1] <= LARGEST_GRADE else np.arange(len(values)))
            return cls((values[1:] + values[:-1]) / 2, known)
        places = np.linspace(0, len(values), MOST_CLASSES)[1:-1].astype(int)
        return cls((values[places - 1] + values[places]) / 2, gain(np.arange(MOST_CLASSES - 1)))

    def index(self, grades: Floats) -> Ints:
        """The class of each grade."""
        return np.searchsorted(self.cuts, grades, side="right").astype(np.int64)

    def merged(self, cut: int, counts: Sequence[float]) -> Classes:
        """Two classes, parted at one cut; each gains the mean of what it is made of, ``counts`` strong."""
        weight = np.maximum(np.asarray(counts, np.float64), 1e-12)
        parts = (slice(0, cut + 1), slice(cut + 1, None))
        means = [float(self.gains[part] @ weight[part] / weight[part].sum()) for part in parts]
        return Classes(self.cuts[cut : cut + 1], np.array(means))


def grades_of(data: Dataset) -> Floats:
    """Grades to classify by. A full order has as many labels as documents: there it is the place that counts.

    Places 1, 2–3, 4–7 and beyond have the grades 3, 2, 1 and 0; a top-k truth of few labels stays as it is.
    """
    labels = data.y.astype(np.float64)
    if data.truth.kind == "graded" or (data.truth.k is not None and data.truth.k < MOST_CLASSES):
        return labels
    best = np.repeat(np.maximum.reduceat(labels, data.ptr[:-1]), data.lengths)
    grades = np.maximum(ORDER_CLASSES - 1 - np.floor(np.log2(best - labels + 1)), 0.0)
    return np.where(labels > 0, grades, 0.0)


def split_queries(data: Dataset, weights: Floats, share: float, seed: int) -> tuple[Ints, Ints]:
    """Queries to train and to calibrate by, both rising; by a hash of their ids, so their order is nothing.

    Queries of weight 0 are in neither. Fewer than five queries do both.
    """
    useful = np.flatnonzero(weights > 0)
    if len(useful) < 5:
        return useful, useful
    keys = [
        hashlib.blake2b(f"{seed}:{data.qids[q]}".encode("utf-8", "surrogateescape")).digest() for q in useful
    ]
    order = sorted(range(len(useful)), key=lambda i: keys[i])
    count = min(max(round(share * len(useful)), 1), len(useful) - 1)
    held = useful[np.sort(order[:count])]
    return np.setdiff1d(useful, held), held
