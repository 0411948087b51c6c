"""Margins scaled by the difference of labels, against pairs written out and against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topkit as tk
from tests.support.losses import PHI, pair_weights


@pytest.mark.parametrize("name", ["hinge", "squared-hinge", "exponential", "logistic"])
@pytest.mark.parametrize("pairs", ["all", "topk", "focused"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 9), k=st.integers(1, 9), graded=st.booleans())
def test_is_the_sum_over_pairs(name: str, pairs: str, seed: int, n: int, k: int, graded: bool) -> None:
    rng = np.random.default_rng(seed)
    s = rng.normal(size=n)
    y = (rng.integers(0, 4, n) if graded else rng.permutation(n) + 1).astype(np.float64)
    weights = pair_weights(y, pairs, k)
    expected = sum(
        weights[u, v] * PHI[name]((y[u] - y[v]) * (s[u] - s[v]))
        for u in range(n)
        for v in range(n)
        if weights[u, v]
    )
    objective = tk.loss(name, pairs=pairs, k=k, margin="label-gap").on(y, [0, n])
    value, gradient, curvature = objective.with_curvature(s)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-12)
    step = 1e-6
    for i in range(n):
        up, down = s.copy(), s.copy()
        up[i], down[i] = s[i] + step, s[i] - step
        slope = (objective(up)[0] - objective(down)[0]) / (2 * step)
        assert gradient[i] == pytest.approx(slope, rel=1e-4, abs=1e-4 * max(1, abs(gradient).max()))
    assert (curvature >= 0).all()


def test_written_out() -> None:
    """T = {3, 2}, F = {0}: hinges 1 − 3·(0.2 − 0.1) = 0.7 and 1 − 2·(0.0 − 0.1) = 1.2."""
    value, gradient = tk.loss("hinge", pairs="focused", k=2, margin="label-gap")(
        [0.2, 0.0, 0.1], [3, 2, 0], [0, 3]
    )
    assert value == pytest.approx(1.9)
    assert gradient.tolist() == [-3.0, -2.0, 5.0]


def test_preferences_have_no_label_gap() -> None:
    pairs = tk.losses.Preferences.of_rows([0, 2], [0], [1])
    with pytest.raises(tk.InputError, match="no labels for margin='label-gap'"):
        tk.loss("hinge", pairs="given", margin="label-gap")([0.0, 1.0], pairs, [0, 2])
