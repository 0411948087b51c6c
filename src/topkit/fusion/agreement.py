"""The default method: rankers weighted by their agreement with independent others, over all queries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Trace, one_blas_thread
from topkit.fusion.ballots import Ballots
from topkit.fusion.positional import longest, weighted_total
from topkit.fusion.result import Outcome, across_queries

SMALL = 0.1
"""A ranker with this correlation with the common factor has half the weight; by convention a small effect."""
SMOOTHING = 0.2
"""The constant c of reciprocal ranks as a share of the longest list (200 for lists of 1000)."""
POWER = 4
"""Similarity in the first pass is this power of the correlation: 1 for copies, .2 at a correlation of 2/3."""
EXPLAINED = 0.95
"""The largest share of a ranker's variance that the common factor explains; the rest is divided by."""
RIDGE = 1e-6
"""Added to the diagonal of the similarities, so that exact copies get equal votes."""
STEPS = 1000
"""More sweeps than the factor model needs on real runs, which settle within fifty."""


@across_queries
def agreement(ballots: Ballots) -> Outcome:
    """Reciprocal-rank fusion with rankers weighted by their agreement with *independent* others.

    1. Every list gives its documents points 1/(c + rank) and all others 0, c a fifth of the longest list.
    2. A_ij is the correlation of the points of rankers i and j over all documents of a query, averaged over
       queries. Documents that no ranker returned count too; Chao's estimator gives their number from those
       returned once and twice. Without them any two short lists would look negatively correlated.
    3. One common factor, A_ij ≈ a_i a_j (minimum residuals): a_i is the correlation of ranker i with that
       factor. A random ranker agrees with no other ranker, so its a is 0.
    4. Good rankers agree because of the common factor; copies agree beyond it. The similarity of two rankers
       is their partial correlation S_ij = (A_ij − a_i a_j)/√((1 − a_i²)(1 − a_j²)), at least 0. Rankers share
       votes v ≥ 0 that minimise vᵀSv − 2 Σ_i v_i, so that Σ_j S_ij v_j = 1 for every ranker with a vote: a
       ranker without copies has one vote, n copies have 1/n each, near copies a little more.
    5. Pair i, j has the weight v_i v_j (1 − S_ij) in the common factor, so that copies do not support each
       other. Since v and a depend on each other, the first votes come from S_ij = A_ij⁴, then a, v, a again.
    6. w_i = v_i a_i²/(a_i² + 0.01), and a document's score is Σ_i w_i/(c + rank_i).

    The second factor of the weight separates informative rankers from uninformative ones, and levels off
    above that. Steps 3 to 6 do not change if a ranker is entered several times: its weight is divided among
    its copies. If no two rankers agree (lists without a common document), only the votes count.

    Use it by default: it needs no settings, ignores rankers that agree with nobody, and counts copies of a
    ranker once. Not if most rankers share an error without being near copies: their agreement cannot be told
    from the agreement of good rankers.
    """
    constant = SMOOTHING * longest(ballots)
    points = 1.0 / (constant + ballots.places)
    with one_blas_thread():
        correlations = agreement_matrix(ballots, points)
        loadings, votes, trace = independent_agreement(correlations)
    weights = votes * loadings**2 / (loadings**2 + SMALL**2)
    if not weights.any():
        weights = votes
    return Outcome(
        weighted_total(ballots, points, weights),
        {"weight": weights, "agreement": loadings, "vote": votes},
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


def independent_agreement(correlations: Floats) -> tuple[Floats, Floats, Trace]:
    """Correlation of each ranker with the common factor, its vote, and the trace of the factor's last fit."""
    similarity = np.clip(correlations, -1.0, 1.0) ** POWER
    loadings, _ = common_factor(correlations, shared_votes(similarity), 1.0 - similarity)
    similarity = partial_correlations(correlations, loadings)
    votes = shared_votes(similarity)
    loadings, trace = common_factor(correlations, votes, 1.0 - similarity)
    return loadings, votes, trace


def partial_correlations(correlations: Floats, loadings: Floats) -> Floats:
    """Correlation that the common factor does not explain, between 0 and 1; 1 for copies."""
    rest = np.sqrt(1.0 - np.minimum(loadings**2, EXPLAINED))
    partial = (correlations - np.outer(loadings, loadings)) / np.outer(rest, rest)
    return np.asarray(np.clip(partial, 0.0, 1.0), np.float64)


def shared_votes(similarity: Floats) -> Floats:
    """v ≥ 0 that minimise vᵀSv − 2 Σ_i v_i for the similarities S of rankers, with 1 on the diagonal.

    These are the weights of the magnitude of a space (Leinster): entering a ranker twice divides its vote.
    """
    from scipy.optimize import nnls

    S = similarity.copy()
    np.fill_diagonal(S, 1.0 + RIDGE)
    values, vectors = np.linalg.eigh(S)
    # clipped correlations need not form a correlation matrix, so negative eigenvalues can occur
    roots = np.sqrt(np.maximum(values, RIDGE))
    votes, _ = nnls((vectors * roots).T, vectors.sum(axis=0) / roots)
    # rounded, because equal rankers need equal votes for ties to be broken by document id
    return np.asarray(np.round(votes, 9), np.float64)


def common_factor(correlations: Floats, votes: Floats, differences: Floats) -> tuple[Floats, Trace]:
    """0 ≤ a ≤ 1 that minimise Σ_{i≠j} v_i v_j D_ij (A_ij − a_i a_j)², with the trace of that sum.

    Minimum residuals (Harman), weighted by the votes v of the rankers and their differences D: each a_i in
    turn takes its best value given the others, Σ_j v_j D_ij A_ij a_j / Σ_j v_j D_ij a_j². All are 0 if no two
    rankers agree.
    """
    pairs = np.maximum(differences, 0.0) * votes
    np.fill_diagonal(pairs, 0.0)
    both = pairs * votes[:, None]
    mean = float((both * correlations).sum() / max(both.sum(), 1e-300))
    a = np.full(len(votes), np.sqrt(max(mean, 0.0)) or 0.5)
    weighted = pairs * correlations

    def step() -> float:
        for i in range(len(a)):
            others = float(pairs[i] @ (a * a))
            a[i] = min(max(float(weighted[i] @ a) / others, 0.0), 1.0) if others > 0 else 0.0
        return float((both * (correlations - np.outer(a, a)) ** 2).sum())

    trace = Trace(max_steps=STEPS, tolerance=1e-8)
    while trace.go_on(step()):
        pass
    trace.warn_unless_converged("the common factor")
    return a, trace
