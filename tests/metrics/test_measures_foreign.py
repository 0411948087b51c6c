"""Measures against other people's code and against brute force, on random ragged lists with ties."""

from __future__ import annotations

from itertools import pairwise, permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import topkit as tk
from topkit.data import Dataset, Grade, Judgments, Run, Truth
from topkit.metrics import evaluate_arrays
from topkit.metrics.inversions import larger_before

documents = st.lists(st.tuples(st.integers(0, 3), st.integers(-4, 4)), min_size=1, max_size=40)


def arrays(queries: list[list[tuple[int, int]]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    labels = np.array([y for query in queries for y, _ in query])
    scores = np.array([s / 4 for query in queries for _, s in query])
    return labels, scores, np.cumsum([0, *map(len, queries)])


@given(st.lists(documents, min_size=1, max_size=6))
def test_auc_is_scikit_learns(queries: list[list[tuple[int, int]]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    y, s, ptr = arrays(queries)
    found = evaluate_arrays(y, s, ptr, "auc")["auc"]
    for q in range(len(queries)):
        rows = slice(ptr[q], ptr[q + 1])
        relevant = y[rows] >= 1
        if relevant.any() and not relevant.all():
            assert found[q] == pytest.approx(metrics.roc_auc_score(relevant, s[rows]), abs=1e-12)
        else:
            assert found[q] == 1.0


@given(st.lists(documents, min_size=1, max_size=6))
def test_tau_is_scipys(queries: list[list[tuple[int, int]]]) -> None:
    stats = pytest.importorskip("scipy.stats")
    y, s, ptr = arrays(queries)
    found = evaluate_arrays(y, s, ptr, "tau")["tau"]
    for q in range(len(queries)):
        rows = slice(ptr[q], ptr[q + 1])
        if len(set(y[rows])) > 1 and len(set(s[rows])) > 1:
            assert found[q] == pytest.approx(stats.kendalltau(y[rows], s[rows]).statistic, abs=1e-12)
        else:
            assert found[q] == 1.0


@given(st.lists(st.lists(st.integers(0, 40), max_size=30), max_size=8))
def test_larger_before_is_what_it_says(lists: list[list[int]]) -> None:
    values = np.array([v for one in lists for v in one], np.int64)
    expected = [sum(u > v for u in one[:i]) for one in lists for i, v in enumerate(one)]
    assert_array_equal(larger_before(values, np.array([len(one) for one in lists], np.int64)), expected)


orders = st.lists(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(
            st.permutations(range(1, n + 1)), st.lists(st.integers(0, 6), min_size=n, max_size=n)
        )
    ),
    min_size=1,
    max_size=5,
)


@given(orders, st.integers(1, 13))
def test_weighted_tau_by_its_formula(queries: list[tuple[list[int], list[int]]], k: int) -> None:
    y = np.array([label for labels, _ in queries for label in labels])
    s = np.array([score for _, scores in queries for score in scores], np.float64)
    ptr = np.cumsum([0, *(len(labels) for labels, _ in queries)])
    name = f"wkt@{k}"
    found = evaluate_arrays(y, s, ptr, [name, f"ndcg@{k}"], truth=Truth("order"))
    for q, (labels, scores) in enumerate(queries):
        truth = sorted(range(len(labels)), key=lambda i: -labels[i])
        alpha = [(2 ** labels[i] - 1) / log2(1 + j) for j, i in enumerate(truth, 1)]
        value = sum(
            alpha[j] * sum(scores[truth[j]] < scores[other] for other in truth[j + 1 :])
            for j in range(min(k, len(truth)))
        )
        assert found[name][q] == pytest.approx(value, rel=1e-12)
        if len(set(scores)) == len(scores):  # the bound that gives the measure its meaning
            assert 1 - found[f"ndcg@{k}"][q] <= value / sum(alpha[:k]) + 1e-12


@given(orders, st.integers(1, 12))
def test_top_k_truth_sees_only_the_top(queries: list[tuple[list[int], list[int]]], k: int) -> None:
    """From full-order and from top-k labels: the same loss at k, and κ-NDCG is NDCG on top-k labels."""
    y = np.array([label for labels, _ in queries for label in labels])
    s = np.array([score for _, scores in queries for score in scores], np.float64)
    lengths = [len(labels) for labels, _ in queries]
    qid = np.repeat(np.arange(len(queries)), lengths)
    full = Dataset.build(np.zeros((len(y), 0)), y, qid, truth="order")
    top = full.top_k(k)
    assert_array_equal(
        tk.evaluate(full, s, f"loss01@{k}").per_query[f"loss01@{k}"],
        tk.evaluate(top, s, "loss01").per_query["loss01"],
    )
    both = tk.evaluate(top, s, "ndcg@3,kndcg@3,loss01,wkt")
    assert_array_equal(both.per_query["ndcg@3"], both.per_query["kndcg@3"])
    perfect = tk.evaluate(top, top.y, "kndcg@3,loss01,wkt,compat,tau")
    assert (perfect.per_query["kndcg@3"] == 1).all()
    assert not perfect.per_query["loss01"].any()
    assert not perfect.per_query["wkt"].any()
    assert_allclose(perfect.per_query["compat"], 1.0, atol=1e-12)


def overlap(ranking: str, ideal: str, p: float, depth: int) -> float:
    return sum(p ** (d - 1) * len(set(ranking[:d]) & set(ideal[:d])) / d for d in range(1, depth + 1))


@settings(max_examples=40)
@given(
    st.dictionaries(st.sampled_from("abcde"), st.integers(0, 2), min_size=1),
    st.permutations("abcdefgh"),
    st.integers(1, 8),
    st.sampled_from([0.5, 0.9]),
)
def test_compatibility_is_the_largest_overlap(
    grades: dict[str, int], order: list[str], n: int, p: float
) -> None:
    """Over every order of the positive documents that respects their grades."""
    ranking = "".join(order[:n])
    judged = Judgments(grades=tuple(Grade("q", doc, grade) for doc, grade in grades.items()))
    run = Run.of({"q": [(doc, -float(rank)) for rank, doc in enumerate(ranking)]})
    found = tk.evaluate_run(judged, run, f"compat(p={p})").per_query[f"compat(p={p})"][0]
    positive = [doc for doc, grade in grades.items() if grade > 0]
    ideals = [
        "".join(docs)
        for docs in permutations(positive)
        if all(grades[a] >= grades[b] for a, b in pairwise(docs))
    ]
    depth = max(n, len(positive))
    best = overlap(ideals[0], ideals[0], p, depth) if positive else 0.0
    expected = max(overlap(ranking, ideal, p, depth) for ideal in ideals) / best if best else 0.0
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("convention", sorted(tk.CONVENTIONS))
def test_battery(ragged: Dataset, convention: str) -> None:
    """Every measure on labels: finite, in bounds, best for the best order, blind to the order of input."""
    top = ragged.top_k(3)
    rng = np.random.default_rng(11)
    scores = rng.permutation(len(ragged)).astype(np.float64)
    mixed = np.concatenate([rng.permutation(np.arange(rows.start, rows.stop)) for _, rows in ragged])
    for name, measure in tk.METRICS.items():
        if measure.needs in ("preferences", "clicks") or name == "ece":  # ece is about the size of scores
            continue
        data = top if measure.needs in ("top-k", "order") else ragged
        metric = f"{name}@3" if measure.depth == "optional" else name
        values = tk.evaluate(data, scores, metric, convention).per_query[metric]
        assert np.isfinite(values).all(), name
        if name not in ("dcg", "wkt", "nwkt", "num_ret", "num_rel", "num_rel_ret"):
            assert (values <= 1 + 1e-12).all(), name
            assert (values >= (-1 if name == "tau" else 0)).all(), name
        best = tk.evaluate(data, data.y + 1e-6 * scores, metric, convention).per_query[metric]
        sign = 1 if measure.greater_is_better else -1
        assert (sign * (best - values) >= -1e-12).all(), name
        assert data.doc_ids is not None
        shuffled = Dataset.build(
            data.X[mixed],
            data.y[mixed],
            data.query_index[mixed],
            truth=data.truth,
            doc_ids=data.doc_ids.take(mixed),
        )
        again = tk.evaluate(shuffled, scores[mixed], metric, convention).per_query[metric]
        assert_allclose(again, values, atol=1e-12, err_msg=name)
