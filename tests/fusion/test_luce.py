"""Plackett–Luce and Bradley–Terry: choix 0.4.1's figures on asymmetric data, closed forms, gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkit as tk
from topkit.compute import Floats, NotConverged
from topkit.data import InputError, Judgments, Preference, Run
from topkit.fusion import aggregate_preferences
from topkit.fusion.luce import bradley_terry_loss, fit_strengths, plackett_luce_loss

Loss = Callable[[Floats], tuple[float, Floats]]

WINS = np.array([[0, 5, 4, 7], [2, 0, 3, 0], [1, 2, 0, 6], [1, 0, 1, 0]], float)
"""wins[a, b]: how often a beat b; 1 and 3 never met."""
TOP_LISTS = [(0, 1), (1,), (0, 2, 1), (3, 0), (4, 1), (2, 0, 4), (1, 3)]
ORDERS = [
    (0, 1, 2, 3, 4),
    (1, 0, 3, 2, 4),
    (0, 2, 1, 4, 3),
    (3, 0, 1, 2, 4),
    (4, 1, 0, 2, 3),
    (2, 0, 4, 1, 3),
]


def flat(lists: Sequence[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([np.array(one, np.int32) for one in lists]), np.cumsum(
        [0] + [len(one) for one in lists]
    )


def test_bradley_terry_is_choixs() -> None:
    # choix.opt_pairwise(4, data, alpha=…, method="BFGS", tol=1e-12), centred
    free = fit_strengths(lambda worth: bradley_terry_loss(WINS, worth), 4, penalty=0.0, tolerance=1e-10)
    np.testing.assert_allclose(free, [1.104051, 0.287245, 0.00139, -1.392687], atol=2e-6)
    held = fit_strengths(lambda worth: bradley_terry_loss(WINS, worth), 4, penalty=0.1, tolerance=1e-10)
    np.testing.assert_allclose(held, [1.034715, 0.233043, 0.003466, -1.271224], atol=2e-6)


def test_plackett_luce_of_orders_is_choixs() -> None:
    # choix.ilsr_rankings(5, ORDERS, alpha=0.0, tol=1e-12)
    items, ptr = flat(ORDERS)
    worth = fit_strengths(lambda w: plackett_luce_loss(items, ptr, w), 5, penalty=0.0, tolerance=1e-10)
    np.testing.assert_allclose(worth, [1.278963, 0.564224, 0.089249, -0.944822, -0.987614], atol=2e-6)


def test_plackett_luce_of_top_lists_is_choixs() -> None:
    # choix.ilsr_top1 with every place as a choice among the documents not yet taken
    items, ptr = flat(TOP_LISTS)
    worth = fit_strengths(lambda w: plackett_luce_loss(items, ptr, w), 5, penalty=0.0, tolerance=1e-10)
    np.testing.assert_allclose(worth, [0.635459, 0.477285, -0.202957, -0.454893, -0.454893], atol=2e-6)


def test_two_documents_have_a_closed_form() -> None:
    answers = [Preference("q", "x", "y", "a")] * 7 + [Preference("q", "y", "x", "a")] * 2
    scores = dict(aggregate_preferences(Judgments(preferences=tuple(answers)), penalty=0.0)["q"])
    assert scores["x"] - scores["y"] == pytest.approx(np.log(7 / 2), abs=1e-4)


def test_ties_are_half_wins_and_bad_marks_are_losses() -> None:
    answers = (
        *[Preference("q", "x", "y", "tie")] * 4,
        Preference("q", "x", "y", "bad-b"),
        Preference("q", "x", "y", "a"),
    )
    scores = dict(aggregate_preferences(Judgments(preferences=answers), penalty=0.0)["q"])
    assert scores["x"] - scores["y"] == pytest.approx(np.log((2 + 2) / 2), abs=1e-4)


def test_a_penalty_keeps_an_undefeated_document_finite() -> None:
    answers = (Preference("q", "x", "y", "a"), Preference("q", "x", "z", "a"), Preference("q", "y", "z", "a"))
    run = aggregate_preferences(Judgments(preferences=answers))
    assert [doc for doc, _ in run["q"]] == ["x", "y", "z"]
    assert np.isfinite(run.scores).all()


def finite_difference(loss: Loss, worth: Floats) -> Floats:
    step = 1e-6
    return np.array(
        [
            (loss(worth + step * unit)[0] - loss(worth - step * unit)[0]) / (2 * step)
            for unit in np.eye(len(worth))
        ]
    )


@given(st.lists(st.floats(-3, 3), min_size=5, max_size=5))
def test_gradients(worth: list[float]) -> None:
    at = np.array(worth)
    items, ptr = flat(TOP_LISTS)
    wins = np.pad(WINS, (0, 1))
    losses: list[Loss] = [
        lambda w: plackett_luce_loss(items, ptr, w),
        lambda w: bradley_terry_loss(wins, w),
    ]
    for loss in losses:
        np.testing.assert_allclose(loss(at)[1], finite_difference(loss, at), atol=1e-4)


@given(st.lists(st.floats(-3, 3), min_size=5, max_size=5))
def test_losses_written_out(worth: list[float]) -> None:
    at = np.array(worth)
    items, ptr = flat(TOP_LISTS)
    expected = 0.0
    for one in TOP_LISTS:
        left = set(range(5))
        for doc in one:
            expected += np.log(sum(np.exp(at[d]) for d in left)) - at[doc]
            left.remove(doc)
    assert plackett_luce_loss(items, ptr, at)[0] == pytest.approx(expected)
    pairs = sum(WINS[a, b] * np.log(1 + np.exp(at[b] - at[a])) for a in range(4) for b in range(4))
    assert bradley_terry_loss(WINS, at[:4])[0] == pytest.approx(pairs)


def test_far_worths_do_not_overflow() -> None:
    value, gradient = bradley_terry_loss(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([-2000.0, 2000.0]))
    assert value == pytest.approx(4000.0)
    assert gradient.tolist() == [-1.0, 1.0]
    items, ptr = flat([(0, 1)])
    assert plackett_luce_loss(items, ptr, np.array([-900.0, 900.0]))[0] == pytest.approx(1800.0)


def test_no_maximum_is_said() -> None:
    """One document always wins and nothing holds it back: the likelihood has no maximum."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        worth = fit_strengths(
            lambda w: bradley_terry_loss(np.array([[0.0, 1], [0, 0]]), w), 2, penalty=0.0, tolerance=0.0
        )
    assert any(issubclass(one.category, NotConverged) for one in seen) or worth[0] - worth[1] > 20


def test_a_negative_penalty_is_refused() -> None:
    with pytest.raises(InputError, match="penalty"):
        fit_strengths(lambda w: bradley_terry_loss(WINS, w), 4, penalty=-1.0)


def test_fusion_by_worth_orders_a_pool() -> None:
    runs = [
        Run.of({"q": [(f"d{doc}", -float(place)) for place, doc in enumerate(one)]}, f"r{i}")
        for i, one in enumerate(ORDERS)
    ]
    for method in ("plackett-luce", "bradley-terry"):
        run = tk.aggregate(runs, method, penalty=1e-6)
        assert [doc for doc, _ in run["q"]] == ["d0", "d1", "d2", "d3", "d4"]


@pytest.mark.real_data
def test_preferences_of_cast_rank_as_the_assessors_graded(real_data: Path) -> None:
    """TREC CAsT 2019: Bradley–Terry on the crowd's preferences agrees with the graded judgments."""
    folder = real_data / "cast2019-prefs"
    run = aggregate_preferences(tk.read_preferences(folder / "TREC-CAsT-2019.pref"))
    rows = [line.split() for line in (folder / "TREC-CAsT-2019.qrels").read_text().splitlines()]
    grades = {(query, doc): float(grade) for query, _, doc, grade in rows}
    better = total = 0
    for query in run:
        judged = [(grades[query, doc], score) for doc, score in run[query] if (query, doc) in grades]
        for one, s in judged:
            for other, t in judged:
                if one > other:
                    total += 1
                    better += s > t
    assert total > 1000
    assert better / total > 0.6
