"""FocusedRank, pointwise losses, LambdaRank and SoftNDCG: by hand and against their twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkit as tk
from tests.support import losses as twins


def test_focused_starts_at_one() -> None:
    """Both parts are divided by their value at s = 0, so any β gives 1 there."""
    y, ptr = [3, 2, 1, 0, 0, 0, 1, 3, 0, 2], [0, 6, 10]
    for beta in (0.0, 0.3, 1.0):
        for within, across in (("listnet", "logistic"), ("listmle", "hinge"), ("rankcosine", "exponential")):
            loss = tk.loss("focused", k=3, beta=beta, within=within, across=across)
            assert loss.on(y, ptr).per_query(np.zeros(10)) == pytest.approx([1, 1])


def test_focused_by_hand() -> None:
    """Labels 2, 1, 0, 0 with k = 2: T = {a, b}, F = {c, d}, L_list(0) = log 2, L_pair(0) = 4·log 2."""
    s = np.array([1.0, 0.0, 2.0, -1.0])
    p = twins.softmax(np.array([2.0, 1.0]))
    within = -(p * np.log(twins.softmax(s[:2]))).sum() / math.log(2)
    across = sum(math.log(1 + math.exp(-(s[u] - s[v]))) for u in (0, 1) for v in (2, 3)) / (4 * math.log(2))
    for beta in (0.0, 0.25, 1.0):
        value = tk.loss("focused", k=2, beta=beta)(s, [2, 1, 0, 0], [0, 4])[0]
        assert value == pytest.approx(beta * within + (1 - beta) * across)


def test_parts_of_focused_that_say_nothing_count_nothing() -> None:
    """k ≥ n leaves no F, and k = 1 no order within T."""
    s = np.array([0.3, -0.1, 0.8])
    alone = tk.loss("focused", k=5, beta=0.5)(s, [3, 2, 1], [0, 3])[0]
    assert alone == pytest.approx(0.5 * twins.listnet(s, np.array([3.0, 2, 1])) / math.log(3))
    first = tk.loss("focused", k=1, beta=0.5)(s, [1, 0, 0], [0, 3])[0]
    pairs = tk.loss("logistic", pairs="focused", k=1)(s, [1, 0, 0], [0, 3])[0]
    assert first == pytest.approx(0.5 * pairs / (2 * math.log(2)))


def test_focused_on_grades_leaves_the_lowest_label_outside() -> None:
    """Labels 1, 0, 0, 0 and k = 2: the second place falls among the zeros, which are no part of T."""
    s = np.array([0.5, 0.1, -0.2, 0.9])
    value = tk.loss("focused", k=2, beta=1.0)(s, [1, 0, 0, 0], [0, 4])[0]
    assert value == 0  # T is one document, so its order says nothing


def test_pointwise_by_hand() -> None:
    """Labels 2, 1: gains 3, 1; ideal DCG 3 + 1/log2(3)."""
    s, y, ptr = [1.0, 0.0], [2, 1], [0, 2]
    assert tk.loss("squared-error")(s, y, ptr)[0] == 1 + 1
    assert tk.loss("squared-gain")(s, y, ptr)[0] == 4 + 1
    ideal = 3 + 1 / math.log2(3)
    expected = (1 - 3 / ideal) ** 2 + (1 / ideal) ** 2
    assert tk.loss("squared-ndcg")(s, y, ptr)[0] == pytest.approx(expected)
    first = tk.loss("squared-ndcg", k=1)(s, y, ptr)[0]
    assert first == pytest.approx((1 - 3 / 3) ** 2 + (1 / 3) ** 2)


def test_gains_of_huge_labels_are_refused() -> None:
    with pytest.raises(tk.InputError, match="exceeds floating point"):
        tk.loss("squared-gain")([0.0], [2000], [0, 1])


@given(seed=st.integers(0, 10**6), n=st.integers(2, 12), k=st.sampled_from([None, 1, 3, 20]))
def test_ndcg_losses_against_their_twins(seed: int, n: int, k: int | None) -> None:
    rng = np.random.default_rng(seed)
    s, y = rng.normal(size=n), rng.integers(0, 4, n).astype(float)
    assert tk.loss("lambdarank", k=k)(s, y, [0, n])[0] == pytest.approx(twins.lambdarank(s, y, k), rel=1e-9)
    if y.any():
        for sigma in (0.05, 1.0):
            value = tk.loss("softndcg", k=k, sigma=sigma)(s, y, [0, n])[0]
            assert value == pytest.approx(twins.soft_ndcg(s, y, sigma, k), rel=1e-9, abs=1e-12)


def test_softndcg_becomes_ndcg() -> None:
    """Scores 3, 2, 1 for gains 0, 3, 1: NDCG = (3/log2 3 + 1/2) / (3 + 1/log2 3)."""
    value, _ = tk.loss("softndcg", sigma=1e-3)([3.0, 2.0, 1.0], [0, 2, 1], [0, 3])
    ndcg = (3 / math.log2(3) + 0.5) / (3 + 1 / math.log2(3))
    assert value == pytest.approx(1 - ndcg, abs=1e-12)


def test_softndcg_of_equal_scores_points_to_the_ideal_order() -> None:
    """Gains 0, 3, 1 with mean 4/3 and ideal DCG 3 + 1/log2 3."""
    gradient = tk.loss("softndcg")([1.0, 1.0, 1.0], [0, 2, 1], [0, 3])[1]
    assert gradient == pytest.approx(np.array([4 / 3, 4 / 3 - 3, 4 / 3 - 1]) / (3 + 1 / math.log2(3)))


def test_lambdarank_of_equal_scores() -> None:
    """All tied: a swap may move a document from the last rank to the first, for every pair alike."""
    value, gradient = tk.loss("lambdarank")([0.0, 0.0, 0.0], [1, 0, 0], [0, 3])
    swap = 1 - 1 / math.log2(4)
    assert value == pytest.approx(2 * swap * math.log(2))
    assert gradient == pytest.approx([-swap, swap / 2, swap / 2])


def brute_lambdarank(s: np.ndarray, y: np.ndarray, k: int, depth: int) -> tuple[float, np.ndarray]:
    """The formula over all pairs with a document whose tie starts within ``depth``; ties as documented."""
    gains = 2.0**y - 1
    ideal = twins.dcg(np.sort(gains)[::-1], k)
    rank = np.array([(s > score).sum() for score in s])  # of the first document of each tie
    size = np.array([(s == score).sum() for score in s])
    discount = np.array([1 / math.log2(r + 2) if r < k else 0.0 for r in range(len(s))])
    middle = np.array([discount[r : r + m].mean() for r, m in zip(rank, size, strict=True)])
    spread = np.array([discount[r] - discount[r + m - 1] for r, m in zip(rank, size, strict=True)])
    margin = s[:, None] - s[None, :]
    swap = np.where(margin == 0, spread[:, None], abs(middle[:, None] - middle[None, :]))
    counted = (rank[:, None] < depth) | (rank[None, :] < depth)
    weight = np.maximum(gains[:, None] - gains[None, :], 0) * swap * counted / ideal
    wrong = 1 / (1 + np.exp(margin))
    return float((weight * np.log1p(np.exp(-margin))).sum()), (weight * wrong).sum(0) - (weight * wrong).sum(
        1
    )


@pytest.mark.parametrize("decimals", [0, 1, 12])
@pytest.mark.parametrize("k", [None, 10, 5000])
def test_lambdarank_of_long_lists_is_its_formula(k: int | None, decimals: int) -> None:
    """k = 5000 ≥ n is exact; k None leaves out pairs after rank 1,000, and nothing else."""
    rng = np.random.default_rng(decimals)
    n = 1300
    s, y = rng.normal(size=n).round(decimals), rng.integers(0, 4, n).astype(float)
    value, gradient = tk.loss("lambdarank", k=k)(s, y, [0, n])
    expected, slopes = brute_lambdarank(s, y, k or n, 1000 if k is None else n)
    assert value == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(gradient, slopes, atol=1e-12)


@pytest.mark.parametrize("tied", [False, True])
def test_lambdarank_visits_pairs_in_proportion_to_the_length(tied: bool) -> None:
    """Five times the documents: at most 1,000 ranks × n pairs, not 25 times as many; by grades if tied."""
    from topkit.losses.base import WHOLE
    from topkit.losses.ndcg.kernels import LONG, long_lambdarank

    rng = np.random.default_rng(0)
    visited = []
    for n in (4_000, 20_000):
        s, gain = rng.normal(size=n) * (not tied), rng.integers(0, 4, n).astype(float)
        visited.append(long_lambdarank(s, gain, 1.0, WHOLE, np.zeros(n), np.zeros(n))[1])
        assert visited[-1] <= (LONG * n if not tied else 4 * 3 // 2)
    assert visited[1] <= 6 * visited[0]
