"""The state of a linear ranker that climbs a metric on a piece, and the gain of changing one weight."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from topkit.compute import Bools, Floats, Floats32, Ints, Ints32
from topkit.metrics.compiled import FastMeasure, Measured
from topkit.rankers.pieces import Pieces
from topkit.scorers.linear import Matrix, products

EXACT = "discounted_sum"
"""The form of a metric whose value along one weight can be computed at every step: DCG and NDCG."""
MOST_CROSSINGS = 1 << 24
"""Crossings that fit memory; with more, steps of doubling size are tried."""
NARROW = 1e-12
"""Intervals and gains below this are rounding errors."""

Columns = Floats32
Crossings = tuple[list[Floats], list[Floats]]
"""The steps at which the weighted sum of the metric changes, and the changes; one array per piece."""


class Climb(Protocol):
    """The state of a linear ranker on the documents of a piece."""

    @property
    def value(self) -> float:
        """The weighted sum of the metric."""
        ...

    def gain(self, feature: int, step: float) -> tuple[float, int]:
        """The rise of the sum if one weight changed, and the number of lists that would re-rank."""
        ...

    def move(self, feature: int, step: float) -> None:
        """Change one weight."""
        ...

    def crossings(self, feature: int) -> Crossings:
        """Every step of one weight at which the sum changes; only for metrics of the form ``EXACT``."""
        ...


@dataclass
class FastClimb:
    """A climb with compiled metrics: a list whose order a step does not change is not sorted again."""

    piece: ClimbPiece
    fast: FastMeasure
    scores: Floats
    order: Ints32
    values: Floats
    times: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    changes: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    """Buffers of crossings, reused, because the system clears new memory before it is used."""

    @property
    def value(self) -> float:
        return float(self.piece.weights @ self.values)

    def gain(self, feature: int, step: float) -> tuple[float, int]:
        return self._step(feature, step, keep=False)

    def crossings(self, feature: int) -> Crossings:
        from topkit.rankers.linear.kernels import crossings

        piece = self.piece
        if not len(self.times):
            self.times, self.changes = np.empty(piece.room), np.empty(piece.room)
        times, changes = self.times, self.changes
        count = crossings(
            self.scores, piece.columns[feature], self.fast.gain, self.fast.discount, piece.ptr,
            piece.movable[feature], piece.weights, times, changes,
        )  # fmt: skip
        return [times[:count]], [changes[:count]]

    def move(self, feature: int, step: float) -> None:
        self._step(feature, step, keep=True)
        self.scores += np.multiply(self.piece.columns[feature], step, dtype=np.float64)

    def _step(self, feature: int, step: float, *, keep: bool) -> tuple[float, int]:
        from topkit.metrics.compiled import kernels

        gain, reranked = kernels.stepped_values(
            self.fast.kind, self.scores, self.piece.columns[feature], step, self.order, self.fast.gain,
            self.fast.discount, self.piece.ptr, self.piece.movable[feature], self.values,
            self.piece.weights, keep,
        )  # fmt: skip
        return gain, reranked


@dataclass
class PlainClimb:
    """A climb that evaluates all lists, for metrics without a compiled form."""

    piece: ClimbPiece
    scores: Floats
    values: Floats

    @property
    def value(self) -> float:
        return float(self.piece.weights @ self.values)

    def gain(self, feature: int, step: float) -> tuple[float, int]:
        after = self.piece.measured.values(self._moved(feature, step))
        return float(self.piece.weights @ (after - self.values)), int((after != self.values).sum())

    def move(self, feature: int, step: float) -> None:
        self.scores = self._moved(feature, step)
        self.values = self.piece.measured.values(self.scores)

    def crossings(self, feature: int) -> Crossings:
        raise TypeError("metrics without a compiled form have no list of crossings")

    def _moved(self, feature: int, step: float) -> Floats:
        moved: Floats = self.scores + np.multiply(self.piece.columns[feature], step, dtype=np.float64)
        return moved


@dataclass
class ClimbPiece:
    """A metric on the documents of a piece, and the climbs that were started there."""

    measured: Measured
    columns: Columns = field(repr=False)
    """Features × documents."""
    weights: Floats
    """The weight of each query."""
    movable: list[Ints] = field(repr=False)
    """For each feature, the queries whose metric it can change."""
    room: int
    """Upper limit of the number of crossings: relevant documents times documents of their query."""
    climbs: dict[int, tuple[Floats, int, Climb]] = field(default_factory=dict, repr=False)
    """For each restart: the weights at its latest start, the steps taken since then, and the climb."""

    @classmethod
    def of(cls, measured: Measured, weights: Floats) -> ClimbPiece:
        data, fast = measured.data, measured.fast
        columns = np.nan_to_num(np.array(data.X.T, order="C"), copy=False, nan=0.0)
        if fast is None:
            return cls(measured, columns, weights, [], 0)
        starts = data.ptr[:-1]
        differs = np.minimum.reduceat(columns, starts, axis=1) < np.maximum.reduceat(columns, starts, axis=1)
        flat = np.minimum.reduceat(data.y, starts) == np.maximum.reduceat(data.y, starts)
        open_queries = np.isnan(fast.fixed) & ~flat & (weights > 0)
        movable = [np.flatnonzero(row & open_queries) for row in differs]
        relevant = np.add.reduceat(fast.gain != 0, starts, dtype=np.int64)
        return cls(measured, columns, weights, movable, int((relevant * data.lengths)[open_queries].sum()))

    @property
    def ptr(self) -> Ints:
        return self.measured.data.ptr

    def start(self, scores: Floats) -> Climb:
        """A climb from the scores of some weights."""
        data, fast = self.measured.data, self.measured.fast
        values = self.measured.values(scores)
        if fast is None:
            return PlainClimb(self, scores, values)
        from topkit.rankers.svm.kernels import sort_rows

        rows = np.empty(len(scores), np.int64)
        sort_rows(scores, data.ptr, 0, data.n_queries, rows)
        order = (rows - np.repeat(data.ptr[:-1], data.lengths)).astype(np.int32)
        return FastClimb(self, fast, scores, order, values)


# -- over all pieces -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Path:
    """Where a climb is: a restart, the weights at its latest start, and the steps taken since then."""

    restart: int
    start: Floats
    steps: tuple[tuple[int, float], ...] = ()


def climb_at(piece: ClimbPiece, X: Matrix, path: Path) -> Climb:
    """The climb of a piece at the end of a path; the steps that it has not taken yet are taken first."""
    start, taken, climb = piece.climbs.get(path.restart, (None, 0, None))
    if climb is None or start is None or not np.array_equal(start, path.start):
        taken, climb = 0, piece.start(products(X, np.ascontiguousarray(path.start)))
    for feature, step in path.steps[taken:]:
        climb.move(feature, step)
    piece.climbs[path.restart] = (path.start, len(path.steps), climb)
    return climb


def room_of(piece: ClimbPiece, X: Matrix) -> tuple[float, int, int]:
    """The weight of the queries of a piece, its crossings at most, and whether they cannot be listed."""
    fast = piece.measured.fast
    return float(piece.weights.sum()), piece.room, int(fast is None or fast.kind != EXACT)


def value_sum(piece: ClimbPiece, X: Matrix, path: Path) -> float:
    return climb_at(piece, X, path).value


def gain_sum(piece: ClimbPiece, X: Matrix, path: Path, feature: int, step: float) -> tuple[float, int]:
    return climb_at(piece, X, path).gain(feature, step)


def crossing_lists(piece: ClimbPiece, X: Matrix, path: Path, feature: int) -> Crossings:
    return climb_at(piece, X, path).crossings(feature)


@dataclass
class TotalClimb:
    """A climb over all pieces: the mean of the metric, and the best step of a weight."""

    pieces: Pieces
    path: Path
    weight: float
    """The sum of the weights of all queries."""
    exact: bool
    """Whether all crossings of a weight can be visited."""

    @property
    def value(self) -> float:
        """The weighted mean of the metric."""
        return self.pieces.total(value_sum, self.path) / self.weight

    def gain(self, feature: int, step: float) -> tuple[float, int]:
        """The rise of the mean if one weight changed, and the number of lists that would re-rank."""
        rise, reranked = self.pieces.total(gain_sum, self.path, feature, step)
        return rise / self.weight, reranked

    def move(self, feature: int, step: float) -> None:
        """Change one weight; the pieces follow when they are asked next."""
        path = self.path
        self.path = Path(path.restart, path.start, (*path.steps, (feature, step)))

    def best_step(self, feature: int) -> float | None:
        """The middle of the interval of steps with the best mean, the widest of equals; 0 if none is better.

        The mean is constant between the steps at which two documents swap, so all of them are visited. None
        if they cannot be listed.
        """
        if not self.exact:
            return None
        times, changes = self.pieces.total(crossing_lists, self.path, feature)
        step = best_interval(_joined(times), _joined(changes), self.weight)
        return step if step != 0.0 and self.gain(feature, step)[0] > NARROW else 0.0


def best_interval(times: Floats, changes: Floats, weight: float) -> float:
    """The middle of the widest interval with the largest value; 0 if the value never changes.

    Values that differ by rounding, relative to ``weight``, count as equal. Intervals that are as narrow as
    rounding errors do not count.
    """
    if not len(times):
        return 0.0
    order = np.argsort(times)
    # interval i is edges[i]:edges[i + 1] and has the value sums[i]; the first one has the value 0
    edges, sums = np.empty(len(times) + 2), np.zeros(len(times) + 1)
    np.take(times, order, out=edges[1:-1])
    edges[0] = edges[1] - max(1.0, abs(edges[1]))
    edges[-1] = edges[-2] + max(1.0, abs(edges[-2]))
    np.cumsum(changes[order], out=sums[1:])
    near = NARROW * weight
    best = np.flatnonzero(sums >= sums.max() - near)
    wide = _wide(edges, best)
    if wide.any():
        best = best[wide]
    else:
        wide = _wide(edges, np.arange(len(sums)))
        best = np.flatnonzero(wide & (sums >= sums[wide].max() - near))
    widest = int(best[np.argmax(edges[best + 1] - edges[best])])
    return float(edges[widest] + edges[widest + 1]) / 2


def _joined(parts: list[Floats]) -> Floats:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _wide(edges: Floats, intervals: Ints) -> Bools:
    """Whether intervals are wider than rounding errors."""
    low, high = edges[intervals], edges[intervals + 1]
    wide: Bools = high - low > NARROW * np.maximum(1.0, np.abs(high))
    return wide
