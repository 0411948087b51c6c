"""Value and gradient of a loss over data in parts: every part by itself, then a sum in a fixed order.

A loss is a sum over queries, so parts that hold whole queries give exact totals. The order of the sum is that
of the file, whoever did which part, so a result does not depend on which worker was faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.compute import one_blas_thread
from topkit.compute.cluster import Cluster, Kept
from topkit.data import Dataset
from topkit.data.partitions import Partition, Plan
from topkit.data.streaming import queries_between, stream_dataset
from topkit.losses import loss
from topkit.losses.base import Objective
from topkit.rankers.features import Preparation
from topkit.scale.scratch import scratch
from topkit.scorers import Floats, Report, silent

PIECE_BYTES = 2 << 20
"""Features that are worked on at once: they stay near the processor, and temporaries stay small."""


@dataclass(frozen=True)
class Recipe:
    """How raw documents become a loss: preparation, the loss by name. Small, and the same for all parts."""

    preparation: Preparation
    loss: str
    settings: Mapping[str, Any]

    def pieces(self, data: Dataset) -> Iterator[Dataset]:
        """The prepared data in pieces of whole queries, with 0 for missing features."""
        for part in split_queries(data, PIECE_BYTES // (4 * max(data.n_features, 1))):
            prepared = self.preparation(part)
            yield prepared.with_features(np.nan_to_num(prepared.X, nan=0.0)) if _holes(prepared) else prepared

    def bind(self, labels: NDArray[np.float32], ptr: NDArray[np.int64]) -> Objective:
        """The loss on the labels of a piece."""
        return loss(self.loss, **self.settings).on(labels, ptr)


def _holes(data: Dataset) -> bool:
    return bool(np.isnan(data.X).any())


def split_queries(data: Dataset, rows: int) -> Iterator[Dataset]:
    """Data sets of about ``rows`` documents, at least a query each."""
    first = 0
    while first < data.n_queries:
        last = int(np.searchsorted(data.ptr, data.ptr[first] + rows, side="right")) - 1
        last = max(last, first + 1)
        yield data if (first, last) == (0, data.n_queries) else queries_between(data, first, last)
        first = last


Sums = tuple[float, Floats]
"""Value and gradient in (w, b)."""


def piece_sums(X: NDArray[np.float32], objective: Objective, vector: Floats) -> Sums:
    """Value and gradient of a linear score on one piece, in double."""
    wide = X.astype(np.float64)
    value, slope = objective(wide @ vector[:-1] + vector[-1])
    return value, np.append(slope @ wide, slope.sum())


def added(parts: Iterable[Sums]) -> Sums:
    """The sum of parts, first to last."""
    value, gradient = 0.0, np.zeros(1)
    for own, slope in parts:
        value, gradient = value + own, gradient + slope
    return value, gradient


def warm_up(recipe: Recipe, data: Dataset) -> None:
    """Load and compile all that sums and the optimiser need, so that memory can be measured after it."""
    import scipy.optimize  # noqa: F401

    for piece in recipe.pieces(data):
        piece_sums(piece.X, recipe.bind(piece.y, piece.ptr), np.zeros(piece.n_features + 1))


# -- out of core -------------------------------------------------------------------------------------------
@contextmanager
def streamed_total(
    recipe: Recipe, plan: Plan, rows: int, report: Report = silent
) -> Iterator[Callable[[Floats], Sums]]:
    """The total over a file, prepared once ``rows`` documents at a time and then streamed from scratch."""
    with scratch() as pieces:
        done = 0
        for data in stream_dataset(plan.path, rows):
            for piece in recipe.pieces(data):
                pieces.put(piece)
            done += len(data)
            report("documents prepared", done, plan.documents, done)

        @one_blas_thread()
        def total(vector: Floats) -> Sums:
            return added(piece_sums(X, recipe.bind(y, ptr), vector) for X, y, ptr in pieces)

        yield total


# -- on workers --------------------------------------------------------------------------------------------
@dataclass
class Loaded:
    """A partition in a worker's memory: prepared pieces, and their losses once they are asked for."""

    recipe: Recipe
    pieces: list[Dataset]
    bound: list[Objective] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, part: Partition, recipe: Recipe) -> Loaded:
        return cls(recipe, list(recipe.pieces(part.read())))

    def objectives(self) -> list[Objective]:
        if not self.bound:
            self.bound = [self.recipe.bind(piece.y, piece.ptr) for piece in self.pieces]
        return self.bound

    def __getstate__(self) -> dict[str, Any]:
        """Bound losses hold compiled functions: they stay behind, should Dask ever move a partition."""
        return {**self.__dict__, "bound": []}


@one_blas_thread()
def loaded_sums(loaded: Loaded, vector: Floats) -> Sums:
    """Value and gradient over one partition."""
    pairs = zip(loaded.pieces, loaded.objectives(), strict=True)
    return added(piece_sums(piece.X, objective, vector) for piece, objective in pairs)


def keep_loaded(cluster: Cluster, plan: Plan, recipe: Recipe) -> Kept:
    """Every partition in the memory of some worker."""
    return cluster.keep(Loaded.of, plan.partitions, recipe)


def spread_total(cluster: Cluster, kept: Kept) -> Callable[[Floats], Sums]:
    """The total over partitions that workers hold: (features + 1) doubles go to each and come back."""

    def total(vector: Floats) -> Sums:
        return added(cluster.over(kept, loaded_sums, vector))

    return total


@dataclass
class Remembered:
    """A total that does not do its latest work again: an optimiser asks for its start twice."""

    total: Callable[[Floats], Sums]
    calls: int = 0
    latest: tuple[Floats, Sums] | None = None

    def __call__(self, vector: Floats) -> Sums:
        if self.latest is None or not np.array_equal(self.latest[0], vector):
            self.calls += 1
            self.latest = (vector.copy(), self.total(vector))
        value, gradient = self.latest[1]
        return value, gradient.copy()
