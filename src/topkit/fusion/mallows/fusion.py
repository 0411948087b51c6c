"""Aggregation by the extended Mallows model: EM for θ, then the places of documents under it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError
from topkit.fusion.ballots import Ballots
from topkit.fusion.mallows.em import EXACT_LIMIT, Estimate, Problem, Sampler, fit_mallows
from topkit.fusion.pairs import in_cut, with_rest
from topkit.fusion.result import Outcome, Progress

Floats = NDArray[np.float64]
DRAWS = 200
"""Samples of each chain from which places are estimated."""


def mallows(
    ballots: Ballots,
    *,
    depth: int = 100,
    estimate: Estimate = "metropolis",
    chains: int = 2,
    sweeps: int = 10,
    tolerance: float = 1e-4,
    max_steps: int = 100,
    places: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Outcome:
    """Extended Mallows model: θ_i of each ranker by EM, documents by their expected place.

    Each list is a noisy copy of one unknown ranking, p(σ_i | π) ∝ exp(θ_i d(π, σ_i)). Where all lists of a
    query are complete d is Kendall's distance between orders; else it is the top-k distance between lists
    (:func:`top_k_distance`), so lists may differ in length and content. θ = 0 means agreement by chance, and
    such a ranker has no say.

    depth: lists are cut here first; documents that are not among the first by expected place follow by the
        Borda count weighted |θ|.
    estimate: how EM finds expected distances: ``metropolis``, ``borda`` (quick) or ``exact`` (up to 7
        documents a query). Places are sampled in any case.
    chains, sweeps: Metropolis chains for each query and their steps, as multiples of the pool's size.
    places: keep each document's probabilities of places 1, …, depth.

    ``diagnostics``: ``r_hat`` is the largest potential scale reduction of the energy over queries, near 1 if
    the chains agree; ``r_hat_median``; ``acceptance``; ``chains``. (Klementiev, Roth and Small, LR4IR 2008.)
    """
    if depth < 1 or chains < 1 or sweeps < 1:
        raise InputError("depth, chains and sweeps must be at least 1")
    if estimate not in ("metropolis", "borda", "exact"):
        raise InputError(f"unknown estimate {estimate!r}", "use 'metropolis', 'borda' or 'exact'")
    cut = ballots.cut(depth)
    if estimate == "exact" and (cut.pool_sizes > EXACT_LIMIT).any():
        raise InputError(f"a query has more than {EXACT_LIMIT} documents", "use estimate='metropolis'")
    problem = Problem.of(cut)
    fit = fit_mallows(
        problem,
        estimate=estimate,
        chains=chains,
        sweeps=sweeps,
        tolerance=tolerance,
        max_steps=max_steps,
        seed=seed,
        progress=progress,
    )
    weights = np.abs(fit.theta) if fit.theta.any() else np.ones(cut.n_rankers)
    sampler = Sampler(problem, problem.borda_orders(weights), chains, sweeps, seed + 1)
    draws = sampler.draw(fit.theta, DRAWS, thin=sweeps, places=True)
    total = DRAWS * chains
    inner = np.zeros(len(cut.rows))
    for q, (_, counts, _, _) in enumerate(draws):
        inner[cut.doc_ptr[q] : cut.doc_ptr[q + 1]] = _by_expected_place(counts) / total
    reductions = np.array([scale_reduction(energies) for _, _, energies, _ in draws] or [1.0])
    return Outcome(
        with_rest(ballots, cut, inner, weights),
        {"weight": weights, "theta": fit.theta},
        fit.trace,
        fit.converged,
        _probabilities(ballots, cut, [counts for _, counts, _, _ in draws], total) if places else None,
        {
            "r_hat": float(reductions.max()),
            "r_hat_median": float(np.median(reductions)),
            "acceptance": float(np.mean([accepted for *_, accepted in draws])) if draws else 0.0,
            "chains": float(chains),
        },
    )


def _by_expected_place(counts: NDArray[np.int64]) -> Floats:
    """Σ over samples of length + 1 − place, for as many documents as the list is long; 0 for all others.

    A document that a few samples had at the end of the list is better judged by its points than by those.
    """
    length = counts.shape[1]
    points: Floats = (counts @ (length - np.arange(length))).astype(np.float64)
    points[np.argsort(-points, kind="stable")[length:]] = 0.0
    return points


def _probabilities(
    ballots: Ballots, cut: Ballots, counts: list[NDArray[np.int64]], total: int
) -> tuple[tuple[NDArray[np.int64], Floats], ...]:
    """Document numbers and place probabilities of each query, for documents that were ever placed."""
    number = np.flatnonzero(in_cut(ballots, cut))
    found = []
    for q, table in enumerate(counts):
        placed = np.flatnonzero(table.any(axis=1))
        found.append((number[cut.doc_ptr[q] + placed], table[placed] / total))
    return tuple(found)


def scale_reduction(chains: Floats) -> float:
    """Split R̂ of Gelman and Rubin for one quantity, chain × sample: 1 when chains and their halves agree."""
    half = chains.shape[1] // 2
    if half < 2:
        raise ValueError("R̂ needs at least four samples of a chain")
    parts = np.concatenate([chains[:, :half], chains[:, half : 2 * half]])
    within = float(parts.var(axis=1, ddof=1).mean())
    between = half * float(parts.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return 1.0 if between == 0.0 else float("inf")
    return float(np.sqrt((half - 1) / half + between / (half * within)))
