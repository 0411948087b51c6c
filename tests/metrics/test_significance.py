"""Significance tests against hand computation, exact enumeration and scipy; corrections and intervals."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import topkit as tk
from topkit.data import InputError
from topkit.metrics import CONVENTIONS, Evaluation
from topkit.metrics.bootstrap import interval
from topkit.metrics.significance import bonferroni, holm, paired_t, randomisation, randomised_tukey, wilcoxon

A = np.array([0.71, 0.32, 0.55, 0.90, 0.44, 0.63, 0.28, 0.51])
B = np.array([0.65, 0.35, 0.41, 0.72, 0.40, 0.50, 0.20, 0.47])
C = np.array([0.30, 0.36, 0.12, 0.70, 0.22, 0.11, 0.30, 0.05])


def evaluation(values: np.ndarray, name: str = "rr") -> Evaluation:
    qids = tuple(f"q{i}" for i in range(len(values)))
    return Evaluation(qids, {name: np.array(values)}, CONVENTIONS["trec"])


def test_paired_t_by_hand() -> None:
    # differences 1, 2, 3, 4, 5: mean 3, deviation √2.5, t = 3/(√2.5/√5) = 3·√2, 4 degrees of freedom;
    # with x = 4/(4 + t²) = 2/11 the two-sided p of Student's t with 4 degrees is 1 − √(1−x)·(1 + x/2)
    x = 2 / 11
    assert paired_t(np.arange(1.0, 6.0)) == pytest.approx(1 - np.sqrt(1 - x) * (1 + x / 2), abs=1e-12)
    assert paired_t(np.zeros(5)) == 1.0
    assert paired_t(np.ones(5)) == 0.0
    assert paired_t(np.ones(1)) == 1.0


def test_wilcoxon_by_enumeration() -> None:
    # ranks of |d| = 1..6; how many of the 2^6 signs give a sum of negative ranks as small, or as large?
    differences = np.array([3.0, -1.0, 2.5, 4.0, -0.5, 6.0])
    ranks = np.abs(differences).argsort().argsort() + 1
    observed = min(ranks[differences < 0].sum(), ranks[differences > 0].sum())
    sums = [np.dot(signs, ranks) for signs in product([0, 1], repeat=6)]
    p = 2 * np.mean(np.array(sums) <= observed)
    assert wilcoxon(differences) == pytest.approx(p, abs=1e-12)
    assert wilcoxon(np.concatenate([differences, np.zeros(3)])) == pytest.approx(p, abs=1e-12)
    assert wilcoxon(np.zeros(4)) == 1.0


def test_against_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=200), rng.normal(0.1, size=200)
    assert paired_t(a - b) == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=1e-12)
    assert wilcoxon(a - b) == pytest.approx(stats.wilcoxon(a, b).pvalue, abs=1e-12)
    flips = stats.permutation_test(
        (a - b,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(3)
    )
    assert randomisation(a - b, 20_000) == pytest.approx(flips.pvalue, abs=0.012)  # three standard errors


def test_randomisation_by_enumeration() -> None:
    differences = A - B
    sums = [abs(np.dot(signs, differences)) for signs in product([1, -1], repeat=8)]
    exact = np.mean(np.array(sums) >= abs(differences.sum()) - 1e-12)
    assert randomisation(differences) == exact  # 256 flips, so all of them are tried
    assert randomisation(differences, samples=200_000) == exact
    assert randomisation(np.array([1.0, 2.0, 3.0])) == 2 / 8
    drawn = randomisation(np.concatenate([differences] * 3), samples=5000, seed=4)
    assert drawn == randomisation(np.concatenate([differences] * 3), samples=5000, seed=4)


@given(st.lists(st.integers(-5, 5), min_size=13, max_size=16), st.integers(0, 99))
def test_drawn_randomisation_is_near_the_exact_one(values: list[int], seed: int) -> None:
    differences = np.array(values, np.float64)
    exact = randomisation(differences, samples=2**16)
    drawn = randomisation(differences, samples=4000, seed=seed)
    assert abs(drawn - exact) < 5 * np.sqrt(0.25 / 4000) + 1 / 4000


def test_tukey_by_enumeration() -> None:
    """Three systems on four queries: all 6^4 shufflings of systems within queries."""
    values = np.stack([A, B, C], axis=1)[:4]
    means = values.mean(axis=0)
    orders = list(permutations(range(3)))
    spreads = []
    for choice in product(orders, repeat=4):
        shuffled = np.array([values[q, list(order)] for q, order in enumerate(choice)])
        spreads.append(np.ptp(shuffled.mean(axis=0)))
    p = randomised_tukey(values, samples=40_000, seed=1)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        exact = np.mean(np.array(spreads) >= abs(means[i] - means[j]) - 1e-12)
        assert p[i, j] == p[j, i] == pytest.approx(exact, abs=0.01)  # four standard errors
    assert (np.diag(p) == 1).all()


def test_tukey_of_two_systems_is_fishers_test() -> None:
    p = randomised_tukey(np.stack([A, C], axis=1), samples=40_000, seed=2)
    assert p[0, 1] == pytest.approx(randomisation(A - C), abs=0.01)


def test_tukey_is_paired() -> None:
    """Hard and easy queries do not hide a small constant difference."""
    rng = np.random.default_rng(0)
    difficulty = rng.normal(scale=10, size=30)
    values = np.stack([difficulty, difficulty + 0.1 + rng.normal(scale=0.01, size=30)], axis=1)
    assert randomised_tukey(values, samples=2000)[0, 1] < 0.01


def test_corrections_by_hand() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.005])
    assert_allclose(bonferroni(p), [0.04, 0.16, 0.12, 0.02])
    # sorted .005·4 = .02, .01·3 = .03, .03·2 = .06, .04·1 = .04 → not below .06
    assert_allclose(holm(p), [0.03, 0.06, 0.06, 0.02])
    assert_allclose(holm(np.array([0.6, 0.5])), [1.0, 1.0])


def test_compare_all_pairs_and_one_baseline() -> None:
    systems = {"a": evaluation(A), "b": evaluation(B), "c": evaluation(C)}
    found = tk.compare(systems, "rr", test="t", correction="bonferroni")
    assert [(pair.a, pair.b) for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    for pair, difference in zip(found.pairs, (A - B, A - C, B - C), strict=True):
        assert pair.difference == pytest.approx(difference.mean(), abs=1e-12)
        assert pair.p == pytest.approx(paired_t(difference), abs=1e-12)
        assert pair.corrected == pytest.approx(min(1.0, 3 * pair.p), abs=1e-12)
    assert found["c", "a"].difference == -found["a", "c"].difference
    assert found.better_than("a") == ("b", "c")
    assert found.better_than("c") == ()
    assert "bonferroni" in str(found)
    only = tk.compare(systems, "rr", test="randomisation", correction=None, baseline="b")
    assert [(pair.a, pair.b) for pair in only.pairs] == [("a", "b"), ("b", "c")]
    assert all(pair.p == pair.corrected for pair in only.pairs)
    with pytest.raises(KeyError):
        only["a", "c"]


def test_tukey_is_not_corrected_twice() -> None:
    systems = {"a": evaluation(A), "b": evaluation(B), "c": evaluation(C)}
    found = tk.compare(systems, "rr", test="tukey", correction="holm", seed=5)
    table = randomised_tukey(np.stack([A, B, C], axis=1), seed=5)
    assert [pair.corrected for pair in found.pairs] == [table[0, 1], table[0, 2], table[1, 2]]


def test_a_loss_is_better_when_smaller() -> None:
    found = tk.compare({"a": evaluation(A, "loss01"), "c": evaluation(C, "loss01")}, "loss01")
    assert found.better_than("c") == ("a",)
    assert found.better_than("a") == ()
    assert found["c", "a"].direction() == 1
    assert found["a", "c"].direction() == -1
    assert found["a", "c"].direction(level=1e-9) == 0


def test_each_system_is_compared_with_the_baseline() -> None:
    """Whichever comes first in the comparison, the system is compared with the baseline."""
    systems = {"a": evaluation(A), "b": evaluation(B), "c": evaluation(C)}
    against = tk.compare(systems, "rr", baseline="b").against("b")
    assert {name: (pair.a, pair.b) for name, pair in against.items()} == {"a": ("a", "b"), "c": ("c", "b")}
    assert (against["a"].direction(), against["c"].direction()) == (1, -1)
    assert against["a"].difference == pytest.approx(A.mean() - B.mean())


def test_queries_are_matched_by_name() -> None:
    e = evaluation(A)
    turned = Evaluation(e.qids[::-1], {"rr": B[::-1].copy()}, e.convention)
    assert tk.compare({"a": e, "b": turned}, "rr").pairs[0].p == pytest.approx(paired_t(A - B), abs=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"test": "anova"}, "unknown test"),
        ({"correction": "none"}, "unknown correction"),
        ({"baseline": "z"}, "was not evaluated"),
    ],
)
def test_mistakes(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tk.compare({"a": evaluation(A), "b": evaluation(B)}, "rr", **change)


def test_different_queries_or_conventions() -> None:
    e = evaluation(A)
    with pytest.raises(InputError, match="different queries"):
        tk.compare({"a": e, "b": evaluation(B[:5])}, "rr")
    with pytest.raises(InputError, match="different conventions"):
        tk.compare({"a": e, "b": Evaluation(e.qids, {"rr": B}, CONVENTIONS["yahoo"])}, "rr")
    with pytest.raises(InputError, match="at least two"):
        tk.compare({"a": e}, "rr")


def test_bootstrap_interval() -> None:
    e = evaluation(A)
    low, high = e.interval("rr")
    assert (low, high) == e.interval("rr", seed=0) != e.interval("rr", seed=1)
    error = A.std() / np.sqrt(len(A))  # the means of samples have this deviation, and are nearly normal
    assert low == pytest.approx(A.mean() - 1.96 * error, abs=0.3 * error)
    assert high == pytest.approx(A.mean() + 1.96 * error, abs=0.3 * error)
    assert interval(A, level=0.5)[0] > low
    with pytest.raises(ValueError, match="between 0 and 1"):
        interval(A, level=95)


def test_bootstrap_by_enumeration() -> None:
    """Two queries: the mean of a sample is 0, ½ or 1 with probability ¼, ½, ¼."""
    assert interval(np.array([0.0, 1.0]), level=0.4) == (0.5, 0.5)
    assert interval(np.array([0.0, 1.0]), level=0.9) == (0.0, 1.0)


def test_bootstrap_of_other_averages() -> None:
    geometric = evaluation(A, "gm_map")
    low, high = geometric.interval("gm_map")
    assert low < geometric.mean["gm_map"] < high
    assert_allclose((low, high), np.exp(interval(np.log(A))))
    total = evaluation(A * 10, "num_ret").interval("num_ret")
    assert_allclose(total, np.array(interval(A * 10)) * 8)
