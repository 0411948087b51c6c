"""L-BFGS in the coordinates of an approximate Hessian: the same optimum, in fewer evaluations."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import topkit as tk
from topkit.compute import Floats
from topkit.losses import Objective
from topkit.rankers.checks import easy_data
from topkit.scorers.descent import Descent, Remembered, approximate_hessian
from topkit.scorers.linear import linear_gradient, linear_scores, product_matrix


def correlated(queries: int, seed: int = 0) -> tk.Dataset:
    """Data whose features go together and have different scales: slow for L-BFGS without a Hessian."""
    data = easy_data(queries, seed=seed, noise=0.5)
    rng = np.random.default_rng(seed)
    X = data.X @ rng.normal(size=(data.n_features, data.n_features)) * np.geomspace(0.01, 3, data.n_features)
    return data.with_features(X)


def total_of(objective: Objective, X: Floats, vector: Floats) -> tuple[float, Floats]:
    value, slope = objective(linear_scores(X, vector))
    return value, linear_gradient(X, slope)


@pytest.mark.parametrize("name", ["listnet", "logistic", "topk-listmle", "squared-error"])
def test_the_optimum_is_that_of_plain_lbfgs_in_fewer_evaluations(name: str) -> None:
    data = correlated(40)
    X = np.asarray(product_matrix(data.X), np.float64)
    objective = tk.loss(name).on(data.y, data.ptr)
    start, penalty = np.zeros(X.shape[1] + 1), np.append(np.full(X.shape[1], 1e-4), 0.0)
    found, calls = [], []
    for hessian in (None, partial(approximate_hessian, objective, X)):
        total = Remembered(partial(total_of, objective, X))
        descent = Descent(total, total(start)[0], 1000, 1e-9, hessian)
        vector, trace = descent.minimise(penalty, start)
        assert trace.reason == "settled"
        found.append(linear_scores(X, vector))
        calls.append(total.calls)
    np.testing.assert_allclose(found[1], found[0], atol=1e-4 * np.ptp(found[0]))
    assert calls[1] < calls[0] / 2


def test_the_hessian_of_squared_errors_is_exact() -> None:
    """The gradient of squared errors is linear, so its differences are columns of the Hessian."""
    data = correlated(6)
    X = np.asarray(product_matrix(data.X), np.float64)
    objective = tk.loss("squared-error").on(data.y, data.ptr, np.arange(1.0, 7.0))
    zero, unit = np.zeros(X.shape[1] + 1), np.eye(X.shape[1] + 1)
    base = total_of(objective, X, zero)[1]
    expected = np.array([total_of(objective, X, direction)[1] - base for direction in unit])
    np.testing.assert_allclose(approximate_hessian(objective, X, zero), expected, rtol=1e-9, atol=1e-9)


def test_a_sample_of_equal_queries_has_the_hessian_of_all() -> None:
    one = correlated(1)
    X = np.tile(np.asarray(one.X, np.float64), (6, 1))
    ptr = np.arange(7) * len(one)
    objective = tk.loss("logistic").on(np.tile(one.y, 6), ptr)
    vector = np.linspace(-0.1, 0.1, X.shape[1] + 1)
    whole, sampled = (approximate_hessian(objective, X, vector, sample) for sample in (len(X), len(one) * 2))
    np.testing.assert_allclose(sampled, whole, rtol=1e-9)
    # all scores of a query may change alike, so nothing couples the constant with the weights
    assert (whole[-1, :-1] == 0).all()


def test_a_start_at_the_optimum_is_left_alone() -> None:
    total = Remembered(lambda vector: (float(vector @ vector), 2.0 * vector))
    vector, trace = Descent(total, 1.0, 10, 1e-6).minimise(np.zeros(2), np.zeros(2))
    assert (vector.tolist(), trace.steps, trace.reason, total.calls) == ([0.0, 0.0], 0, "settled", 1)


def test_a_hessian_that_is_not_finite_is_not_used() -> None:
    total = Remembered(lambda vector: (float((vector - 1) @ (vector - 1)), 2.0 * (vector - 1)))
    descent = Descent(total, 1.0, 50, 1e-9, lambda vector: np.full((2, 2), np.nan))
    vector, _ = descent.minimise(np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(vector, 1.0, atol=1e-8)
