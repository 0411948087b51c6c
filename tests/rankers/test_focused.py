"""What the focused rankers learn from grades, and the two margins of their pairwise part."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkit as tk
from tests.support.rankers import linear_weights
from topkit.rankers.checks import easy_data
from topkit.rankers.orders import drawn_order, drawn_top
from topkit.rankers.svm.focused import focused_risk
from topkit.scale import train_in_parts
from topkit.scorers import Job

FOCUSED = ("focusednet", "focusedsvm", "focusedboost")


def informative(data: tk.Dataset) -> tk.Dataset:
    """The queries whose documents have different grades."""
    return data.select([q for q, (_, rows) in enumerate(data) if len(set(data.y[rows])) > 1])


@pytest.mark.parametrize("name", FOCUSED)
def test_grades_become_a_drawn_order(name: str) -> None:
    """Learning from grades is learning from the top k of a random order that agrees with them."""
    train, valid, test = informative(easy_data(30)), easy_data(10, seed=1), easy_data(10, seed=2)
    scores = {}
    for seed in (0, 7):
        graded = tk.ranker(name, k=3, seed=seed).fit(train, valid).score(test)
        drawn = tk.ranker(name, k=3, seed=seed).fit(drawn_order(train, seed).top_k(3), valid).score(test)
        np.testing.assert_array_equal(graded, drawn)
        scores[seed] = graded
    assert not np.array_equal(scores[0], scores[7])


@pytest.mark.parametrize("name", FOCUSED)
def test_queries_of_one_grade_have_no_influence(name: str) -> None:
    """An order drawn within one grade would be noise; 132 of 471 training queries of MQ2008 are like this."""
    train, test = informative(easy_data(30)), easy_data(10, seed=2)
    flat = train.query_index % 3 == 0
    mixed = train.with_labels(np.where(flat, 1.0, train.y), train.truth)
    weights = 1.0 - flat[train.ptr[:-1]]
    expected = tk.ranker(name, k=3).fit(drawn_top(mixed, 3, 0)[0], weights=weights)
    np.testing.assert_array_equal(tk.ranker(name, k=3).fit(mixed).score(test), expected.score(test))


@given(st.integers(0, 2**40), st.integers(1, 12))
def test_the_drawn_order_agrees_with_the_grades_and_keeps_k(seed: int, k: int) -> None:
    data = easy_data(6, seed=seed % 1000)
    order = drawn_order(data, seed)
    assert order.truth.kind == "order"
    for _, rows in data:
        best_first = data.y[rows][np.argsort(-order.y[rows])]
        assert (np.diff(best_first) <= 0).all()
    top, kept = drawn_top(data, k, seed)
    assert kept == k
    assert np.array_equal(np.add.reduceat(top.y > 0, data.ptr[:-1]), np.minimum(k, data.lengths))
    assert np.array_equal(top.y, order.top_k(k).y)


def test_the_draw_depends_on_nothing_but_seed_and_ids() -> None:
    data = easy_data(12)
    whole = {qid: drawn_order(data, 5).y[rows].tolist() for qid, rows in data}
    turned = data.select(np.arange(12)[::-1])
    assert {qid: drawn_order(turned, 5).y[rows].tolist() for qid, rows in turned} == whole
    for q, qid in enumerate(data.qids):  # in parts, as if each query were a file
        assert drawn_order(data.select([q]), 5).y.tolist() == whole[qid]


def test_all_orders_of_a_grade_are_drawn_equally_often() -> None:
    """3 documents of one grade in 1200 queries: each of the 6 orders 200 ± 13 times (χ² with 5 degrees)."""
    data = tk.Dataset.build(np.zeros((3600, 1)), np.ones(3600), np.repeat(np.arange(1200), 3))
    for seed in (0, 1):
        orders = drawn_order(data, seed).y.reshape(-1, 3)
        _, counts = np.unique(orders, axis=0, return_counts=True)
        assert len(counts) == 6
        assert ((counts - 200) ** 2 / 200).sum() < 20.5  # p = 0.001


@pytest.mark.parametrize("name", FOCUSED)
def test_full_orders_are_cut_and_short_tops_keep_their_k(name: str) -> None:
    order, test = easy_data(30).as_order(seed=3), easy_data(10, seed=2)
    cut = tk.ranker(name, k=3).fit(order.top_k(3)).score(test)
    np.testing.assert_array_equal(tk.ranker(name, k=3).fit(order).score(test), cut)
    # k = 10 is larger than that of the truth: documents outside the top 3 must not enter T in short lists
    np.testing.assert_array_equal(tk.ranker(name, k=10).fit(order.top_k(3)).score(test), cut)


@pytest.mark.parametrize("name", ["listmle", "topk-listmle", "topk-listnet", "topk-rankcosine"])
def test_ties_are_shared_unless_an_order_is_drawn(name: str) -> None:
    train, test = informative(easy_data(30)), easy_data(10, seed=2)
    k = {} if name == "listmle" else {"k": 3}
    order = drawn_order(train, 5) if name == "listmle" else drawn_top(train, 3, 5)[0]
    drawn = tk.ranker(name, ties="random", seed=5, l2=0.01, **k).fit(train).score(test)
    np.testing.assert_array_equal(drawn, tk.ranker(name, l2=0.01, **k).fit(order).score(test))
    assert not np.array_equal(drawn, tk.ranker(name, seed=5, l2=0.01, **k).fit(train).score(test))


@pytest.mark.parametrize("name", ["focusednet", "listmle"])
def test_training_in_parts_draws_the_same_order(name: str, tmp_path: Path) -> None:
    data = easy_data(20)
    flat = data.with_labels(np.where(data.query_index % 4 == 1, 0.0, data.y), data.truth)
    flat.to_parquet(tmp_path / "graded.parquet")
    data, test = tk.read_parquet(tmp_path / "graded.parquet"), easy_data(10, seed=2)
    settings = {"l2": 0.01, "seed": 3} | ({"k": 3} if name == "focusednet" else {"ties": "random"})
    parts = train_in_parts(name, tmp_path / "graded.parquet", rows=40, **settings)
    np.testing.assert_allclose(
        parts.score(test), tk.ranker(name, **settings).fit(data).score(test), rtol=1e-3
    )


def test_label_gap_of_focusedsvm_written_out() -> None:
    """k = 2, one document in F: ½(max(0, 1 − 2(s₁ − s₃)) + max(0, 1 − (s₂ − s₃))) at β = 0."""
    data = tk.Dataset.build([[0.0]] * 3, [2, 1, 0], ["q"] * 3, truth="top-2")
    objective = focused_risk(Job(data, None, lambda d, s: 0.0), 2, 0.0, "label-gap")
    assert objective.total == pytest.approx(1.0)
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
