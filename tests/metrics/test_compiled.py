"""Measures in training give the values of evaluation, and a re-ranked list those of a list sorted anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkit as tk
from topkit.metrics import evaluate_arrays
from topkit.metrics.compiled import Measured, worst_ties
from topkit.metrics.compiled.kernels import stepped_values
from topkit.rankers.svm.pairs import Pairs
from topkit.rankers.svm.precision import whole_lists
from topkit.scorers import Job

FAST = [
    "ndcg@3",
    "ndcg",
    "map",
    "map@4",
    "map(rel=2)",
    "err",
    "err@2",
    "err(top=5)",
    "rr",
    "rr@2",
    "p@5",
    "p",
]
SLOW = ["auc", "rprec", "recall@3"]


def lists(seed: int, queries: int = 8, longest: int = 12) -> tk.Dataset:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest, queries)
    n = int(lengths.sum())
    return tk.Dataset.build(
        rng.integers(0, 4, (n, 2)), rng.integers(0, 4, n) * (rng.uniform(size=n) < 0.6),
        np.repeat(np.arange(queries), lengths), doc_ids=[f"d{i * 7 % n}" for i in range(n)],
    )  # fmt: skip


@given(st.integers(0, 10**6), st.sampled_from(FAST + SLOW), st.sampled_from(list(tk.CONVENTIONS)))
def test_values_are_those_of_evaluation(seed: int, name: str, convention: str) -> None:
    data = lists(seed)
    scores = np.round(np.random.default_rng(seed).normal(size=len(data)), 1)
    expected = evaluate_arrays(data.y, scores, data.ptr, name, convention, doc_ids=data.doc_ids)
    measured = Measured.of(data, name, convention)
    np.testing.assert_allclose(measured.values(scores), next(iter(expected.values())), atol=1e-12)
    if name in FAST and convention != "trec" and (convention != "ranklib" or "top" not in name):
        assert measured.fast is not None


def test_every_compiled_form_is_tested() -> None:
    compiled = {name for name, measure in tk.METRICS.items() if measure.compiled}
    assert compiled == {tk.metric(name).name for name in FAST} | {"kndcg", "kerr"}


@given(
    st.integers(0, 10**6),
    st.sampled_from(["kndcg@3", "kerr", "kerr@2", "ndcg@10", "err"]),
    st.sampled_from(["yahoo", "letor3", "letor4", "mslr"]),
)
def test_values_on_top_k_truth(seed: int, name: str, convention: str) -> None:
    data = lists(seed).top_k(3)
    scores = np.round(np.random.default_rng(seed).normal(size=len(data)), 1)
    expected = evaluate_arrays(data.y, scores, data.ptr, name, convention, truth=data.truth)
    measured = Measured.of(data, name, convention)
    assert measured.fast is not None
    np.testing.assert_allclose(measured.values(scores), next(iter(expected.values())), atol=1e-12)


def test_smaller_is_better_is_turned() -> None:
    data = lists(1).top_k(2)
    scores = np.arange(len(data), dtype=float)
    expected = evaluate_arrays(data.y, scores, data.ptr, "loss01", truth=data.truth)["loss01"]
    np.testing.assert_array_equal(Measured.of(data, "loss01").values(scores), -expected)


@given(
    st.integers(0, 10**6), st.floats(-3, 3), st.sampled_from(["ndcg@3", "map", "err", "rr"]), st.booleans()
)
def test_stepped_lists_are_those_sorted_anew(seed: int, step: float, name: str, long: bool) -> None:
    data = lists(seed, 4, 600 if long else 12)
    rng = np.random.default_rng(seed)
    scores, single = np.round(rng.normal(size=len(data)), 1), data.X[:, 0].copy()
    column = single.astype(float)
    measured = Measured.of(data, name)
    assert measured.fast is not None
    order = np.concatenate([np.argsort(-scores[rows], kind="stable") for _, rows in data]).astype(np.int32)
    values, weights = measured.values(scores), rng.uniform(size=4)
    after = measured.values(scores + step * column)
    moving = np.flatnonzero(np.isnan(measured.fast.fixed))
    arguments = (measured.fast.gain, measured.fast.discount, data.ptr, moving)
    rise, changed = stepped_values(
        measured.fast.kind, scores, single, step, order, *arguments, values, weights, True
    )  # fmt: skip
    assert rise == pytest.approx(weights @ (after - measured.values(scores)), abs=1e-12)
    np.testing.assert_allclose(values, after, atol=1e-12)
    for q in moving:
        rows = slice(data.ptr[q], data.ptr[q + 1])
        again = np.argsort(-(scores + step * column)[rows], kind="stable")
        np.testing.assert_array_equal(order[rows], again)
    still = stepped_values(
        measured.fast.kind, scores + step * column, single, 0.0, order, *arguments, values, weights, True
    )  # fmt: skip
    assert still == (0.0, 0)
    assert changed <= len(moving)


def test_worst_ties_puts_the_irrelevant_first() -> None:
    data = tk.Dataset.build([[1.0], [2.0], [3.0]], [2, 0, 1], ["q", "q", "r"], doc_ids=["a", "b", "c"])
    turned = worst_ties(data)
    assert turned.y.tolist() == [0, 2, 1]
    assert turned.X.ravel().tolist() == [2.0, 1.0, 3.0]
    assert list(turned.doc_ids or []) == ["b", "a", "c"]
    assert Measured.of(turned, "rr").values(np.zeros(3)).tolist() == [0.5, 1.0]


def test_threads_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough documents for two threads: measures, Hessian products and SVM-MAP's loss come out the same."""
    rng = np.random.default_rng(0)
    n = 40_000
    data = tk.Dataset.build(rng.normal(size=(n, 2)), rng.integers(0, 3, n), np.arange(n) // 40)
    scores, change = rng.normal(size=n), rng.normal(size=n)
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("TOPKIT_THREADS", threads)
        pairs = Pairs.of(Job(data, None, lambda d, s: 0.0), "squared-hinge", "all", 10)
        found.append(
            (
                Measured.of(data, "ndcg@10").values(scores),
                pairs.hessian(scores, pairs.objective.with_curvature(scores)[2])(change),
                whole_lists(data, np.ones(data.n_queries), 1.0, 10)(scores)[1],
            )
        )
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)
