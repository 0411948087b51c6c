"""The Mallows model against enumeration: normalisers, mean distances, likelihood, and the exact sampler."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, permutations
from math import exp, factorial, log

import numpy as np
import pytest

from topkit.fusion import kendall_distance, top_k_distance
from topkit.fusion.mallows import (
    expected_distance,
    expected_top_k_distance,
    log_likelihood,
    log_normaliser,
    probabilities,
    sample,
)

THETAS = (-2.5, -0.9, -0.3, -1e-3, -1e-7, 0.0)


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("n", range(1, 7))
def test_normaliser_and_mean_distance_by_enumeration(n: int, theta: float) -> None:
    distances = np.array([kendall_distance(order, range(n)) for order in permutations(range(n))])
    weights = np.exp(theta * distances)
    assert log_normaliser(theta, n) == pytest.approx(log(weights.sum()), abs=1e-10)
    assert expected_distance(theta, n) == pytest.approx((weights * distances).sum() / weights.sum(), abs=1e-9)


@pytest.mark.parametrize("theta", [-1.3, -0.2])
@pytest.mark.parametrize("n", range(2, 7))
def test_mean_distance_is_the_printed_formula(n: int, theta: float) -> None:
    q = exp(theta)
    printed = n * q / (1 - q) - sum(j * q**j / (1 - q**j) for j in range(1, n + 1))
    assert expected_distance(theta, n) == pytest.approx(printed, abs=1e-9)


def top_k_pairs() -> list[tuple[int, int]]:
    """Every (k, z) of two top-k lists that together hold at most six items."""
    return [(k, z) for k in range(1, 7) for z in range(k + 1) if 2 * k - z <= 6]


def enumerated(k: int, z: int, theta: float) -> float:
    """Mean distance to (0, …, k−1) over all lists of k items with z in common with it."""
    strangers = list(range(k, 2 * k - z))
    total = weight = 0.0
    for kept in combinations(range(k), z):
        for order in permutations([*kept, *strangers]):
            distance = top_k_distance(range(k), order)
            total += distance * exp(theta * distance)
            weight += exp(theta * distance)
    return total / weight


def printed_top_k(k: int, z: int, theta: float) -> float:
    """Equation (10) of the paper, as printed."""
    r, q = k - z, exp(theta)
    common = k * q / (1 - q) - sum(j * q**j / (1 - q**j) for j in range(r + 1, k + 1))
    return common + r * (r + 1) / 2 - r * (z + 1) * q ** (z + 1) / (1 - q ** (z + 1))


@pytest.mark.parametrize("theta", [-1.4, -0.35, 0.0])
@pytest.mark.parametrize(("k", "z"), top_k_pairs())
def test_mean_top_k_distance_by_enumeration(k: int, z: int, theta: float) -> None:
    assert expected_top_k_distance(theta, k, z) == pytest.approx(enumerated(k, z, theta), abs=1e-9)


@pytest.mark.parametrize(("k", "z"), top_k_pairs())
def test_printed_formula_holds_only_where_private_items_are_few(k: int, z: int) -> None:
    """Equation (10) takes the places of the r private items as independent: exact for r ≤ 1 or z = 0 only."""
    theta = -0.7
    independent = expected_top_k_distance(theta, k, z, independent=True)
    assert independent == pytest.approx(printed_top_k(k, z, theta), abs=1e-9)
    gap = independent - enumerated(k, z, theta)
    if k - z <= 1 or z == 0:
        assert gap == pytest.approx(0.0, abs=1e-9)
    else:
        assert gap > 0.05
    assert expected_top_k_distance(0.0, k, z, independent=True) == pytest.approx(enumerated(k, z, 0.0))


def test_mean_top_k_distance_needs_possible_numbers() -> None:
    with pytest.raises(ValueError, match="z must be from 0"):
        expected_top_k_distance(-1.0, 3, 4)


@pytest.mark.parametrize("theta", [-1.1, -0.2, 0.0])
def test_a_top_k_list_is_as_likely_as_its_completions_together(theta: float) -> None:
    p = probabilities(5, theta)
    assert sum(p.values()) == pytest.approx(1.0)
    for k in (1, 2, 3, 5):
        together: dict[tuple[int, ...], float] = defaultdict(float)
        for order, value in p.items():
            together[order[:k]] += value
        for short, value in together.items():
            assert log_likelihood([short], theta, range(5)) == pytest.approx(log(value), abs=1e-9)


def test_likelihood_by_hand() -> None:
    # Z = (1 + q)(1 + q + q²) with q = 1/e; the two orders are 0 and 1 away.
    q = exp(-1)
    expected = -1 - 2 * log((1 + q) * (1 + q + q * q))
    assert log_likelihood(["abc", "acb"], -1.0, "abc") == pytest.approx(expected)
    with pytest.raises(ValueError, match="centre"):
        log_likelihood(["abx"], -1.0, "abc")


@pytest.mark.parametrize(("n", "theta"), [(4, -0.6), (5, -0.15), (3, 0.0)])
def test_sampler_follows_the_exact_probabilities(n: int, theta: float) -> None:
    from scipy.stats import chisquare

    size = 40_000
    found = Counter(map(tuple, sample(n, theta, size, seed=11).tolist()))
    p = probabilities(n, theta)
    observed = [found[order] for order in p]
    assert sum(observed) == size
    assert chisquare(observed, [size * value for value in p.values()]).pvalue > 0.001
    assert len(p) == factorial(n)


def test_sampler_at_a_far_theta_returns_the_centre_and_is_seeded() -> None:
    assert (sample(6, -40.0, 5, seed=0) == np.arange(6)).all()
    np.testing.assert_array_equal(sample(8, -0.3, 50, seed=4), sample(8, -0.3, 50, seed=4))
    assert not np.array_equal(sample(8, -0.3, 50, seed=4), sample(8, -0.3, 50, seed=5))


def test_enumeration_has_a_limit() -> None:
    with pytest.raises(ValueError, match="8"):
        probabilities(9, -1.0)
