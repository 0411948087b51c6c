"""QBRank and IsoRank: smallest changes against scipy and generic solvers, and boosting on them."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression, minimize, nnls

import topkit as tk
from topkit.compute import Floats
from topkit.data import InputError, Judgments, Preference
from topkit.data.judgments import Answer
from topkit.losses import Preferences
from topkit.losses.sorted_labels import sorted_ties
from topkit.rankers.checks import easy_data, quality
from topkit.rankers.isotonic import kernels
from topkit.rankers.isotonic.effort import decided, pair_effort, query_effort
from topkit.rankers.isotonic.least_change import (
    Constraints,
    constrained_change,
    graded_change,
    isotonic_change,
    tied_grades,
)
from topkit.scorers import Job


def least_distance(A: Floats, b: Floats) -> Floats:
    """min ‖x‖² with A·x ≥ b, by non-negative least squares (Lawson & Hanson, chapter 23): another method."""
    E = np.vstack([A.T, b])
    target = np.append(np.zeros(A.shape[1]), 1.0)
    u = nnls(E, target, maxiter=10_000)[0]
    r = E @ u - target
    x: Floats = -r[:-1] / r[-1]
    return x


def generic(
    s: Floats,
    pairs: list[tuple[int, int, float]],
    slack: float,
    ties: list[tuple[int, int]],
    tie_slack: float,
) -> tuple[Floats, float, float]:
    """δ, ζ and ζ₂ with every constraint written out; slacks are scaled so that the objective is ‖x‖²."""
    n = len(s)
    unit, tie_unit = np.sqrt(slack * n), np.sqrt(tie_slack * n)
    rows, bounds = [], []
    for i, j, margin in pairs:
        row = np.zeros(n + 2)
        row[i], row[j], row[n] = 1, -1, margin / unit
        rows.append(row)
        bounds.append(margin - (s[i] - s[j]))
    for a, b in ties:
        for i, j in ((a, b), (b, a)):
            row = np.zeros(n + 2)
            row[i], row[j], row[n + 1] = 1, -1, 1 / tie_unit
            rows.append(row)
            bounds.append(-(s[i] - s[j]))
    rows.append(np.eye(n + 2)[n])
    bounds.append(0.0)
    x = least_distance(np.array(rows), np.array(bounds))
    return x[:n], x[n] / unit, x[n + 1] / tie_unit


def graded_pairs(g: Floats) -> list[tuple[int, int, float]]:
    return [(i, j, g[i] - g[j]) for i in range(len(g)) for j in range(len(g)) if g[i] > g[j]]


def test_pooling_is_scipys_isotonic_regression() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 10, 200):
        s = rng.normal(size=n).round(1)
        # all grades different: a total order, which is what scipy solves
        fitted = isotonic_regression(s).x
        assert np.allclose(s + isotonic_change(s, np.arange(n)), fitted, atol=1e-12)


def test_equal_grades_are_free_among_themselves() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        n = int(rng.integers(2, 9))
        s, g = rng.normal(size=n), rng.integers(0, 3, n).astype(float)
        pairs = [(i, j, 0.0) for i, j, _ in graded_pairs(g)]
        if pairs:
            expected, _, _ = generic(s, pairs, 1.0, [], 1.0)
            assert np.allclose(isotonic_change(s, g), expected, atol=1e-8)


def test_a_margin_by_hand() -> None:
    # one pair, margin 1, n = 2, λ = 1: δ = ±(1 − ζ)/2, so ½(1 − ζ)² + 2ζ² is least at ζ = 1/5, δ = ±2/5
    change = graded_change([0.0, 0.0], [1, 0], slack=1.0)
    assert change.slack == pytest.approx(0.2)
    assert change.delta == pytest.approx([0.4, -0.4])
    assert change.value == pytest.approx(2 * 0.16 + 2 * 0.04)


@pytest.mark.parametrize("slack", [0.1, 1.0, 10.0, 100.0])
def test_margins_against_a_generic_solver(slack: float) -> None:
    rng = np.random.default_rng(2)
    for _ in range(25):
        n = int(rng.integers(2, 12))
        s, g = rng.normal(size=n) * rng.choice([0.1, 1.0, 10.0]), rng.integers(0, 4, n).astype(float)
        if not graded_pairs(g):
            continue
        expected, zeta, _ = generic(s, graded_pairs(g), slack, [], 1.0)
        change = graded_change(s, g, slack)
        assert np.allclose(change.delta, expected, atol=1e-7)
        assert change.slack == pytest.approx(zeta, abs=1e-7)


def test_margins_against_a_search_that_knows_no_structure() -> None:
    s, g = np.array([0.3, -0.2, 0.8, 0.1]), np.array([2.0, 1.0, 0.0, 0.0])
    pairs = graded_pairs(g)

    def objective(x: Floats) -> float:
        return float(x[:4] @ x[:4] + 10.0 * 4 * x[4] ** 2)

    limits: list[Any] = [  # scipy has no public type for a constraint
        {"type": "ineq", "fun": lambda x, i=i, j=j, m=m: s[i] + x[i] - s[j] - x[j] - m * (1 - x[4])}
        for i, j, m in pairs
    ]
    searched = minimize(objective, np.zeros(5), method="SLSQP", constraints=limits, options={"ftol": 1e-14})
    change = graded_change(s, g, 10.0)
    assert np.allclose(np.append(change.delta, change.slack), searched.x, atol=1e-5)
    assert change.value == pytest.approx(searched.fun, abs=1e-9)


def test_preferences_with_circles_and_ties_against_a_generic_solver() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        n, m = int(rng.integers(3, 8)), int(rng.integers(1, 12))
        s = rng.normal(size=n)
        better = rng.integers(0, n, m)
        worse = (better + rng.integers(1, n, m)) % n
        tied = np.array([(0, 2)] if rng.random() < 0.5 else [], np.int64).reshape(-1, 2)
        slack, tie_slack = float(rng.choice([0.5, 10.0])), float(rng.choice([0.5, 5.0]))
        prices = np.append(np.ones(n), [slack * n, tie_slack * n])

        def kept(x: Floats) -> Floats:
            """Not negative where every constraint holds."""
            now = s + x[:n]  # noqa: B023 - used within the turn
            apart = now[tied[:, 0]] - now[tied[:, 1]]  # noqa: B023
            margins = now[better] - now[worse] - (1 - x[n])  # noqa: B023
            return np.concatenate([margins, x[n + 1] - apart, x[n + 1] + apart, x[n:]])  # noqa: B023

        start = np.append(s.mean() - s, [1.0, 0.0])  # equal scores satisfy everything

        def objective(x: Floats) -> float:
            return float(x**2 @ prices)  # noqa: B023

        limit: Any = {"type": "ineq", "fun": kept}
        searched = minimize(
            objective,
            start,
            method="SLSQP",
            constraints=limit,
            options={"ftol": 1e-13, "maxiter": 1000},
        )
        constraints = Constraints(better, worse, np.ones(m), (tied[:, 0], tied[:, 1]))
        change = constrained_change(s, constraints, slack, tie_slack)
        ours = np.concatenate([change.delta, [change.slack, change.tie_slack]])
        assert kept(ours).min() > -1e-9
        assert change.value == pytest.approx(float(ours**2 @ prices))
        assert change.value == pytest.approx(searched.fun, rel=1e-6, abs=1e-6)


def test_tied_grades_need_few_constraints() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        n = int(rng.integers(2, 10))
        s, g = rng.normal(size=n), rng.integers(0, 3, n).astype(float)
        ties = [(i, j) for i, j in combinations(range(n), 2) if g[i] == g[j]]
        expected, _, _ = generic(s, graded_pairs(g), 3.0, ties, 2.0)
        few = tied_grades(s, g)
        assert len(few.better) < n
        assert np.allclose(constrained_change(s, few, 3.0, 2.0).delta, expected, atol=1e-6)


@given(
    st.lists(
        st.tuples(st.floats(-100, 100, allow_subnormal=False), st.integers(0, 3)), min_size=1, max_size=20
    ),
    st.sampled_from([0.01, 1.0, 1000.0]),
)
def test_the_smallest_change_is_consistent_and_sums_to_zero(
    documents: list[tuple[float, int]], slack: float
) -> None:
    s, g = (np.array(column, float) for column in zip(*documents, strict=True))
    change = graded_change(s, g, slack)
    new = s + change.delta
    for i, j, margin in graded_pairs(g):
        assert new[i] - new[j] >= margin * (1 - change.slack) - 1e-8
    assert change.slack >= 0
    assert change.delta.sum() == pytest.approx(0, abs=1e-8)  # scores are only known up to a constant


def job_of(data: tk.Dataset, preferences: Preferences | None = None) -> Job:
    return Job(data, None, lambda data, scores: 0.0, preferences=preferences)


@pytest.mark.parametrize(
    "name", ["isorank", "isorank with ties", "qbrank", "isorank on preferences", "qbrank on"]
)
def test_the_change_is_the_slope_of_the_effort(name: str, ragged: tk.Dataset) -> None:
    rng = np.random.default_rng(5)
    pairs = Preferences.of_rows(ragged.ptr, [3, 4, 5, 12, 22], [4, 6, 3, 20, 24], [1.0, 2.0, 1.0, 0.5, 1.0])
    job = job_of(ragged, pairs if "on" in name.split() else None)
    ties = 2.0 if "ties" in name else None
    effort = pair_effort(job) if name.startswith("qb") else query_effort(job, 3.0, ties)
    scores = rng.normal(size=len(ragged))
    slope = effort.with_curvature(scores)[1]
    for i in range(len(scores)):
        step = np.zeros(len(scores))
        step[i] = 1e-5
        numeric = (effort.with_curvature(scores + step)[0] - effort.with_curvature(scores - step)[0]) / 2e-5
        assert slope[i] == pytest.approx(numeric, abs=1e-5)


def test_answers_to_a_pair_are_settled_by_majority() -> None:
    ptr = np.array([0, 3])
    votes = Preferences.of_rows(ptr, [0, 1, 0, 1, 2], [1, 0, 1, 2, 1])
    constraints = decided(votes, ties=True)[0]
    assert list(zip(constraints.better.tolist(), constraints.worse.tolist(), strict=True)) == [(0, 1)]
    assert [side.tolist() for side in constraints.tied] == [[1], [2]]
    assert not len(decided(votes, ties=False)[0].tied[0])


def test_tied_preferences_come_together() -> None:
    queries = [f"q{i}" for i in range(20)]
    data = tk.Dataset.build(
        [[0.0], [1.0], [2.0]] * 20, [0] * 60, np.repeat(queries, 3), doc_ids=["a", "b", "c"] * 20
    )
    answers = Judgments(
        preferences=tuple(
            Preference(q, *pair) for q in queries for pair in (("a", "b", "b"), ("b", "c", "tie"))
        )
    )
    assert len(Preferences.of_judgments(data, answers)) == 20
    pairs = Preferences.of_judgments(data, answers, ties=True)
    assert pairs.weight.tolist() == [1.0, 0.5, 0.5] * 20
    scores = (
        tk.ranker("isorank", min_leaf=1, trees=50, rate=0.2, bagging=1.0, feature_share=1.0, ties=ties)
        .fit(data, preferences=pairs)
        .score(data)
        for ties in (None, 100.0)
    )
    free, tied = (abs(change[1] - change[2]) / (change[1] - change[0]) for change in scores)
    assert free == pytest.approx(0.5, abs=0.05)  # c is left where it was, half-way
    assert tied < 0.02


@pytest.mark.parametrize("name", ["isorank", "qbrank"])
def test_preferences_replace_labels(name: str) -> None:
    data = easy_data(20)
    quality_of = 0.7 * data.X[:, 0] + 0.3 * data.X[:, 2]
    rng = np.random.default_rng(6)
    answers = []
    named = tk.Dataset(data.X, np.zeros_like(data.y), data.ptr, data.qids, data.names_of_documents())
    for qid, rows in data:
        documents = named.names_of_documents()[rows].tolist()
        for _ in range(8):
            i, j = rng.choice(len(documents), 2, replace=False)
            answer: Answer = "a" if quality_of[rows][i] > quality_of[rows][j] else "b"
            answers.append(Preference(qid, documents[i], documents[j], answer))
    pairs = Preferences.of_judgments(named, Judgments(preferences=tuple(answers)))
    fitted = tk.ranker(name, trees=60, rate=0.1, min_leaf=5).fit(named, preferences=pairs)
    assert quality(fitted, easy_data(seed=3)) > 0.85


@pytest.mark.parametrize("name", ["isorank", "qbrank"])
@pytest.mark.real_data
def test_contradictions_fall_almost_monotonically(name: str, real_data: Path) -> None:
    train = tk.read_letor(real_data / "OHSUMED-letor2" / "Fold1" / "train.txt")
    fitted = tk.ranker(name, trees=60).fit(train)
    counts = np.array(fitted.traces[1].values)
    better = sum(int((train.y[rows][:, None] > train.y[rows][None, :]).sum()) for _, rows in train)
    assert counts[0] == better  # equal scores put no pair in the right order
    assert counts[-1] < 0.4 * counts[0]
    steps = np.diff(counts)
    assert np.mean(steps <= 0) > 0.8
    assert (steps / counts[:-1]).max() < 0.01


def test_refusals() -> None:
    for settings in ({"slack": 0.0}, {"ties": -1.0}, {"leaves": 1}):
        with pytest.raises(InputError):
            tk.ranker("isorank", **settings)
    with pytest.raises(InputError, match="greater than 0"):
        graded_change([0.0], [0.0], slack=-1)


@given(seed=st.integers(0, 10_000), start=st.floats(0.0, 3.0), satisfied=st.booleans())
def test_the_change_does_not_depend_on_the_slack_that_the_search_starts_from(
    seed: int, start: float, satisfied: bool
) -> None:
    rng = np.random.default_rng(seed)
    grades = rng.integers(0, 4, 12).astype(np.float64)
    scores = 3.0 * grades if satisfied else rng.normal(size=12)
    ptr = np.array([0, 12])
    rising = sorted_ties(-grades, ptr)
    changes = []
    for first in (0.0, start):
        change, zeta = np.empty(12), np.array([first])
        kernels.graded_change(scores, grades, rising.rows, rising.end, 10.0, ptr, 0, 1, change, zeta)
        changes.append(np.append(change, zeta))
    np.testing.assert_allclose(changes[1], changes[0], atol=1e-12)
    if satisfied:
        assert changes[1].tolist() == [0.0] * 13
