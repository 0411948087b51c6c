"""Listwise losses: by hand, against exact permutations, against their twins, and the top-k forms at k = n."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkit as tk
from tests.support import losses as twins


def test_listnet_by_hand() -> None:
    """Two documents, labels 1 and 0: P_y = (e/(1+e), 1/(1+e)); at s = 0 the cross entropy is log 2."""
    assert tk.loss("listnet")([0.0, 0.0], [1, 0], [0, 2])[0] == pytest.approx(math.log(2))
    value, gradient = tk.loss("listnet")([1.0, 0.0], [1, 0], [0, 2])
    p = math.e / (1 + math.e)
    assert value == pytest.approx(-(p * math.log(p) + (1 - p) * math.log(1 - p)))
    assert gradient == pytest.approx([0, 0], abs=1e-15)  # the scores are the labels: the optimum


def test_listmle_by_hand() -> None:
    """Order a, b, c with scores 0, 1, 2: log(1+e+e²) − 0, then log(e+e²) − 1, then nothing to choose."""
    value, _ = tk.loss("listmle")([0.0, 1.0, 2.0], [3, 2, 1], [0, 3])
    expected = math.log(1 + math.e + math.e**2) + math.log(math.e + math.e**2) - 1
    assert value == pytest.approx(expected)
    first, gradient = tk.loss("topk-listmle", k=1)([0.0, 1.0, 2.0], [3, 2, 1], [0, 3])
    assert first == pytest.approx(math.log(1 + math.e + math.e**2))
    total = 1 + math.e + math.e**2
    assert gradient == pytest.approx([1 / total - 1, math.e / total, math.e**2 / total])


def test_rankcosine_by_hand() -> None:
    """cos((1, 0), (1, 1)) = 1/√2; against a vector in the opposite direction the loss is 1."""
    assert tk.loss("rankcosine")([1.0, 1.0], [1, 0], [0, 2])[0] == pytest.approx(0.5 * (1 - 1 / math.sqrt(2)))
    assert tk.loss("rankcosine")([-2.0, 0.0], [1, 0], [0, 2])[0] == pytest.approx(1)
    value, gradient = tk.loss("rankcosine")([0.0, 0.0], [3, 4], [0, 2])  # no direction yet
    assert value == 0.5
    assert gradient == pytest.approx([-0.3, -0.4])  # −½·(3, 4)/5
    assert tk.loss("rankcosine")([1.0, 2.0], [0, 0], [0, 2])[0] == 0  # nothing relevant, nothing known


def test_top_k_truth_of_a_tie_shares_its_places() -> None:
    """Labels 2, 1, 1, 0 and k = 2: the second place is shared, so ψ = (2, ½·1 + ½·ε, ½·1 + ½·ε, ε)."""
    s, y = np.array([0.3, -0.2, 0.9, 0.1]), np.array([2.0, 1, 1, 0])
    psi = np.array([2, 0.6, 0.6, 0.2])
    net, cosine = tk.loss("topk-listnet", k=2, epsilon=0.2), tk.loss("topk-rankcosine", k=2, epsilon=0.2)
    assert net(s, y, [0, 4])[0] == pytest.approx(twins.listnet(s, psi))
    assert cosine(s, y, [0, 4])[0] == pytest.approx(twins.rankcosine(s, psi))


def test_listmle_of_a_tie() -> None:
    """Labels 1, 1, 0: both of the tie are chosen from all three; top-1 gives each half the choice."""
    s = np.array([0.5, -0.3, 0.2])
    everything = math.log(np.exp(s).sum())
    both = 2 * everything - s[0] - s[1]
    assert tk.loss("listmle")(s, [1, 1, 0], [0, 3])[0] == pytest.approx(both)
    assert tk.loss("topk-listmle", k=1)(s, [1, 1, 0], [0, 3])[0] == pytest.approx(both / 2)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_listnet_against_exact_permutations(n: int) -> None:
    """Top-one probabilities are sums of Plackett–Luce probabilities over orders with that first item."""
    rng = np.random.default_rng(n)
    s, y = rng.normal(size=n), rng.normal(size=n)

    def top_one(scores: np.ndarray) -> np.ndarray:
        found = np.zeros(n)
        for order in permutations(range(n)):
            ranked = np.exp(scores[list(order)])
            found[order[0]] += np.prod([ranked[i] / ranked[i:].sum() for i in range(n)])
        return found

    expected = -(top_one(y) * np.log(top_one(s))).sum()
    assert tk.loss("listnet")(s, y, [0, n])[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_listmle_against_exact_permutations(n: int) -> None:
    """e^(−ListMLE) is a distribution over orders, e^(−top-k ListMLE) over what stands in the first k."""
    s = np.random.default_rng(n).normal(size=n)
    for k in range(1, n + 1):
        chances: dict[tuple[int, ...], float] = {}
        for order in permutations(range(n)):
            y = np.empty(n)
            y[list(order)] = np.arange(n, 0, -1)
            chances[order[:k]] = math.exp(-tk.loss("topk-listmle", k=k)(s, y, [0, n])[0])
        assert sum(chances.values()) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("name", ["listnet", "listmle", "rankcosine"])
@given(seed=st.integers(0, 10**6), graded=st.booleans())
def test_top_k_with_k_of_the_whole_list_is_the_original(name: str, seed: int, graded: bool) -> None:
    rng = np.random.default_rng(seed)
    ptr = np.concatenate([[0], np.cumsum(rng.integers(1, 9, 4))])
    s = rng.normal(size=ptr[-1])
    y = rng.integers(0, 3, ptr[-1]).astype(float) if graded else rng.permutation(ptr[-1]) + 1.0
    for k in (8, 1000):
        whole, top = tk.loss(name)(s, y, ptr), tk.loss(f"topk-{name}", k=k)(s, y, ptr)
        assert top[0] == pytest.approx(whole[0], rel=1e-12)
        np.testing.assert_allclose(top[1], whole[1], rtol=1e-12, atol=1e-14)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 60), k=st.integers(1, 60), wide=st.booleans())
def test_against_the_twins(seed: int, n: int, k: int, wide: bool) -> None:
    rng = np.random.default_rng(seed)
    s = rng.normal(scale=150 if wide else 1, size=n)
    y = (rng.permutation(n) + 1).astype(np.float64)
    assert tk.loss("topk-listmle", k=k)(s, y, [0, n])[0] == pytest.approx(
        twins.listmle(s, y, k), rel=1e-9, abs=1e-9
    )
    psi = twins.psi(y, k, 0.25)
    assert tk.loss("topk-listnet", k=k, epsilon=0.25)(s, y, [0, n])[0] == pytest.approx(
        float(-(twins.softmax(psi) * (s - s.max() - math.log(np.exp(s - s.max()).sum()))).sum()), rel=1e-9
    )
    assert tk.loss("topk-rankcosine", k=k, epsilon=0.25)(s, y, [0, n])[0] == pytest.approx(
        twins.rankcosine(s, psi), rel=1e-9, abs=1e-12
    )


def test_listmle_of_scores_far_apart() -> None:
    """The worst order of 1e4, 0, −1e4: the first choice costs 2e4 and the second 1e4."""
    value, gradient = tk.loss("listmle")([-1e4, 0.0, 1e4], [3, 2, 1], [0, 3])
    assert value == pytest.approx(3e4)
    assert gradient == pytest.approx([-1, -1, 2])


@pytest.mark.parametrize("scale", [1.0, 90.0, 2000.0])
def test_listmle_is_exact_for_any_range_of_scores(scale: float) -> None:
    """Gradient Σ_i p_i − 1 and curvature Σ_i p_i(1 − p_i) by log-sums of each choice."""
    rng = np.random.default_rng(11)
    s, y = rng.normal(scale=scale, size=40), rng.permutation(40) + 1.0
    order = np.argsort(-y)
    slope, bend = np.zeros(40), np.zeros(40)
    for i in range(12):
        left = order[i:]
        p = np.exp(s[left] - np.logaddexp.reduce(s[left]))
        slope[left] += p
        bend[left] += p * (1 - p)
        slope[order[i]] -= 1
    _, gradient, curvature = tk.loss("topk-listmle", k=12).on(y, [0, 40]).with_curvature(s)
    np.testing.assert_allclose(gradient, slope, atol=1e-10)
    np.testing.assert_allclose(curvature, bend, atol=1e-10)
