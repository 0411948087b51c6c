"""Calibration: gradients, known posteriors, the sum of many heads, and Proposition 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from topkit.compute import Floats
from topkit.metrics import ideal_dcg
from topkit.rankers.mixture.calibration import (
    CALIBRATIONS,
    PROBABILITY_CALIBRATIONS,
    REGRESSION_CALIBRATIONS,
    calibrate,
    sigmoid_objective,
    truth_of,
)
from topkit.rankers.mixture.heads import mixed_gain, monomial_values
from topkit.rankers.mixture.split import CalibrationSplit
from topkit.rankers.mixture.targets import TARGETS, Truth, entropy_weighted, soft_ndcg
from topkit.rankers.multiclass.adaboost import Plan
from topkit.rankers.multiclass.adaboost_mh import train_boosted
from topkit.scorers import Job

GAINS = np.array([0.0, 1.0, 3.0])


def some_truth(seed: int, n: int = 24, K: int = 3) -> tuple[Floats, Truth]:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(K), n)
    weights = rng.uniform(0.5, 2.0, n)
    ptr = np.array([0, 1, 8, n])
    return p, Truth(rng.integers(0, K, n), GAINS[:K], ptr, weights / weights.sum())


@pytest.mark.parametrize("name", list(TARGETS))
def test_gradients_of_targets(name: str) -> None:
    p, truth = some_truth(1)
    _, slope = TARGETS[name](p, truth)
    rng = np.random.default_rng(0)
    for _ in range(20):
        direction = rng.normal(size=p.shape)
        step = 1e-6
        above, below = (TARGETS[name](p + sign * step * direction, truth)[0] for sign in (1, -1))
        assert (slope * direction).sum() == pytest.approx((above - below) / (2 * step), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", list(TARGETS))
def test_gradients_in_slope_and_centre(name: str) -> None:
    _, truth = some_truth(2)
    u = np.random.default_rng(3).normal(size=(24, 3))
    for theta in ([0.0, 0.0], [1.1, -0.4], [-0.7, 2.0], [2.5, 6.0]):
        _, slope = sigmoid_objective(np.array(theta), u, truth, TARGETS[name])
        for i in range(2):
            step = np.zeros(2)
            step[i] = 1e-6
            above, below = (
                sigmoid_objective(np.array(theta) + sign * step, u, truth, TARGETS[name])[0]
                for sign in (1, -1)
            )
            assert slope[i] == pytest.approx((above - below) / 2e-6, rel=1e-4, abs=1e-8)


def test_targets_by_hand() -> None:
    """One document of class 1 with p = ½, ¼, ¼: H = 1.5 ln 2."""
    truth = Truth(np.array([1]), GAINS, np.array([0, 1]), np.ones(1))
    p = np.array([[0.5, 0.25, 0.25]])
    assert TARGETS["log-sigmoid"](p, truth)[0] == pytest.approx(np.log(4))
    assert entropy_weighted(p, truth)[0] == pytest.approx(np.log(4) * (1.5 * np.log(2)) ** 2)
    assert TARGETS["expected-loss"](p, truth)[0] == pytest.approx(0.5 * 1 + 0.25 * 0 + 0.25 * 1)
    assert TARGETS["expected-label"](p, truth)[0] == pytest.approx((0.25 + 0.5 - 1) ** 2)


def test_soft_ndcg_is_the_dcg_of_scores_far_apart() -> None:
    """Gains 3 at rank 2 and 1 at rank 1, weights ½: −½(3/log2 3 + 1/log2 2)."""
    truth = Truth(np.array([2, 1]), GAINS, np.array([0, 2]), np.full(2, 0.5))
    p = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert soft_ndcg(p, truth)[0] == pytest.approx(-0.5 * (3 / np.log2(3) + 1))


def known_posteriors(seed: int, n: int = 3000) -> tuple[Floats, Floats, Truth]:
    """True class probabilities, classes drawn from them, and timid, shifted scores of a classifier."""
    rng = np.random.default_rng(seed)
    raised = rng.normal(size=(n, 3)) * 2.0 + np.array([1.0, 0.0, -0.7])
    p = np.exp(raised)
    p /= p.sum(axis=1, keepdims=True)
    classes = (rng.random(n)[:, None] > np.cumsum(p, axis=1)).sum(axis=1)
    # a sigmoid calibration can undo this one: s = 0.9·p, f = 0.3 + logit(s)/7
    scores = 0.3 + np.log(0.9 * p / (1 - 0.9 * p)) / 7
    ptr = np.arange(0, n + 1, 20)
    return p, scores, Truth(classes, GAINS, ptr, np.full(n, 1 / n))


def divergence(p: Floats, q: Floats) -> float:
    """Mean Kullback–Leibler divergence."""
    return float((p * np.log(p / np.maximum(q, 1e-300))).sum(axis=1).mean())


@pytest.mark.parametrize("name", PROBABILITY_CALIBRATIONS)
def test_probability_calibrations_come_nearer_to_the_truth(name: str) -> None:
    """The shift is nearer than equal probabilities, and each sigmoid is nearer than the shift."""
    _, scores, truth = known_posteriors(0)
    p, fresh, _ = known_posteriors(1)
    head, shift = (calibrate(scores, truth, [which])[0] for which in (name, "shift"))
    reached = divergence(p, head.probabilities(fresh))
    assert head.probabilities(fresh).sum(axis=1) == pytest.approx(np.ones(len(fresh)))
    if name == "shift":
        assert reached < divergence(p, np.full_like(p, 1 / 3))
    else:
        assert reached < divergence(p, shift.probabilities(fresh))


def grid_minimum(scores: Floats, truth: Truth, name: str) -> tuple[float, Floats, float]:
    """The lowest value of a target over a grid of slopes and centres; its place, and the value of the fit."""
    centre, spread = float(scores.mean()), float(scores.std())
    u = (scores - centre) / spread
    grid = [np.array([a, b]) for a in np.linspace(-2.0, 3.0, 41) for b in np.linspace(-3.0, 3.0, 41)]
    values = [sigmoid_objective(theta, u, truth, TARGETS[name])[0] for theta in grid]
    a, b = calibrate(scores, truth, [name])[0].numbers
    fitted = np.array([np.log(a * spread), (b - centre) / spread])
    return min(values), grid[int(np.argmin(values))], sigmoid_objective(fitted, u, truth, TARGETS[name])[0]


@pytest.mark.parametrize("name", ["log-sigmoid", "expected-label"])
def test_targets_with_a_minimum_are_minimised(name: str) -> None:
    """No slope and centre of a grid has a lower value than the fit: nothing pulls it elsewhere."""
    _, scores, truth = known_posteriors(6, 1000)
    lowest, _, fitted = grid_minimum(scores, truth, name)
    assert fitted <= lowest + 1e-9


def test_soft_ndcg_is_not_pulled_to_the_log_sigmoid_fit() -> None:
    """Soft DCG has several minima, so the fit need not find the lowest one, but it goes most of the way."""
    _, scores, truth = known_posteriors(6, 1000)
    lowest, _, fitted = grid_minimum(scores, truth, "soft-ndcg")
    log_sigmoid = calibrate(scores, truth, ["log-sigmoid"])[0]
    start = TARGETS["soft-ndcg"](log_sigmoid.probabilities(scores), truth)[0]
    assert fitted < start
    assert fitted - lowest < 0.5 * (start - lowest)


@pytest.mark.real_data
def test_sigmoids_of_real_classifiers_differ(real_data: Path) -> None:
    """MQ2008 Fold1, 100 trees of 8 leaves: soft NDCG has a minimum with a slope far from the log-sigmoid's.

    The three targets with a minimum reach that of a grid of 1681 slopes and centres.
    """
    train = tk.read_letor(real_data / "MQ2008" / "Fold1" / "train.txt")
    split = CalibrationSplit.of(Job(train, None, tk.ranker("adaboost-mh").measure()), 0.2)
    source = train_boosted(split, split.classes, Plan("tree", 8, 100), (100,)).source
    data = split.view("calibrate")
    classes = split.classes.index(split.grades_in(split.calibration_queries))
    truth = truth_of(data, classes, split.classes.gains, np.ones(data.n_queries))
    scores = source.outputs(data)[0]
    for name in ("log-sigmoid", "expected-label", "soft-ndcg"):
        lowest, _, fitted = grid_minimum(scores, truth, name)
        assert fitted <= lowest + 1e-6
    slopes = {name: calibrate(scores, truth, [name])[0].numbers[0] for name in TARGETS}
    assert slopes["soft-ndcg"] > 2 * slopes["log-sigmoid"]


def test_log_sigmoid_finds_the_slope_and_the_centre() -> None:
    """The scores were made with slope 7 and centre 0.3; 20,000 documents find both to a few percent."""
    _, scores, truth = known_posteriors(4, 20_000)
    a, b = calibrate(scores, truth, ["log-sigmoid"])[0].numbers
    assert a == pytest.approx(7.0, rel=0.06)
    assert b == pytest.approx(0.3, abs=0.06)


@pytest.mark.parametrize("name", REGRESSION_CALIBRATIONS)
def test_regressions_come_nearer_to_the_bayes_score(name: str) -> None:
    """v = Σ gain·p is known; a regression orders documents by it better than the naive shift's gain does.

    For plain gains the squared error to v is lower too; gains over the ideal DCG are in another unit.
    """
    _, scores, truth = known_posteriors(0)
    p, fresh, _ = known_posteriors(1)
    bayes = p @ GAINS
    head, shift = (calibrate(scores, truth, [which])[0] for which in (name, "shift"))
    estimate, naive = head.gain(fresh, GAINS), shift.gain(fresh, GAINS)
    assert np.square(estimate - bayes).mean() < np.square(naive - bayes).mean()


def test_many_heads_together_are_the_sum_of_each() -> None:
    _, scores, truth = known_posteriors(2, 400)
    heads = calibrate(scores, truth)
    assert [head.name for head in heads] == list(CALIBRATIONS)
    weights = np.random.default_rng(0).uniform(size=len(heads))
    apart = sum(w * head.gain(scores, GAINS) for w, head in zip(weights, heads, strict=True))
    assert mixed_gain(scores, heads, weights, GAINS) == pytest.approx(apart)
    for head in heads:
        if head.probabilistic:
            assert head.gain(scores, GAINS) == pytest.approx(head.probabilities(scores) @ GAINS)


def test_a_rankers_score_is_calibrated_by_regression_only() -> None:
    _, scores, truth = known_posteriors(2, 400)
    heads = calibrate(scores[:, 2:], truth)
    assert [head.name for head in heads] == list(REGRESSION_CALIBRATIONS)
    order = scores[:, 2].argsort()
    for head in heads:
        if head.family in ("linear", "logistic"):
            assert (np.diff(head.gain(scores[:, 2:], np.empty(0))[order]) >= 0).all()


def test_linear_and_polynomial_are_least_squares() -> None:
    """Compared with NumPy's lstsq on the same monomials; the penalty of 1e-4 moves values slightly."""
    rng = np.random.default_rng(5)
    f = rng.normal(size=(500, 2))
    classes = np.digitize(f[:, 0] + 0.3 * f[:, 1] ** 2 + rng.normal(scale=0.4, size=500), [0.2, 1.0])
    truth = Truth(classes, GAINS, np.arange(0, 501, 10), np.full(500, 1 / 500))
    for name, columns in (("linear", 3), ("polynomial-2", 6), ("polynomial-3", 10)):
        values = monomial_values((f - f.mean(axis=0)) / f.std(axis=0))[:, :columns]
        expected = values @ np.linalg.lstsq(values, GAINS[classes], rcond=None)[0]
        assert calibrate(f, truth, [name])[0].gain(f, GAINS) == pytest.approx(expected, abs=2e-3)


def test_ideal_dcg_by_its_definition() -> None:
    """From the definition: gains best first, each over log2(1 + rank), ten of them."""
    rng = np.random.default_rng(1)
    lengths = [1, 14, 6]
    y = rng.integers(0, 3, sum(lengths))
    y[0] = 0
    gains = GAINS[y]
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    values = ideal_dcg(gains, ptr, 10)
    for q in range(3):
        best = np.sort(gains[ptr[q] : ptr[q + 1]])[::-1][:10]
        assert values[q] == pytest.approx((best / np.log2(np.arange(2, len(best) + 2))).sum())


def test_unknown_calibrations_are_refused() -> None:
    with pytest.raises(tk.InputError, match="unknown calibration 'platt'"):
        calibrate(np.zeros((2, 2)), some_truth(0)[1], ["platt"])
