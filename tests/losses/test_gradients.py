"""Gradients and curvatures of every loss against finite differences, and what all losses have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topkit as tk
from tests.support.losses import differences, ragged
from topkit.losses import LOSSES
from topkit.losses.lambdaloss import SCHEMES

POINTWISE = ("squared-error", "squared-gain", "squared-ndcg")
ABSOLUTE = ("calibrated-softmax", "regression-compatible", "rank-distillation")
"""Losses of which a score of 0 has a meaning, and which therefore learn from lists of one."""
PAIRWISE = ("hinge", "squared-hinge", "exponential", "logistic", "sigmoid", "fidelity")
CONVEX_AND_SMOOTH = (
    "squared-hinge", "exponential", "logistic", "listnet", "listmle", "topk-listnet", "topk-listmle",
    "focused", "squared-error", "squared-gain", "squared-ndcg", "lambdarank", "softmax", "uni-softmax",
    "calibrated-softmax", "rank-distillation", "ordinal", "lambdaloss",
)  # fmt: skip
"""Losses whose curvature is the diagonal of the Hessian; the others have a positive stand-in."""

CASES: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in LOSSES]
CASES += [(name, {"pairs": pairs, "k": 3}) for name in PAIRWISE for pairs in ("topk", "focused")]
CASES += [
    (name, {"k": 2}) for name in ("topk-listnet", "topk-listmle", "topk-rankcosine", "lambdarank", "softndcg")
]
CASES += [
    ("sigmoid", {"steepness": 2.5}),
    ("softndcg", {"sigma": 0.3}),
    ("topk-listnet", {"k": 2, "epsilon": -0.5}),
    ("listnet", {"m": 2}),
    ("listnet", {"m": 3}),
    ("focused", {"k": 5, "m": 2}),
    ("logistic", {"pairs": "focused", "k": 3, "margin": "label-gap"}),
]
CASES += [("lambdaloss", {"scheme": scheme}) for scheme in SCHEMES]
CASES += [("lambdaloss", {"scheme": scheme, "k": 3}) for scheme in SCHEMES if scheme.startswith("ndcg")]
CASES += [
    ("approxndcg", {"temperature": 0.3}),
    ("approxmrr", {"temperature": 2.0}),
    ("gumbel-approxndcg", {"samples": 3, "beta": 0.5, "noise_seed": 7}),
    ("neuralsort", {"k": 2, "temperature": 3.0}),
    ("neuralndcg", {"k": 3, "rescalings": 0}),
    ("neuralndcg", {"temperature": 5.0, "rescalings": 3}),
    ("poly-softmax", {"epsilon": 3.0}),
    ("calibrated-softmax", {"anchor": 0.25}),
    ("regression-compatible", {"alpha": 1.0, "highest": 3.0}),
    ("rank-distillation", {"k": 2, "alpha": 0.9, "decay": 1.0}),
]
CASES += [
    ("focused", {"k": 2, "beta": 0.3, "within": within, "across": across})
    for within, across in (("listmle", "hinge"), ("rankcosine", "squared-hinge"), ("listnet", "exponential"))
]


@pytest.mark.parametrize("truth", ["graded", "order", "real"])
@pytest.mark.parametrize(("name", "kwargs"), CASES, ids=str)
def test_gradient_is_the_slope_of_the_value(name: str, kwargs: dict[str, Any], truth: str) -> None:
    s, y, ptr = ragged(3, truth)
    if name == "squared-gain" and truth == "order":
        y = y / 4  # gains of 2^20 would drown the differences in rounding
    objective = tk.loss(name, **kwargs).on(y, ptr)
    _, gradient = objective(s)
    scale = max(1.0, float(np.abs(gradient).max()))
    np.testing.assert_allclose(differences(objective, s), gradient, atol=1e-6 * scale, rtol=1e-6)


@pytest.mark.parametrize("truth", ["graded", "order"])
@pytest.mark.parametrize(("name", "kwargs"), CASES, ids=str)
def test_curvature_is_the_second_slope_or_a_positive_stand_in(
    name: str, kwargs: dict[str, Any], truth: str
) -> None:
    s, y, ptr = ragged(4, truth)
    objective = tk.loss(name, **kwargs).on(y, ptr)
    value, gradient = objective(s)
    again, same, curvature = objective.with_curvature(s)
    assert value == again
    assert np.array_equal(gradient, same)
    assert (curvature >= 0).all()
    informed = np.abs(gradient) > 1e-9 * np.abs(gradient).max()
    assert (curvature[informed] > 0).all(), "a booster divides by it"
    if (
        name not in CONVEX_AND_SMOOTH
        or kwargs.get("within") == "rankcosine"
        or kwargs.get("across") == "hinge"
    ):
        return
    step = 1e-5
    for i in range(len(s)):
        up, down = s.copy(), s.copy()
        up[i] += step
        down[i] -= step
        second = (objective(up)[1][i] - objective(down)[1][i]) / (2 * step)
        assert curvature[i] == pytest.approx(second, rel=1e-5, abs=1e-6 * max(1, curvature.max()))


@pytest.mark.parametrize(("name", "kwargs"), CASES, ids=str)
@pytest.mark.parametrize("size", [1e4, 1e-4])
def test_large_and_tiny_scores_give_finite_numbers(name: str, kwargs: dict[str, Any], size: float) -> None:
    s, y, ptr = ragged(5, "graded")
    value, gradient = tk.loss(name, **kwargs)(size * s, y, ptr)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    extreme = np.where(s > 0, 1e4, -1e4)
    value, gradient = tk.loss(name, **kwargs)(extreme, y, ptr)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


SHIFT_FREE = [name for name in LOSSES if "cosine" not in name and name not in (*POINTWISE, *ABSOLUTE)]
SHIFT_FREE.append("squared-hinge")


@pytest.mark.parametrize("name", SHIFT_FREE)
def test_only_differences_of_scores_count(name: str) -> None:
    s, y, ptr = ragged(6, "graded")
    shift = np.repeat(np.arange(len(ptr) - 1) * 100.0, np.diff(ptr))
    plain, moved = tk.loss(name)(s, y, ptr), tk.loss(name)(s + shift, y, ptr)
    assert moved[0] == pytest.approx(plain[0], rel=1e-9)
    np.testing.assert_allclose(moved[1], plain[1], atol=1e-9 * max(1, np.abs(plain[1]).max()))
    assert np.add.reduceat(plain[1], ptr[:-1]) == pytest.approx(np.zeros(len(ptr) - 1), abs=1e-8)


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10_000),
    name=st.sampled_from(sorted(set(LOSSES) - {"gumbel-approxndcg"})),  # each row has its own noise
)
def test_the_order_of_documents_and_queries_does_not_matter(seed: int, name: str) -> None:
    s, y, ptr = ragged(seed, "graded")
    s = np.where(np.arange(len(s)) % 5 == 0, 0.25, s)  # equal scores too
    rng = np.random.default_rng(seed)
    queries = rng.permutation(len(ptr) - 1)
    rows = np.concatenate([rng.permutation(np.arange(ptr[q], ptr[q + 1])) for q in queries])
    moved_ptr = np.concatenate([[0], np.cumsum(np.diff(ptr)[queries])])
    plain = tk.loss(name).on(y, ptr).with_curvature(s)
    moved = tk.loss(name).on(y[rows], moved_ptr).with_curvature(s[rows])
    assert moved[0] == pytest.approx(plain[0], rel=1e-10)
    for before, after in zip(plain[1:], moved[1:], strict=True):
        scale = max(1.0, np.abs(before).max())
        np.testing.assert_allclose(after, before[rows], rtol=1e-9, atol=1e-10 * scale)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_nothing_is_learnt_from_lists_of_one(name: str) -> None:
    value, gradient = tk.loss(name)([3.0, -2.0], [0, 0], [0, 1, 2])
    if name in POINTWISE:
        assert value == 13.0  # 3² + 2²: a pointwise loss does not compare documents
    elif name in ABSOLUTE:
        assert value > 0
    else:
        assert value == 0
        assert gradient.tolist() == [0, 0]


INFORMED_BY_EQUAL_LABELS = {"listnet", "topk-listnet", "rankcosine", "topk-rankcosine", "squared-error",
                            "squared-gain", "squared-ndcg", "softndcg", "focused", "softmax",
                            "poly-softmax", "approxndcg", "gumbel-approxndcg", "approxmrr", "neuralndcg",
                            *ABSOLUTE}  # fmt: skip
"""They have a target for every document, so equal labels ask for equal scores; or they approximate ranks,
so that equal labels ask for scores far apart."""


@pytest.mark.parametrize("name", sorted(set(LOSSES) - INFORMED_BY_EQUAL_LABELS))
def test_equal_labels_cost_nothing(name: str) -> None:
    s, y, ptr = ragged(7, "graded")
    value, gradient = tk.loss(name)(s, np.ones_like(y), ptr)
    assert value == 0
    assert not gradient.any()
