"""What the focused rankers learn from grades, and the two margins of their pairwise part."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from tests.support.rankers import linear_weights
from topkit.rankers.checks import easy_data
from topkit.rankers.svm.focused import focused_risk
from topkit.scale import train_in_parts
from topkit.scorers import Job

FOCUSED = ("focusednet", "focusedsvm", "focusedboost")


@pytest.mark.parametrize("name", FOCUSED)
def test_grades_become_a_drawn_order(name: str) -> None:
    """Learning from grades is learning from the top k of a random order that agrees with them."""
    train, valid, test = easy_data(30), easy_data(10, seed=1), easy_data(10, seed=2)
    scores = {}
    for seed in (0, 7):
        graded = tk.ranker(name, k=3, seed=seed).fit(train, valid).score(test)
        drawn = tk.ranker(name, k=3, seed=seed).fit(train.top_k(3, seed), valid).score(test)
        np.testing.assert_array_equal(graded, drawn)
        scores[seed] = graded
    assert not np.array_equal(scores[0], scores[7])


@pytest.mark.parametrize("name", FOCUSED)
def test_full_orders_are_cut_and_short_tops_keep_their_k(name: str) -> None:
    order, test = easy_data(30).as_order(seed=3), easy_data(10, seed=2)
    cut = tk.ranker(name, k=3).fit(order.top_k(3)).score(test)
    np.testing.assert_array_equal(tk.ranker(name, k=3).fit(order).score(test), cut)
    # k = 10 is larger than that of the truth: documents outside the top 3 must not enter T in short lists
    np.testing.assert_array_equal(tk.ranker(name, k=10).fit(order.top_k(3)).score(test), cut)


@pytest.mark.parametrize("name", ["listmle", "topk-listmle", "topk-listnet", "topk-rankcosine"])
def test_ties_are_shared_unless_an_order_is_drawn(name: str) -> None:
    train, test = easy_data(30), easy_data(10, seed=2)
    k = {} if name == "listmle" else {"k": 3}
    order = train.as_order(seed=5) if name == "listmle" else train.top_k(3, seed=5)
    drawn = tk.ranker(name, ties="random", seed=5, l2=0.01, **k).fit(train).score(test)
    np.testing.assert_array_equal(drawn, tk.ranker(name, l2=0.01, **k).fit(order).score(test))
    assert not np.array_equal(drawn, tk.ranker(name, seed=5, l2=0.01, **k).fit(train).score(test))


def test_training_in_parts_needs_the_order(tmp_path: Path) -> None:
    """A random order is drawn over all documents, so parts would draw another one."""
    easy_data(8).to_letor(tmp_path / "graded.txt")
    with pytest.raises(tk.InputError, match="data convert"):
        train_in_parts("focusednet", tmp_path / "graded.txt")


def test_label_gap_of_focusedsvm_written_out() -> None:
    """k = 2, one document in F: ½(max(0, 1 − 2(s₁ − s₃)) + max(0, 1 − (s₂ − s₃))) at β = 0."""
    data = tk.Dataset.build([[0.0]] * 3, [2, 1, 0], ["q"] * 3, truth="top-2")
    objective, start = focused_risk(Job(data, None, lambda d, s: 0.0), 2, 0.0, "label-gap")
    assert start == pytest.approx(1.0)
    value, slope = objective(np.array([0.3, 0.1, 0.0]))
    assert value == pytest.approx(((1 - 2 * 0.3) + (1 - 0.1)) / 2)
    assert slope.tolist() == pytest.approx([-1.0, -0.5, 1.5])


def test_label_gap_of_focusedboost_written_out() -> None:
    """T has the labels 2 and 1, so gaps are 1 and ½: Σ D'·gap·(f(u) − f(v)) = (1·1 + ½·0.5)/2 = 0.625."""
    data = tk.Dataset.build([[1.0], [0.5], [0.0]], [2, 1, 0], ["q"] * 3, truth="top-2")
    settings = {"k": 2, "weak": "feature", "rounds": 1, "normalise": "none", "beta": 0.0}
    ranker = tk.ranker("focusedboost", margin="label-gap", **settings).fit(data)
    r = 0.625
    assert linear_weights(ranker)[0] == pytest.approx(0.5 * np.log((1 + r) / (1 - r)))
    two = tk.ranker("focusedboost", margin="label-gap", **{**settings, "rounds": 2}).fit(data)
    alpha = 0.5 * np.log((1 + r) / (1 - r))
    weights = np.exp([-1.0 * alpha, -0.5 * 0.5 * alpha])  # D' ∝ exp(−gap·(H(u) − H(v)))
    r = float((weights @ [1.0, 0.25]) / weights.sum())
    assert linear_weights(two)[0] == pytest.approx(alpha + 0.5 * np.log((1 + r) / (1 - r)))


@pytest.mark.parametrize("name", ["focusedsvm", "focusedboost"])
def test_both_margins_learn(name: str) -> None:
    train, test = easy_data(), easy_data(20, seed=3)
    scores = {}
    for margin in ("unit", "label-gap"):
        scores[margin] = tk.ranker(name, k=5, margin=margin).fit(train).score(test)
        assert tk.evaluate(test, scores[margin], "ndcg@5").mean["ndcg@5"] > 0.85
    assert not np.array_equal(scores["unit"], scores["label-gap"])


def test_the_job_is_not_changed() -> None:
    data = easy_data(6)
    job = Job(data, None, lambda d, s: 0.0)
    tk.ranker("focusedsvm", k=2).method.train(job)
    assert replace(job).train is data
