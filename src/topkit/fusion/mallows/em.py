"""EM for the extended Mallows model p(π | θ, σ) ∝ exp(Σ_i θ_i d(π, σ_i)): θ of each ranker without labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Trace, thread_map
from topkit.data.settings import Setting
from topkit.fusion.ballots import Ballots
from topkit.fusion.mallows.dispersion import ListLaw
from topkit.fusion.pairs import pair_support
from topkit.fusion.positional import borda_points, weighted_total
from topkit.fusion.result import Progress

Estimate = Annotated[
    str, Setting("How EM computes expected distances.", choices=("metropolis", "borda", "exact"))
]
Draw = tuple[Floats, NDArray[np.int64], Floats, float]
"""Of one query: mean distances, place counts, energies (chain × sample), share of accepted moves."""

SAMPLES = 20
"""Samples of each chain per E step: the M step averages over all queries, so few are enough."""
STEADY = 10
"""E steps before averaging starts; averaging removes the sampling noise."""
EXACT_LIMIT = 7
"""Pools up to this size are enumerated by ``exact``: 7! = 5040 orders."""


@dataclass(frozen=True)
class Problem:
    """The lists in the form of the kernels; the centre of query q orders ``depths[q]`` of its documents."""

    ballots: Ballots
    depths: NDArray[np.int64]
    ranks: tuple[NDArray[np.int32], ...]

    @classmethod
    def of(cls, ballots: Ballots) -> Problem:
        """Centres as long as the longest list of the query; with complete lists that is the pool."""
        depths = ballots.lengths.max(axis=1)
        return cls(ballots, depths, tuple(ballots.ranks(q) for q in range(len(ballots))))

    @property
    def law(self) -> ListLaw:
        """The distribution of the lists around the centres."""
        return ListLaw(self.ballots.pool_sizes, self.ballots.lengths, self.depths)

    def distances(self, q: int, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Distance of the first documents of an order, the centre, to the list of every ranker."""
        from topkit.fusion.mallows.kernels.chains import all_distances

        out = np.empty(self.ballots.n_rankers, np.int64)
        all_distances(order[: self.depths[q]], self.ranks[q], self.ballots.lengths[q], out)
        return out

    def borda_orders(self, weights: Floats) -> list[NDArray[np.int64]]:
        """The pool of each query by weighted Borda count."""
        b = self.ballots
        scores = weighted_total(b, borda_points(b), weights)
        return [np.argsort(-scores[start:stop], kind="stable") for start, stop in pairwise(b.doc_ptr)]


@dataclass(frozen=True)
class Sampling:
    """How centres are sampled: Metropolis chains per query, their steps, and the seed."""

    chains: int = 2
    sweeps: int = 10
    """Steps of a chain, as a multiple of the pool size."""
    seed: int = 0


@dataclass(frozen=True)
class MallowsFit:
    """θ of each ranker, with the trace of EM."""

    theta: Floats
    trace: tuple[float, ...]
    """Expected complete-data log-likelihood at each step (of the observed data with ``exact``)."""
    converged: bool


def fit_mallows(
    problem: Problem,
    sampling: Sampling | None = None,
    *,
    estimate: Estimate = "metropolis",
    tolerance: float = 1e-4,
    max_steps: int = 100,
    progress: Progress | None = None,
) -> MallowsFit:
    """Maximum-likelihood θ of the extended Mallows model by EM, started from the plain Borda count.

    E step: the expected distance of each ranker to the unknown centres, by Metropolis sampling (``sweeps`` ·
    n steps per chain, continued from the previous step), with the Borda count weighted exp(−θ_i) as the
    centre, or exactly by enumeration. M step: θ_i with E_θ(D) equal to that, by Newton's method. Sampled
    distances are averaged with decreasing weights after ten steps (stochastic approximation; Delyon, Lavielle
    and Moulines, 1999), so that the iteration converges.
    """
    law = problem.law
    orders = problem.borda_orders(np.ones(problem.ballots.n_rankers))
    theta = law.solve(_total(problem, orders))
    expected: Callable[[Floats], tuple[Floats, float | None]]
    if estimate == "metropolis":
        expected = Sampler(problem, orders, sampling or Sampling())
    elif estimate == "borda":
        expected = _BordaStep(problem)
    else:
        expected = _ExactStep(problem, law)

    def step() -> float:
        nonlocal theta
        distance, observed = expected(theta)
        theta = law.solve(distance, theta)
        if observed is not None:
            return observed
        return float(theta @ distance - law.log_normaliser(theta).sum())

    trace = Trace(max_steps=max_steps, tolerance=tolerance, larger_is_better=True)
    while trace.go_on(step()):
        if progress is not None:
            progress(trace.steps, max_steps)
    trace.warn_unless_converged(f"Mallows EM ({estimate})")
    return MallowsFit(theta, tuple(trace.values), trace.converged)


def _total(problem: Problem, orders: list[NDArray[np.int64]]) -> Floats:
    """Distance of each ranker to the centres, summed over queries."""
    sums = sum(
        (problem.distances(q, order) for q, order in enumerate(orders)), np.zeros(problem.ballots.n_rankers)
    )
    return np.asarray(sums, np.float64)


class Sampler:
    """Metropolis chains, a few per query, that continue from one E step to the next.

    The first chain of a query starts from the Borda count, the others from the list of a random ranker, so
    that chains that have not mixed differ.
    """

    def __init__(self, problem: Problem, starts: list[NDArray[np.int64]], sampling: Sampling) -> None:
        self.problem, self.sweeps = problem, sampling.sweeps
        self.rng = np.random.default_rng(sampling.seed)
        self.states = [
            [order.copy() if chain == 0 else self._random_list(q, order) for chain in range(sampling.chains)]
            for q, order in enumerate(starts)
        ]
        self.burned_in = False
        self.steps = 0
        self.average = np.zeros(problem.ballots.n_rankers)

    def _random_list(self, q: int, order: NDArray[np.int64]) -> NDArray[np.int64]:
        chosen = self.problem.ballots.lists(q)[self.rng.integers(self.problem.ballots.n_rankers)]
        rest = order[~np.isin(order, chosen)]
        return np.concatenate([chosen.astype(np.int64), rest])

    def __call__(self, theta: Floats) -> tuple[Floats, None]:
        """Expected distance of each ranker, summed over queries."""
        latest = np.sum([sample[0] for sample in self.draw(theta, SAMPLES)], axis=0)
        self.steps += 1
        share = 1.0 / max(1, self.steps - STEADY + 1)
        self.average = self.average + share * (latest - self.average)
        return self.average, None

    def draw(
        self, theta: Floats, samples: int, *, thin: int | None = None, places: bool = False
    ) -> list[Draw]:
        """For each query: mean distances, place counts, energies (chain × sample), share accepted.

        thin: steps between samples, as a multiple of the list's length; by default the samples spread over
        ``sweeps`` · n steps.
        """
        from topkit.fusion.mallows.kernels.chains import metropolis

        weights = -theta
        seeds = self.rng.integers(2**63, size=(len(self.states), len(self.states[0]) if self.states else 0))
        problem, burn = self.problem, 0 if self.burned_in else self.sweeps
        self.burned_in = True

        def run(q: int) -> Draw:
            n, depth = int(problem.ballots.pool_sizes[q]), int(problem.depths[q])
            counts = np.zeros((n, depth if places else 0), np.int64)
            support = pair_support(problem.ballots, q, weights)
            between = self.sweeps * n // samples if thin is None else thin * depth
            plan = (burn * n, samples, max(1, between))
            energies = np.zeros((len(self.states[q]), samples))
            distances = np.zeros(len(weights))
            accepted = 0.0
            for chain, order in enumerate(self.states[q]):
                accepted += metropolis(
                    order, depth, support, problem.ranks[q], problem.ballots.lengths[q],
                    weights, plan, seeds[q, chain], distances, counts, energies[chain],
                )  # fmt: skip
            chains = len(self.states[q])
            return distances / (samples * chains), counts, energies, accepted / chains

        return thread_map(run, range(len(problem.ballots)))


class _BordaStep:
    """The E step that uses the Borda count weighted exp(−θ_i) as the centre."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def __call__(self, theta: Floats) -> tuple[Floats, None]:
        return _total(self.problem, self.problem.borda_orders(np.exp(-theta))), None


class _ExactStep:
    """The E step by enumeration of every centre, which also gives the observed log-likelihood."""

    def __init__(self, problem: Problem, law: ListLaw) -> None:
        if (problem.ballots.pool_sizes > EXACT_LIMIT).any():
            raise ValueError(f"enumeration needs pools of at most {EXACT_LIMIT} documents")
        self.law = law
        self.tables = []
        for q, (n, depth) in enumerate(zip(problem.ballots.pool_sizes, problem.depths, strict=True)):
            centres = permutations(range(int(n)), int(depth))
            rows = [problem.distances(q, np.array(centre, np.int64)) for centre in centres]
            self.tables.append(np.array(rows, np.float64))

    def __call__(self, theta: Floats) -> tuple[Floats, float]:
        expected, observed = np.zeros(len(theta)), -float(self.law.log_normaliser(theta).sum())
        for table in self.tables:
            log_p = table @ theta
            top = log_p.max()
            p = np.exp(log_p - top)
            observed += float(top + np.log(p.mean()))
            expected += p @ table / p.sum()
        return expected, observed
