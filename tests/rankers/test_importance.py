"""Contributions sum to scores, and every ranker states the importance of its features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import topkit as tk
from tests.support.rankers import QUICK_RANKERS
from topkit.data import InputError
from topkit.rankers import Learner
from topkit.rankers.checks import easy_data
from topkit.rankers.importance import CONTRIBUTIONS, centred
from topkit.rankers.preparation import Preparation
from topkit.scorers import Linear

TRAIN = easy_data(20)
EXACT: dict[str, dict[str, Any]] = {
    "listnet": {},
    "lambdamart": {"trees": 20, "min_leaf": 5},
    "rankboost": {"rounds": 10},
    "ranksvm": {"features": ("1", "3")},
}


@pytest.mark.parametrize("name", EXACT)
def test_contributions_sum_to_the_scores_up_to_a_constant(name: str) -> None:
    fitted = tk.ranker(name, **EXACT[name]).fit(TRAIN)
    parts = fitted.contributions(TRAIN)
    assert parts is not None
    assert parts.shape == TRAIN.X.shape
    rest = fitted.score(TRAIN) - parts.sum(axis=1)
    np.testing.assert_allclose(rest, rest[0], atol=1e-9)
    if name == "ranksvm":
        assert not parts[:, [1, 3]].any(), "features that are not used contribute nothing"


def linear(*weights: float) -> Learner:
    """A fitted linear ranker with these weights and features that are not normalised."""
    names = tuple("xyz"[: len(weights)])
    learner = tk.ranker("listnet", normalise="none")
    return learner.install(Preparation("none", names, True), Linear(np.array(weights)), [], {})


def test_importances_of_a_linear_ranker_by_hand() -> None:
    X = [[1.0, 0.0], [3.0, 0.0], [5.0, 4.0]]
    data = tk.Dataset.build(X, [0, 1, 2], ["a", "a", "b"], feature_names=["x", "y"])
    ranker = linear(2.0, -0.5)
    # x contributes 2 and 6 to query a, with mean 4 and distances 2 and 2; query b has one document
    importances = ranker.feature_importances(data)
    assert dict(importances) == {"x": pytest.approx(4 / 3), "y": 0.0}
    assert importances.meaning == CONTRIBUTIONS
    assert dict(ranker.feature_importances()) == {"x": 2.0, "y": 0.5}
    assert "x" in str(importances).splitlines()[1]
    assert importances.to_frame("pandas")["feature"].tolist() == ["x", "y"]
    assert "<table>" in importances._repr_html_()


def test_importances_by_the_model_of_trees_and_steps() -> None:
    for name in ("lambdamart", "rankboost"):
        fitted = tk.ranker(name, **EXACT[name]).fit(TRAIN)
        best = max(fitted.feature_importances().items(), key=lambda item: item[1])[0]
        assert best == "1", "the first feature decides most in this data"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::topkit.compute.NotConverged")
@pytest.mark.parametrize("name", tk.RANKERS)
def test_every_ranker_has_importances_and_finds_the_useful_features(name: str) -> None:
    fitted = tk.ranker(name, **QUICK_RANKERS.get(name, {})).fit(TRAIN)
    importances = fitted.feature_importances(easy_data(20, seed=4))
    assert list(importances) == ["1", "2", "3", "4"]
    assert max(importances, key=lambda feature: importances[feature]) == "1"
    assert importances["1"] > abs(importances["2"])


def test_a_network_needs_data_and_is_shuffled() -> None:
    fitted = tk.ranker("listnet", scorer="mlp", hidden=(4,), epochs=20).fit(TRAIN)
    with pytest.raises(InputError, match=r"no formula for the importance.*pass data"):
        fitted.feature_importances()
    importances = fitted.feature_importances(TRAIN)
    assert importances.meaning == "loss of ndcg@10 when it is shuffled within queries"
    assert fitted.contributions(TRAIN) is None
    again = fitted.feature_importances(TRAIN)
    assert dict(importances) == dict(again), "seeded"


def test_centred() -> None:
    values = np.array([[1.0], [3.0], [7.0]])
    assert centred(values, np.array([0, 2, 3])).tolist() == [[-1.0], [1.0], [0.0]]
