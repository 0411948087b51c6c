"""RankSVM against LinearSVC on explicit pair differences, and its kernels against enumerated pairs."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import topkit as tk
from tests.support.rankers import linear_weights
from topkit.compute import Floats
from topkit.losses import Preferences
from topkit.rankers.svm.pairs import Pairs
from topkit.scorers import Job


def some_data(seed: int = 0, queries: int = 12, levels: int = 4) -> tk.Dataset:
    """Noisy lists of 2 to 25 documents with five features."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 26, queries)
    X = rng.uniform(size=(int(lengths.sum()), 5)).astype(np.float32)
    quality = X @ np.array([2.0, -1.0, 0.5, 0.0, 0.2]) + rng.normal(scale=0.6, size=len(X))
    y = np.clip(np.floor(quality + 1), 0, levels - 1)
    return tk.Dataset.build(X, y, np.repeat(np.arange(queries), lengths))


def explicit_pairs(data: tk.Dataset, pairs: str, k: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Differences, weights and queries of the pairs, by definition; no ties at the border of the top."""
    differences, weights, query = [], [], []
    for q, (_, rows) in enumerate(data):
        y = data.y[rows]
        inside = y >= np.sort(y)[::-1][min(k, len(y)) - 1] if pairs != "all" else np.ones(len(y), bool)
        for u, v in permutations(range(len(y)), 2):
            wanted = y[u] > y[v] and inside[u] and not (pairs == "focused" and inside[v])
            if wanted:
                differences.append(data.X[rows][u].astype(float) - data.X[rows][v].astype(float))
                weights.append(1.0)
                query.append(q)
    return np.array(differences), np.array(weights), np.array(query)


def liblinear(differences: Floats, weights: Floats, C: float, loss: str) -> Floats:
    """The minimiser by scikit-learn's LinearSVC; half the pairs are turned round, to get two classes."""
    from sklearn.svm import LinearSVC

    sign = np.where(np.arange(len(differences)) % 2, -1.0, 1.0)
    dual = loss == "hinge"
    model = LinearSVC(C=C, loss=loss, fit_intercept=False, dual=dual, tol=1e-8, max_iter=2_000_000)
    model.fit(differences * sign[:, None], sign, sample_weight=weights)
    return np.asarray(model.coef_[0])


def objective(w: Floats, differences: Floats, weights: Floats, C: float, loss: str) -> float:
    gap = np.maximum(0.0, 1.0 - differences @ w)
    return float(0.5 * w @ w + C * weights @ (gap**2 if loss == "squared_hinge" else gap))


@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize(
    ("pairs", "truth"), [("all", "graded"), ("topk", "top"), ("focused", "top"), ("all", "order")]
)
def test_optimum_is_that_of_linear_svc(pairs: str, truth: str, C: float) -> None:
    data = some_data()
    data = {"graded": data, "top": data.top_k(4, seed=1), "order": data.as_order(seed=1)}[truth]
    D, weights, _ = explicit_pairs(data, pairs, 4)
    ranker = tk.ranker("ranksvm", pairs=pairs, k=4, C=C, normalise="none").fit(data)
    ours = objective(linear_weights(ranker), D, weights, C, "squared_hinge")
    theirs = objective(liblinear(D, weights, C, "squared_hinge"), D, weights, C, "squared_hinge")
    assert ours == pytest.approx(theirs, rel=1e-4)
    assert ranker.traces[-1].converged


@pytest.mark.parametrize("C", [1e-3, 0.03])
def test_plain_hinge_is_that_of_linear_svc(C: float) -> None:
    data = some_data(seed=3)
    D, weights, _ = explicit_pairs(data, "all", 1)
    ranker = tk.ranker("ranksvm", loss="hinge", C=C, normalise="none", tolerance=1e-5).fit(data)
    ours = objective(linear_weights(ranker), D, weights, C, "hinge")
    theirs = objective(liblinear(D, weights, C, "hinge"), D, weights, C, "hinge")
    assert ours == pytest.approx(theirs, rel=1e-4)
    assert ranker.traces[-1].values[-1] <= 1e-5


def test_query_weights_are_pair_weights() -> None:
    data = some_data(seed=4)
    D, _, query = explicit_pairs(data, "all", 1)
    heavy = np.linspace(0.0, 3.0, data.n_queries)
    ranker = tk.ranker("ranksvm", C=0.1, normalise="none").fit(data, weights=heavy)
    ours = objective(linear_weights(ranker), D, heavy[query], 0.1, "squared_hinge")
    kept = heavy[query] > 0
    theirs = liblinear(D[kept], heavy[query][kept], 0.1, "squared_hinge")
    assert ours == pytest.approx(objective(theirs, D, heavy[query], 0.1, "squared_hinge"), rel=1e-4)


def test_given_preferences() -> None:
    data = some_data(seed=5)
    better, worse = [], []
    for _, rows in data:
        for u, v in permutations(range(rows.start, rows.stop), 2):
            if data.y[u] > data.y[v]:
                better.append(u)
                worse.append(v)
    pairs = Preferences.of_rows(data.ptr, better, worse)
    flat = data.with_labels(np.zeros(len(data)), data.truth)
    given_pairs = tk.ranker("ranksvm", pairs="given", C=0.1).fit(flat, preferences=pairs)
    labelled = tk.ranker("ranksvm", C=0.1).fit(data)
    np.testing.assert_allclose(linear_weights(given_pairs), linear_weights(labelled), rtol=1e-6)


def test_preferences_and_pair_set_belong_together() -> None:
    data = some_data()
    with pytest.raises(tk.InputError, match="must be used together"):
        tk.ranker("ranksvm", pairs="given").fit(data)
    with pytest.raises(tk.InputError, match="cannot learn from preferences, only from labels"):
        tk.ranker("svmmap").fit(data, preferences=Preferences.of_rows(data.ptr, [0], [1]))


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["all", "topk", "focused"]), st.integers(1, 4))
def test_hessian_products_by_enumeration(seed: int, pairs: str, k: int) -> None:
    rng = np.random.default_rng(seed)
    data = some_data(seed, queries=3)
    job = Job(data, None, lambda d, s: 0.0, weights=rng.uniform(0.5, 2, 3))
    bound = Pairs.of(job, "squared-hinge", pairs, k)
    scores, change = rng.normal(size=len(data)), rng.normal(size=len(data))
    curvature = bound.objective.with_curvature(scores)[2]
    found = bound.hessian(scores, curvature)(change)
    expected = np.zeros(len(data))
    for q, (_, rows) in enumerate(data):
        for u, v in permutations(range(rows.start, rows.stop), 2):
            if data.y[u] > data.y[v] and scores[u] - scores[v] < 1:
                weight = 2 * job.query_weights[q] * bound.up[u] * bound.down[v]
                expected[u] += weight * (change[u] - change[v])
                expected[v] += weight * (change[v] - change[u])
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_long_lists() -> None:
    """Beyond the length where losses enumerate pairs; the Hessian still fits the gradient."""
    rng = np.random.default_rng(0)
    data = tk.Dataset.build(rng.normal(size=(700, 3)), rng.integers(0, 5, 700), ["q"] * 700)
    bound = Pairs.of(Job(data, None, lambda d, s: 0.0), "squared-hinge", "all", 1)
    scores, change = rng.normal(size=700), rng.normal(size=700)
    _, _, curvature = bound.objective.with_curvature(scores)
    step = 1e-7
    slope = (bound.objective(scores + step * change)[1] - bound.objective(scores - step * change)[1]) / (
        2 * step
    )
    np.testing.assert_allclose(bound.hessian(scores, curvature)(change), slope, rtol=1e-4, atol=1e-2)


def test_grid_keeps_the_best_measure() -> None:
    train, valid = some_data(1), some_data(2)
    chosen = tk.ranker("ranksvm", metric="map").fit(train, valid)
    best = tk.evaluate(valid, chosen.score(valid), ["map"]).mean["map"]
    count = Pairs.of(Job(train, None, lambda d, s: 0.0), "squared-hinge", "all", 1).count
    for strength in (1.0, 1e2, 1e4):
        one = tk.ranker("ranksvm", C=strength / count).fit(train)
        assert tk.evaluate(valid, one.score(valid), ["map"]).mean["map"] <= best + 0.002
    assert len(chosen.traces) == 12


@pytest.mark.real_data
def test_ohsumed_fold(real_data: Path) -> None:
    """LinearSVC's optimum on eight real queries."""
    data = tk.normalise(tk.read_letor(real_data / "OHSUMED-letor2" / "Fold1" / "vali.txt")).select(
        np.arange(8)
    )
    D, weights, _ = explicit_pairs(data, "all", 1)
    C = 100.0 / len(D)
    ranker = tk.ranker("ranksvm", C=C, normalise="none").fit(data)
    ours = objective(linear_weights(ranker), D, weights, C, "squared_hinge")
    theirs = objective(liblinear(D, weights, C, "squared_hinge"), D, weights, C, "squared_hinge")
    assert ours == pytest.approx(theirs, rel=1e-4)
