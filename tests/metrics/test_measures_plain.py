"""Blocks, sorting tricks and threads change nothing: every measure equals its plain twin on ragged lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests.support import metrics as plain

import topkit as tk
from topkit.data import Dataset, InputError, Strings
from topkit.metrics import evaluate_arrays, ranked_order

lists = st.lists(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from([0.0, -0.0, 0.5, 0.5 + 2**-50, -1.0, 2.0, 1e-310])),
        min_size=1,
        max_size=30,
    ),
    min_size=1,
    max_size=12,
)


@given(lists, st.integers(1, 35))
def test_values_equal_plain_formulas(queries: list[list[tuple[int, float]]], depth: int) -> None:
    labels = [y for query in queries for y, _ in query]
    scores = [s for query in queries for _, s in query]
    ptr = np.cumsum([0, *map(len, queries)])
    names = [
        f"ndcg@{depth}",
        f"err@{depth}",
        f"map@{depth}",
        f"p@{depth}",
        f"rr@{depth}",
        "map",
        "err",
        "ndcg",
    ]
    found = evaluate_arrays(labels, scores, ptr, names)
    for q, query in enumerate(queries):
        y = plain.ranked([a for a, _ in query], [b for _, b in query])
        expected = [
            plain.ndcg(y, depth),
            plain.err(y, depth, max(labels)),
            plain.average_precision(y, depth),
            plain.precision(y, depth),
            plain.reciprocal_rank(y, depth),
            plain.average_precision(y, len(y)),
            plain.err(y, len(y), max(labels)),
            plain.ndcg(y, len(y)),
        ]
        assert_allclose([found[name][q] for name in names], expected, atol=1e-12)


@pytest.mark.parametrize("scale", [7.5, 9.0])
@given(queries=lists)
def test_fractional_and_large_labels_take_other_paths(
    queries: list[list[tuple[int, float]]], scale: float
) -> None:
    labels = np.array([y * scale for query in queries for y, _ in query])
    scores = [s for query in queries for _, s in query]
    ptr = np.cumsum([0, *map(len, queries)])
    found = evaluate_arrays(labels, scores, ptr, "ndcg@5,err")
    for q, query in enumerate(queries):
        y = plain.ranked([a * scale for a, _ in query], [b for _, b in query])
        assert_allclose(found["ndcg@5"][q], plain.ndcg(y, 5), atol=1e-12)
        assert_allclose(found["err"][q], plain.err(y, len(y), labels.max()), atol=1e-12)


@given(lists)
def test_order_is_the_stable_order(queries: list[list[tuple[int, float]]]) -> None:
    scores = np.array([s for query in queries for _, s in query])
    ptr = np.cumsum([0, *map(len, queries)])
    query = np.repeat(np.arange(len(queries)), np.diff(ptr))
    assert_array_equal(ranked_order(scores, ptr), np.lexsort((-scores, query)))
    names = [f"{(7 * i) % 11}" for i in range(len(scores))]
    expected = sorted(range(len(scores)), key=names.__getitem__, reverse=True)
    expected.sort(key=lambda i: (query[i], -scores[i]))
    assert_array_equal(ranked_order(scores, ptr, "document", Strings.of(names)), expected)


def test_equal_scores_with_another_between_them() -> None:
    """1e-310 rounds to the key of 0 and is between the two zeros in input order."""
    names = Strings.of(["a", "x", "y", "b"])
    order = ranked_order([0.0, 0.5, 1e-310, 0.0], np.array([0, 4]), "document", names)
    assert order.tolist() == [1, 2, 3, 0]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_infinite_scores_and_both_zeros(kind: type[np.floating]) -> None:
    inf = np.inf
    scores = np.array([-inf, 0.0, inf, -0.0, -inf, 3e38, -3e38, -inf, -inf, -0.0, 0.0, -1.0], kind)
    ptr = np.array([0, 7, 9, 12])
    expected = [2, 5, 1, 3, 6, 0, 4, 7, 8, 9, 10, 11]  # ties keep their order, and the zeros are one
    assert_array_equal(ranked_order(scores, ptr), expected)


def test_scores_that_differ_in_the_last_bit() -> None:
    rng = np.random.default_rng(3)
    scores = rng.permutation(1.0 + np.arange(600) * 2**-52)
    assert_array_equal(ranked_order(scores, np.array([0, 600])), np.argsort(-scores, kind="stable"))
    infinite = np.array([0.0, -np.inf, np.inf, 1.0, np.inf])
    assert_array_equal(ranked_order(infinite, np.array([0, 5])), [2, 4, 3, 0, 1])


@pytest.mark.parametrize("threads", ["1", "2", "7"])
def test_threads_do_not_change_a_bit(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    ptr = np.concatenate([[0], np.cumsum(rng.integers(1, 300, 1000))])
    y, s = rng.integers(0, 5, ptr[-1]), np.round(rng.normal(size=ptr[-1]), 2)
    names = "ndcg@1..10,ndcg,err,map,p@1..10,rr"
    monkeypatch.setenv("TOPKIT_THREADS", "3")
    expected = evaluate_arrays(y, s, ptr, names)
    monkeypatch.setenv("TOPKIT_THREADS", threads)
    for name, values in evaluate_arrays(y, s, ptr, names).items():
        assert_array_equal(values, expected[name])


def test_order_of_queries_and_documents_does_not_matter(ragged: Dataset) -> None:
    scores = np.random.default_rng(0).normal(size=len(ragged))
    names = "ndcg@3,err,map,p@2,rr"
    e = tk.evaluate(ragged, scores, names)
    turned = ragged.select([4, 2, 0, 1, 3])
    rows = np.concatenate([np.arange(ragged.ptr[q], ragged.ptr[q + 1]) for q in (4, 2, 0, 1, 3)])
    other = tk.evaluate(turned, scores[rows], names)
    for name in e.per_query:
        assert_array_equal(other.per_query[name], e.per_query[name][[4, 2, 0, 1, 3]])


def test_not_a_number_is_named(ragged: Dataset) -> None:
    scores = np.zeros(len(ragged))
    scores[4] = np.nan  # queries have 1, 2, 7, … documents, so row 4 is the second of "c"
    with pytest.raises(InputError, match=r"document 2 of query 'c' is not a number"):
        tk.evaluate(ragged, scores, "ndcg@1")
    with pytest.raises(InputError, match=r"document 2 of query number 3"):
        evaluate_arrays(ragged.y, scores, ragged.ptr, "ndcg@1")
    with pytest.raises(InputError, match="expected 25 scores"):
        tk.evaluate(ragged, scores[1:], "ndcg@1")
