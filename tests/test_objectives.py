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
    assert float(value) == pytest.approx(expected)
    np.testing.assert_allclose(scores.grad.numpy(), gradient)
