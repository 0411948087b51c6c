"""SVM-MAP: the most violated ranking by brute force, the gap as proof; FocusedSVM against its parents."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import topkit as tk
from tests.support.rankers import linear_weights
from topkit.compute import Floats
from topkit.losses import loss
from topkit.rankers.svm.bundle import Planes, cutting_planes
from topkit.rankers.svm.focused import focused_risk
from topkit.rankers.svm.kernels import average_precision_hinge, worst_interleaving
from topkit.rankers.svm.precision import cuts_of_top, whole_lists
from topkit.scorers import Job

Risk = Callable[[Floats], tuple[float, Floats]]


def easy_data(queries: int = 40, seed: int = 0, noise: float = 0.05) -> tk.Dataset:
    """Grades 0–3 that follow two of four features, in lists of 4 to 15 documents."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(4, 16, queries)
    X = rng.uniform(size=(int(lengths.sum()), 4)).astype(np.float32)
    quality = 0.7 * X[:, 0] + 0.3 * X[:, 2] + rng.normal(scale=noise, size=len(X))
    return tk.Dataset.build(
        X, np.digitize(quality, [0.45, 0.6, 0.75]), np.repeat(np.arange(queries), lengths)
    )


def average_precision(relevant_in_order: NDArray[np.bool_]) -> float:
    places = np.flatnonzero(relevant_in_order) + 1
    return float(np.mean(np.arange(1, len(places) + 1) / places))


def violation(scores: Floats, relevant: NDArray[np.bool_], ranking: tuple[int, ...]) -> float:
    """1 − AP(z) + Ψ(z)·s − Ψ(truth)·s, written out."""
    place = np.empty(len(scores))
    place[list(ranking)] = np.arange(len(scores))
    good, bad = np.flatnonzero(relevant), np.flatnonzero(~relevant)
    value = 1 - average_precision(relevant[list(ranking)])
    for i in good:
        for j in bad:
            sign = 1 if place[i] < place[j] else -1
            value += (sign - 1) * (scores[i] - scores[j]) / (len(good) * len(bad))
    return value


def hinge_of(scores: Floats, relevant: NDArray[np.bool_]) -> tuple[float, Floats]:
    n = len(scores)
    values, slopes = np.empty(1), np.empty(n)
    average_precision_hinge(scores, relevant, np.array([0, n]), 0, 1, values, slopes)
    return float(values[0]), slopes


@settings(max_examples=60)
@given(st.integers(2, 7), st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.3, 2.0]))
def test_most_violated_ranking_by_brute_force(n: int, seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(scale=spread, size=n)
    if seed % 3 == 0:
        scores = np.round(scores, 1)  # ties
    relevant = np.zeros(n, bool)
    relevant[rng.permutation(n)[: rng.integers(1, n)]] = True
    best = max(violation(scores, relevant, z) for z in permutations(range(n)))
    value, slopes = hinge_of(scores, relevant)
    assert value == pytest.approx(best, abs=1e-12)
    for _ in range(3):  # the slope is a subgradient: the tangent stays below
        other = scores + rng.normal(scale=spread, size=n)
        assert hinge_of(other, relevant)[0] >= value + slopes @ (other - scores) - 1e-12


@settings(max_examples=60)
@given(st.integers(1, 40), st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_halving_finds_what_trying_all_places_finds(good_count: int, bad_count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    good = np.sort(rng.normal(scale=0.3, size=good_count) + 0.2)[::-1].copy()
    bad = np.sort(rng.normal(scale=0.3, size=bad_count))[::-1].copy()
    above = np.empty(bad_count, np.int64)
    worst_interleaving(good, bad, above)
    i = np.arange(1, good_count + 1)
    for j in range(1, bad_count + 1):
        gains = i / ((i + j - 1) * (i + j)) - 2 * (good - bad[j - 1]) / bad_count
        whole = np.append(np.cumsum(gains[::-1])[::-1], 0.0)  # place 0 passes all relevant ones
        assert whole[above[j - 1]] == pytest.approx(whole.max(), abs=1e-12)
    assert (np.diff(above) >= 0).all()


def test_value_written_out() -> None:
    """Relevant at 0.1 and 0, irrelevant at 0: with it on top AP is (1/2 + 2/3)/2 = 7/12, and Ψ loses 0.1."""
    value, slopes = hinge_of(np.array([0.1, 0.0, 0.0]), np.array([True, True, False]))
    assert value == pytest.approx(5 / 12 - 0.1)
    assert slopes.tolist() == [-1.0, -1.0, 2.0]


def test_lists_of_one_kind_count_nothing() -> None:
    assert hinge_of(np.array([0.3, 0.1]), np.array([True, True]))[0] == 0.0
    assert hinge_of(np.array([0.3, 0.1]), np.array([False, False]))[0] == 0.0
    data = easy_data(5).with_labels(np.zeros(len(easy_data(5))), easy_data(5).truth)
    assert whole_lists(data, np.ones(5), 1.0, 10).weights.tolist() == [0.0] * 5


def test_planes_reach_a_known_optimum() -> None:
    """½w² + |w − 3| has its minimum 2.5 at w = 1; with the l2 of 0.1 it is 0.45 at w = 3."""

    def risk(w: Floats) -> tuple[float, Floats]:
        return float(abs(w[0] - 3)), np.sign(w - 3)

    for l2, weight, value in ((1.0, 1.0, 2.5), (0.1, 3.0, 0.45)):
        w, trace = cutting_planes(risk, l2, np.zeros(1), Planes(), 100, 1e-9)
        assert w[0] == pytest.approx(weight, abs=1e-4)
        assert 0.5 * l2 * w[0] ** 2 + risk(w)[0] == pytest.approx(value, rel=1e-6)
        assert trace.reason == "settled"
        assert trace.values[-1] <= 1e-9


def test_gap_is_below_the_tolerance() -> None:
    for tolerance in (1e-2, 1e-4):
        ranker = tk.ranker("svmmap", C=5.0, tolerance=tolerance).fit(easy_data())
        assert ranker.traces[-1].reason == "settled"
        assert -1e-9 <= ranker.traces[-1].values[-1] <= tolerance


def test_step_limit_warns() -> None:
    with pytest.warns(UserWarning, match="SVM-MAP with C=5"):
        tk.ranker("svmmap", C=5.0, max_steps=2, tolerance=1e-6).fit(easy_data())


def top_data(seed: int = 0) -> tk.Dataset:
    return tk.normalise(easy_data(30, seed, noise=0.15)).top_k(5, seed=seed)


def minimum(risk: Risk, X: Floats, total: float, l2: float) -> tuple[Floats, float]:
    def scaled(w: Floats) -> tuple[float, Floats]:
        value, slope = risk(X @ w)
        return value / total, X.T @ slope / total

    w, trace = cutting_planes(scaled, l2, np.zeros(X.shape[1]), Planes(), 2000, 1e-5)
    assert trace.reason == "settled"
    return w, 0.5 * l2 * float(w @ w) + scaled(w)[0]


def test_beta_zero_is_ranksvm_on_focused_pairs() -> None:
    data = top_data()
    inside = np.minimum(5, data.lengths)
    count = inside * (data.lengths - inside)
    weights = np.divide(1.0, count, out=np.zeros(len(count)), where=count > 0)
    C = 2.0
    ours = tk.ranker("focusedsvm", k=5, beta=0.0, C=C, tolerance=1e-5).fit(data)
    parent = tk.ranker("ranksvm", loss="hinge", pairs="focused", k=5, C=C, tolerance=1e-5).fit(
        data, weights=weights
    )
    pairs = loss("hinge", pairs="focused", k=5).on(data.y, data.ptr, weights)
    values = []
    for ranker in (ours, parent):
        w = linear_weights(ranker)
        values.append(0.5 * w @ w + C * pairs(data.X.astype(float) @ w)[0])
    assert values[0] == pytest.approx(values[1], rel=3e-5)


def test_beta_one_is_svmmap_on_the_cuts() -> None:
    """Every cut becomes a query of its own, with binary labels, for SVM-MAP."""
    data = top_data(1)
    X, y, qid, weights = [], [], [], []
    for name, rows in data:
        labels = data.y[rows]
        top = np.flatnonzero(labels > 0)
        cuts = [labels[top] >= border for border in range(int(labels.max()), 1, -1)]
        worst = [1 - average_precision(np.sort(cut)) for cut in cuts]  # irrelevant first
        for r, cut in enumerate(cuts):
            X.append(data.X[rows][top])
            y.append(cut.astype(float))
            qid += [f"{name}/{r}"] * len(top)
            weights.append(1.0 / sum(worst))
    cut_data = tk.Dataset.build(np.vstack(X), np.concatenate(y), qid)
    C = 2.0
    settings_ = {"C": C, "tolerance": 1e-5, "normalise": "none"}
    ours = tk.ranker("focusedsvm", k=5, beta=1.0, **settings_).fit(data)
    parent = tk.ranker("svmmap", **settings_).fit(cut_data, weights=weights)
    tasks = whole_lists(cut_data, np.array(weights), 1.0, 10)
    values = []
    for ranker in (ours, parent):
        w = linear_weights(ranker)
        values.append(0.5 * w @ w + C * tasks(cut_data.X.astype(float) @ w)[0])
    assert values[0] == pytest.approx(values[1], rel=3e-5)


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
def test_both_parts_start_at_one(beta: float) -> None:
    data = top_data(2)
    value = focused_risk(Job(data, None, lambda d, s: 0.0), 5, beta).total
    ordered, rest = (data.lengths > 1).sum(), (data.lengths > 5).sum()
    assert value == pytest.approx(beta * ordered + (1 - beta) * rest)


def test_cuts_of_a_total_order_and_of_grades() -> None:
    order = tk.Dataset.build(np.zeros((5, 1)), [3, 0, 1, 2, 0], ["q"] * 5, truth="top-3")
    tasks, query = cuts_of_top(order, 3)
    assert tasks.rows.tolist() == [0, 2, 3] * 2
    assert tasks.relevant.tolist() == [True, False, True, True, False, False]
    assert tasks.weights.tolist() == [0.5, 0.5]
    assert query.tolist() == [0, 0]
    graded = tk.Dataset.build(np.zeros((5, 1)), [2, 0, 1, 2, 0], ["q"] * 5)
    tasks, _ = cuts_of_top(graded, 3)
    assert tasks.relevant.tolist() == [True, False, True]


@pytest.mark.real_data
def test_training_precision_above_ranksvm(real_data: Path) -> None:
    """What it optimises: on its own training data SVM-MAP has the higher MAP, at the best C of either."""
    data = tk.normalise(tk.read_letor(real_data / "MQ2008" / "Fold1" / "train.txt"))
    pairs = 25_000.0
    reached = {}
    for name, penalties in (("svmmap", (0.1, 1.0)), ("ranksvm", (1e2 / pairs, 1e3 / pairs, 1e4 / pairs))):
        reached[name] = max(
            tk.evaluate(data, tk.ranker(name, C=C).fit(data).score(data), ["map"], "letor3").mean["map"]
            for C in penalties
        )
    assert reached["svmmap"] > reached["ranksvm"] + 0.003
