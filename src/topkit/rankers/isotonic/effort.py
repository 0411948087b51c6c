"""Effort as an objective: half the squared smallest change, whose negative gradient is the change itself.

By the envelope theorem the gradient of ½·min(Σδ² + λnζ²) in the scores is −δ. So a regression tree fitted to
δ by least squares is a Newton step of curvature 1, and the tree scorer with its early stopping can be used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from topkit.compute import Floats, Ints, over_queries, thread_map
from topkit.losses import Preferences
from topkit.losses.sorted_labels import sorted_ties
from topkit.rankers.isotonic.least_change import Change, Constraints, constrained_change, tied_grades
from topkit.scorers import Job

Efforts = tuple[Floats, Floats, Floats]
"""Effort of each query, target change of each document, and weight of each document."""


@dataclass(frozen=True)
class Effort:
    """The objective of the tree scorer; it also counts contradicting pairs as training proceeds."""

    changes: Callable[[Floats], Efforts]
    contradictions: Callable[[Floats], int]
    ptr: Ints
    weights: Floats
    """One per query."""
    counts: list[int] = field(default_factory=list)
    """Pairs of training documents in the wrong order (equal scores count as wrong), before the first tree and
    after each tree."""

    def with_curvature(self, scores: Floats) -> tuple[float, Floats, Floats]:
        """Value, −change and curvature of each document, multiplied by the weight of its query."""
        effort, change, count = self.changes(scores)
        each = np.repeat(self.weights, np.diff(self.ptr))
        self.counts.append(self.contradictions(scores))
        return float(effort @ self.weights), -each * change, each * count


def query_effort(job: Job, slack: float, ties: float | None) -> Effort:
    """The effort of IsoRank: the smallest change of all documents of a query together."""
    from topkit.rankers.isotonic import kernels

    ptr, grades = job.train.ptr, job.train.y.astype(np.float64)
    sizes = np.diff(ptr).astype(np.float64)
    rising = sorted_ties(-grades, ptr)
    zeta = np.zeros(len(sizes))  # the slack of one round is near that of the round before

    def graded(scores: Floats) -> Efforts:
        change = np.empty(len(scores))
        truth = (grades, rising.rows, rising.end, slack, ptr)
        over_queries(lambda a, b: kernels.graded_change(scores, *truth, a, b, change, zeta), ptr)
        effort = 0.5 * (np.add.reduceat(change**2, ptr[:-1]) + slack * sizes * zeta**2)
        return effort, change, np.ones(len(scores))

    preferences = None if job.preferences is None else decided(job.preferences, ties is not None)

    def listed(scores: Floats) -> Efforts:
        def solve(q: int) -> Change:
            rows = slice(ptr[q], ptr[q + 1])
            constraints = tied_grades(scores[rows], grades[rows]) if preferences is None else preferences[q]
            return constrained_change(scores[rows], constraints, slack, ties or slack)

        solved = thread_map(solve, range(len(sizes)))
        effort = np.array([0.5 * query.value for query in solved])
        return effort, np.concatenate([query.delta for query in solved]), np.ones(len(scores))

    changes = graded if ties is None and preferences is None else listed
    return Effort(changes, _contradictions(job), ptr, job.query_weights)


def pair_effort(job: Job) -> Effort:
    """The effort of QBRank: the smallest change of each pair separately, averaged over a document's pairs.

    The target of a document in a pair is what the pair lacks to its margin. Fitting a tree to all these
    targets by least squares is the same as fitting it to each document's mean, weighted by its pairs.
    """
    from topkit.rankers.isotonic import kernels

    ptr, grades, preferences = job.train.ptr, job.train.y.astype(np.float64), job.preferences
    falling = sorted_ties(grades, ptr)
    pair_count = np.empty(len(grades))
    pair_count[falling.rows] = np.repeat(np.diff(ptr), np.diff(ptr)) - (falling.end - falling.first)

    def changes(scores: Floats) -> Efforts:
        effort, change = np.zeros(len(ptr) - 1), np.zeros(len(scores))
        if preferences is None:
            truth = (grades, falling.rows, falling.end, ptr)
            over_queries(lambda a, b: kernels.pair_changes(scores, *truth, a, b, effort, change), ptr)
            return effort, change, pair_count
        pairs = (preferences.better, preferences.worse, preferences.weight, preferences.ptr)
        weight = np.zeros(len(scores))
        over_queries(
            lambda a, b: kernels.given_pair_changes(scores, *pairs, ptr, a, b, effort, change, weight), ptr
        )
        return effort, change, weight

    return Effort(changes, _contradictions(job), ptr, job.query_weights)


def decided(preferences: Preferences, ties: bool) -> list[Constraints]:
    """The constraints of each query: every pair of documents decided by the majority of its answers.

    An even split is a tie, which becomes a constraint with ``ties`` and is ignored without.
    """
    decisions = []
    for start, stop in zip(preferences.ptr[:-1], preferences.ptr[1:], strict=True):
        votes: dict[tuple[int, int], float] = {}
        for p in range(start, stop):
            i, j, weight = int(preferences.better[p]), int(preferences.worse[p]), float(preferences.weight[p])
            pair, sign = ((i, j), weight) if i < j else ((j, i), -weight)
            votes[pair] = votes.get(pair, 0.0) + sign
        better = np.array([i if vote > 0 else j for (i, j), vote in votes.items() if vote != 0], np.int64)
        worse = np.array([j if vote > 0 else i for (i, j), vote in votes.items() if vote != 0], np.int64)
        even = np.array([pair for pair, vote in votes.items() if vote == 0 and ties], np.int64).reshape(-1, 2)
        decisions.append(Constraints(better, worse, np.ones(len(better)), (even[:, 0], even[:, 1])))
    return decisions


def _contradictions(job: Job) -> Callable[[Floats], int]:
    """A function that counts the pairs in the wrong order."""
    from topkit.rankers.isotonic import kernels

    ptr, grades, preferences = job.train.ptr, job.train.y.astype(np.float64), job.preferences
    if preferences is not None:
        start = np.repeat(ptr[:-1], np.diff(preferences.ptr))
        better, worse = preferences.better + start, preferences.worse + start
        return lambda scores: int((scores[better] <= scores[worse]).sum())
    counts = np.empty(len(ptr) - 1, np.int64)
    falling = sorted_ties(grades, ptr)
    truth = (falling.rows, falling.end, ptr)

    def count(scores: Floats) -> int:
        over_queries(lambda a, b: kernels.count_contradictions(scores, *truth, a, b, counts), ptr)
        return int(counts.sum())

    return count
