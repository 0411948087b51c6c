"""Value and gradient of a loss over data in parts: computed per part, then summed in a fixed order.

A loss is a sum over queries, so parts of whole queries give exact totals. The sum follows the order of the
file, so the result does not depend on which worker computed which part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, one_blas_thread
from topkit.compute.cluster import Cluster, Kept
from topkit.data import Dataset
from topkit.data.partitions import Partition, Plan
from topkit.data.streaming import queries_between, stream_dataset
from topkit.losses import loss
from topkit.losses.objective import Objective
from topkit.rankers.orders import drawn_order, drawn_top, has_different_labels
from topkit.rankers.preparation import Preparation
from topkit.scale.scratch import scratch
from topkit.scorers import Report, silent
from topkit.scorers.linear import linear_gradient, linear_scores

PIECE_BYTES = 2 << 20
"""Bytes of features per piece: it fits into the processor cache, and temporary arrays stay small."""


@dataclass(frozen=True)
class Recipe:
    """How raw documents become a loss: the preparation, the order to learn, and the loss by name."""

    preparation: Preparation
    loss: str
    settings: Mapping[str, Any]
    draws_order: bool = False
    """Whether grades are replaced by an order that agrees with them."""
    seed: int = 0

    def pieces(self, data: Dataset) -> Iterator[Dataset]:
        """The prepared data in pieces of whole queries, with 0 for missing values."""
        for part in split_queries(data, PIECE_BYTES // (4 * max(data.n_features, 1))):
            kept = self._informative(part)
            if kept is None:
                continue
            prepared = self._ordered(self.preparation(kept))
            missing = bool(np.isnan(prepared.X).any())
            yield prepared.with_features(np.nan_to_num(prepared.X, nan=0.0)) if missing else prepared

    def _informative(self, data: Dataset) -> Dataset | None:
        """The queries that an order can be drawn for; None if there are none."""
        if not self.draws_order or data.truth.kind != "graded":
            return data
        differ = has_different_labels(data)
        return data.select(differ) if differ.any() else None

    def _ordered(self, data: Dataset) -> Dataset:
        if not self.draws_order:
            return data
        if "k" in self.settings:
            return drawn_top(data, self.settings["k"], self.seed)[0]
        return drawn_order(data, self.seed) if data.truth.kind == "graded" else data

    def bind(self, labels: NDArray[np.float32], ptr: NDArray[np.int64]) -> Objective:
        """The loss on the labels of a piece."""
        return loss(self.loss, **self.settings).on(labels, ptr)


def split_queries(data: Dataset, rows: int) -> Iterator[Dataset]:
    """Data sets of about ``rows`` documents and at least one query."""
    first = 0
    while first < data.n_queries:
        last = int(np.searchsorted(data.ptr, data.ptr[first] + rows, side="right")) - 1
        last = max(last, first + 1)
        yield data if (first, last) == (0, data.n_queries) else queries_between(data, first, last)
        first = last


Sums = tuple[float, Floats]
"""Value and gradient in (w, b)."""


def piece_sums(X: NDArray[Any], objective: Objective, vector: Floats) -> Sums:
    """Value and gradient of a linear model on one piece; sums of products are in double precision."""
    value, slope = objective(linear_scores(X, vector))
    return value, linear_gradient(X, slope)


def added(parts: Iterable[Sums]) -> Sums:
    """The sum of parts, first to last."""
    value, gradient = 0.0, np.zeros(1)
    for part_value, part_gradient in parts:
        value, gradient = value + part_value, gradient + part_gradient
    return value, gradient


def warm_up(recipe: Recipe, data: Dataset) -> None:
    """Load and compile everything that training needs, so that its memory can be measured."""
    import scipy.optimize  # noqa: F401

    for piece in recipe.pieces(data):
        piece_sums(piece.X, recipe.bind(piece.y, piece.ptr), np.zeros(piece.n_features + 1))


# -- out of core -------------------------------------------------------------------------------------------
@contextmanager
def streamed_total(
    recipe: Recipe,
    plan: Plan,
    rows: int,
    report: Report = silent,
    has_room: Callable[[], bool] = lambda: True,
) -> Iterator[Callable[[Floats], Sums]]:
    """The total over a file, which is prepared once, ``rows`` documents at a time, then read from scratch.

    Losses bound to the labels of a piece (10 to 30 bytes per document) stay in memory while ``has_room()``,
    because binding one again for each evaluation takes twice the time of the arithmetic.
    """
    with scratch() as pieces:
        done = 0
        for data in stream_dataset(plan.path, rows):
            for piece in recipe.pieces(data):
                pieces.put(piece)
            done += len(data)
            report("documents prepared", done, plan.documents, done)

        kept: dict[int, Objective] = {}

        def objective(number: int, y: NDArray[np.float32], ptr: NDArray[np.int64]) -> Objective:
            bound = kept.get(number)
            if bound is None:
                bound = recipe.bind(y.copy(), ptr.copy())  # copies, since the next piece reuses the buffer
                if has_room():
                    kept[number] = bound
            return bound

        @one_blas_thread()
        def total(vector: Floats) -> Sums:
            return added(
                piece_sums(X, objective(number, y, ptr), vector) for number, (X, y, ptr) in enumerate(pieces)
            )

        yield total


# -- on workers --------------------------------------------------------------------------------------------
@dataclass
class Loaded:
    """Partitions in the memory of a worker: prepared pieces, and their losses once they are needed."""

    recipe: Recipe
    parts: list[list[Dataset]]
    """The pieces of each partition."""
    bound: list[list[Objective]] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, parts: Sequence[Partition], recipe: Recipe) -> Loaded:
        return cls(recipe, [list(recipe.pieces(part.read())) for part in parts])

    def objectives(self) -> list[list[Objective]]:
        if not self.bound:
            self.bound = [[self.recipe.bind(piece.y, piece.ptr) for piece in part] for part in self.parts]
        return self.bound

    def __getstate__(self) -> dict[str, Any]:
        """Objectives hold compiled functions, which are not sent if Dask moves a partition."""
        return {**self.__dict__, "bound": []}


@one_blas_thread()
def loaded_sums(loaded: Loaded, vector: Floats) -> list[Sums]:
    """Value and gradient over each partition."""
    return [
        added(piece_sums(piece.X, objective, vector) for piece, objective in zip(pieces, bound, strict=True))
        for pieces, bound in zip(loaded.parts, loaded.objectives(), strict=True)
    ]


def keep_loaded(cluster: Cluster, plan: Plan, recipe: Recipe) -> Kept:
    """Load the partitions into the memory of the workers, neighbours together and one task per worker."""
    return cluster.keep(Loaded.of, neighbours(plan.partitions, cluster.workers), recipe)


def neighbours(parts: Sequence[Partition], groups: int) -> list[list[Partition]]:
    """The partitions in at most ``groups`` lists of neighbours of about equal size."""
    bounds = np.linspace(0, len(parts), min(groups, len(parts)) + 1).round().astype(int)
    return [list(parts[first:last]) for first, last in pairwise(bounds)]


def spread_total(cluster: Cluster, kept: Kept) -> Callable[[Floats], Sums]:
    """The total over the partitions of the workers: one task per worker and evaluation.

    Each worker gets (features + 1) doubles and returns (features + 2) per partition. They are added here in
    the order of the file, so the total does not depend on the number of workers.
    """

    def total(vector: Floats) -> Sums:
        return added(sums for group in cluster.over(kept, loaded_sums, vector) for sums in group)

    return total


@dataclass
class Remembered:
    """A total that keeps its latest result: an optimiser evaluates its start twice."""

    total: Callable[[Floats], Sums]
    calls: int = 0
    latest: tuple[Floats, Sums] | None = None

    def __call__(self, vector: Floats) -> Sums:
        if self.latest is None or not np.array_equal(self.latest[0], vector):
            self.calls += 1
            self.latest = (vector.copy(), self.total(vector))
        value, gradient = self.latest[1]
        return value, gradient.copy()
