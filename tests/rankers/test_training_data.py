"""What rankers do with training and validation data that is unusual or wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import topkit as tk
from tests.support.rankers import QUICK_RANKERS
from topkit.data import Dataset
from topkit.losses import Preferences
from topkit.metrics.compiled import Measured
from topkit.rankers import RANKERS
from topkit.rankers.checks import easy_data

SETTINGS: dict[str, dict[str, object]] = {
    "gradient": {"loss": "listnet"},
    "coordinate-ascent": {"restarts": 1, "sweeps": 2, "steps": 5},
}
FEW = {"trees": 10, "rounds": 5, "epochs": 3}
"""Settings that keep training short, for the rankers that have them."""


def small(name: str, **settings: object) -> tk.rankers.Ranker:
    known = tk.rankers.settings_of(name)
    few = {key: value for key, value in FEW.items() if key in known}
    return tk.ranker(name, **{**few, **QUICK_RANKERS.get(name, {}), **SETTINGS.get(name, {}), **settings})


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_trains_under_trec_with_validation_data_without_document_ids(name: str) -> None:
    train, valid = easy_data(8), easy_data(5, seed=1)
    assert valid.doc_ids is None
    ranker = small(name, convention="trec").fit(train, valid)
    assert np.isfinite(ranker.ordering_scores(valid)).all()


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_refuses_data_without_features(name: str) -> None:
    data = easy_data(5)
    with pytest.raises(tk.InputError, match="the training data has no features"):
        small(name).fit(data.with_features(np.zeros((len(data), 0))))


def tied(names: list[str]) -> Dataset:
    return Dataset.build([[0.0], [0.0]], [1, 0], ["q", "q"], doc_ids=names)


def test_the_convention_breaks_ties_of_validation_scores() -> None:
    """Two equal scores: trec puts the larger id first, whatever the order of rows; yahoo the first row."""
    scores = np.zeros(2)
    for name in ("mart", "bestfeature"):
        trec = tk.ranker(name, convention="trec", metric="rr").measure()
        assert trec(tied(["a", "b"]), scores) == 0.5
        assert trec(tied(["b", "a"]), scores) == 1.0
        assert tk.ranker(name, metric="rr").measure()(tied(["a", "b"]), scores) == 1.0


def test_trees_select_by_the_ties_of_the_convention() -> None:
    """Before the first tree all scores are equal: the trace starts with the value of the tied order.

    The relevant document has the smaller id, so trec puts it last of two (RR 0.5) though its row is first.
    """
    train = easy_data(10)
    valid = Dataset.build([[0.0] * 4] * 2, [1, 0], ["q", "q"], doc_ids=["a", "b"])
    for convention, expected in (("trec", 0.5), ("yahoo", 1.0)):
        ranker = tk.ranker("mart", convention=convention, metric="rr", trees=1).fit(train, valid)
        assert ranker.traces[0].values[0] == expected


def test_a_metric_bound_to_data_without_ids_sorts_ties_by_generated_names() -> None:
    data = replace(tied(["a", "b"]), doc_ids=None)  # q:1 and q:2
    assert Measured.of(data, "rr", "trec").values(np.zeros(2)).tolist() == [0.5]


def test_negative_labels_are_refused_in_training_and_say_how_many() -> None:
    data = easy_data(5)
    labels = np.array(data.y)
    labels[[3, 7]] = -1
    unjudged = data.with_labels(labels, data.truth)
    with pytest.raises(tk.InputError, match=r"2 of \d+ training documents have a negative label.*remove"):
        tk.ranker("listnet").fit(unjudged)
    tk.ranker("listnet").fit(data, unjudged)  # the metric does not count them


def test_labels_do_not_matter_when_preferences_are_given() -> None:
    data = easy_data(5)
    unjudged = data.with_labels(np.full(len(data), -1), data.truth)
    pairs = Preferences.of_rows(unjudged.ptr, [0], [1])
    ranker = tk.ranker("ranksvm", pairs="given").fit(unjudged, preferences=pairs)
    assert np.isfinite(ranker.score(unjudged)).all()


@pytest.mark.parametrize("role", ["train", "valid"])
def test_arrays_instead_of_a_dataset_are_refused(role: str) -> None:
    data = easy_data(5)
    given: dict[str, Any] = {"train": data, "valid": data, role: data.X}
    with pytest.raises(tk.InputError, match=r"data: expected a Dataset, got ndarray; make one"):
        tk.ranker("listnet").fit(given["train"], given["valid"])
    with pytest.raises(tk.InputError, match="expected a Dataset, got ndarray"):
        tk.ranker("listnet").fit(data).score(data.X)  # type: ignore[arg-type]
