"""Methods that learn from totals over pieces of whole queries, in memory, on disk or on other machines.

A loss, a metric or the gain of a weak ranker is a sum over queries. A method that only asks for such totals
is written once and trains on data that is in one piece (:class:`Whole`) or in many (:mod:`topkit.scale`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from topkit.compute import Floats, Trace
from topkit.metrics.compiled import worst_ties
from topkit.scorers import Job, Model
from topkit.scorers.linear import Matrix, product_matrix, products, row_sum

R = TypeVar("R")


class Pieces(ABC):
    """Training data in pieces of whole queries.

    Functions get the state of a piece (see :meth:`InPieces.piece`), its features, and the arguments.
    Functions and arguments can be pickled, because pieces may be in other processes.
    """

    @abstractmethod
    def reduce(self, combine: Callable[[R, R], R], function: Callable[..., R], *arguments: Any) -> R:
        """The results of a function on all pieces, combined two by two in the order of the data."""

    def total(self, function: Callable[..., R], *arguments: Any) -> R:
        """The sum of the results of a function on all pieces; see :func:`plus`."""
        total: R = self.reduce(plus, function, *arguments)
        return total


@dataclass
class Whole(Pieces):
    """All training data as one piece in memory."""

    state: Any
    X: Matrix

    def reduce(self, combine: Callable[[R, R], R], function: Callable[..., R], *arguments: Any) -> R:
        return function(self.state, self.X, *arguments)


class InPieces(ABC):
    """Base of the methods that need only totals over pieces."""

    @property
    def keeps_missing(self) -> bool:
        """Whether the features of a piece keep their missing values; otherwise these are 0."""
        return False

    @property
    def draws_order(self) -> bool:
        """Whether it learns a random order that agrees with the grades, instead of the grades."""
        return False

    @property
    def measures_training(self) -> bool:
        """Whether it evaluates the chosen metric on the training data."""
        return False

    def arranged(self, job: Job) -> Job:
        """The job with the labels that training uses, and with the rows of each query in its order."""
        return job

    @abstractmethod
    def piece(self, job: Job) -> Any:
        """What a piece needs besides its features; it must not refer to ``job.train.X`` itself."""

    @abstractmethod
    def train_on(self, pieces: Pieces, job: Job) -> tuple[Model, list[Trace]]:
        """The model, and the trace of each fit; of ``job.train`` it may only use the number of features."""

    def train(self, job: Job) -> tuple[Model, list[Trace]]:
        """The model, and the trace of each fit that led to it."""
        return self.train_on(self.whole(job), job)

    def whole(self, job: Job) -> Whole:
        """The training data of a job as one piece."""
        arranged = self.arranged(job)
        X = arranged.train.X
        return Whole(self.piece(arranged), X if self.keeps_missing else product_matrix(X))


class MetricInPieces(InPieces):
    """Base of the methods that improve the metric on the training data; ties count as worst first."""

    @property
    def measures_training(self) -> bool:
        return True

    def arranged(self, job: Job) -> Job:
        return replace(job, train=worst_ties(job.train))


def plus(first: Any, second: Any) -> Any:
    """The sum of two results: numbers and arrays are added, lists joined, tuples added item by item.

    >>> plus((1, [2.0]), (3, [4.0]))
    (4, [2.0, 4.0])
    """
    if isinstance(first, tuple):
        return tuple(plus(a, b) for a, b in zip(first, second, strict=True))
    return first + second


def score_sums(
    objective: Callable[[Floats], tuple[float, Floats]], X: Matrix, w: Floats
) -> tuple[float, Floats]:
    """The loss of a piece at the scores X·w, and its gradient in w."""
    value, slope = objective(products(X, np.ascontiguousarray(w)))
    return value, row_sum(X, slope)
