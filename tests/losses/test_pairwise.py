"""Pairwise losses against the enumeration of pairs, pair set by pair set, short lists and long."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkit as tk
from tests.support import losses as twins
from topkit.losses import Preferences
from topkit.losses.pairwise import SHORT

NAMES = tuple(twins.PHI)


def test_by_hand() -> None:
    """Scores 2, 0, 1 with labels 2, 1, 0: margins 2 (a over b), 1 (a over c), −1 (b over c)."""
    s, y, ptr = [2.0, 0.0, 1.0], [2, 1, 0], [0, 3]
    assert tk.loss("hinge")(s, y, ptr)[0] == 0 + 0 + 2
    assert tk.loss("squared-hinge")(s, y, ptr)[0] == 0 + 0 + 4
    assert tk.loss("exponential")(s, y, ptr)[0] == pytest.approx(math.exp(-2) + math.exp(-1) + math.e)
    logistic = sum(math.log(1 + math.exp(-m)) for m in (2, 1, -1))
    assert tk.loss("logistic")(s, y, ptr)[0] == pytest.approx(logistic)
    assert tk.loss("hinge", pairs="topk", k=1)(s, y, ptr)[0] == 0
    assert tk.loss("hinge", pairs="focused", k=2)(s, y, ptr)[0] == 0 + 2  # (a, c) and (b, c)
    gradient = tk.loss("squared-hinge")(s, y, ptr)[1]
    assert gradient.tolist() == [0, -4, 4]  # ∓2·(1 − m) with m = −1


@pytest.mark.parametrize("pairs", ["all", "topk", "focused"])
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_against_every_pair(name: str, pairs: str, data: st.DataObject) -> None:
    n, k = data.draw(st.integers(1, 14)), data.draw(st.integers(1, 16))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    s = rng.normal(scale=data.draw(st.sampled_from([0.1, 1.0, 8.0])), size=n)
    y = rng.integers(0, data.draw(st.integers(1, 12)), n).astype(float)
    settings = {} if pairs == "all" else {"pairs": pairs, "k": k}
    value, gradient = tk.loss(name, **settings)(s, y, [0, n])
    expected, slopes = twins.pairwise(name, s, twins.pair_weights(y, pairs, k))
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-8, atol=1e-10 * max(1, abs(expected)))


@pytest.mark.parametrize("levels", [3, 1000])
@pytest.mark.parametrize("pairs", ["all", "topk", "focused"])
@pytest.mark.parametrize("name", NAMES)
def test_long_lists_against_every_pair(name: str, pairs: str, levels: int) -> None:
    """Hinges go by sorted scores in lists this long; a short list stands on either side."""
    rng = np.random.default_rng(8)
    lengths = [4, SHORT + 20, 5]
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    s, y = rng.normal(size=ptr[-1]) + 1e3, rng.integers(0, levels, ptr[-1]).astype(float)
    settings = {} if pairs == "all" else {"pairs": pairs, "k": 20}
    objective = tk.loss(name, **settings).on(y, ptr)
    gradient, values = objective(s)[1], objective.per_query(s)
    for q in range(3):
        rows = slice(ptr[q], ptr[q + 1])
        expected, slopes = twins.pairwise(name, s[rows], twins.pair_weights(y[rows], pairs, 20))
        assert values[q] == pytest.approx(expected, rel=1e-9)
        np.testing.assert_allclose(gradient[rows], slopes, rtol=1e-7, atol=1e-9 * max(1, expected))


@pytest.mark.parametrize("name", ["hinge", "squared-hinge"])
def test_curvature_of_sorted_hinges_counts_active_pairs(name: str) -> None:
    rng = np.random.default_rng(9)
    n = SHORT + 1
    s, y = rng.normal(size=n), rng.integers(0, 4, n).astype(float)
    curvature = tk.loss(name).on(y, [0, n]).with_curvature(s)[2]
    active = (y[:, None] > y[None, :]) & (s[:, None] - s[None, :] < 1)
    per_pair = 2 if name == "squared-hinge" else 1
    np.testing.assert_allclose(curvature, per_pair * (active.sum(axis=0) + active.sum(axis=1)))


@pytest.mark.parametrize("name", NAMES)
def test_given_pairs_are_all_pairs_when_all_are_given(name: str) -> None:
    rng = np.random.default_rng(10)
    ptr = np.array([0, 6, 7, 15])
    s, y = rng.normal(size=15), rng.integers(0, 3, 15).astype(float)
    query = np.repeat([0, 1, 2], np.diff(ptr))
    better, worse = np.nonzero((y[:, None] > y[None, :]) & (query[:, None] == query[None, :]))
    shuffle = rng.permutation(len(better))
    pairs = Preferences.of_rows(ptr, better[shuffle], worse[shuffle])
    from_labels = tk.loss(name).on(y, ptr).with_curvature(s)
    from_pairs = tk.loss(name, pairs="given").on(pairs, ptr).with_curvature(s)
    for part in range(3):
        np.testing.assert_allclose(from_labels[part], from_pairs[part], rtol=1e-10, atol=1e-12)


def test_given_pairs_have_weights_and_follow_their_queries() -> None:
    ptr = [0, 2, 4]
    pairs = Preferences.of_rows(ptr, better=[2, 0], worse=[3, 1], weight=[3.0, 0.5])
    objective = tk.loss("hinge", pairs="given").on(pairs, ptr)
    assert objective.per_query(np.zeros(4)).tolist() == [0.5, 3.0]
    value, gradient = objective.select(np.array([1]))(np.zeros(2))
    assert value == 3.0
    assert gradient.tolist() == [-3.0, 3.0]


def test_sigmoid_is_steep() -> None:
    """1 − σ(a·m) at m = 1: a = 3 gives 1/(1 + e³), with the slope −a·σ(1−σ)."""
    value, gradient = tk.loss("sigmoid", steepness=3.0)([1.0, 0.0], [1, 0], [0, 2])
    sigma = 1 / (1 + math.exp(3))
    assert value == pytest.approx(sigma)
    assert gradient == pytest.approx([-3 * sigma * (1 - sigma), 3 * sigma * (1 - sigma)])


def test_exponential_beyond_the_cut_stays_a_descent_direction() -> None:
    value, gradient = tk.loss("exponential")([-1e4, 1e4], [1, 0], [0, 2])
    assert value == pytest.approx(math.exp(600))
    assert gradient[0] < 0 < gradient[1]


def test_logistic_of_far_scores_is_the_margin() -> None:
    assert tk.loss("logistic")([-1e4, 1e4], [1, 0], [0, 2])[0] == 2e4
    assert tk.loss("logistic")([1e4, -1e4], [1, 0], [0, 2])[0] == 0
