"""The default method: rankers weighted by their agreement with the others beyond chance, over all queries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Trace, one_blas_thread
from topkit.fusion.ballots import Ballots
from topkit.fusion.positional import longest, weighted_total
from topkit.fusion.result import Outcome, across_queries

Floats = NDArray[np.float64]
SMALL = 0.1
"""A ranker with this correlation with the common factor has half the weight; by convention a small effect."""
SMOOTHING = 0.2
"""The constant c of reciprocal ranks as a share of the longest list (200 for lists of 1000)."""
STEPS = 1000
"""More sweeps than the factor model needs on real runs, which settle within fifty."""


@across_queries
def agreement(ballots: Ballots) -> Outcome:
    """Reciprocal-rank fusion with rankers weighted by their agreement with the others beyond chance.

    1. Every list gives its documents points 1/(c + rank) and all others 0, c a fifth of the longest list.
    2. A_ij is the correlation of the points of rankers i and j over all documents of a query, averaged over
       queries. Documents that no ranker returned count too; Chao's estimator gives their number from those
       returned once and twice. Without them any two short lists would look negatively correlated.
    3. One common factor, A_ij ≈ a_i a_j for i ≠ j (minimum residuals): a_i is the correlation of ranker i
       with that factor. A random ranker agrees with no other ranker, so its a is 0.
    4. w_i = a_i²/(a_i² + 0.01), and a document's score is Σ_i w_i/(c + rank_i).

    The weights separate informative rankers from uninformative ones, and level off above that: larger weights
    for the highest agreement would only count rankers twice that copy each other. If no two rankers agree
    (lists without a common document), all have the same weight.

    Use it by default: it needs no settings and ignores rankers that agree with nobody. Not if many of the
    rankers are copies of one weak system, which then agree with each other.
    """
    constant = SMOOTHING * longest(ballots)
    points = 1.0 / (constant + ballots.places)
    with one_blas_thread():
        loadings, trace = common_factor(agreement_matrix(ballots, points))
    weights = loadings**2 / (loadings**2 + SMALL**2)
    if not weights.any():
        weights = np.ones(ballots.n_rankers)
    return Outcome(
        weighted_total(ballots, points, weights),
        {"weight": weights, "agreement": loadings},
        tuple(trace.values),
        trace.converged,
    )


def agreement_matrix(ballots: Ballots, points: Floats) -> Floats:
    """Mean correlation of the points of every two rankers over the queries that both answered; 0 if none."""
    K = ballots.n_rankers
    total, count = np.zeros((K, K)), np.zeros((K, K))
    for q in range(len(ballots)):
        if not ballots.pool_sizes[q]:
            continue
        table = np.zeros((K, int(ballots.pool_sizes[q])))
        first = q * K
        for i, items in enumerate(ballots.lists(q)):
            start = ballots.list_ptr[first + i]
            table[i, items] = points[start : start + len(items)]
        documents = table.shape[1] + unseen_documents(table > 0)
        mean = table.sum(axis=1) / documents
        covariance = table @ table.T / documents - np.outer(mean, mean)
        spread = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
        answered = spread > 1e-12 * table.max(initial=0.0)
        both = np.outer(answered, answered)
        total[both] += covariance[both] / np.outer(spread, spread)[both]
        count += both
    return np.divide(total, count, out=np.zeros_like(total), where=count > 0)


def unseen_documents(listed: NDArray[np.bool_]) -> float:
    """Chao's lower bound of the number of documents in no list: (K−1)/K · f₁(f₁−1)/(2(f₂+1)).

    f₁ and f₂ are the numbers of documents in exactly one and two of the K lists (ranker × document).
    """
    times = listed.sum(axis=0)
    once, twice = int((times == 1).sum()), int((times == 2).sum())
    lists = int(listed.any(axis=1).sum())
    return (lists - 1) / max(lists, 1) * once * (once - 1) / (2 * (twice + 1))


def common_factor(correlations: Floats) -> tuple[Floats, Trace]:
    """0 ≤ a ≤ 1 that minimise Σ_{i≠j} (A_ij − a_i a_j)², with the trace of that sum.

    Minimum residuals (Harman): each a_i in turn takes its best value Σ_j A_ij a_j / Σ_j a_j², given the
    others. All are 0 if no two rankers agree.
    """
    matrix = correlations.copy()
    np.fill_diagonal(matrix, 0.0)
    pairs = max(len(matrix) * (len(matrix) - 1), 1)
    a = np.full(len(matrix), np.sqrt(max(matrix.sum() / pairs, 0.0)) or 0.5)

    def step() -> float:
        for i in range(len(a)):
            a[i] = 0.0
            others = float(a @ a)
            a[i] = min(max(float(matrix[i] @ a) / others, 0.0), 1.0) if others > 0 else 0.0
        fitted = np.outer(a, a)
        np.fill_diagonal(fitted, 0.0)
        return float(((matrix - fitted) ** 2).sum())

    trace = Trace(max_steps=STEPS, tolerance=1e-8)
    while trace.go_on(step()):
        pass
    trace.warn_unless_converged("the common factor")
    return a, trace
