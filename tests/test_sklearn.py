"""RankingEstimator in scikit-learn: checks, pipelines, searches, routing."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topkit as tk
from topkit.rankers.checks import easy_data

sklearn = pytest.importorskip("sklearn")
pd = pytest.importorskip("pandas")

from sklearn.linear_model import LinearRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from topkit.sklearn import CHECK_EXCEPTIONS, RankingEstimator, ranking_scorer  # noqa: E402

DATA = easy_data(12)
QID = DATA.query_index
X, Y = np.array(DATA.X), np.array(DATA.y)
FRAME = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]).assign(qid=QID)

pytestmark = pytest.mark.filterwarnings("ignore::topkit.compute.NotConverged")


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.filterwarnings("ignore")
def test_check_estimator_passes_except_the_named_checks() -> None:
    results = check_estimator(RankingEstimator(), on_fail=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == set(CHECK_EXCEPTIONS)


def test_it_gives_the_scores_and_the_metric_of_the_ranker() -> None:
    estimator = RankingEstimator("listnet", l2=0.1).fit(X, Y, qid=QID)
    fitted = tk.ranker("listnet", l2=0.1).fit(DATA)
    np.testing.assert_array_equal(estimator.predict(X, qid=QID), fitted.score(DATA))
    expected = tk.evaluate(DATA, fitted.score(DATA), ["ndcg@10"]).mean["ndcg@10"]
    assert estimator.score(X, Y, qid=QID) == pytest.approx(expected)


def test_rows_in_any_order_give_the_scores_of_their_documents() -> None:
    order = np.random.default_rng(0).permutation(len(Y))
    estimator = RankingEstimator().fit(X, Y, qid=QID)
    shuffled = estimator.predict(X[order], qid=QID[order])
    np.testing.assert_allclose(shuffled, estimator.predict(X, qid=QID)[order], rtol=1e-6, atol=1e-6)


def test_a_column_qid_of_x_is_used_and_feature_names_are_kept() -> None:
    estimator = RankingEstimator().fit(FRAME, Y)
    assert estimator.feature_names_in_.tolist() == [name for name in FRAME.columns if name != "qid"]
    by_argument = RankingEstimator().fit(FRAME.drop(columns="qid"), Y, qid=QID)
    np.testing.assert_array_equal(
        estimator.predict(FRAME), by_argument.predict(FRAME.drop(columns="qid"), qid=QID)
    )


def test_parameters_clones_and_pickles() -> None:
    estimator = RankingEstimator("listnet", l2=0.1)
    assert estimator.get_params() == {"ranker": "listnet", "l2": 0.1}
    again = sklearn.base.clone(estimator).set_params(l2=0.5)
    assert again.get_params() == {"ranker": "listnet", "l2": 0.5}
    assert estimator.settings == {"l2": 0.1}
    fitted = estimator.fit(X, Y, qid=QID)
    restored = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    np.testing.assert_array_equal(restored.predict(X, qid=QID), fitted.predict(X, qid=QID))
    with pytest.raises(tk.InputError, match="l3"):
        RankingEstimator(l3=1).fit(X, Y, qid=QID)


@pytest.mark.usefixtures("routing")
def test_pipeline_grid_search_and_cross_validation_with_routing() -> None:
    pipeline = make_pipeline(StandardScaler(), RankingEstimator())
    grid = {"rankingestimator__l2": [0.01, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=GroupKFold(3), scoring=ranking_scorer("ndcg@5"))
    search.fit(X, Y, qid=QID, groups=QID)
    assert search.best_score_ > 0.7
    result = cross_validate(RankingEstimator(), X, Y, cv=GroupKFold(3), params={"qid": QID, "groups": QID})
    folds = GroupKFold(3).split(X, Y, QID)
    expected = [
        RankingEstimator().fit(X[a], Y[a], qid=QID[a]).score(X[b], Y[b], qid=QID[b]) for a, b in folds
    ]
    np.testing.assert_allclose(result["test_score"], expected)


def test_the_scorer_works_for_any_estimator_with_a_column_qid() -> None:
    model = LinearRegression().fit(FRAME, Y)
    expected = tk.evaluate(DATA, model.predict(FRAME), ["err"]).mean["err"]
    assert ranking_scorer("err")(model, FRAME, Y) == pytest.approx(expected)
    with pytest.raises(tk.InputError, match="the scorer needs query ids"):
        ranking_scorer()(LinearRegression().fit(X, Y), X, Y)


TRIED: list[dict[str, Any]] = [
    {"ranker": "bestfeature"},
    {"ranker": "listnet"},
    {"ranker": "lambdamart", "trees": 30},
]


@pytest.mark.real_data
@pytest.mark.slow
def test_grid_search_gives_the_scores_of_our_own_loop_on_mq2008(real_data: Path) -> None:
    """Three rankers × three folds of the queries: the same values, to the last bit."""
    data = tk.read_letor(real_data / "MQ2008" / "Fold1" / "train.txt")
    qid, folds = data.query_index, GroupKFold(3)
    grid = [{name: [value] for name, value in settings.items()} for settings in TRIED]
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            RankingEstimator(), grid, cv=folds, scoring=ranking_scorer("ndcg@10"), refit=False
        )
        search.fit(np.array(data.X), np.array(data.y), qid=qid, groups=qid)
    assert search.cv_results_["params"] == TRIED
    for fold, (train_rows, test_rows) in enumerate(folds.split(data.X, data.y, qid)):
        train, test = data.select(np.unique(qid[train_rows])), data.select(np.unique(qid[test_rows]))
        for row, settings in enumerate(TRIED):
            others = {name: value for name, value in settings.items() if name != "ranker"}
            scores = tk.ranker(settings["ranker"], **others).fit(train).score(test)
            value = tk.evaluate(test, scores, ["ndcg@10"]).mean["ndcg@10"]
            assert search.cv_results_[f"split{fold}_test_score"][row] == value


def test_optuna_searches_the_settings_of_the_estimator() -> None:
    optuna = pytest.importorskip("optuna", reason="needs the extra tune")
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial: Any) -> float:
        estimator = RankingEstimator("listnet", l2=trial.suggest_float("l2", 1e-3, 10.0, log=True))
        return float(estimator.fit(X, Y, qid=QID).score(X, Y, qid=QID))

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=4)
    estimator = RankingEstimator("listnet", **study.best_params).fit(X, Y, qid=QID)
    assert estimator.score(X, Y, qid=QID) == study.best_value


def test_a_search_without_metadata_routing_says_how_to_enable_it() -> None:
    with pytest.raises(tk.InputError, match=r"sklearn\.set_config\(enable_metadata_routing=True\)"):
        ranking_scorer("ndcg@5")(RankingEstimator("listnet"), np.ones((2, 1)), np.array([0, 1]))
