"""Pairwise debiasing: pairs of a clicked and a skipped document of a page, weighted by both positions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.pairs import Pairs, totals
from topkit.compute import Floats, Ints
from topkit.data import Dataset, InputError
from topkit.losses import Loss
from topkit.rankers.unbiased.lists import ListObjective, pair_lists
from topkit.scorers import Job

SMALLEST = 1e-3
"""Smallest bias of a position, so that weights stay finite."""


@dataclass(frozen=True)
class DebiasedPairs:
    """Pairs of rows (clicked, skipped) with their positions, and the bias of each position for both roles.

    Hu, Wang, Peng & Li, Unbiased LambdaMART, WWW 2019: P(click at i) = t⁺_i·P(relevant) and P(skip at j) =
    t⁻_j·P(irrelevant), so a pair has the weight 1/(t⁺_i·t⁻_j). Both are learned in turn with the ranker.
    """

    better: Ints
    worse: Ints
    clicked_at: Ints
    skipped_at: Ints
    count: Floats
    clicked_bias: Floats
    skipped_bias: Floats

    @classmethod
    def of(cls, log: ClickLog, data: Dataset) -> DebiasedPairs:
        """The pairs of a log of pages, counted; documents that are not in the data are left out."""
        place = Pairs.of_dataset(data).find(log.pairs)
        size = log.n_positions
        row, position = place[log.pair], log.position.astype(np.int64) - 1
        keys = [np.zeros((0, 4), np.int64)]
        lengths = np.diff(log.bounds)
        for distance in range(1, int(lengths.max())):
            upper = np.flatnonzero(np.repeat(lengths, lengths) - _places(log) > distance)
            lower = upper + distance
            differ = (log.clicks[upper] != log.clicks[lower]) & (row[upper] >= 0) & (row[lower] >= 0)
            upper, lower = upper[differ], lower[differ]
            first = np.where(log.clicks[upper], upper, lower)
            second = np.where(log.clicks[upper], lower, upper)
            keys.append(np.stack([row[first], row[second], position[first], position[second]], axis=1))
        table = np.concatenate(keys)
        if len(table) == 0:
            raise InputError("no page has both a click and a skip on training documents", "use a longer log")
        n = len(data)
        packed = ((table[:, 0] * n + table[:, 1]) * size + table[:, 2]) * size + table[:, 3]
        packed, count = np.unique(packed, return_counts=True)
        rows, places = packed // (size * size), packed % (size * size)
        ones = np.ones(size)
        return cls(rows // n, rows % n, places // size, places % size, count.astype(np.float64), ones, ones)

    @property
    def weights(self) -> Floats:
        """count/(t⁺·t⁻) of each pair."""
        values: Floats = self.count / (
            self.clicked_bias[self.clicked_at] * self.skipped_bias[self.skipped_at]
        )
        return values

    def objective(self, loss: Loss, job: Job) -> ListObjective:
        """The loss over lists of two documents; pairs that differ in their positions only are added up."""
        n = len(job.train)
        packed, place = np.unique(self.better * n + self.worse, return_inverse=True)
        weights = totals(place, self.weights, len(packed))
        better, worse = packed // n, packed % n
        weights = weights * job.query_weights[job.train.query_index[better]]
        return pair_lists(loss, job.train.ptr, better, worse, weights, job.total_weight)

    def updated(self, scores: Floats) -> DebiasedPairs:
        """The pairs with the biases that the logistic loss of the scores implies, relative to position 1."""
        losses = self.count * np.logaddexp(0.0, scores[self.worse] - scores[self.better])
        size = len(self.clicked_bias)
        clicked = totals(self.clicked_at, losses / self.skipped_bias[self.skipped_at], size)
        skipped = totals(self.skipped_at, losses / self.clicked_bias[self.clicked_at], size)
        return replace(self, clicked_bias=_relative(clicked), skipped_bias=_relative(skipped))


def _relative(values: Floats) -> Floats:
    first = values[0] if values[0] > 0 else max(float(values.max()), 1e-300)
    relative: Floats = np.maximum(values / first, SMALLEST)
    return relative


def _places(log: ClickLog) -> Ints:
    return np.arange(len(log.pair)) - np.repeat(log.bounds[:-1], np.diff(log.bounds))
