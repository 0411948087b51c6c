"""The setting ``normalise``: rankers that classify honour each choice, and boosting sees raw features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topkit as tk
from topkit.rankers.checks import easy_data

SMALL: dict[str, dict[str, Any]] = {
    "adaboost-mh": {"rounds": 8, "size": 4},
    "mcsvm": {"C": 0.1},
    "tune-and-mix": {
        "trees": (4,), "products": (2,), "rounds": 8, "rankers": ("linear-regression",),
        "calibrations": ("log-sigmoid", "linear"),
    },
}  # fmt: skip


def direction_data(seed: int, queries: int = 60) -> tk.Dataset:
    """A feature that is constant within each query decides whether large or small values are relevant."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (12 * queries, 3)).astype(np.float32)
    X[:, 2] = np.repeat(rng.choice([-1.0, 1.0], queries), 12)
    y = np.digitize(X[:, 0] * X[:, 2] + 0.1 * rng.normal(size=len(X)), [0.0, 0.6])
    return tk.Dataset.build(X, y, np.repeat(np.arange(queries), 12))


def ndcg(fitted: tk.rankers.Learner, data: tk.Dataset) -> float:
    return tk.evaluate(data, fitted.score(data), "ndcg@10").mean["ndcg@10"]


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("adaboost-mh", {"rounds": 60}),
        ("tune-and-mix", {**SMALL["tune-and-mix"], "rounds": 60, "svm": False, "rankers": ()}),
    ],
)
def test_boosting_uses_features_that_are_constant_within_queries(name: str, settings: dict[str, Any]) -> None:
    train, test = direction_data(0), direction_data(1)
    assert ndcg(tk.ranker(name, **settings).fit(train), test) > 0.95
    # normalised within queries, the feature is 0 everywhere
    assert ndcg(tk.ranker(name, normalise="min-max", **settings).fit(train), test) < 0.85


@pytest.mark.parametrize("name", list(SMALL))
@pytest.mark.parametrize("choice", ["min-max", "z-score", "sortnet"])
def test_a_chosen_normalisation_is_the_only_one(name: str, choice: str) -> None:
    """Normalising inside the ranker and normalising the data first give the same scores."""
    train, valid, test = easy_data(20, noise=0.2), easy_data(10, 1, noise=0.2), easy_data(8, 2)
    inside = tk.ranker(name, normalise=choice, **SMALL[name]).fit(train, valid).score(test)
    before = tk.ranker(name, normalise="none", **SMALL[name])
    before.fit(tk.normalise(train, choice), tk.normalise(valid, choice))
    np.testing.assert_array_equal(inside, before.score(tk.normalise(test, choice)))


@pytest.mark.parametrize("name", list(SMALL))
def test_no_normalisation_is_honoured(name: str) -> None:
    """Shifting a feature by a constant per query changes raw features only."""
    train = easy_data(20, noise=0.2)
    X = np.array(train.X)
    X[:, 0] += 5 * (train.query_index % 3)
    shifted = train.with_features(X)
    raw = [
        tk.ranker(name, normalise="none", **SMALL[name]).fit(data).score(data) for data in (train, shifted)
    ]
    assert not np.allclose(raw[0], raw[1])


@pytest.mark.parametrize("name", ["adaboost-mh", "listnet", "lambdamart"])
def test_raw_features_with_their_z_scores(name: str, tmp_path: Path) -> None:
    """The augmentation of the paper: each feature, and its z-score within the query."""
    train, test = easy_data(20, noise=0.2), easy_data(8, 2)
    settings = SMALL.get(name, {})
    fitted = tk.ranker(name, normalise="raw+z-score", **settings).fit(train)
    both = tk.normalise(train, "z-score", "append"), tk.normalise(test, "z-score", "append")
    expected = tk.ranker(name, normalise="none", **settings).fit(both[0]).score(both[1])
    np.testing.assert_array_equal(fitted.score(test), expected)
    fitted.save(tmp_path / "model")
    np.testing.assert_array_equal(tk.load_ranker(tmp_path / "model").score(test), expected)


def test_one_feature_can_be_augmented() -> None:
    train = easy_data(20)
    fitted = tk.ranker("listnet", normalise="raw+z-score", features=("1",)).fit(train)
    assert fitted.preparation is not None
    assert fitted.preparation.width == 2
