"""The bounds on lost expected DCG: Proposition 1, Corollary 2, and Proposition 3 with its counterexample."""

from __future__ import annotations

import doctest
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkit.compute import Floats
from topkit.rankers.mixture.bounds import divergence_bound, excess_dcg, largest_factor, probability_bound

ORDERS = st.sampled_from([1.0, 1.5, 2.0, 4.0, np.inf])


def probabilities(seed: int, n: int, K: int) -> tuple[Floats, Floats, Floats]:
    """True and estimated probabilities, near to each other or far apart, and gains."""
    rng = np.random.default_rng(seed)
    true, guess = rng.dirichlet(np.full(K, 0.7), n), rng.dirichlet(np.full(K, 0.7), n)
    true, guess = (0.999 * p + 0.001 / K for p in (true, guess))
    mixed = rng.random() ** 4
    return true, mixed * guess + (1 - mixed) * true, np.exp2(np.arange(K)) - 1


def expected_dcg(order: tuple[int, ...], value: Floats) -> float:
    """Σ c_i·v*(document at rank i), from the definition."""
    return float(sum(value[doc] / np.log2(rank + 2) for rank, doc in enumerate(order)))


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(2, 4))
def test_the_excess_by_enumeration(seed: int, n: int, K: int) -> None:
    true, guess, z = probabilities(seed, n, K)
    best = max(expected_dcg(order, true @ z) for order in permutations(range(n)))
    chosen = tuple(np.argsort(-(guess @ z), kind="stable").tolist())
    assert excess_dcg(true, guess, z) == pytest.approx(best - expected_dcg(chosen, true @ z), abs=1e-12)


@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(2, 5), ORDERS)
def test_proposition_1_and_corollary_2(seed: int, n: int, K: int, q: float) -> None:
    true, guess, z = probabilities(seed, n, K)
    excess, bound = excess_dcg(true, guess, z), probability_bound(true, guess, z, q)
    assert -1e-12 <= excess <= bound + 1e-12
    distance = np.linalg.norm((guess - true).ravel(), q)
    assert bound <= largest_factor(n, z, q) * distance + 1e-12


@pytest.mark.parametrize("q", [1.5, 2.0, 4.0, np.inf])
def test_the_reversed_order_has_the_largest_factor(q: float) -> None:
    """Every pair of orders of five documents, from the definition of C₁."""
    p = 1.0 if q == np.inf else q / (q - 1)
    z, c = np.array([0.0, 1.0, 3.0]), 1 / np.log2(np.arange(2, 7))
    factors = [np.linalg.norm(np.outer(c - c[list(order)], z).ravel(), p) for order in permutations(range(5))]
    assert largest_factor(5, z, q) == pytest.approx(max(factors))


def test_proposition_3_is_false_as_printed() -> None:
    """Two documents with p* = ½ ± 0.005 for the relevant class, exchanged by the estimate; z = (0, 1), ε = ½.

    The excess is (1 − 1/log2 3)·0.01 = 0.36907·0.01 = 0.0036907. KL of each document is
    0.505 ln(0.505/0.495) + 0.495 ln(0.495/0.505) = 0.01·ln(0.505/0.495) = 0.000200007, together 0.000400013.
    C₁ = √2·0.36907 = 0.521944, and (1 + 2ε)/(½/0.505) = 2.02, so the printed bound is
    0.521944·2.02·0.000400013 = 0.00042175: an eighth of the excess. With the square root it is
    0.521944·√(2.02·0.000400013) = 0.014837.
    """
    true = np.array([[0.495, 0.505], [0.505, 0.495]])
    excess, bound = (
        excess_dcg(true, true[::-1], np.array([0.0, 1.0])),
        divergence_bound(true, true[::-1], np.array([0.0, 1.0])),
    )
    assert excess == pytest.approx(0.0036907, abs=1e-7)
    assert bound.printed == pytest.approx(0.00042175, abs=1e-8)
    assert bound.corrected == pytest.approx(0.014837, abs=1e-6)
    assert bound.near
    assert bound.printed < excess < bound.anywhere < bound.corrected


@given(st.floats(1e-6, 0.05))
def test_the_printed_bound_fails_for_every_small_exchange(gap: float) -> None:
    """The excess is linear in the gap and the printed bound quadratic, so no δ makes Proposition 3 true."""
    true = np.array([[0.5 - gap / 2, 0.5 + gap / 2], [0.5 + gap / 2, 0.5 - gap / 2]])
    bound = divergence_bound(true, true[::-1], np.array([0.0, 1.0]))
    assert bound.near
    assert bound.printed < excess_dcg(true, true[::-1], np.array([0.0, 1.0]))


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(2, 5), st.floats(0.01, 0.5))
def test_proposition_3_corrected(seed: int, n: int, K: int, epsilon: float) -> None:
    true, guess, z = probabilities(seed, n, K)
    excess, bound = excess_dcg(true, guess, z), divergence_bound(true, guess, z, epsilon)
    assert excess <= bound.anywhere + 1e-12
    if bound.near:
        assert excess <= bound.corrected + 1e-12


def test_a_divergence_below_the_precision_of_a_logarithm() -> None:
    """p* = (0.7, 0.3) and p = (0.7 − 1e-9, 0.3 + 1e-9): KL = ½·1e-18·(1/0.7 + 1/0.3) = 2.380952e-18.

    √KL = 1.543033e-9. With two such documents and z = (0, 1), C₁ = 0.521944, as above.
    """
    true, guess = np.array([[0.7, 0.3], [0.5, 0.5]]), np.array([[0.7 - 1e-9, 0.3 + 1e-9], [0.5, 0.5]])
    bound = divergence_bound(true, guess, np.array([0.0, 1.0]))
    assert bound.anywhere == pytest.approx(0.521944 * 1.543033e-9, rel=1e-4)


def test_probabilities_of_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        divergence_bound(np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]]), np.array([0.0, 1.0]))
    with pytest.raises(ValueError, match="epsilon"):
        divergence_bound(np.full((1, 2), 0.5), np.full((1, 2), 0.5), np.array([0.0, 1.0]), 0.7)


def test_the_examples_of_the_guide_run() -> None:
    guide = Path(__file__).parents[2] / "docs" / "tune-and-mix.md"
    result = doctest.testfile(str(guide), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0
