"""Rankers with a radial kernel: against scikit-learn, against the exact kernel machine, and in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn import svm
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

import topkit as tk
from topkit.compute import Floats
from topkit.losses import Preferences
from topkit.rankers.checks import easy_data
from topkit.rankers.radial import RadialKernel
from topkit.rankers.radial.model import Scale, kernel_matrix
from topkit.rankers.radial.ranksvm import draw_points, nystroem
from topkit.scorers import Parts


def ring_data(seed: int, queries: int = 25) -> tk.Dataset:
    """Documents near the origin are relevant: no linear function ranks them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(10 * queries, 2)).astype(np.float32)
    y = np.digitize(-(X**2).sum(axis=1) + 0.2 * rng.normal(size=len(X)), [-2.5, -0.8])
    return tk.Dataset.build(X, y, np.repeat(np.arange(queries), 10))


def ndcg(fitted: tk.rankers.Learner, data: tk.Dataset) -> float:
    return tk.evaluate(data, fitted.score(data), "ndcg@5").mean["ndcg@5"]


def test_the_kernel_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    X, points = rng.normal(size=(40, 5)), rng.normal(size=(7, 5))
    assert kernel_matrix(X, points, 0.3) == pytest.approx(rbf_kernel(X, points, gamma=0.3))


def test_features_are_standardised_like_scikit_learn_and_missing_ones_are_the_mean() -> None:
    X = np.random.default_rng(0).normal(3.0, 5.0, (30, 3)).astype(np.float32)
    X[:, 2] = 4.0
    scale = Scale.of(X)
    assert scale(X) == pytest.approx(StandardScaler().fit_transform(X.astype(float)), abs=1e-6)
    X[3, 0] = np.nan
    assert scale(X)[3, 0] == 0.0


@pytest.mark.parametrize("ratio", [1.0, 5.0])
def test_svr_is_that_of_scikit_learn(ratio: float) -> None:
    """Targets −1, 0, 1 for the grades 0, 1, 2; errors on relevant documents cost C·ratio, others C."""
    data, test = ring_data(0), ring_data(1)
    fitted = tk.ranker("svr", gamma=0.4, C=0.7, ratio=ratio, epsilon=0.05, normalise="none").fit(data)
    scaler = StandardScaler().fit(data.X.astype(float))
    peer = svm.SVR(C=0.7, gamma=0.4, epsilon=0.05)
    peer.fit(scaler.transform(data.X), data.y - 1.0, np.where(data.y > 0, ratio, 1.0))
    assert fitted.score(test) == pytest.approx(peer.predict(scaler.transform(test.X)), abs=2e-3)


def test_costs_are_separate() -> None:
    """A higher cost of relevant documents raises all scores: fewer relevant documents are underestimated."""
    data = ring_data(0)
    low, high = (tk.ranker("svr", gamma=0.4, C=0.1, ratio=r).fit(data).score(data) for r in (1.0, 20.0))
    assert high[data.y > 0].mean() > low[data.y > 0].mean() + 0.05


def test_the_settings_with_the_best_metric_are_kept() -> None:
    """γ first, then C with this γ, then the ratio with both, by hand."""
    train, valid = ring_data(0), ring_data(1)
    fitted = tk.ranker("svr").fit(train, valid)

    def measure(**settings: float) -> float:
        return tk.ranker("svr", **settings).fit(train).measure_on(valid)

    gamma = max([width / 2 for width in (0.1, 0.3, 1.0, 3.0)], key=lambda g: measure(gamma=g))
    C = max([1.0, 0.1], key=lambda c: measure(gamma=gamma, C=c))
    ratio = max([3.0, 1.0, 10.0], key=lambda r: measure(gamma=gamma, C=C, ratio=r))
    expected = tk.ranker("svr", gamma=gamma, C=C, ratio=ratio).fit(train)
    np.testing.assert_array_equal(fitted.score(valid), expected.score(valid))


@pytest.mark.parametrize("name", ["svr", "ranksvm-rbf"])
def test_a_radial_kernel_learns_what_a_linear_ranker_cannot(name: str) -> None:
    train, valid, test = ring_data(0), ring_data(1), ring_data(2)
    linear, radial = (
        ndcg(tk.ranker(which, normalise="none").fit(train, valid), test) for which in ("ranksvm", name)
    )
    assert radial > max(0.9, linear + 0.1)


def test_nystroem_features_reproduce_the_kernel_of_their_points() -> None:
    points = np.random.default_rng(0).normal(size=(20, 3))
    kernel = kernel_matrix(points, points, 0.5)
    mapped = kernel @ nystroem(points, 0.5)
    assert mapped @ mapped.T == pytest.approx(kernel, abs=1e-5)


def test_with_all_documents_as_points_it_is_the_exact_kernel_machine() -> None:
    """The optimum of ½‖w‖² + C Σ max(0, 1 − w·(φ_u − φ_v))² with φφᵀ = K, by SciPy on explicit pairs."""
    from scipy.optimize import minimize

    data = ring_data(3, queries=6)
    C, gamma = 0.05, 0.5
    fitted = tk.ranker("ranksvm-rbf", gamma=gamma, C=C, points=10_000, normalise="none").fit(data)
    values, vectors = np.linalg.eigh(
        rbf_kernel(StandardScaler().fit_transform(data.X.astype(float)), gamma=gamma)
    )
    phi = vectors * np.sqrt(np.maximum(values, 0))
    labels, query = data.y, data.query_index
    u, v = np.nonzero((labels[:, None] > labels[None, :]) & (query[:, None] == query[None, :]))
    D = phi[u] - phi[v]

    def objective(w: Floats) -> tuple[float, Floats]:
        slack = np.maximum(0.0, 1 - D @ w)
        return float(0.5 * w @ w + C * slack @ slack), w - 2 * C * D.T @ slack

    solution = minimize(objective, np.zeros(len(phi)), jac=True, method="L-BFGS-B", options={"gtol": 1e-9})
    ours, exact = fitted.score(data), phi @ solution.x
    assert ours - ours.mean() == pytest.approx(exact - exact.mean(), abs=2e-3)


def test_points_do_not_depend_on_the_order_of_rows() -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    first, second = draw_points(X, 10, 3), draw_points(X[::-1], 10, 3)
    np.testing.assert_array_equal(first, second)
    assert len(draw_points(np.repeat(X[:4], 5, axis=0), 10, 0)) == 4


def test_preferences_instead_of_labels() -> None:
    data = ring_data(0)
    better, worse = [], []
    for q in range(data.n_queries):
        rows = range(data.ptr[q], data.ptr[q + 1])
        found = [(u, v) for u in rows for v in rows if data.y[u] > data.y[v]]
        better += [u for u, _ in found]
        worse += [v for _, v in found]
    pairs = Preferences.of_rows(data.ptr, better, worse)
    flat = data.with_labels(np.zeros(len(data)), data.truth)
    given = tk.ranker("ranksvm-rbf", pairs="given", C=0.01, gamma=0.5).fit(flat, preferences=pairs)
    labels = tk.ranker("ranksvm-rbf", C=0.01, gamma=0.5).fit(data)
    assert given.score(data) == pytest.approx(labels.score(data), abs=1e-4)


@pytest.mark.parametrize("name", ["svr", "ranksvm-rbf"])
def test_files(name: str, tmp_path: Path) -> None:
    data = easy_data(10)
    fitted = tk.ranker(name).fit(data)
    fitted.save(tmp_path / "model")
    np.testing.assert_array_equal(tk.load_ranker(tmp_path / "model").score(data), fitted.score(data))


@pytest.mark.parametrize(
    "change", [{"weights": np.zeros(3)}, {"spread": np.array([1.0, 0.0])}, {"centre": np.zeros(3)}]
)
def test_damaged_models_are_refused(change: dict[str, Floats]) -> None:
    model = RadialKernel(Scale(np.zeros(2), np.ones(2)), np.zeros((4, 2)), np.ones(4), 1.0)
    parts = model.parts()
    with pytest.raises(ValueError, match=r"expected points|each point needs"):
        RadialKernel.of_parts(Parts(parts.values, {**parts.arrays, **change}))
