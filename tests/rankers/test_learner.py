"""A ranker by name: its settings, features and truth, what it learns from, and its provenance."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import topkit as tk
from topkit.compute import Trace
from topkit.data.settings import Setting
from topkit.losses import Preferences
from topkit.rankers import MODELS, RANKERS, Ranker, parse_settings, settings_of, space_of
from topkit.rankers.checks import easy_data, quality, run_checks
from topkit.scorers import SCORERS, Job, Linear, LinearScorer, ScoreModel
from topkit.scorers.torch import TorchModel


def test_every_promised_name_is_there() -> None:
    promised = (
        "ranknet listnet listmle rankcosine topk-listnet topk-listmle topk-rankcosine focusednet lambdamart "
        "mart linear-regression gradient"
    )
    assert set(promised.split()) <= set(tk.RANKERS)


def test_rankers_keep_the_protocol() -> None:
    assert isinstance(tk.ranker("listnet"), Ranker)


def test_unknown_names_and_settings_are_told_what_there_is() -> None:
    with pytest.raises(tk.InputError, match=r"unknown ranker 'lisnet'.*listnet"):
        tk.ranker("lisnet")
    with pytest.raises(tk.InputError, match=r"'focusednet' has no setting 'betta'.*did you mean 'beta'"):
        tk.ranker("focusednet", betta=0.5)
    with pytest.raises(tk.InputError, match=r"'listnet' has no setting 'leaves'"):
        tk.ranker("listnet", leaves=31)
    with pytest.raises(tk.InputError, match=r"unknown scorer 'tree'.*trees"):
        tk.ranker("listnet", scorer="tree")
    with pytest.raises(tk.InputError, match=r"unknown loss 'nothing'"):
        tk.ranker("gradient", loss="nothing")
    with pytest.raises(tk.InputError, match=r"normalise must be one of auto, none, .*, got 'log'"):
        tk.ranker("listnet", normalise="log")
    with pytest.raises(tk.InputError, match=r"beta must .*0.*1"):
        tk.ranker("focusednet", beta=2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"l2": -1.0}, "l2 must be a number of at least 0"),
        ({"l2": "much"}, "l2 must be a number of at least 0, or none, got 'much'"),
        ({"optimiser": "sgd"}, "optimiser must be one of lbfgs, adam, got 'sgd'"),
        ({"scorer": "mlp", "hidden": (1, 2, 3, 4)}, "one to three sizes"),
        ({"scorer": "trees", "leaves": 1}, "leaves must be an integer of at least 2"),
        ({"scorer": "trees", "leaves": 7.0}, "leaves must be an integer"),
        ({"seed": True}, "seed must be an integer"),
        ({"metric": "nonsense"}, "nonsense"),
        ({"convention": "nonsense"}, "nonsense"),
    ],
    ids=str,
)
def test_wrong_values_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(tk.InputError, match=message):
        tk.ranker("listnet", **settings)


def test_settings_depend_on_the_scorer() -> None:
    assert settings_of("topk-listmle")["k"].default == 10
    assert "leaves" in settings_of("topk-listmle", scorer="trees")
    assert "leaves" not in settings_of("topk-listmle")
    assert settings_of("lambdamart")["scorer"].default == "trees"
    assert "beta" in space_of("focusednet")
    assert "beta" not in space_of("focusednet", beta=0.5)


def test_the_general_ranker_is_the_named_one() -> None:
    train, test = easy_data(15), easy_data(5, seed=1)
    named = tk.ranker("topk-listmle", k=3, l2=0.01).fit(train).score(test)
    general = tk.ranker("gradient", loss="topk-listmle", k=3, l2=0.01).fit(train).score(test)
    assert np.array_equal(named, general)


@pytest.mark.parametrize("scorer", sorted(SCORERS))
def test_every_scorer_learns_from_preferences_alone(scorer: str) -> None:
    """Labels are hidden; the pairs carry the same information."""
    data, test = easy_data(), easy_data(seed=2)
    same = data.query_index[:, None] == data.query_index[None, :]
    better, worse = np.nonzero((data.y[:, None] > data.y[None, :]) & same)
    pairs = Preferences.of_rows(data.ptr, better, worse)
    blank = data.with_labels(np.zeros(len(data)), data.truth)
    quick = {"mlp": {"epochs": 40, "rate": 0.02}, "trees": {"trees": 60, "rate": 0.2}}.get(scorer, {})
    fitted = tk.ranker("ranknet", pairs="given", scorer=scorer, **quick).fit(blank, preferences=pairs)
    assert quality(fitted, test) > 0.9


def test_truth_that_does_not_fit_the_loss_is_refused() -> None:
    data = easy_data(4)
    pairs = Preferences.of_rows(data.ptr, [0], [1])
    with pytest.raises(tk.InputError, match="learns from labels"):
        tk.ranker("listnet").fit(data, preferences=pairs)
    with pytest.raises(tk.InputError, match="needs preferences"):
        tk.ranker("ranknet", pairs="given").fit(data)


def test_weights_count_like_copies() -> None:
    """A query of weight 2 is the same as the query twice."""
    data = easy_data(6)
    twice = tk.Dataset(
        np.vstack([data.X, data.X]),
        np.concatenate([data.y, data.y]),
        np.concatenate([data.ptr, data.ptr[-1] + data.ptr[1:]]),
        data.qids + tuple(f"again {qid}" for qid in data.qids),
    )
    chosen = np.r_[np.arange(6), 6, 8]
    weighted = tk.ranker("listnet", l2=0.1, tolerance=1e-10).fit(data, weights=[2, 1, 2, 1, 1, 1])
    copied = tk.ranker("listnet", l2=0.1, tolerance=1e-10).fit(twice.select(chosen))
    np.testing.assert_allclose(weighted.score(data), copied.score(data), rtol=1e-5, atol=1e-7)


def test_a_subset_of_features_is_all_it_sees() -> None:
    data, test = easy_data(10), easy_data(5, seed=1)
    fitted = tk.ranker("listnet", features=[1, 3], l2=0.1).fit(data)  # LETOR counts from 1
    blind = np.array(test.X)
    blind[:, [1, 3]] = 0
    assert np.array_equal(fitted.score(test), fitted.score(test.with_features(blind)))
    with pytest.raises(tk.InputError, match=r"no feature '9'.*it has 1, 2, 3, 4"):
        tk.ranker("listnet", features=[9]).fit(data)


def test_features_in_another_order_are_noticed() -> None:
    data = easy_data(5)
    named = data.with_features(data.X, ["bm25", "length", "pagerank", "age"])
    fitted = tk.ranker("listnet").fit(named)
    swapped = data.with_features(data.X, ["length", "bm25", "pagerank", "age"])
    with pytest.raises(tk.InputError, match=r"feature 1 is 'length' .* 'bm25' in training"):
        fitted.score(swapped)
    assert len(fitted.score(data)) == len(data)  # data without names is accepted


def test_provenance_says_what_was_seen() -> None:
    data, valid = easy_data(5), easy_data(4, seed=1)
    fitted = tk.ranker("listnet").fit(data, valid)
    again = tk.ranker("listnet").fit(data, valid)
    assert fitted.provenance == again.provenance
    assert fitted.provenance["train"]["queries"] == 5
    assert fitted.provenance["valid"]["queries"] == 4
    assert fitted.provenance["versions"]["topkit"] == tk.__version__
    other = tk.ranker("listnet").fit(data.with_labels(data.y * 2, data.truth))
    assert other.provenance["train"]["sha256"] != fitted.provenance["train"]["sha256"]


def test_l2_is_chosen_by_the_chosen_metric() -> None:
    """Each fit of the path is traced; the kept one and its neighbours have the best mean."""
    data, valid = easy_data(10, noise=0.4), easy_data(10, seed=1, noise=0.4)
    seen: dict[str, float] = {}

    def report(what: str, step: int, steps: int, value: float) -> None:
        if what.startswith("l2="):
            seen[what] = value

    fitted = tk.ranker("listnet", metric="map", convention="letor3").fit(data, valid, report=report)
    assert len(seen) == len(fitted.traces) > 5
    values = list(seen.values())
    smooth = [np.mean(values[max(i - 1, 0) : i + 2]) for i in range(len(values))]
    assert fitted.measure_on(valid) == values[int(np.argmax(smooth))]
    assert fitted.measure_on(valid) == tk.evaluate(valid, fitted.score(valid), "map", "letor3").mean["map"]


def test_the_battery_finds_a_bad_ranker() -> None:
    """A ranker that looks at the position of rows fails where it should."""

    class ByPosition:
        def fit(self, train: tk.Dataset, valid: object = None, **_: object) -> ByPosition:
            return self

        def score(self, data: tk.Dataset) -> Any:
            return -np.arange(len(data), dtype=np.float64)

        def ordering_scores(self, data: tk.Dataset) -> Any:
            return self.score(data)

        def rank(self, data: tk.Dataset) -> tk.Run:
            return tk.Run.from_scores(data, self.score(data))

        def save(self, path: object) -> None:
            raise AssertionError("cannot be saved")

    failures = {name for name, problem in run_checks(ByPosition).items() if problem}
    assert {"learns", "saved", "document_order", "refusals"} <= failures
    assert "complete" not in failures


def test_every_setting_of_every_ranker_can_be_shown_and_parsed() -> None:
    """Defaults are allowed values, and each setting has a sentence."""
    for name in RANKERS:
        for setting in settings_of(name).values():
            assert isinstance(setting, Setting)
            assert setting.check(setting.default) == setting.default or setting.default is None


def test_settings_as_texts() -> None:
    assert parse_settings("listnet", ["scorer=trees", "leaves=7", "normalise=none"]) == {
        "scorer": "trees",
        "leaves": 7,
        "normalise": "none",
    }
    assert parse_settings("listnet", ["l2=none", "features=1,3"]) == {"l2": None, "features": ("1", "3")}
    nested = parse_settings("sigmoid", ["base=perceptron", "base_settings.passes=2"])
    assert nested == {"base": "perceptron", "base_settings": {"passes": 2}}
    assert tk.ranker("sigmoid", **nested).fit(easy_data(4)).rank(easy_data(2)) is not None
    with pytest.raises(tk.InputError, match="passes must be an integer of at least 1, got '0'"):
        parse_settings("sigmoid", ["base=perceptron", "base_settings.passes=0"])
    with pytest.raises(tk.InputError, match="ranker 'ranksvm' has no setting 'passes'"):
        parse_settings("sigmoid", ["base_settings.passes=2"])


@dataclass(frozen=True)
class Sum(ScoreModel):
    """score = Σ x: a model of a kind that topkit does not know."""

    kind: ClassVar[str] = "sum"

    def score(self, data: tk.Dataset) -> Any:
        return data.X.sum(axis=1).astype(np.float64)


@dataclass(frozen=True)
class FakeScorer:
    """A scorer object of a user: it returns a model after one evaluation of the loss."""

    model: Any
    normalisation: ClassVar[str] = "min-max"

    def fit(self, job: Job, objective: Any) -> tuple[Any, list[Trace]]:
        value, gradient = objective(np.zeros(len(job.train)))
        assert len(gradient) == len(job.train)
        return self.model, [Trace(1, values=[value], reason="settled")]


def test_scorer_objects(tmp_path: Path) -> None:
    train = easy_data(6)
    fitted = tk.ranker("focusednet", scorer=FakeScorer(Sum()), k=3).fit(train)
    assert fitted.preparation is not None
    assert fitted.preparation.normalisation == "min-max"
    assert fitted.traces[0].values[0] > 0
    np.testing.assert_array_equal(fitted.score(train), fitted.ordering_scores(train))
    with pytest.raises(tk.InputError, match="kind 'sum' cannot be saved"):
        fitted.save(tmp_path / "model")
    with pytest.raises(tk.InputError, match="scorer must be one of linear, mlp, trees"):
        tk.ranker("listnet", scorer=7)
    with pytest.raises(tk.InputError, match="has no setting 'l2'"):
        tk.ranker("listnet", scorer=FakeScorer(Sum()), l2=0.1)


def test_a_scorer_object_with_a_known_model_is_saved_without_the_object(tmp_path: Path) -> None:
    train = easy_data(6)
    fitted = tk.ranker("listnet", scorer=FakeScorer(Linear(np.ones(4)))).fit(train)
    fitted.save(tmp_path / "model")
    loaded = tk.load_ranker(tmp_path / "model")
    assert loaded.rank(train) == fitted.rank(train)
    assert loaded.provenance["scorer"] == "FakeScorer"
    assert loaded.settings == {}


def test_a_built_in_scorer_object_is_its_name_and_settings() -> None:
    assert tk.ranker("listnet", scorer=LinearScorer(l2=0.1)).settings["l2"] == 0.1
    assert tk.ranker("listnet", scorer=LinearScorer(l2=0.1)).settings["scorer"] == "linear"


def test_models_that_cannot_be_saved_say_so() -> None:
    with pytest.raises(tk.InputError, match="kind 'torch' cannot be saved"):
        TorchModel(None).parts()
    assert "torch" not in MODELS


def test_versions_come_from_the_model() -> None:
    assert set(tk.ranker("listnet").fit(easy_data(4)).provenance["versions"]) == {"python", "topkit", "numpy"}
    trees = tk.ranker("lambdamart", trees=2, min_leaf=2).fit(easy_data(10))
    assert "lightgbm" in trees.provenance["versions"]
