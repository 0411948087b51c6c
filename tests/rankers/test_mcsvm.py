"""The Crammer–Singer machine compared with scikit-learn's LinearSVC (liblinear)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

import topkit as tk
from topkit.compute import Floats
from topkit.rankers.multiclass.svm import Limits, crammer_singer, svm_path


def problem(n: int = 150, K: int = 3) -> tuple[Floats, NDArray[np.int64]]:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 4))
    cuts = [-1.0, 1.2, 2.0][: K - 1]
    return X, np.digitize(X @ [1.0, 2.0, -1.0, 0.5] + rng.normal(size=n), cuts).astype(np.int64)


def objective(M: Floats, X: Floats, targets: NDArray[np.int64], C: Floats) -> float:
    """½‖M‖² + Σ C·max_m(1[m ≠ targets] + m·x − targets·x), from the definition."""
    f = X @ M
    rows = np.arange(len(X))
    margins = f + 1.0
    margins[rows, targets] -= 1.0
    return float(0.5 * (M**2).sum() + C @ (margins.max(axis=1) - f[rows, targets]))


@pytest.mark.parametrize("K", [3, 4])
@pytest.mark.parametrize("C", [0.003, 0.1, 3.0])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_it_agrees_with_linear_svc(C: float, K: int) -> None:
    X, targets = problem(K=K)
    peer = LinearSVC(multi_class="crammer_singer", C=C, fit_intercept=False, tol=1e-9, max_iter=10**6)
    theirs = peer.fit(X, targets).coef_.T
    ours, _, trace = crammer_singer(X, targets, K, np.full(len(X), C), limits=Limits(1e-7, 10**5))
    assert trace.reason == "settled"
    assert ours == pytest.approx(theirs, abs=1e-5)
    every = np.full(len(X), C)
    assert objective(ours, X, targets, every) == pytest.approx(objective(theirs, X, targets, every), rel=1e-8)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_weight_of_two_is_a_document_that_is_there_twice() -> None:
    X, targets = problem(80)
    weights = np.where(np.arange(80) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(80), weights.astype(int))
    peer = LinearSVC(multi_class="crammer_singer", C=0.2, fit_intercept=False, tol=1e-9, max_iter=10**6)
    theirs = peer.fit(X[twice], targets[twice]).coef_.T
    ours, _, _ = crammer_singer(X, targets, 3, 0.2 * weights, limits=Limits(1e-7, 10**5))
    assert ours == pytest.approx(theirs, abs=1e-5)


def test_the_path_is_as_good_as_fits_from_the_start() -> None:
    X, targets = problem()
    weights = np.exp2(targets)
    path, traces = svm_path(X.astype(np.float32), targets, 3, weights, (10.0, 100.0, 1000.0))
    assert all(trace.reason == "settled" for trace in traces)
    wide = np.hstack([X.astype(np.float32).astype(float), np.ones((len(X), 1))])
    data = tk.Dataset.build(X, targets, np.zeros(len(X)))
    for i, strength in enumerate(path.strengths):
        C = strength * weights / weights.sum()
        cold, _, _ = crammer_singer(wide, targets, 3, C, limits=Limits(1e-7, 10**5))
        warm = objective(path.weights[i], wide, targets, C)
        assert warm == pytest.approx(objective(cold, wide, targets, C), rel=1e-3)
        assert path.outputs(data, [i + 1])[0] == pytest.approx(wide @ path.weights[i])
