"""Losses as objectives of boosters and as PyTorch modules."""

from __future__ import annotations

import numpy as np
import pytest

import topkit as tk
from topkit import objectives
from topkit.rankers.checks import easy_data

DATA = easy_data(20)
SCORES = np.linspace(-1, 1, len(DATA))


@pytest.mark.parametrize("name", ["topk-listmle", "logistic", "lambdarank"])
def test_lightgbm_trains_with_the_loss(name: str) -> None:
    lgb = pytest.importorskip("lightgbm")
    train = lgb.Dataset(np.array(DATA.X), np.array(DATA.y), group=DATA.lengths)
    settings = {
        "objective": objectives.lightgbm(name),
        "verbose": -1,
        "min_data_in_leaf": 5,
        "num_threads": 1,
    }
    booster = lgb.train(settings, train, 20)
    loss = tk.loss(name)
    before, _ = loss(np.zeros(len(DATA)), DATA.y, DATA.ptr)
    after, _ = loss(booster.predict(np.array(DATA.X)), DATA.y, DATA.ptr)
    assert after < 0.9 * before


class DMatrix:
    """What xgboost's documentation says of a DMatrix in an objective."""

    def get_label(self) -> np.ndarray:
        return np.array(DATA.y)

    def get_uint_info(self, field: str) -> np.ndarray:
        assert field == "group_ptr"
        return DATA.ptr.astype(np.uint32)


def test_xgboost_gets_the_gradient_and_a_positive_curvature() -> None:
    gradient, curvature = objectives.xgboost("topk-listmle", k=3)(SCORES, DMatrix())
    _, expected = tk.loss("topk-listmle", k=3)(SCORES, DATA.y, DATA.ptr)
    np.testing.assert_array_equal(gradient, expected)
    assert (curvature > 0).all()


def test_catboost_gets_the_negative_derivatives_as_pairs() -> None:
    objective = objectives.catboost("logistic", DATA.ptr)
    pairs = objective.calc_ders_range(SCORES.tolist(), DATA.y.tolist(), None)
    _, expected = tk.loss("logistic")(SCORES, DATA.y, DATA.ptr)
    np.testing.assert_allclose([first for first, _ in pairs], -expected)
    assert all(second < 0 for _, second in pairs)
    with pytest.raises(tk.InputError, match="documents, got 1"):
        objective.calc_ders_range([0.0], [1.0], None)


def lowered(name: str, scores: np.ndarray, **settings: int) -> float:
    """The loss of the scores, as a share of the loss of equal scores."""
    loss = tk.loss(name, **settings)
    return loss(scores, DATA.y, DATA.ptr)[0] / loss(np.zeros(len(DATA)), DATA.y, DATA.ptr)[0]


@pytest.mark.parametrize("name", ["topk-listmle", "logistic"])
def test_xgboost_trains_with_the_loss(name: str) -> None:
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed; it is large")
    data = xgboost.DMatrix(np.array(DATA.X), np.array(DATA.y), qid=DATA.query_index)
    settings = {"max_depth": 3, "eta": 0.3, "base_score": 0.0, "disable_default_eval_metric": True}
    booster = xgboost.train(settings, data, 20, obj=objectives.xgboost(name))
    assert lowered(name, booster.predict(data, output_margin=True)) < 0.9
    with pytest.raises(tk.InputError, match="the data has no queries"):
        objectives.xgboost(name)(SCORES, xgboost.DMatrix(np.array(DATA.X), np.array(DATA.y)))


@pytest.mark.parametrize("name", ["topk-listmle", "logistic"])
def test_catboost_trains_with_the_loss(name: str) -> None:
    catboost = pytest.importorskip("catboost", reason="catboost is not installed; it is large")
    settings = {
        "loss_function": objectives.catboost(name, DATA.ptr),
        "eval_metric": "RMSE",
        "iterations": 20,
        "depth": 3,
        "learning_rate": 0.3,
        "has_time": True,
        "boosting_type": "Plain",
        "bootstrap_type": "No",
        "leaf_estimation_iterations": 1,
        "thread_count": 1,
        "logging_level": "Silent",
        "allow_writing_files": False,
    }
    model = catboost.CatBoost(settings).fit(np.array(DATA.X), np.array(DATA.y))
    assert lowered(name, model.predict(np.array(DATA.X), prediction_type="RawFormulaVal")) < 0.9


def test_data_without_queries_is_an_error() -> None:
    lgb = pytest.importorskip("lightgbm")
    data = lgb.Dataset(np.array(DATA.X), np.array(DATA.y)).construct()
    with pytest.raises(tk.InputError, match="the data has no queries"):
        objectives.lightgbm("listnet")(SCORES, data)


def test_the_torch_module_has_the_gradient_of_the_loss() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    from topkit.torch import RankingLoss

    scores = torch.tensor(SCORES, requires_grad=True)
    value = RankingLoss("topk-listmle", k=3)(
        scores, torch.tensor(np.array(DATA.y)), torch.tensor(DATA.ptr.copy())
    )
    value.backward()
    expected, gradient = tk.loss("topk-listmle", k=3)(SCORES, DATA.y, DATA.ptr)
    assert float(value.detach()) == pytest.approx(expected)
    np.testing.assert_allclose(scores.grad.numpy(), gradient)


def test_a_torch_model_learns_with_the_module() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    from topkit.torch import RankingLoss

    torch.manual_seed(0)
    X, y = torch.tensor(np.array(DATA.X)), torch.tensor(np.array(DATA.y))
    model = torch.nn.Sequential(torch.nn.Linear(DATA.n_features, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    loss = RankingLoss("topk-listmle", k=3)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(60):
        optimiser.zero_grad()
        loss(model(X).squeeze(1), y, DATA.ptr).backward()
        optimiser.step()
    with torch.no_grad():
        assert lowered("topk-listmle", model(X).squeeze(1).double().numpy(), k=3) < 0.7
    assert repr(loss) == "RankingLoss('topk-listmle', k=3)"


def test_a_torch_scorer_is_trained_by_a_ranker() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    from topkit.scorers.torch import TorchScorer

    def network(features: int) -> object:
        return torch.nn.Sequential(torch.nn.Linear(features, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))

    scorer = TorchScorer(network, rate=0.02, epochs=40)
    scores = [tk.ranker("listnet", scorer=scorer, seed=1).fit(DATA, DATA).score(DATA) for _ in range(2)]
    assert tk.evaluate(DATA, scores[0], ["ndcg@10"]).mean["ndcg@10"] > 0.9
    np.testing.assert_array_equal(scores[0], scores[1])
