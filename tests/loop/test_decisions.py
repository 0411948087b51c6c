"""The decisions of the loop, each against arithmetic or brute force: queries, depth, candidates, estimate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import topkit as tk
from tests.support.loop import linear_data
from topkit.labelling import Labelling, lower_bound
from topkit.loop import LoopSettings
from topkit.loop.check import Checked, estimate, reserved_queries, wilson
from topkit.loop.choice import CRITERIA, Situation, choose_queries
from topkit.loop.depth import DEPTHS, choose_candidates, choose_depth, expected_questions
from topkit.loop.outlook import expected_gain, slope
from topkit.loop.training import agreement, fit, labelled
from topkit.studies.loop_runs import true_agreement


@given(st.integers(1, 200), st.integers(2, 200))
def test_the_interval_is_wilsons(hits: int, n: int) -> None:
    hits = min(hits, n)
    expected = binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson(hits / n, n) == pytest.approx((hits / n, expected.low, expected.high), abs=1e-6)


def test_the_estimate_averages_queries_not_pairs() -> None:
    scores = np.array([3.0, 2.0, 1.0, 5.0, 5.0, 0.0])
    checks = [
        Checked(0, 0, 1, False),  # right
        Checked(0, 2, 0, False),  # wrong: query 0 has 1/2
        Checked(1, 3, 4, False),  # equal scores: 1/2
        Checked(2, 5, 5, True),  # a tie: 1/2
        Checked(3, 3, 5, False),  # right: 1
    ]
    found = estimate(scores, checks)
    assert found is not None
    assert found.value == pytest.approx((0.5 + 0.5 + 0.5 + 1.0) / 4)
    assert estimate(scores, []) is None


def test_the_estimate_is_unbiased_and_covers() -> None:
    """Over all ways to draw queries and pairs, the mean of the estimates is the true agreement."""
    data, relevance = linear_data(30, 6)
    scores = relevance + np.random.default_rng(1).normal(0, 0.6, len(relevance))
    truth = true_agreement(data, relevance, 1e-9, scores)
    rng = np.random.default_rng(2)
    values, covered = [], []
    for _ in range(2000):
        checks = []
        for query in rng.permutation(30)[:20].tolist():
            a, b = (data.ptr[query] + rng.permutation(6)[:2]).tolist()
            checks.append(Checked(query, *((a, b) if relevance[a] > relevance[b] else (b, a)), False))
        found = estimate(scores, checks)
        assert found is not None
        values.append(found.value)
        covered.append(found.low <= truth <= found.high)
    assert np.mean(values) == pytest.approx(truth, abs=4 * np.std(values) / np.sqrt(2000))
    assert np.mean(covered) > 0.94


def test_reserved_queries_are_random_and_not_learned_from() -> None:
    data, _ = linear_data(40, 3)
    drawn = [reserved_queries(data, 0.05, seed) for seed in range(300)]
    assert {len(queries) for queries in drawn} == {4}
    counts = np.bincount(np.concatenate(drawn), minlength=40)
    assert counts.min() > 10  # 30 expected, standard deviation 5.2
    assert counts.max() < 52
    assert len(reserved_queries(data, 0.0, 0)) == 0


@given(st.integers(2, 200), st.integers(0, 8))
def test_rounds_get_deeper_and_fit_the_list(documents: int, round_: int) -> None:
    k, candidates, why = choose_depth(LoopSettings(), documents, round_)
    assert 1 <= k <= candidates <= documents
    assert why.startswith(f"top {k} of {candidates}: ")
    deeper = choose_depth(LoopSettings(), documents, round_ + 1)
    assert expected_questions(deeper.k, deeper.candidates) >= expected_questions(k, candidates)
    assert expected_questions(k, candidates) == lower_bound(candidates, k)
    if round_ >= len(DEPTHS):
        assert (k, candidates) == (min(10, documents), documents)


@given(st.integers(2, 40), st.integers(1, 40), st.floats(0, 1), st.integers(0, 99))
def test_candidates_are_the_first_by_score_and_random_others(
    documents: int, count: int, explore: float, seed: int
) -> None:
    scores = np.random.default_rng(seed).permutation(documents).astype(float)
    chosen = choose_candidates(scores, documents, count, explore, np.random.default_rng(seed))
    assert len(chosen) == len(set(chosen.tolist())) == min(count, documents)
    if count < documents:
        top = count - round(explore * count)
        assert set(np.argsort(-scores)[:top].tolist()) <= set(chosen.tolist())
    assert len(choose_candidates(None, documents, count, explore, np.random.default_rng(0))) == len(chosen)


def situation(scores: np.ndarray | None, done: list[int]) -> Situation:
    data, relevance = linear_data()
    parts = []
    for query in done:
        rows = range(int(data.ptr[query]), int(data.ptr[query]) + 4)
        lab = Labelling([f"d{row}" for row in rows], 4, seed=query)
        while lab.question:
            a, b = (relevance[int(str(item)[1:])] for item in lab.question)
            lab = lab.answer("a" if a > b else "b")
        parts.append(labelled(data, query, lab))
    return Situation(tk.ranker("ranksvm"), data, parts, scores, 0)


def test_criteria_by_hand() -> None:
    data, relevance = linear_data()
    left = np.arange(5, 20)
    now = situation(relevance, [0, 1, 2, 3, 4])
    promise = CRITERIA["promise"](now, left)
    of_first = np.sort(relevance[60:72])
    assert promise[0] == pytest.approx(of_first[-3:].mean() - of_first[6])
    means = data.X.reshape(20, 12, 3).mean(1)
    z = (means - means.mean(0)) / means.std(0)
    nearest = min(np.linalg.norm(z[5] - z[q]) for q in range(5))
    assert CRITERIA["coverage"](now, left)[0] == pytest.approx(nearest, rel=1e-5)
    flat = situation(np.zeros(len(data)), [0])
    x = flat.features[60:68]  # equal scores: the first eight rows, P = 1/2 for every pair
    by_hand = sum(0.25 * np.linalg.norm(x[i] - x[j]) for i in range(8) for j in range(8))
    assert CRITERIA["change"](flat, left)[0] == pytest.approx(by_hand, rel=1e-6)
    assert (CRITERIA["uncertainty"](now, left) > 0).all()


@pytest.mark.parametrize("choose", [*CRITERIA, "random"])
def test_chosen_queries_are_different_and_from_the_best_quarter(choose: str) -> None:
    _, relevance = linear_data()
    now, left = situation(relevance, [0, 1, 2, 3]), np.arange(4, 20)
    chosen = [query for query, why in choose_queries(now, choose, left, 4) if why]
    assert len(set(chosen)) == 4
    if choose != "random":
        best = left[np.argsort(-CRITERIA[choose](now, left), kind="stable")[:4]]
        assert set(chosen) == set(best.tolist())
    assert [q for q, _ in choose_queries(now, choose, left[:2], 4)] != []


def test_labelled_pairs_are_the_transitive_closure() -> None:
    data, relevance = linear_data(1, 6)
    lab = Labelling([f"d{i}" for i in (4, 0, 2, 5)], 4, "insertion")
    while lab.question:
        a, b = (relevance[int(str(item)[1:])] for item in lab.question)
        lab = lab.answer("a" if a > b else "b")
    part = labelled(data, 0, lab)
    expected = {(i, j) for i in (0, 2, 4, 5) for j in (0, 2, 4, 5) if relevance[i] > relevance[j]}
    assert set(zip(part.better.tolist(), part.worse.tolist(), strict=True)) == expected
    assert part.asked.sum() == len({frozenset(answer[:2]) for answer in lab.answers})
    assert (part.labels[[1, 3]] == 0).all()
    assert agreement(relevance, part.better, part.worse) == 1.0


def test_documents_that_nobody_compared_do_not_change_the_fit() -> None:
    """With pairs="given" only pairs count: other features of a document that nobody saw change nothing."""
    now = situation(None, [0, 1, 2, 3])
    template = tk.ranker("ranksvm", normalise="none")
    first = fit(template, now.queries, now.done)
    X = now.queries.X.copy()
    X[4:12] += 5.0  # rows of the first query that were not compared
    second = fit(template, now.queries.with_features(X), now.done)
    assert first is not None
    assert second is not None
    assert np.allclose(first.score(now.queries), second.score(now.queries), atol=1e-5)


def test_the_expected_gain_follows_the_learning_curve() -> None:
    assert slope([1.0, 2.0, 4.0], [3.0, 5.0, 9.0]) == pytest.approx(2.0)
    assert slope([1.0, 1.0], [3.0, 5.0]) == 0.0
    now = situation(None, list(range(16)))
    gain = expected_gain(now.template, now.queries, now.done, minutes=30.0, seed=0)
    assert gain is not None
    assert gain.low <= gain.value <= gain.high
    assert abs(gain.value) < 0.1  # a linear truth is nearly learned after 16 lists
    later = expected_gain(now.template, now.queries, now.done, minutes=300.0, seed=0)
    assert later is not None
    assert abs(later.value) < abs(gain.value)  # after ten times the time an hour adds less
    assert expected_gain(now.template, now.queries, now.done[:11], 30.0, 0) is None
