"""EM for the extended Mallows model: the sampler against enumeration, exact EM, and planted rankers."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import topkit as tk
from tests.support.fusion import noisy_runs
from topkit.compute import NotConverged
from topkit.data import InputError, Run
from topkit.fusion import Ballots, fuse, kendall_distance, top_k_distance
from topkit.fusion.mallows import Problem, Sampler, Sampling, fit_mallows, sample, scale_reduction
from topkit.fusion.mallows.kernels.chains import all_distances, metropolis
from topkit.fusion.pairs import pair_support

LISTS = [[0, 1, 2, 3, 4], [1, 0, 3, 2, 4], [4, 1, 0, 2, 3]]
SHORT = [[0, 1, 2], [1, 3], [5, 0, 4], [2]]


def runs_of(lists: list[list[int]], query: str = "q") -> list[Run]:
    return [
        Run.of({query: [(f"d{doc}", -float(place)) for place, doc in enumerate(one)]}, f"r{i}")
        for i, one in enumerate(lists)
    ]


def planted_runs(thetas: list[float], n: int, queries: int, seed: int) -> list[Run]:
    runs = []
    for i, theta in enumerate(thetas):
        orders = sample(n, theta, queries, seed * 1000 + i).tolist()
        lists = {
            f"q{q}": [(f"d{d:02}", -float(p)) for p, d in enumerate(order)] for q, order in enumerate(orders)
        }
        runs.append(Run.of(lists, f"r{i}"))
    return runs


@pytest.mark.parametrize(("lists", "weights"), [(LISTS, [0.5, 0.2, 0.9]), (SHORT, [0.7, 0.3, 0.5, 1.1])])
def test_metropolis_visits_centres_as_often_as_it_should(
    lists: list[list[int]], weights: list[float]
) -> None:
    """χ² of the visits to every centre against its exact probability, thinned to be nearly independent."""
    ballots = Ballots.of(runs_of(lists))
    n, depth = int(ballots.pool_sizes[0]), int(ballots.lengths.max())
    pool = [int(doc[1:]) for doc in ballots.docs]
    centres = list(permutations(range(n), depth))
    w = np.array(weights)
    energy = np.array(
        [
            sum(wi * top_k_distance([pool[d] for d in centre], one) for wi, one in zip(w, lists, strict=True))
            for centre in centres
        ]
    )
    p = np.exp(-energy)
    p /= p.sum()
    order = np.arange(n)
    support = pair_support(ballots, 0, w)
    number = {centre: i for i, centre in enumerate(centres)}
    visits = np.zeros(len(centres))
    draws = 30_000
    nothing = np.zeros((n, 0), np.int64)
    energies = np.zeros(1)
    for turn in range(draws):
        metropolis(
            order, depth, support, ballots.ranks(0), ballots.lengths[0], w, (0, 1, 40), turn,
            np.zeros(len(w)), nothing, energies,
        )  # fmt: skip
        visits[number[tuple(order[:depth].tolist())]] += 1
        if turn % 5000 == 0:  # the energy kept step by step is the energy of the state
            assert energies[0] == pytest.approx(energy[number[tuple(order[:depth].tolist())]], abs=1e-4)
    common = p * draws >= 5
    observed = np.append(visits[common], visits[~common].sum())
    expected = np.append(p[common], p[~common].sum()) * draws
    keep = expected > 0
    assert chisquare(observed[keep], expected[keep]).pvalue > 0.001


@given(
    st.permutations(range(6)).flatmap(lambda p: st.integers(1, 6).map(lambda k: p[:k])),
    st.permutations(range(6)).flatmap(lambda p: st.integers(0, 6).map(lambda k: p[:k])),
)
def test_distances_to_all_lists(top: list[int], other: list[int]) -> None:
    ranks = np.zeros((2, 6), np.int32)
    ranks[0, other] = np.arange(1, len(other) + 1)
    ranks[1, top] = np.arange(1, len(top) + 1)
    out = np.empty(2, np.int64)
    all_distances(np.array(top), ranks, np.array([len(other), len(top)]), out)
    assert out.tolist() == [top_k_distance(top, other), 0]


def small_problem(seed: int = 3) -> Problem:
    return Problem.of(Ballots.of(planted_runs([-1.2, -0.6, -0.2, 0.0], n=5, queries=12, seed=seed)))


def short_problem() -> Problem:
    rng = np.random.default_rng(8)
    runs = []
    for i, noise in enumerate((0.8, 1.5, 3.0, 50.0)):
        lists = {}
        for q in range(10):
            order = np.argsort(np.arange(7) + rng.normal(scale=noise, size=7))
            lists[f"q{q}"] = [(f"d{doc}", -float(p)) for p, doc in enumerate(order[: 3 + i % 2])]
        runs.append(Run.of(lists, f"r{i}"))
    return Problem.of(Ballots.of(runs))


@pytest.mark.parametrize("problem", [small_problem(), short_problem()], ids=["orders", "top lists"])
def test_exact_em_never_lowers_the_likelihood(problem: Problem) -> None:
    fit = fit_mallows(problem, estimate="exact", tolerance=1e-9, max_steps=400)
    assert fit.converged
    assert (np.diff(fit.trace) > -1e-7).all()
    assert fit.trace[-1] > fit.trace[0]
    assert (fit.theta <= 0).all()


@pytest.mark.parametrize("problem", [small_problem(), short_problem()], ids=["orders", "top lists"])
def test_exact_em_ends_at_a_maximum(problem: Problem) -> None:
    """No small change of a θ makes the lists more likely."""
    from topkit.fusion.mallows.em import _ExactStep

    fit = fit_mallows(problem, estimate="exact", tolerance=1e-12, max_steps=3000)
    likelihood = _ExactStep(problem, problem.law)
    _, best = likelihood(fit.theta)
    for i in range(len(fit.theta)):
        for change in (-0.02, 0.02):
            theta = fit.theta.copy()
            theta[i] = min(theta[i] + change, 0.0)
            assert likelihood(theta)[1] <= best + 1e-6


@pytest.mark.parametrize("problem", [small_problem(), short_problem()], ids=["orders", "top lists"])
def test_sampled_em_is_as_likely_as_exact_em(problem: Problem) -> None:
    """A θ far from 0 is loosely held by few lists, so likelihoods are compared, in the exact model."""
    from topkit.fusion.mallows.em import _ExactStep

    exact = fit_mallows(problem, estimate="exact", tolerance=1e-9, max_steps=400)
    sampled = fit_mallows(problem, Sampling(4, 200, 2), tolerance=1e-6, max_steps=1000)
    likelihood = _ExactStep(problem, problem.law)
    assert likelihood(exact.theta)[1] - likelihood(sampled.theta)[1] < 0.1
    np.testing.assert_allclose(sampled.theta[1:], exact.theta[1:], atol=0.1)


def test_sampled_distances_agree_with_enumeration() -> None:
    from topkit.fusion.mallows.em import _ExactStep

    for problem in (small_problem(), short_problem()):
        theta = np.array([-0.8, -0.5, -0.3, -0.05])
        expected, _ = _ExactStep(problem, problem.law)(theta)
        starts = problem.borda_orders(np.ones(4))
        draws = Sampler(problem, starts, Sampling(4, 50, 0)).draw(theta, 500, thin=20)
        found = sum(one[0] for one in draws)
        np.testing.assert_allclose(found, expected, rtol=0.02)


@pytest.mark.parametrize("seed", [0, 1])
def test_planted_rankers_are_told_apart(seed: int) -> None:
    """The paper's setting: K = 10, n = 30, Q = 10; every pair of unequal θ comes out in its order."""
    planted = [-1.0, -1.0, *[-0.05] * 7, 0.0]
    runs = planted_runs(planted, n=30, queries=10, seed=seed)
    fusion = fuse(runs, "mallows", seed=seed)
    assert fusion.theta is not None
    theta = list(fusion.theta.values())
    different = [(i, j) for i in range(10) for j in range(10) if planted[i] < planted[j]]
    assert np.mean([theta[i] < theta[j] for i, j in different]) > 0.95
    assert np.corrcoef(theta, planted)[0, 1] > 0.9
    truth = [f"d{doc:02}" for doc in range(30)]

    def far(run: Run) -> float:
        return float(np.mean([kendall_distance([doc for doc, _ in run[q]], truth) for q in run]))

    assert far(fusion.run) < 25 < 60 < far(tk.aggregate(runs, "borda"))
    assert fusion.diagnostics["r_hat"] < 1.1
    assert fusion.converged
    quick = fuse(runs, "mallows", estimate="borda", seed=seed)
    assert far(fusion.run) < far(quick.run) < far(tk.aggregate(runs, "borda"))


@pytest.mark.parametrize("estimate", ["metropolis", "borda"])
def test_borda_inference_is_the_borda_count_with_weights_of_theta(estimate: str) -> None:
    """The paper's alternative to sampling: rank by Σ_i exp(−θ_i)·(k + 1 − rank of the document in list i)."""
    runs = noisy_runs(4, 3, queries=4)
    fusion = fuse(runs, "mallows", estimate=estimate, inference="borda", seed=1)
    assert fusion.theta is not None
    assert fusion.weights is not None
    raised = {name: np.exp(-theta) for name, theta in fusion.theta.items()}
    assert fusion.weights == pytest.approx({name: w / sum(raised.values()) for name, w in raised.items()})
    longest = {q: max(len(run[q]) for run in runs) for q in runs[0]}
    for q in fusion.run:
        points: dict[str, float] = {}
        for run in runs:
            for place, (doc, _) in enumerate(run[q], 1):
                points[doc] = points.get(doc, 0.0) + raised[run.name] * (longest[q] + 1 - place)
        assert dict(fusion.run[q]) == pytest.approx(points)
    sampled = fuse(runs, "mallows", estimate=estimate, seed=1)
    assert sampled.theta == fusion.theta
    with pytest.raises(InputError, match="use inference='sampled'"):
        fuse(runs, "mallows", inference="borda", places=True)


def test_random_top_lists_get_no_say() -> None:
    fusion = fuse(noisy_runs(4, 6, queries=8), "mallows")
    assert fusion.theta is not None
    assert all(theta < -0.02 for name, theta in fusion.theta.items() if name.startswith("good"))
    assert all(theta > -0.005 for name, theta in fusion.theta.items() if name.startswith("bad"))


def test_place_probabilities() -> None:
    runs = planted_runs([-1.0, -0.5, -0.5], n=6, queries=2, seed=1)
    fusion = fuse(runs, "mallows", places=True, chains=4, sweeps=50)
    assert fusion.places is not None
    assert set(fusion.places) == {"q0", "q1"}
    table = fusion.places["q0"]
    assert list(table) == [doc for doc, _ in fusion.run["q0"]]
    matrix = np.array(list(table.values()))
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0)
    mean_place = matrix @ np.arange(1, 7)
    assert (np.diff(mean_place) >= 0).all()
    problem = Problem.of(Ballots.of(runs))
    theta = np.array(list((fusion.theta or {}).values()))
    exact = np.zeros((6, 6))
    for order in permutations(range(6)):
        weight = np.exp(theta @ problem.distances(0, np.array(order)))
        exact[list(order), range(6)] += weight
    exact /= exact[0].sum()
    pool = problem.ballots.docs[:6].tolist()
    np.testing.assert_allclose(matrix, exact[[pool.index(doc) for doc in table]], atol=0.05)
    assert fuse(runs, "mallows").places is None


def test_the_result_does_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = planted_runs([-0.7, -0.3, 0.0], n=8, queries=5, seed=4)
    results = []
    for threads in ("1", "3"):
        monkeypatch.setenv("TOPKIT_THREADS", threads)
        results.append(fuse(runs, "mallows", seed=9))
    assert results[0].run == results[1].run
    assert results[0].theta == results[1].theta
    assert fuse(runs, "mallows", seed=10).theta != results[0].theta


def test_too_few_steps_are_said() -> None:
    runs = planted_runs([-0.7, -0.3, 0.0], n=6, queries=3, seed=4)
    with pytest.warns(NotConverged, match="Mallows"):
        fusion = fuse(runs, "mallows", max_steps=1)
    assert not fusion.converged
    assert len(fusion.trace) == 2  # before and after the one step


def test_enumeration_is_for_small_pools() -> None:
    with pytest.raises(InputError, match="at most 7 documents"):
        fuse(planted_runs([-0.5, -0.5], n=9, queries=1, seed=0), "mallows", estimate="exact")


@pytest.mark.parametrize("settings", [{"depth": 0}, {"chains": 0}, {"sweeps": 0}, {"estimate": "guess"}])
def test_settings_that_cannot_be(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        tk.aggregate(runs_of(LISTS), "mallows", **settings)


def test_scale_reduction_by_hand() -> None:
    # halves (1, 3), (2, 4), (11, 13), (12, 14): within 2; means 2, 3, 12, 13 with variance 101/3; n = 2
    chains = np.array([[1.0, 3, 2, 4], [11, 13, 12, 14]])
    assert scale_reduction(chains) == pytest.approx(np.sqrt(1 / 2 + (101 / 3) / 2))
    assert scale_reduction(np.ones((2, 10))) == 1.0
    assert scale_reduction(np.array([[1.0] * 4, [2.0] * 4])) == np.inf
    with pytest.raises(ValueError, match="four"):
        scale_reduction(np.ones((2, 3)))
