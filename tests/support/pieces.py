"""Training data in several pieces in memory, to test methods that need only totals over pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from topkit.rankers.pieces import InPieces, Pieces, R
from topkit.scorers import Job
from topkit.scorers.linear import Matrix, product_matrix


@dataclass
class Several(Pieces):
    """States and features of pieces; results are combined as on a cluster."""

    parts: list[tuple[Any, Matrix]]

    def reduce(self, combine: Callable[[R, R], R], function: Callable[..., R], *arguments: Any) -> R:
        return reduce(combine, [function(state, X, *arguments) for state, X in self.parts])


def in_pieces(method: InPieces, job: Job, queries: int) -> Several:
    """The training data of a job in pieces of so many queries."""
    parts = []
    for first in range(0, job.train.n_queries, queries):
        rows = range(first, min(first + queries, job.train.n_queries))
        weights = None if job.weights is None else job.weights[rows.start : rows.stop]
        arranged = method.arranged(replace(job, train=job.train.select(list(rows)), weights=weights))
        X = arranged.train.X
        parts.append((method.piece(arranged), X if method.keeps_missing else product_matrix(X)))
    return Several(parts)
