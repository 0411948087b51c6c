"""Weights, batches, threads, bad input, and preferences as truth."""

from __future__ import annotations

import numpy as np
import pytest

import topkit as tk
from topkit.compute import query_chunks
from topkit.losses import LOSSES, Preferences
from topkit.losses import objective as losses_objective


@pytest.fixture
def lists() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    ptr = np.concatenate([[0], np.cumsum(rng.integers(1, 12, 40))])
    return rng.normal(size=ptr[-1]), rng.integers(0, 4, ptr[-1]).astype(float), ptr


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_weights_scale_queries(name: str, lists: tuple[np.ndarray, ...]) -> None:
    s, y, ptr = lists
    weights = np.random.default_rng(2).uniform(0, 3, len(ptr) - 1)
    plain, heavy = tk.loss(name).on(y, ptr), tk.loss(name).on(y, ptr, weights)
    assert heavy(s)[0] == pytest.approx(weights @ plain.per_query(s))
    each = np.repeat(weights, np.diff(ptr))
    np.testing.assert_allclose(heavy(s)[1], each * plain(s)[1])
    np.testing.assert_allclose(heavy.with_curvature(s)[2], each * plain.with_curvature(s)[2])


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_a_batch_is_part_of_the_whole(name: str, lists: tuple[np.ndarray, ...]) -> None:
    s, y, ptr = lists
    whole = tk.loss(name).on(y, ptr, np.arange(1.0, len(ptr)))
    queries = np.array([7, 3, 30])
    rows = np.concatenate([np.arange(ptr[q], ptr[q + 1]) for q in queries])
    part = whole.select(queries)
    np.testing.assert_allclose(part.per_query(s[rows]), whole.per_query(s)[queries], rtol=1e-12)
    np.testing.assert_allclose(part(s[rows])[1], whole(s)[1][rows], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_threads_do_not_change_a_bit(
    name: str, lists: tuple[np.ndarray, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    s, y, ptr = lists
    monkeypatch.setattr(losses_objective, "query_chunks", lambda ptr: query_chunks(ptr, 16))
    results = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("TOPKIT_THREADS", threads)
        results.append(tk.loss(name).on(y, ptr).with_curvature(s))
    for other in results[1:]:
        assert other[0] == results[0][0]
        assert np.array_equal(other[1], results[0][1])
        assert np.array_equal(other[2], results[0][2])


def test_a_loss_has_no_memory_of_labels() -> None:
    """Labels that change in place are prepared again."""
    loss, labels = tk.loss("logistic"), np.array([1.0, 0.0])
    before = loss([3.0, 0.0], labels, [0, 2])[0]
    labels[:] = [0, 1]
    assert loss([3.0, 0.0], labels, [0, 2])[0] > before + 2
    assert loss([3.0, 0.0, 1.0], [1, 0, 0], [0, 2, 3])[0] == pytest.approx(before)


def test_empty_and_missing() -> None:
    value, gradient = tk.loss("listnet")([], [], [0])
    assert value == 0
    assert len(gradient) == 0


def test_bad_input_is_refused() -> None:
    with pytest.raises(tk.InputError, match=r"unknown loss 'listnett'.*listnet"):
        tk.loss("listnett")
    with pytest.raises(tk.InputError, match=r"no setting 'kk'.*did you mean 'k'"):
        tk.loss("topk-listmle", kk=3)
    with pytest.raises(tk.InputError, match="k must be an integer of at least 1, got 0"):
        tk.loss("topk-listmle", k=0)
    with pytest.raises(tk.InputError, match=r"beta must be a number from 0 to 1, got 1\.5"):
        tk.loss("focused", beta=1.5)
    with pytest.raises(tk.InputError, match="pairs must be one of all, topk, focused, given"):
        tk.loss("hinge", pairs="some")
    with pytest.raises(ValueError, match="expected 2 scores"):
        tk.loss("listnet")([1.0], [1, 0], [0, 2])
    with pytest.raises(ValueError, match="finite"):
        tk.loss("listnet")([np.nan, 1.0], [1, 0], [0, 2])
    with pytest.raises(ValueError, match="finite"):
        tk.loss("listnet")([0.0, 1.0], [np.inf, 0], [0, 2])
    with pytest.raises(ValueError, match="ptr must increase"):
        tk.loss("listnet")([1.0, 0.0], [1, 0], [1, 2])
    with pytest.raises(tk.InputError, match="expects preferences, got labels"):
        tk.loss("hinge", pairs="given")([1.0, 0.0], [1, 0], [0, 2])
    with pytest.raises(tk.InputError, match="must not be negative"):
        tk.loss("hinge").on([1, 0], [0, 2], [-1.0])


def test_preferences_are_checked() -> None:
    ptr = [0, 2, 4]
    with pytest.raises(tk.InputError, match="two queries"):
        Preferences.of_rows(ptr, [0], [2])
    with pytest.raises(tk.InputError, match="outside"):
        Preferences.of_rows(ptr, [0], [4])
    with pytest.raises(tk.InputError, match="itself"):
        Preferences.of_rows(ptr, [1], [1])
    with pytest.raises(tk.InputError, match="not negative"):
        Preferences.of_rows(ptr, [0], [1], [-1.0])
    pairs = Preferences.of_rows(ptr, [0], [1])
    with pytest.raises(tk.InputError, match="the preferences have 2 queries, the data set has 1"):
        tk.loss("hinge", pairs="given").on(pairs, [0, 4])


def test_preferences_of_judgments() -> None:
    """Ties say nothing; a bad mark is a win of the other; unknown names are errors."""
    ds = tk.Dataset.build(
        np.zeros((5, 1)), [0] * 5, ["a", "a", "a", "b", "b"], doc_ids=["x", "y", "z", "x", "y"]
    )
    said = tk.Judgments(
        preferences=(
            tk.Preference("b", "x", "y", "b"),
            tk.Preference("a", "x", "y", "tie"),
            tk.Preference("a", "z", "x", "bad-b"),
            tk.Preference("a", "y", "z", "b"),
        )
    )
    pairs = Preferences.of_judgments(ds, said)
    assert pairs.better.tolist() == [2, 2, 1]
    assert pairs.worse.tolist() == [0, 1, 0]
    assert pairs.ptr.tolist() == [0, 2, 3]
    for query, doc in (("c", "x"), ("a", "w")):
        with pytest.raises(tk.InputError, match=f"{query if query == 'c' else doc!r}"):
            Preferences.of_judgments(ds, tk.Judgments(preferences=(tk.Preference(query, doc, "y", "a"),)))
