"""Large data goes through kernels and in parts; the results are those of small data."""

from __future__ import annotations

from importlib import import_module
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topkit as tk
from topkit.data.normalise import NORMALISATIONS, normalise
from topkit.rankers import learner
from topkit.rankers.checks import easy_data
from topkit.scorers import linear

NORMALISE = import_module("topkit.data.normalise")  # the package has a function of the same name


@settings(max_examples=60)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    seed=st.integers(0, 10_000),
    power=st.integers(-6, 6),
    method=st.sampled_from(list(NORMALISATIONS)),
    append=st.booleans(),
)
def test_the_kernel_normalises_as_numpy_does_bit_by_bit(
    lengths: list[int], seed: int, power: int, method: str, append: bool
) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(sum(lengths), 5)), 1) * 10.0**power
    X[:, 1], X[:, 2] = 0.0, 3.3  # constant columns
    X[rng.random(X.shape) < 0.2] = np.nan
    X[: lengths[0], 3] = np.nan
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    data = tk.Dataset(
        X.astype(np.float32), np.zeros(len(X), np.float32), ptr, tuple(map(str, range(len(lengths))))
    )
    mode: Literal["append", "replace"] = "append" if append else "replace"
    plain = normalise(data, method, mode)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NORMALISE, "WORTH_COMPILING", 0)
        compiled = normalise(data, method, mode)
    np.testing.assert_array_equal(plain.X, compiled.X)
    assert plain.feature_names == compiled.feature_names


def test_float32_features_in_place_give_the_products_of_a_float64_copy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 7)).astype(np.float32)
    X[4, 2] = np.nan
    vector, slope = rng.normal(size=8), rng.normal(size=300)
    wide = linear.product_matrix(X)
    monkeypatch.setattr(linear, "WORTH_COMPILING", 0)
    narrow = linear.product_matrix(X)
    assert (wide.itemsize, narrow.itemsize) == (8, 4)
    np.testing.assert_allclose(
        linear.linear_scores(narrow, vector), linear.linear_scores(wide, vector), rtol=1e-12
    )
    np.testing.assert_allclose(
        linear.linear_gradient(narrow, slope), linear.linear_gradient(wide, slope), rtol=1e-11
    )
    whole = np.ones((3, 2), np.float32)
    assert linear.product_matrix(whole) is whole  # no copy if nothing is missing


@pytest.mark.parametrize("threads", ["1", "3"])
def test_a_fit_on_large_data_is_that_on_small_data(monkeypatch: pytest.MonkeyPatch, threads: str) -> None:
    data = easy_data(30)
    small = tk.ranker("listnet", l2=1e-3).fit(data).score(data)
    monkeypatch.setenv("TOPKIT_THREADS", threads)
    monkeypatch.setattr(NORMALISE, "WORTH_COMPILING", 0)
    monkeypatch.setattr(linear, "WORTH_COMPILING", 0)
    monkeypatch.setattr(linear, "BLOCK", 64)
    np.testing.assert_allclose(
        tk.ranker("listnet", l2=1e-3).fit(data).score(data), small, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("name", ["listnet", "sortnet"])
def test_scores_do_not_depend_on_the_parts(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    data = easy_data(12)
    ranker = tk.ranker(name).fit(data)
    whole = ranker.ordering_scores(data)
    monkeypatch.setattr(learner, "PART_BYTES", data.X.nbytes // 5)
    np.testing.assert_array_equal(ranker.ordering_scores(data), whole)
