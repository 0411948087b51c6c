"""The training queries in two parts: one trains classifiers, the other fits their calibrations."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from topkit.compute import Floats, Ints
from topkit.data import Dataset
from topkit.data.normalise import RAW, with_form
from topkit.metrics.compiled import worst_ties
from topkit.rankers.classes import Classes, grades_of
from topkit.scorers import Job

FEWEST_QUERIES = 5
"""With fewer queries, none are held back: all of them train and calibrate."""


@dataclass(frozen=True)
class CalibrationSplit:
    """A job with its queries split: some to train on, some to calibrate on; and the classes of its grades."""

    job: Job
    grades: Floats
    """The grade of each training document."""
    classes: Classes
    training_queries: Ints
    """Queries of the training data that classifiers are trained on."""
    calibration_queries: Ints
    """Queries of the training data that calibrations are fitted to."""
    _views: dict[tuple[str, str], Dataset] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, job: Job, share: float) -> CalibrationSplit:
        """Hold back this share of the training queries (of weight above 0) for calibration."""
        grades = grades_of(job.train)
        has_weight = np.repeat(job.query_weights, job.train.lengths) > 0
        classes = Classes.of(grades[has_weight], job.convention)
        training, calibration = hold_back_queries(job.train, job.query_weights, share, job.seed)
        return cls(job, grades, classes, training, calibration)

    def view(self, part: str, normalisation: str = RAW) -> Dataset:
        """The part to ``train``, ``calibrate`` or ``measure`` on, with normalised features.

        Without validation data the calibration queries are also used for measuring. There, equal scores count
        as ordered badly, so that a member with constant scores gets the worst measure.
        """
        key = (part, normalisation)
        if key not in self._views:
            if normalisation != RAW:
                data = with_form(self.view(part), normalisation)
            elif part == "measure" and self.job.valid is not None:
                data = worst_ties(self.job.valid)
            else:
                queries = self.training_queries if part == "train" else self.calibration_queries
                data = self.job.train.select(queries)
                data = worst_ties(data) if part == "measure" else data
            self._views[key] = data
        return self._views[key]

    def normalisation(self, default: str) -> str:
        """What a source with this default does to the features: nothing if the user chose their form."""
        return RAW if self.job.features_chosen else default

    def grades_in(self, queries: Ints) -> Floats:
        """The grades of the documents of these training queries."""
        ptr = self.job.train.ptr
        return np.concatenate([self.grades[ptr[q] : ptr[q + 1]] for q in queries])

    def weights_in(self, queries: Ints) -> Floats:
        """The weight of each document of these training queries, which is the weight of its query."""
        return np.repeat(self.job.query_weights[queries], self.job.train.lengths[queries])

    def grouped(self) -> list[Classes]:
        """The classes merged to two at each cut: simpler problems, whose errors differ from each other."""
        counts = np.bincount(self.classes.index(self.grades), minlength=len(self.classes)).tolist()
        return [self.classes.merged(cut, counts) for cut in range(len(self.classes) - 1)]

    def grouping(self, classes: Classes) -> str:
        """How a title names these classes: empty for all classes, the cut for two merged ones."""
        return "" if len(classes) == len(self.classes) else f", grade > {classes.cuts[0]:g}"


def hold_back_queries(data: Dataset, weights: Floats, share: float, seed: int) -> tuple[Ints, Ints]:
    """Queries to train on and queries to calibrate on, both in rising order.

    The choice depends on a hash of the query ids, so it is independent of the order of queries. Queries of
    weight 0 are in neither part. Fewer than five queries are in both.
    """
    weighted = np.flatnonzero(weights > 0)
    if len(weighted) < FEWEST_QUERIES:
        return weighted, weighted
    keys = [
        hashlib.blake2b(f"{seed}:{data.qids[q]}".encode("utf-8", "surrogateescape")).digest()
        for q in weighted
    ]
    order = sorted(range(len(weighted)), key=lambda i: keys[i])
    count = min(max(round(share * len(weighted)), 1), len(weighted) - 1)
    held_back = weighted[np.sort(order[:count])]
    return np.setdiff1d(weighted, held_back), held_back
