"""Pieces on a cluster: workers read and prepare their partitions once and keep them in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from topkit.compute import one_blas_thread
from topkit.compute.cluster import Cluster, Kept
from topkit.data import Dataset
from topkit.data.partitions import Partition, Plan
from topkit.rankers.pieces import Pieces, R
from topkit.scale.recipe import Recipe
from topkit.scale.refusals import nothing_to_learn


@dataclass
class Loaded:
    """Partitions in the memory of a worker: prepared pieces, and their states once they are needed."""

    recipe: Recipe
    parts: list[list[Dataset]]
    """The pieces of each partition."""
    states: list[list[Any]] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, parts: Sequence[Partition], recipe: Recipe) -> Loaded:
        return cls(recipe, [list(recipe.pieces(part.read())) for part in parts])

    def bound(self) -> list[list[tuple[Any, Dataset]]]:
        """The state and the data of each piece."""
        if not self.states:
            self.states = [[self.recipe.bind(piece) for piece in part] for part in self.parts]
        return [list(zip(*both, strict=True)) for both in zip(self.states, self.parts, strict=True)]

    def __getstate__(self) -> dict[str, Any]:
        """States hold compiled functions, which are not sent if Dask moves a partition."""
        return {**self.__dict__, "states": []}


@one_blas_thread()
def loaded_results(
    loaded: Loaded, combine: Callable[[R, R], R], function: Callable[..., R], arguments: tuple[Any, ...]
) -> list[R]:
    """The combined result of each partition; partitions without pieces have none."""
    return [
        reduce(combine, (function(state, piece.X, *arguments) for state, piece in part))
        for part in loaded.bound()
        if part
    ]


@dataclass
class SpreadPieces(Pieces):
    """Pieces in the memory of workers: each request is one task per worker.

    A worker returns one result per partition. They are combined here in the order of the file, so the result
    does not depend on the number of workers.
    """

    cluster: Cluster
    plan: Plan
    loaded: Kept

    @classmethod
    def of(cls, cluster: Cluster, plan: Plan, recipe: Recipe) -> SpreadPieces:
        """Load the partitions into the memory of the workers, neighbours together and one task per worker."""
        return cls(
            cluster, plan, cluster.keep(Loaded.of, neighbours(plan.partitions, cluster.workers), recipe)
        )

    def reduce(self, combine: Callable[[R, R], R], function: Callable[..., R], *arguments: Any) -> R:
        groups = self.cluster.over(self.loaded, loaded_results, combine, function, arguments)
        results = [result for group in groups for result in group]
        if not results:
            raise nothing_to_learn(self.plan)
        combined: R = reduce(combine, results)
        return combined


def neighbours(parts: Sequence[Partition], groups: int) -> list[list[Partition]]:
    """The partitions in at most ``groups`` lists of neighbours of about equal size."""
    bounds = np.linspace(0, len(parts), min(groups, len(parts)) + 1).round().astype(int)
    return [list(parts[first:last]) for first, last in pairwise(bounds)]
