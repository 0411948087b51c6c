"""Losses of the last ten years against loops written from their formulas; see also test_against_rax."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topkit as tk
from tests.support import losses as twins
from tests.support.losses import differences, ragged
from topkit.compute import NotConverged
from topkit.losses import LOSSES
from topkit.losses.lambdaloss import SCHEMES
from topkit.rankers.checks import easy_data

WEIGHTED = sorted(name for name in LOSSES if "document_weights" in tk.loss(name).accepts)


RECENT = (
    "softmax", "poly-softmax", "uni-softmax", "calibrated-softmax", "regression-compatible",
    "rank-distillation", "ordinal", "approxndcg", "gumbel-approxndcg", "approxmrr", "neuralsort",
    "neuralndcg", "lambdaloss",
)  # fmt: skip


@pytest.mark.parametrize("name", RECENT)
def test_top_k_truth_with_weights_is_learnt(name: str) -> None:
    """From the top three of each list, with weights of queries and documents."""
    data = easy_data(30).top_k(3, seed=0)
    rng = np.random.default_rng(0)
    weights, trust = rng.uniform(0.5, 2, data.n_queries), rng.uniform(0.5, 2, len(data))
    ranker = tk.ranker("gradient", loss=name, l2=1e-3, max_steps=40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        fitted = ranker.fit(data, weights=weights, document_weights=trust)
    test = easy_data(30, seed=2).top_k(3, seed=0)
    assert tk.evaluate(test, fitted.score(test), "rr").mean["rr"] > 0.85


def soft_permutation(s: np.ndarray, temperature: float) -> np.ndarray:
    n = len(s)
    spread = np.abs(s[:, None] - s[None, :]).sum(axis=1)
    return np.array([twins.softmax(((n + 1 - 2 * i) * s - spread) / temperature) for i in range(1, n + 1)])


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12), k=st.sampled_from([None, 1, 3]))
def test_neuralsort_against_the_matrix(seed: int, n: int, k: int | None) -> None:
    """Full orders: −mean over places of log P[place, true document]; grades: any document of the grade."""
    rng = np.random.default_rng(seed)
    s, places = rng.normal(size=n), min(k or n, n)
    order = rng.permutation(n) + 1.0
    P = soft_permutation(s, 0.7)
    loss = tk.loss("neuralsort", k=k, temperature=0.7)
    true_row = np.argsort(-order)
    expected = -np.mean([math.log(P[i, true_row[i]]) for i in range(places)])
    assert loss(s, order, [0, n])[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    y = rng.integers(0, 3, n).astype(float)
    best_first = np.sort(y)[::-1]
    by_grade = -np.mean([math.log(P[i, y == best_first[i]].sum()) for i in range(places)])
    assert loss(s, y, [0, n])[0] == pytest.approx(by_grade, rel=1e-9, abs=1e-12)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6), n=st.integers(2, 10), k=st.sampled_from([None, 1, 3]), steps=st.integers(0, 4)
)
def test_neuralndcg_against_the_matrix(seed: int, n: int, k: int | None, steps: int) -> None:
    rng = np.random.default_rng(seed)
    s, y = rng.normal(size=n), rng.integers(0, 4, n).astype(float)
    y[0] = 2.0
    P = soft_permutation(s, 1.5)
    for _ in range(steps):
        P /= P.sum(axis=0)
        P /= P.sum(axis=1, keepdims=True)
    gains = 2.0**y - 1
    ndcg = twins.dcg(P @ gains, k) / twins.dcg(np.sort(gains)[::-1], k)
    value = tk.loss("neuralndcg", k=k, temperature=1.5, rescalings=steps)(s, y, [0, n])[0]
    assert value == pytest.approx(1 - ndcg, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["approxndcg", "neuralndcg"])
def test_approximations_become_ndcg(name: str) -> None:
    """Scores 3, 2, 1 for gains 0, 3, 1: NDCG = (3/log2 3 + 1/2) / (3 + 1/log2 3)."""
    value, _ = tk.loss(name, temperature=0.01)([3.0, 2.0, 1.0], [0, 2, 1], [0, 3])
    assert value == pytest.approx(1 - (3 / math.log2(3) + 0.5) / (3 + 1 / math.log2(3)), abs=1e-12)


def test_approxmrr_by_hand() -> None:
    """Scores 0, 0, 0, second and third relevant: r = 1 + ½ + ½ = 2, so 1 − ½, and both share the gradient."""
    value, gradient = tk.loss("approxmrr")([0.0, 0.0, 0.0], [0, 1, 2], [0, 3])
    assert value == 0.5
    slope = 0.25 / 2**2  # σ′(0) = ¼ and d(−1/r)/dr = 1/r²
    assert gradient == pytest.approx([slope, -slope / 2, -slope / 2])
    assert tk.loss("approxmrr")([0.0, 0.0], [0, 0], [0, 2])[0] == 0
    sharp = tk.loss("approxmrr", temperature=1e-3)([3.0, 2.0, 1.0], [0, 0, 1], [0, 3])[0]
    assert sharp == pytest.approx(1 - 1 / 3)


def test_gumbel_noise_is_seeded_by_the_query() -> None:
    """The same query has the same noise wherever it is; another seed has other noise."""
    s, y = np.array([0.3, -0.2, 0.9, 0.1]), [2.0, 1, 0, 0]
    loss = tk.loss("gumbel-approxndcg")
    twice = loss.on([*y, *y], [0, 4, 8]).per_query(np.tile(s, 2))
    assert twice[0] == twice[1] == loss(s, y, [0, 4])[0]
    assert tk.loss("gumbel-approxndcg", noise_seed=1)(s, y, [0, 4])[0] != twice[0]
    many = tk.loss("gumbel-approxndcg", samples=4000)(s, y, [0, 4])[0]
    other = tk.loss("gumbel-approxndcg", samples=4000, noise_seed=1)(s, y, [0, 4])[0]
    assert many == pytest.approx(other, abs=0.02)  # both estimate one expectation


def brute_lambdaloss(s: np.ndarray, y: np.ndarray, scheme: str, mu: float, k: int | None) -> float:
    """Scores all different: the weights of the docstring, pair by pair."""
    n = len(s)
    rank = np.argsort(np.argsort(-s)) + 1
    gains = 2.0**y - 1
    G = gains / twins.dcg(np.sort(gains)[::-1], k)
    over_D = [1 / math.log2(1 + r) if r <= (k or n) else 0.0 for r in rank]
    value = 0.0
    for u in range(n):
        for v in range(n):
            if u == v or (y[u] <= y[v] and not scheme.endswith("1")):
                continue
            d, deeper = abs(rank[u] - rank[v]), max(rank[u], rank[v])
            delta = 1 / math.log2(1 + d) - 1 / math.log2(2 + d)
            if deeper > (k or n):
                delta /= 1 - 1 / math.log2(1 + deeper)
            weight = {
                "ndcg-loss1": G[u] * over_D[u],
                "ndcg-loss2": delta * abs(G[u] - G[v]),
                "ndcg-loss2++": (abs(over_D[u] - over_D[v]) + mu * delta) * abs(G[u] - G[v]),
                "arp-loss1": y[u],
                "arp-loss2": abs(y[u] - y[v]),
            }[scheme]
            value += weight * math.log1p(math.exp(-(s[u] - s[v])))
    return value


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12), k=st.sampled_from([None, 2, 5]))
def test_lambdaloss_against_its_pairs(scheme: str, seed: int, n: int, k: int | None) -> None:
    rng = np.random.default_rng(seed)
    s, y = rng.normal(size=n), rng.integers(0, 4, n).astype(float)
    y[0] = 3.0
    value = tk.loss("lambdaloss", scheme=scheme, mu=4.0, k=k)(s, y, [0, n])[0]
    assert value == pytest.approx(brute_lambdaloss(s, y, scheme, 4.0, k), rel=1e-9)


def test_lambdaloss_of_equal_scores_treats_them_as_neighbours() -> None:
    """Labels 1, 0, 0, all tied: d = 1, so δ = 1 − 1/log2 3, for each of two pairs; G = 1."""
    value = tk.loss("lambdaloss", scheme="ndcg-loss2")([0.0, 0.0, 0.0], [1, 0, 0], [0, 3])[0]
    assert value == pytest.approx(2 * (1 - 1 / math.log2(3)) * math.log(2))


def test_uni_softmax_by_hand() -> None:
    """Labels 2, 1, 1, 0: gains 3, 1, 1; the first against three, the others against the last."""
    s = np.array([0.5, -0.3, 0.2, 0.7])
    e = np.exp(s)
    expected = -3 * math.log(e[0] / e.sum()) - math.log(e[1] / (e[1] + e[3])) - math.log(e[2] / (e[2] + e[3]))
    assert tk.loss("uni-softmax")(s, [2, 1, 1, 0], [0, 4])[0] == pytest.approx(expected)


def test_uni_softmax_is_exact_for_any_range_of_scores() -> None:
    """The worst order of −1e4, 0, 1e4 with gains 3, 1: 3·2e4 + 1e4."""
    value, gradient = tk.loss("uni-softmax")([-1e4, 0.0, 1e4], [2, 1, 0], [0, 3])
    assert value == pytest.approx(7e4)
    assert gradient == pytest.approx([-3, -1, 4])


def test_calibrated_softmax_is_smallest_at_the_labels() -> None:
    """The gradient is 0 where y₀·e^s = y."""
    y = np.array([2.0, 0.5, 1.0])
    gradient = tk.loss("calibrated-softmax", anchor=0.5)(np.log(y / 0.5), y, [0, 3])[1]
    assert gradient == pytest.approx([0, 0, 0], abs=1e-14)


def test_regression_compatible_by_its_formula() -> None:
    """Both parts are smallest at σ(s) = t, with t = min(y/2, 1)."""
    s, y, t = np.array([0.4, -1.0, 2.0]), [1, 0, 5], np.array([0.5, 0.0, 1.0])
    p = 1 / (1 + np.exp(-s))
    regression = -(t * np.log(p) + (1 - t) * np.log(1 - p)).sum()
    listwise = -(t / t.sum() * np.log(p / p.sum())).sum()
    value = tk.loss("regression-compatible", alpha=0.3, highest=2.0)(s, y, [0, 3])[0]
    assert value == pytest.approx(0.7 * regression + 0.3 * listwise)
    best = np.log(np.array([0.5, 0.25]) / np.array([0.5, 0.75]))
    gradient = tk.loss("regression-compatible", alpha=0.3, highest=2.0)(best, [1, 0.5], [0, 2])[1]
    assert gradient == pytest.approx([0, 0], abs=1e-15)


def test_rank_distillation_by_hand() -> None:
    """Teacher's order b, c, a with k = 2 and decay 1: weights 1/(1 + e⁻¹) and e⁻¹/(1 + e⁻¹)."""
    s, y = np.array([0.2, -0.4, 1.0]), [1, 0, 0]
    log = -np.log1p(np.exp(-s))  # log σ
    labelled = -log[0] - (log[1] - s[1]) - (log[2] - s[2])
    w = 1 / (1 + math.exp(-1))
    taught = -w * log[1] - (1 - w) * log[2]
    loss = tk.loss("rank-distillation", k=2, decay=1.0, alpha=0.3)
    value = loss.on(y, [0, 3], teacher=[-1.0, 5.0, 2.0])(s)[0]
    assert value == pytest.approx(0.7 * labelled + 0.3 * taught)
    alone = loss(s, y, [0, 3])[0]  # the labels as teacher: the tie of b and c shares the second weight
    assert alone == pytest.approx(0.7 * labelled - 0.3 * (w * log[0] + (1 - w) / 2 * (log[1] + log[2])))


def test_ordinal_is_the_minimum_over_thresholds() -> None:
    """Labels 2, 1, 1, 0, 2: two thresholds, each found by a scalar minimiser."""
    from scipy.optimize import minimize_scalar

    s, y = np.array([0.5, -0.3, 1.2, 0.1, 2.0]), np.array([2, 1, 1, 0, 2])
    expected = 0.0
    for grade in (1, 2):
        margin = np.where(y >= grade, 1.0, -1.0)
        best = minimize_scalar(lambda b, m=margin: np.logaddexp(0, -m * (s - b)).sum(), tol=1e-12)
        expected += best.fun
    assert tk.loss("ordinal")(s, y, [0, 5])[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", WEIGHTED)
def test_document_weights(name: str) -> None:
    """Weights of 1 change nothing; others have the right gradient, also in batches."""
    s, y, ptr = ragged(11, "graded")
    loss = tk.loss(name)
    plain, ones = loss.on(y, ptr), loss.on(y, ptr, document_weights=np.ones(len(y)))
    np.testing.assert_allclose(ones.per_query(s), plain.per_query(s), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(ones(s)[1], plain(s)[1], rtol=1e-9, atol=1e-12)
    weights = np.random.default_rng(3).uniform(0.2, 3, len(y))
    weighted = loss.on(y, ptr, np.arange(1.0, len(ptr)), document_weights=weights)
    assert weighted(s)[0] != pytest.approx(plain(s)[0])
    gradient = weighted(s)[1]
    scale = max(1.0, float(np.abs(gradient).max()))
    np.testing.assert_allclose(differences(weighted, s), gradient, atol=1e-6 * scale, rtol=1e-6)
    assert (weighted.with_curvature(s)[2] >= 0).all()
    rows = np.arange(ptr[2], ptr[4])
    part = weighted.select(np.array([2, 3]))
    np.testing.assert_allclose(part.per_query(s[rows]), weighted.per_query(s)[2:4], rtol=1e-12)


def test_document_weights_of_pairs_are_those_of_the_better_document() -> None:
    """Labels 2, 1, 0: the pairs a>b and a>c weigh 3, b>c weighs 2."""
    s = np.array([0.5, -0.2, 0.1])
    value = tk.loss("logistic").on([2, 1, 0], [0, 3], document_weights=[3, 2, 7])(s)[0]
    phi = twins.PHI["logistic"]
    assert value == pytest.approx(3 * phi(s[0] - s[1]) + 3 * phi(s[0] - s[2]) + 2 * phi(s[1] - s[2]))


def test_what_takes_no_document_weights_says_so() -> None:
    with pytest.raises(tk.InputError, match="'rankcosine' with these settings takes no document weights"):
        tk.loss("rankcosine").on([1, 0], [0, 2], document_weights=[1, 1])
    with pytest.raises(tk.InputError, match="'listnet' with these settings takes no teacher"):
        tk.loss("listnet").on([1, 0], [0, 2], teacher=[1, 1])
    with pytest.raises(tk.InputError, match="must not be negative"):
        tk.loss("softmax").on([1, 0], [0, 2], document_weights=[1, -1])
    with pytest.raises(tk.InputError, match="expected 2 finite numbers, got shape"):
        tk.loss("softmax").on([1, 0], [0, 2], document_weights=[1, 1, 1])
    with pytest.raises(tk.InputError, match="m above 1 takes no document weights"):
        tk.loss("listnet", m=2).on([1, 0], [0, 2], document_weights=[1, 1])
    with pytest.raises(tk.InputError, match="label-gap' takes no document weights"):
        tk.loss("hinge", margin="label-gap").on([1, 0], [0, 2], document_weights=[1, 1])
