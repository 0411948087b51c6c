"""Fusion by the extended Mallows model: EM for θ, then the expected places of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, fields_as_parameters
from topkit.data import InputError
from topkit.data.settings import Setting
from topkit.fusion.ballots import Ballots
from topkit.fusion.mallows.em import (
    EXACT_LIMIT,
    Draw,
    Estimate,
    MallowsFit,
    Problem,
    Sampler,
    Sampling,
    fit_mallows,
)
from topkit.fusion.pairs import Depth, in_cut, with_rest
from topkit.fusion.positional import borda_points, weighted_total
from topkit.fusion.result import Outcome, Progress, across_queries

INFERENCES = ("sampled", "borda")
DRAWS = 200
"""Samples of each chain that estimate places: with two chains the error of a probability is below 0.03."""


Chains = Annotated[int, Setting("Metropolis chains per query.", low=1)]
Sweeps = Annotated[int, Setting("Steps of a chain, as a multiple of the pool size.", low=1)]
Tolerance = Annotated[float, Setting("Relative change at which EM stops.", low=0.0)]
MaxSteps = Annotated[int, Setting("Largest number of EM steps.", low=0)]
Inference = Annotated[
    str,
    Setting(
        "How documents are ordered once θ is known: by their expected place in sampled centres, or by "
        "the Borda count weighted exp(−θ).",
        choices=INFERENCES,
    ),
]
Places = Annotated[bool, Setting("Whether to keep the probabilities of places.")]


@dataclass(frozen=True)
class MallowsSettings:
    """The settings of :func:`mallows`."""

    depth: Depth = 100
    estimate: Estimate = "metropolis"
    chains: Chains = 2
    sweeps: Sweeps = 10
    tolerance: Tolerance = 1e-4
    max_steps: MaxSteps = 100
    inference: Inference = "sampled"
    places: Places = False


@across_queries
@fields_as_parameters(MallowsSettings)
def mallows(
    ballots: Ballots, settings: MallowsSettings, *, seed: int = 0, progress: Progress | None = None
) -> Outcome:
    """Extended Mallows model: θ_i of each ranker by EM, documents by their expected place or by Borda count.

    Each list is a noisy copy of one unknown ranking, p(σ_i | π) ∝ exp(θ_i d(π, σ_i)). If all lists of a query
    are complete, d is Kendall's distance between orders; else it is the top-k distance between lists
    (:func:`top_k_distance`), so lists may differ in length and content. θ = 0 means agreement by chance, and
    such a ranker has no influence.

    depth: lists are cut here first; documents that are not among the first by expected place follow by the
        Borda count weighted |θ|.
    estimate: how EM computes expected distances: ``metropolis``, ``borda`` (fast) or ``exact`` (up to 7
        documents per query).
    inference: ``sampled`` orders by the expected place in Metropolis samples, ``borda`` by the Borda count
        weighted exp(−θ_i); the paper uses either.
    chains, sweeps: Metropolis chains per query and their steps, as multiples of the pool size.
    places: keep the probabilities of places 1, …, depth of each document.

    ``diagnostics``: ``r_hat`` is the largest potential scale reduction of the energy over queries, near 1 if
    the chains agree; ``r_hat_median``; ``acceptance``; ``chains``. (Klementiev, Roth and Small, LR4IR 2008.)

    Use it if rankers err independently and differ much in skill: θ tells you which to trust. Not for many
    long lists: sampling takes time, and copies of one ranker look skilled.
    """
    cut = ballots.cut(settings.depth)
    if settings.estimate == "exact" and (cut.pool_sizes > EXACT_LIMIT).any():
        raise InputError(
            f"estimate='exact' needs at most {EXACT_LIMIT} documents per query", "use estimate='metropolis'"
        )
    if settings.places and settings.inference == "borda":
        raise InputError("places are probabilities of sampled centres", "use inference='sampled'")
    problem = Problem.of(cut)
    fit = fit_mallows(
        problem,
        Sampling(settings.chains, settings.sweeps, seed),
        estimate=settings.estimate,
        tolerance=settings.tolerance,
        max_steps=settings.max_steps,
        progress=progress,
    )
    if settings.inference == "borda":
        return _by_borda_count(ballots, cut, fit)
    return _by_expected_place(
        ballots, cut, problem, fit, Sampling(settings.chains, settings.sweeps, seed + 1), settings.places
    )


def _by_borda_count(ballots: Ballots, cut: Ballots, fit: MallowsFit) -> Outcome:
    """Documents by the Borda count weighted exp(−θ)."""
    weights = np.exp(-fit.theta)
    inner = weighted_total(cut, borda_points(cut), weights)
    learnt = {"weight": weights, "theta": fit.theta}
    return Outcome(with_rest(ballots, cut, inner, weights), learnt, fit.trace, fit.converged)


def _by_expected_place(
    ballots: Ballots, cut: Ballots, problem: Problem, fit: MallowsFit, sampling: Sampling, places: bool
) -> Outcome:
    """Documents by their expected place in sampled centres."""
    weights = np.abs(fit.theta) if fit.theta.any() else np.ones(cut.n_rankers)
    sampler = Sampler(problem, problem.borda_orders(weights), sampling)
    draws = sampler.draw(fit.theta, DRAWS, thin=sampling.sweeps, places=True)
    total = DRAWS * sampling.chains
    inner = np.zeros(len(cut.rows))
    for q, (_, counts, _, _) in enumerate(draws):
        inner[cut.doc_ptr[q] : cut.doc_ptr[q + 1]] = _place_points(counts) / total
    return Outcome(
        with_rest(ballots, cut, inner, weights),
        {"weight": weights, "theta": fit.theta},
        fit.trace,
        fit.converged,
        _probabilities(ballots, cut, [counts for _, counts, _, _ in draws], total) if places else None,
        _diagnostics(draws, sampling.chains),
    )


def _diagnostics(draws: list[Draw], chains: int) -> dict[str, float]:
    reductions = np.array([scale_reduction(energies) for _, _, energies, _ in draws] or [1.0])
    return {
        "r_hat": float(reductions.max()),
        "r_hat_median": float(np.median(reductions)),
        "acceptance": float(np.mean([accepted for *_, accepted in draws])) if draws else 0.0,
        "chains": float(chains),
    }


def _place_points(counts: NDArray[np.int64]) -> Floats:
    """Σ over samples of length + 1 − place, for the documents with the largest sums; 0 for the others.

    A document that few samples had at the end of the list is better estimated by its Borda points.
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
    probabilities = []
    for q, table in enumerate(counts):
        placed = np.flatnonzero(table.any(axis=1))
        probabilities.append((number[cut.doc_ptr[q] + placed], table[placed] / total))
    return tuple(probabilities)


def scale_reduction(chains: Floats) -> float:
    """Split R̂ of Gelman and Rubin for one quantity, chain × sample: 1 when chains and their halves agree."""
    half = chains.shape[1] // 2
    if half < 2:
        raise ValueError("R̂ needs at least four samples per chain")
    parts = np.concatenate([chains[:, :half], chains[:, half : 2 * half]])
    within = float(parts.var(axis=1, ddof=1).mean())
    between = half * float(parts.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return 1.0 if between == 0.0 else float("inf")
    return float(np.sqrt((half - 1) / half + between / (half * within)))
