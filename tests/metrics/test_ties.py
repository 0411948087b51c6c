"""Tied scores under the convention trec: pytrec_eval is the oracle."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.tied_runs import differences

import topkit as tk
from topkit.data import Grade, Judgments, Run
from topkit.metrics.order import ranked_order


def test_ties_are_found_whatever_the_scores_of_other_queries() -> None:
    """d and b tie below c; trec_eval sorts d before b, so the order is c, d, b and d is second."""
    judged = Judgments((Grade("q", "d", 1), Grade("q", "b", 0), Grade("q", "c", 0), Grade("r", "x", 1)))
    run = Run.of({"q": [("b", 0.001), ("c", 0.002), ("d", 0.001)], "r": [("x", 1e6)]})
    assert tk.evaluate_run(judged, run, "rr", "trec").per_query["rr"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("score", [np.inf, -np.inf, 1e39, -1e39, 0.0])
def test_equal_extreme_scores_are_ties(score: float) -> None:
    """b before a, because ids descend; 1e39 is infinite as a 32-bit number. No warning is given."""
    judged = Judgments((Grade("q", "a", 1), Grade("q", "b", 0)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = Run.of({"q": [("a", score), ("b", score)]})
        assert tk.evaluate_run(judged, run, "rr", "trec").per_query["rr"].tolist() == [0.5]


@pytest.mark.parametrize("seed", [7009, 16174, 19819])
def test_zeros_of_both_signs_beside_an_infinite_score(seed: int) -> None:
    """Cases in which −0 was the largest finite score, and 0 was sorted before +∞."""
    pytest.importorskip("pytrec_eval")
    assert [found for found in differences(seed) if found is not None] == []


def test_scores_are_compared_as_32_bit_numbers_under_trec_only() -> None:
    """1 + 1e-12 is 1 in 32 bits, as trec_eval stores scores: b before a. Other conventions see a first."""
    judged = Judgments((Grade("q", "a", 1), Grade("q", "b", 0)))
    run = Run.of({"q": [("a", 1 + 1e-12), ("b", 1.0)]})
    assert tk.evaluate_run(judged, run, "rr", "trec").mean["rr"] == 0.5
    assert tk.evaluate_run(judged, run, "rr", "yahoo").mean["rr"] == 1.0


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_random_runs_with_ties_are_evaluated_as_by_pytrec_eval(seed: int) -> None:
    pytest.importorskip("pytrec_eval")
    assert [found for found in differences(seed) if found is not None] == []


@given(
    st.lists(
        st.tuples(st.sampled_from([-np.inf, -1.0, 0.0, 1e-9, 1.0, np.inf]), st.text("ab", max_size=3)),
        min_size=1,
        max_size=30,
        unique_by=lambda pair: pair[1],
    )
)
def test_order_by_document_id_is_that_of_sorted(documents: list[tuple[float, str]]) -> None:
    scores, names = zip(*documents, strict=True)
    order = ranked_order(scores, np.array([0, len(scores)]), "document", tk.data.Strings.of(names))
    expected = sorted(range(len(scores)), key=lambda i: (scores[i], names[i].encode()), reverse=True)
    assert order.tolist() == expected
