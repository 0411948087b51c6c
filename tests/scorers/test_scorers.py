"""Scorers compared with closed forms, finite differences and LightGBM's own regression."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np
import pytest
from bench.loss_matrix import learnt

import topkit as tk
from topkit.compute import MissingExtraError, NotConverged, Trace
from topkit.data import Dataset, InputError, normalise
from topkit.losses import LOSSES, Objective, loss
from topkit.rankers.checks import easy_data, quality
from topkit.scorers import SCORERS, Job, LinearScorer, NeuralScorer, TreeScorer
from topkit.scorers.linear import L2_GRID
from topkit.scorers.network import backward, forward, initial_layers, pack, unpack
from topkit.scorers.torch import TorchScorer

DATA = normalise(easy_data(30), "z-score")


def problem(name: str = "listnet", valid: tk.Dataset | None = None, **settings: Any) -> tuple[Job, Objective]:
    """A job on ``DATA``, and a loss on its labels."""

    def measure(data: tk.Dataset, scores: Any) -> float:
        return float(tk.evaluate(data, scores, "ndcg@5").mean["ndcg@5"])

    return Job(DATA, valid, measure), loss(name, **settings).on(DATA.y, DATA.ptr)


def test_least_squares_is_the_closed_form() -> None:
    """(2·XᵀX/L + l2·I) w = 2·Xᵀy/L with a free intercept, where L = Σy² is the loss at s = 0."""
    model, traces = LinearScorer(l2=0.7, tolerance=1e-10).fit(*problem("squared-error"))
    X = np.hstack([DATA.X.astype(float), np.ones((len(DATA), 1))])
    penalty = np.diag([0.7] * 4 + [0.0])
    y = DATA.y.astype(float)
    expected = np.linalg.solve(2 * X.T @ X / (y @ y) + penalty, 2 * X.T @ y / (y @ y))
    np.testing.assert_allclose(np.append(model.weights, model.bias), expected, rtol=1e-7)
    assert traces[0].reason == "settled"
    assert traces[0].values[-1] == min(traces[0].values)


@pytest.mark.parametrize(
    "name", ["listnet", "listmle", "logistic", "topk-listmle", "focused", "squared-hinge"]
)
def test_lbfgs_finds_a_real_optimum(name: str) -> None:
    """At the optimum the gradient in w is 0: no direction lowers the objective."""
    model, _ = LinearScorer(l2=0.01, tolerance=1e-8).fit(*problem(name))
    _, objective = problem(name)
    _, slope = objective(model.score(DATA))
    gradient = DATA.X.astype(float).T @ slope / objective(np.zeros(len(DATA)))[0] + 0.01 * model.weights
    assert np.abs(gradient).max() < 1e-6


def test_warm_starts_end_where_cold_ones_do() -> None:
    valid = normalise(easy_data(10, seed=1), "z-score")
    warm, traces = LinearScorer(tolerance=1e-9).fit(*problem(valid=valid))
    assert len(traces) == len(L2_GRID)
    cold = [LinearScorer(l2=l2, tolerance=1e-9).fit(*problem())[0].weights for l2 in L2_GRID]
    assert any(np.allclose(warm.weights, weights, rtol=1e-4, atol=1e-5) for weights in cold)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("hidden", [(), (5,), (5, 3), (4, 3, 2)])
def test_backward_is_the_slope_of_forward(hidden: tuple[int, ...], activation: str) -> None:
    rng = np.random.default_rng(1)
    X, weight, sizes = rng.normal(size=(9, 4)), rng.normal(size=9), [4, *hidden, 1]
    vector = pack(initial_layers(sizes, activation, seed=2)) + 0.05
    states = forward(unpack(vector, sizes), X, activation)
    gradient = pack(backward(unpack(vector, sizes), states, weight, activation))
    for i in range(len(vector)):
        up, down = vector.copy(), vector.copy()
        up[i] += 1e-6
        down[i] -= 1e-6
        high = forward(unpack(up, sizes), X, activation)[-1][:, 0] @ weight
        low = forward(unpack(down, sizes), X, activation)[-1][:, 0] @ weight
        assert gradient[i] == pytest.approx((high - low) / 2e-6, rel=1e-5, abs=1e-7)


def test_the_network_scores_as_it_was_trained() -> None:
    model, _ = NeuralScorer(hidden=(6, 3), epochs=2).fit(*problem())
    states = forward(model.layers, DATA.X.astype(float), "relu")
    np.testing.assert_allclose(model.score(DATA), states[-1][:, 0], rtol=1e-12)


def test_adam_reaches_what_lbfgs_reaches() -> None:
    """Adam weighs the penalty against the mean loss per query, L-BFGS against the loss at s = 0."""
    start = problem()[1](np.zeros(len(DATA)))[0]
    exact, traces = LinearScorer(l2=0.1).fit(*problem())
    settings: dict[str, Any] = {"optimiser": "adam", "max_steps": 200, "rate": 0.05, "patience": 200}
    rough, _ = LinearScorer(l2=0.1 * start / 30, **settings).fit(*problem())

    def objective(model: Any) -> float:
        return problem()[1](model.score(DATA))[0] / start + 0.05 * float(model.weights @ model.weights)

    assert objective(exact) == pytest.approx(traces[0].values[-1])
    assert objective(exact) <= objective(rough) < objective(exact) * 1.01


def test_early_stopping_keeps_the_best_epoch() -> None:
    valid = normalise(easy_data(15, seed=1, noise=0.5), "z-score")
    job, objective = problem(valid=valid)
    for scorer in (
        NeuralScorer(epochs=30, patience=5, rate=0.02),
        LinearScorer(optimiser="adam", max_steps=30, patience=5),
        TreeScorer(trees=40, patience=5, min_leaf=3),
    ):
        model, (trace,) = scorer.fit(job, objective)
        assert job.judge(model.score(valid)) == pytest.approx(trace.best)
        assert trace.best == max(trace.values)


def test_trees_on_squared_error_are_lightgbm_regression() -> None:
    """The same trees as LightGBM 4.7's own objective, without a penalty."""
    import lightgbm

    model, _ = TreeScorer(trees=12, leaves=5, rate=0.2, min_leaf=8, l2=0.0).fit(*problem("squared-error"))
    own = lightgbm.train(
        {"objective": "regression", "num_leaves": 5, "learning_rate": 0.2, "min_data_in_leaf": 8,
         "min_sum_hessian_in_leaf": 0.0, "boost_from_average": False, "verbosity": -1, "num_threads": 1,
         "deterministic": True, "force_row_wise": True},
        lightgbm.Dataset(DATA.X, label=DATA.y),
        num_boost_round=12,
    )  # fmt: skip
    np.testing.assert_allclose(model.score(DATA), own.predict(DATA.X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("scorer", sorted(SCORERS))
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_every_loss_with_every_scorer(name: str, scorer: str) -> None:
    """The matrix: whatever the loss, whatever the scorer, easy data is learnt."""
    assert learnt(name, scorer)[1] > 0.88


def test_trace_ends_for_each_of_its_reasons() -> None:
    settled = Trace(10, tolerance=1e-3)
    assert settled.go_on(5.0)
    assert not settled.go_on(5.0005)
    assert (settled.reason, settled.converged, settled.steps) == ("settled", True, 1)
    patient = Trace(10, patience=2, larger_is_better=True)
    assert [patient.go_on(v) for v in (0.1, 0.3, 0.2, 0.25)] == [True, True, True, False]
    assert (patient.reason, patient.best_step, patient.best) == ("patience", 1, 0.3)
    limited = Trace(2)
    assert [limited.go_on(v) for v in (3.0, 2.0, 1.0)] == [True, True, False]
    with pytest.warns(NotConverged, match="did not converge in 2 steps; the last value was 1"):
        limited.warn_unless_converged("the test")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        settled.warn_unless_converged("the test")
    with pytest.raises(ArithmeticError, match="nan"):
        Trace(5).go_on(float("nan"))


HAS_TORCH = importlib.util.find_spec("torch") is not None


@pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed (extra 'torch')")
def test_any_torch_module_learns() -> None:
    import torch

    def module(features: int) -> Any:
        return torch.nn.Sequential(torch.nn.Linear(features, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))

    valid = normalise(easy_data(15, seed=1), "z-score")
    by_name = tk.ranker("listnet", scorer=TorchScorer(module, epochs=5, rate=0.02)).fit(easy_data(10))
    assert quality(by_name, easy_data(10)) > 0.5
    model, (trace,) = TorchScorer(module, epochs=20, rate=0.02).fit(*problem("topk-listmle", valid, k=3))
    assert trace.best > 0.9
    assert tk.evaluate(valid, model.score(valid), "ndcg@5").mean["ndcg@5"] == pytest.approx(trace.best)


@pytest.mark.skipif(HAS_TORCH, reason="PyTorch is installed")
def test_without_torch_the_extra_is_named() -> None:
    with pytest.raises(MissingExtraError, match=r"topkit\[torch\]"):
        TorchScorer(lambda features: None).fit(*problem())


def test_trees_say_when_there_is_nothing_to_split() -> None:
    tiny = Dataset.build([[0.9], [0.1], [0.4]], [2, 0, 1], ["q"] * 3)
    with pytest.raises(InputError, match="3 training documents"):
        tk.ranker("lambdamart").fit(tiny)
    constant = Dataset.build([[0.5], [0.5], [0.5]], [2, 0, 1], ["q"] * 3)
    with pytest.raises(InputError, match="3 training documents"):
        tk.ranker("lambdamart", min_leaf=1).fit(constant)
    documents = tk.ranker("lambdamart", min_leaf=1).fit(tiny).rank(tiny)["q"]
    assert [document for document, _ in documents] == ["q:1", "q:3", "q:2"]


@pytest.mark.parametrize("name", ["lambdamart", "mart"])
@pytest.mark.parametrize(("documents", "features", "seed"), [(10, 1, 3), (5, 3, 5), (3, 3, 2), (2, 1, 1)])
def test_trees_with_leaves_of_one_document_fit_six_queries(
    name: str, documents: int, features: int, seed: int
) -> None:
    """Very uneven curvature once made LightGBM fail, and its defaults dropped the features of small data."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(6 * documents, features)), rng.integers(0, 3, 6 * documents)
    data = tk.Dataset.build(X, y, np.repeat(np.arange(6), documents))
    fitted = tk.ranker(name, min_leaf=1, trees=40, leaves=31).fit(data)
    assert len(np.unique(fitted.score(data))) > 1
