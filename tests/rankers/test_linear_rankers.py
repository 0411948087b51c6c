"""BestFeature, Coordinate Ascent, perceptron and sigmoid against plain code and against what they promise."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import topkit as tk
from tests.support.rankers import linear_weights
from topkit.compute import Floats
from topkit.data import InputError
from topkit.losses import Preferences, loss
from topkit.metrics.compiled import Measured, worst_ties
from topkit.rankers.linear import pair_margins, refine_with_sigmoid
from topkit.rankers.linear.climb import ClimbPiece, FastClimb, PlainClimb
from topkit.rankers.linear.kernels import perceptron_pass
from topkit.rankers.linear.sigmoid import descend


def some_data(seed: int = 0, queries: int = 15) -> tk.Dataset:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 12, queries)
    X = rng.uniform(size=(int(lengths.sum()), 4)).astype(np.float32)
    quality = X @ np.array([2.0, -1.0, 0.5, 0.0]) + rng.normal(scale=0.4, size=len(X))
    return tk.Dataset.build(X, np.clip(np.floor(quality + 1), 0, 2), np.repeat(np.arange(queries), lengths))


def pairs_of(data: tk.Dataset) -> list[tuple[int, int]]:
    return [
        (u, v)
        for _, rows in data
        for u, v in permutations(range(rows.start, rows.stop), 2)
        if data.y[u] > data.y[v]
    ]


# -- BestFeature -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["ndcg@5", "map", "err", "auc", "rprec"])
def test_best_feature_by_evaluating_all(name: str) -> None:
    data = some_data(1)
    ranker = tk.ranker("bestfeature", metric=name).fit(data)
    means = {
        (f, sign): tk.evaluate(data, sign * data.X[:, f], name).mean[name]
        for f in range(4)
        for sign in (1, -1)
    }
    best = max(means, key=lambda key: means[key])
    assert np.flatnonzero(linear_weights(ranker)).tolist() == [best[0]]
    assert linear_weights(ranker)[best[0]] == best[1]
    np.testing.assert_allclose(sorted(ranker.traces[0].values), sorted(means.values()), atol=1e-12)


def test_constant_feature_is_not_the_best() -> None:
    """In input order the constant one would win: the relevant documents stand first."""
    data = tk.Dataset.build([[1, 0.2], [1, 0.5], [1, 0.1]], [1, 1, 0], ["q"] * 3)
    assert linear_weights(tk.ranker("bestfeature", metric="map").fit(data)).tolist() == [0, 1]


@pytest.mark.real_data
def test_best_feature_of_mq2008(real_data: Path) -> None:
    """0.7761 NDCG@10 under yahoo, 5 folds: what a sketch in NumPy gave for the best feature on train."""
    reached = []
    for fold in range(1, 6):
        folder = real_data / "MQ2008" / f"Fold{fold}"
        train, test = tk.read_letor(folder / "train.txt"), tk.read_letor(folder / "test.txt")
        ranker = tk.ranker("bestfeature", metric="ndcg@10").fit(train)
        reached.append(tk.evaluate(test, ranker.score(test), "ndcg@10").mean["ndcg@10"])
    assert np.mean(reached) == pytest.approx(0.7761, abs=0.004)


# -- Coordinate Ascent -------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["ndcg@5", "map", "rprec"])
def test_gain_is_the_change_of_the_measure(name: str) -> None:
    data = worst_ties(some_data(2))
    X = data.X.astype(float)
    measured = Measured.of(data, name)
    heavy = np.random.default_rng(0).uniform(size=data.n_queries)
    w = np.array([0.3, -0.2, 0.1, 0.4])
    climb = ClimbPiece.of(measured, heavy).start(X @ w)
    assert isinstance(climb, PlainClimb if name == "rprec" else FastClimb)
    for f, step in ((0, 0.5), (2, -0.3), (1, 3.0), (3, 1e-9)):
        after = w.copy()
        after[f] += step
        expected = heavy @ (measured.values(X @ after) - measured.values(X @ w))
        assert climb.gain(f, step)[0] == pytest.approx(expected, abs=1e-12)
        climb.move(f, step)
        w = after
        assert climb.value == pytest.approx(heavy @ measured.values(X @ w), abs=1e-12)


def test_ascent_climbs_and_restarts_help() -> None:
    data = some_data(3, 30)
    one = tk.ranker("coordinate-ascent", metric="map", restarts=1).fit(data)
    many = tk.ranker("coordinate-ascent", metric="map", restarts=8).fit(data)
    for trace in many.traces:
        assert trace.values[-1] >= trace.values[0]
        assert trace.reason == "settled"
    reached = [
        tk.evaluate(worst_ties(data), r.score(worst_ties(data)), "map").mean["map"] for r in (one, many)
    ]
    assert reached[1] >= reached[0]
    assert reached[1] == pytest.approx(max(trace.values[-1] for trace in many.traces), abs=1e-9)
    best = tk.ranker("bestfeature", metric="map").fit(data)
    assert reached[0] > max(best.traces[0].values)


def test_ascent_of_any_measure() -> None:
    data = some_data(4, 20)
    for name in ("rprec", "auc", "bpref"):
        ranker = tk.ranker("coordinate-ascent", metric=name, restarts=1, steps=5, sweeps=3).fit(data)
        assert ranker.traces[0].values[-1] > ranker.traces[0].values[0]


# -- perceptron --------------------------------------------------------------------------------------------
def test_perceptron_pass_by_hand() -> None:
    """w = 0 is wrong on the first pair and becomes x_0 − x_1 = (1, −1); the second pair is then right."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.8]])
    w, late = np.zeros(2), np.zeros(2)
    order, weights = np.array([0]), np.ones(1)
    seen, mistakes = perceptron_pass(X, np.array([1.0, 0, 0]), np.array([0, 3]), order, weights, w, late, 0)
    assert (seen, mistakes) == (2, 1)
    assert w.tolist() == [1.0, -1.0]


def test_perceptron_is_the_mean_of_all_weights() -> None:
    data = some_data(5)
    w, steps = np.zeros(4), []
    rng = np.random.default_rng(0)
    X = tk.normalise(data).X.astype(float)
    for _ in range(3):
        for q in rng.permutation(data.n_queries):
            rows = range(data.ptr[q], data.ptr[q + 1])
            for u in rows:
                for v in rows:
                    if data.y[u] > data.y[v]:
                        if w @ (X[u] - X[v]) <= 0:
                            w = w + X[u] - X[v]
                        steps.append(w)
    ranker = tk.ranker("perceptron", passes=3).fit(data)
    np.testing.assert_allclose(linear_weights(ranker), np.mean(steps, axis=0), atol=1e-5)


def test_perceptron_stops_without_mistakes() -> None:
    data = tk.Dataset.build([[0.9], [0.1]], [1, 0], ["q", "q"])
    ranker = tk.ranker("perceptron", passes=50).fit(data)
    assert ranker.traces[0].reason == "settled"
    assert ranker.traces[0].steps == 2


# -- sigmoid -----------------------------------------------------------------------------------------------
def test_descent_lowers_the_objective_every_step() -> None:
    data = tk.normalise(some_data(6))
    X, bound = data.X.astype(float), loss("sigmoid").on(data.y, data.ptr)
    count = len(pairs_of(data))
    w, trace = descend(X, bound, count, 1e-3, np.array([0.5, 1.0, 0.0, 0.0]), 2000)
    assert trace.reason == "settled"
    assert (np.diff(trace.values) <= 0).all()
    margins = np.array([X[u] @ w - X[v] @ w for u, v in pairs_of(data)])
    assert trace.values[-1] == pytest.approx(1e-3 * w @ w + np.mean(1 / (1 + np.exp(margins))))


def test_refine_a_fitted_ranker() -> None:
    train, valid = some_data(7), some_data(8)
    base = tk.ranker("ranksvm", features=["1", "3"], metric="map").fit(train, valid)
    refined = refine_with_sigmoid(base, train, valid)
    assert refined.name == "sigmoid"
    assert refined.common.features == ("1", "3")
    assert len(refined.traces) == 3
    by_name = tk.ranker("sigmoid", base="ranksvm", features=["1", "3"], metric="map").fit(train, valid)
    np.testing.assert_allclose(refined.score(valid), by_name.score(valid), rtol=1e-9)


def test_outliers_pull_less() -> None:
    """One list in ten is turned round: the sigmoid's direction is nearer to the truth than RankSVM's."""
    rng = np.random.default_rng(0)
    truth = np.array([1.0, 0.3])
    X = rng.uniform(size=(400, 2)).astype(np.float32)
    X[:40, 0] *= 10  # the turned lists are the loud ones
    quality = X @ truth
    y = (quality > np.repeat(np.median(quality.reshape(40, 10), axis=1), 10)).astype(float)
    y[:40] = 1 - y[:40]
    data = tk.Dataset.build(X, y, np.repeat(np.arange(40), 10))
    base = tk.ranker("ranksvm", normalise="none").fit(data)
    refined = refine_with_sigmoid(base, data)

    def angle(w: Floats) -> float:
        return float(w @ truth / np.linalg.norm(w) / np.linalg.norm(truth))

    assert angle(linear_weights(refined)) > angle(linear_weights(base))


def test_sigmoid_refusals() -> None:
    data = some_data(9)
    with pytest.raises(tk.InputError, match="not linear"):
        tk.ranker("sigmoid", base="rankboost").fit(data)
    with pytest.raises(tk.InputError, match="unknown ranker"):
        tk.ranker("sigmoid", base="nothing").fit(data)
    with pytest.raises(tk.InputError, match="start needs one weight"):
        tk.ranker("sigmoid", start=[1.0]).fit(data)
    with pytest.raises(tk.InputError, match="is not fitted"):
        refine_with_sigmoid(tk.ranker("ranksvm"), data)


def test_sigmoid_on_preferences() -> None:
    data = some_data(10)
    better, worse = zip(*pairs_of(data), strict=True)
    flat = data.with_labels(np.zeros(len(data)), data.truth)
    start = [1.0, 0.0, 0.0, 0.0]
    given = tk.ranker("sigmoid", start=start).fit(
        flat, preferences=Preferences.of_rows(data.ptr, better, worse)
    )
    labelled = tk.ranker("sigmoid", start=start).fit(data)
    np.testing.assert_allclose(linear_weights(given), linear_weights(labelled), rtol=1e-6)


# -- margins -----------------------------------------------------------------------------------------------
def test_margins_by_listing() -> None:
    data = some_data(11)
    scores = np.random.default_rng(1).normal(size=len(data))
    margins = np.array([scores[u] - scores[v] for u, v in pairs_of(data)])
    found = pair_margins(data, scores, bins=7, outlier=1.0)
    deviation = np.sqrt(np.mean(margins**2))
    counts, edges = np.histogram(margins / deviation, bins=7)
    np.testing.assert_allclose(found.edges, edges)
    assert np.abs(found.counts - counts).sum() <= 2  # rounding at the borders of bins
    assert found.pairs == len(margins)
    assert found.deviation == pytest.approx(deviation)
    assert found.wrong == pytest.approx(np.mean(margins <= 0))
    assert found.outliers == pytest.approx(np.mean(margins < -deviation))


def test_margins_without_pairs_and_bad_input() -> None:
    data = tk.Dataset.build([[0.0]] * 2, [1, 1], ["q", "q"])
    assert pair_margins(data, [0.0, 1.0]).pairs == 0
    equal = tk.Dataset.build([[0.0]] * 2, [1, 0], ["q", "q"])
    assert pair_margins(equal, [1.0, 1.0]).wrong == 1.0
    with pytest.raises(tk.InputError, match="expected one score"):
        pair_margins(data, [0.0])
    with pytest.raises(tk.InputError, match="bins"):
        pair_margins(data, [0.0, 1.0], bins=0)


def test_sigmoid_passes_settings_to_its_base(ragged: tk.Dataset) -> None:
    strong = tk.ranker("sigmoid", base="ranksvm", base_settings={"C": 100.0}).fit(ragged)
    weak = tk.ranker("sigmoid", base="ranksvm", base_settings={"C": 1e-6}).fit(ragged)
    assert not np.allclose(strong.score(ragged), weak.score(ragged))
    with pytest.raises(InputError, match="a table of settings"):
        tk.ranker("sigmoid", base_settings=3)
