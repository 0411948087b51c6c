"""Effort as an objective of scores: half the squared least change, whose downhill direction is the change.

By the envelope theorem the gradient of ½·min(Σδ² + λnζ²) in the scores is −δ. So a regression tree fitted to
δ by least squares is a Newton step of curvature 1, and the tree scorer, with its early stopping, does the
rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from topkit.compute import over_queries, thread_map
from topkit.losses import Preferences
from topkit.rankers.contract import Job
from topkit.rankers.isotonic.least_change import Constraints, constrained_change, tied_grades
from topkit.scorers import Floats

Ints = NDArray[np.int64]
Efforts = tuple[Floats, Floats, Floats]
"""Effort of each query, change that each document wants, and how much each document counts."""


@dataclass(frozen=True)
class Effort:
    """What a tree scorer minimises, with the contradicting pairs it saw on the way."""

    changes: Callable[[Floats], Efforts]
    contradictions: Callable[[Floats], int]
    ptr: Ints
    weights: Floats
    """One a query."""
    seen: list[int] = field(default_factory=list)
    """Pairs of training documents not in the right order (all, at equal scores) before the first tree, after
    each."""

    def with_curvature(self, scores: Floats) -> tuple[float, Floats, Floats]:
        """Value, −change and the count of each document, queries times their weights."""
        effort, change, count = self.changes(scores)
        each = np.repeat(self.weights, np.diff(self.ptr))
        self.seen.append(self.contradictions(scores))
        return float(effort @ self.weights), -each * change, each * count


def query_effort(job: Job, slack: float, ties: float | None) -> Effort:
    """IsoRank's: the least change of all documents of a query together."""
    from topkit.rankers.isotonic import kernels

    ptr, grades = job.train.ptr, job.train.y.astype(np.float64)
    sizes = np.diff(ptr).astype(np.float64)

    def graded(scores: Floats) -> Efforts:
        change, zeta = np.empty(len(scores)), np.empty(len(sizes))
        over_queries(lambda a, b: kernels.graded_change(scores, grades, slack, ptr, a, b, change, zeta), ptr)
        effort = 0.5 * (np.add.reduceat(change**2, ptr[:-1]) + slack * sizes * zeta**2)
        return effort, change, np.ones(len(scores))

    preferences = None if job.preferences is None else decided(job.preferences, ties is not None)

    def listed(scores: Floats) -> Efforts:
        def one(q: int) -> tuple[float, Floats]:
            rows = slice(ptr[q], ptr[q + 1])
            asked = tied_grades(scores[rows], grades[rows]) if preferences is None else preferences[q]
            found = constrained_change(scores[rows], asked, slack, ties or slack)
            return 0.5 * found.value, found.delta

        found = thread_map(one, range(len(sizes)))
        return (
            np.array([value for value, _ in found]),
            np.concatenate([delta for _, delta in found]),
            np.ones(len(scores)),
        )

    changes = graded if ties is None and preferences is None else listed
    return Effort(changes, _contradictions(job), ptr, job.query_weights)


def pair_effort(job: Job) -> Effort:
    """QBRank's: the least change of each pair by itself, averaged over the pairs of a document.

    The target of a document in a pair is what the pair lacks to its margin; fitting a tree to all these
    targets by least squares is fitting it to each document's mean, weighted by the number of its pairs.
    """
    from topkit.rankers.isotonic import kernels

    ptr, grades, given = job.train.ptr, job.train.y.astype(np.float64), job.preferences

    def changes(scores: Floats) -> Efforts:
        effort, change, count = np.zeros(len(ptr) - 1), np.zeros(len(scores)), np.zeros(len(scores))
        out = (effort, change, count)

        def work(a: int, b: int) -> None:
            if given is None:
                kernels.pair_changes(scores, grades, ptr, a, b, *out)
            else:
                pairs = (given.better, given.worse, given.weight, given.ptr)
                kernels.given_pair_changes(scores, *pairs, ptr, a, b, *out)

        over_queries(work, ptr)
        return out

    return Effort(changes, _contradictions(job), ptr, job.query_weights)


def decided(preferences: Preferences, ties: bool) -> list[Constraints]:
    """The pairs of each query after every pair of documents is settled by the majority of its answers.

    An even split is a tie, which is kept where ``ties`` are wanted and says nothing elsewhere.
    """
    found = []
    for start, stop in zip(preferences.ptr[:-1], preferences.ptr[1:], strict=True):
        votes: dict[tuple[int, int], float] = {}
        for p in range(start, stop):
            i, j, weight = int(preferences.better[p]), int(preferences.worse[p]), float(preferences.weight[p])
            pair, sign = ((i, j), weight) if i < j else ((j, i), -weight)
            votes[pair] = votes.get(pair, 0.0) + sign
        better = np.array([i if vote > 0 else j for (i, j), vote in votes.items() if vote != 0], np.int64)
        worse = np.array([j if vote > 0 else i for (i, j), vote in votes.items() if vote != 0], np.int64)
        even = np.array([pair for pair, vote in votes.items() if vote == 0 and ties], np.int64).reshape(-1, 2)
        found.append(Constraints(better, worse, np.ones(len(better)), (even[:, 0], even[:, 1])))
    return found


def _contradictions(job: Job) -> Callable[[Floats], int]:
    from topkit.rankers.isotonic import kernels

    ptr, grades, given = job.train.ptr, job.train.y.astype(np.float64), job.preferences
    if given is not None:
        start = np.repeat(ptr[:-1], np.diff(given.ptr))
        better, worse = given.better + start, given.worse + start
        return lambda scores: int((scores[better] <= scores[worse]).sum())
    found = np.empty(len(ptr) - 1, np.int64)

    def count(scores: Floats) -> int:
        over_queries(lambda a, b: kernels.count_contradictions(scores, grades, ptr, a, b, found), ptr)
        return int(found.sum())

    return count
