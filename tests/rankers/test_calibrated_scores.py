"""Calibrated rankers: against scikit-learn, saved and loaded, with the order of the ranker; their errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from tests.support.cli import said
from topkit.rankers.calibrated import Calibrated, isotonic_corners, platt_sigmoid
from topkit.rankers.checks import easy_data

RANKER = tk.ranker("listnet").fit(easy_data(20), easy_data(8, seed=1))
HELD_OUT = easy_data(30, seed=3)
TEST = easy_data(200, seed=4)


def ece(scores: np.ndarray, metric: str = "ece") -> float:
    return tk.evaluate(TEST, scores, metric).mean[metric]


def test_isotonic_equals_scikit_learn() -> None:
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=200).round(1), rng.integers(0, 3, 200).astype(float)  # with ties
    asked = np.linspace(-4, 4, 81)
    expected = IsotonicRegression(out_of_bounds="clip").fit(scores, labels).predict(asked)
    np.testing.assert_allclose(np.interp(asked, *isotonic_corners(scores, labels)), expected, atol=1e-12)


def test_platt_equals_scikit_learn() -> None:
    from sklearn.calibration import _sigmoid_calibration

    rng = np.random.default_rng(1)
    scores = rng.normal(3, 20, 300)
    relevant = (scores + rng.normal(0, 20, 300) > 5).astype(float)
    a, b = _sigmoid_calibration(scores, relevant)  # 1/(1 + e^(a·s + b))
    assert platt_sigmoid(scores, relevant) == pytest.approx((-a, -b), rel=1e-3, abs=1e-3)


def test_platt_is_finite_for_separable_labels() -> None:
    a, b = platt_sigmoid(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0, 1, 1]))
    p = 1 / (1 + np.exp(-(a * np.array([0.0, 3.0]) + b)))
    assert np.isfinite([a, b]).all()
    assert 0 < p[0] < 0.3 < 0.7 < p[1] < 1


@pytest.mark.parametrize("method", ["isotonic", "platt"])
@pytest.mark.parametrize("relevant", [None, 2.0])
def test_calibrated_scores_are_grades_or_probabilities(
    method: str, relevant: float | None, tmp_path: Path
) -> None:
    fitted = tk.calibrate_scores(RANKER, HELD_OUT, method=method, relevant=relevant)  # type: ignore[arg-type]
    scores = fitted.score(TEST)
    metric = "ece" if relevant is None else "ece(rel=2)"
    truth = TEST.y if relevant is None else TEST.y >= relevant
    assert ece(scores, metric) < 0.1 < 0.3 < ece(RANKER.score(TEST), metric)
    assert scores.mean() == pytest.approx(truth.mean(), abs=0.1)
    assert scores.min() >= 0
    assert scores.max() <= (3 if relevant is None else 1)
    assert fitted.rank(TEST) == RANKER.rank(TEST)  # although calibrated scores tie
    assert (np.diff(scores[np.argsort(RANKER.score(TEST))]) >= 0).all()
    fitted.save(tmp_path / "a.model")
    loaded = tk.load_ranker(tmp_path / "a.model")
    assert isinstance(loaded.model, Calibrated)
    assert np.array_equal(loaded.score(TEST), scores)
    assert loaded.rank(TEST) == RANKER.rank(TEST)
    assert loaded.provenance["calibration"]["method"] == method
    assert RANKER.model is not fitted.model  # the ranker itself did not change


def test_a_model_of_trees_and_a_calibrated_model_can_be_calibrated(tmp_path: Path) -> None:
    trees = tk.ranker("mart", trees=5, min_leaf=5).fit(easy_data(20))
    once = tk.calibrate_scores(trees, HELD_OUT)
    twice = tk.calibrate_scores(once, HELD_OUT, method="platt")
    assert isinstance(twice.model, Calibrated)
    assert twice.model.base.kind == "trees"
    twice.save(tmp_path / "t.model")
    assert np.array_equal(tk.load_ranker(tmp_path / "t.model").score(TEST), twice.score(TEST))


def test_what_cannot_be_calibrated_says_why() -> None:
    sorter = tk.ranker("sortnet", rounds=1, epochs=1, hidden=2).fit(easy_data(4))
    with pytest.raises(tk.InputError, match="orders documents without scoring them"):
        tk.calibrate_scores(sorter, HELD_OUT)
    with pytest.raises(tk.InputError, match=r"at least two different labels.*another value than 9"):
        tk.calibrate_scores(RANKER, HELD_OUT, relevant=9)
    with pytest.raises(tk.InputError, match="method must be one of isotonic, platt, got 'beta'"):
        tk.calibrate_scores(RANKER, HELD_OUT, method="beta")  # type: ignore[arg-type]
    with pytest.raises(tk.InputError, match="is not fitted"):
        tk.calibrate_scores(tk.ranker("listnet"), HELD_OUT)
    upside_down = HELD_OUT.with_features(-HELD_OUT.X)
    with pytest.raises(tk.InputError, match="do not rise with the scores"):
        tk.calibrate_scores(RANKER, upside_down, method="platt")


def test_the_command(tmp_path: Path) -> None:
    RANKER.save(tmp_path / "a.model")
    HELD_OUT.to_letor(tmp_path / "vali.txt")
    arguments = (str(tmp_path / "a.model"), str(tmp_path / "vali.txt"), "--out", str(tmp_path / "b.model"))
    told = said("calibrate", *arguments, "--method", "platt", "--relevant", "2")
    assert "calibrated (platt); ece(rel=2) on this data" in told
    scores = tk.load_ranker(tmp_path / "b.model").score(TEST)
    assert 0 < scores.min() < scores.max() < 1


def test_a_regression_compatible_loss_needs_less_calibration() -> None:
    """σ(s) of the loss is a probability without any calibration."""
    fitted = tk.ranker("gradient", loss="regression-compatible", highest=3.0, l2=1e-4).fit(easy_data(60))
    grades = 3 / (1 + np.exp(-fitted.score(TEST)))
    listnet = 3 / (1 + np.exp(-RANKER.score(TEST)))
    assert ece(grades) < 0.25 < ece(listnet)


def test_a_teacher_and_document_weights_reach_the_loss(tmp_path: Path) -> None:
    """A student that learns from a teacher agrees with it more than one that learns from the labels."""
    data = easy_data(20)
    teacher = tk.ranker("bestfeature").fit(data)
    student = tk.ranker("gradient", loss="rank-distillation", alpha=0.9, k=3, l2=1e-3)
    taught, alone = student.fit(data, teacher=teacher).score(TEST), student.fit(data).score(TEST)
    of_teacher = teacher.score(TEST)
    assert np.corrcoef(taught, of_teacher)[0, 1] > np.corrcoef(alone, of_teacher)[0, 1] + 0.01
    by_scores = student.fit(data, teacher=teacher.ordering_scores(data)).score(TEST)
    assert np.array_equal(taught, by_scores)
    first_rows = np.zeros(len(data))
    first_rows[: data.ptr[10]] = 1.0
    softmax = tk.ranker("gradient", loss="softmax", l2=0.01)
    half = softmax.fit(data, document_weights=first_rows).score(TEST)
    normalised = softmax.fit(data, weights=[1] * 10 + [0] * 10).score(TEST)
    np.testing.assert_allclose(half, normalised, atol=1e-3)
    with pytest.raises(tk.InputError, match="'ranksvm' cannot learn from document weights"):
        tk.ranker("ranksvm").fit(data, document_weights=first_rows)
    with pytest.raises(tk.InputError, match="'listnet' with these settings takes no teacher"):
        tk.ranker("listnet").fit(data, teacher=teacher)
    teacher.save(tmp_path / "t.model")
    data.to_letor(tmp_path / "train.txt")
    said(
        "train", "gradient", "--set", "loss=rank-distillation", "--set", "alpha=0.9", "--set", "k=3",
        "--set", "l2=0.001", "--teacher", tmp_path / "t.model", "--train", tmp_path / "train.txt",
        "--out", tmp_path / "s.model",
    )  # fmt: skip
    np.testing.assert_allclose(tk.load_ranker(tmp_path / "s.model").score(TEST), taught, atol=1e-5)
