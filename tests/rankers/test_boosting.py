"""RankBoost and AdaRank against plain code from their definitions; FocusedBoost against its parents."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import topkit as tk
from tests.support.pieces import Several
from tests.support.rankers import linear_weights
from topkit.compute import Floats
from topkit.losses import Preferences
from topkit.metrics.compiled import Measured, worst_ties
from topkit.rankers.boosting import Steps
from topkit.rankers.boosting.borders import borders_in_pieces, borders_of
from topkit.rankers.boosting.focused import top_of
from topkit.rankers.boosting.kernels import bin_sums
from topkit.rankers.boosting.loop import BoostPiece
from topkit.rankers.boosting.pools import Pool, ThresholdPool, pool_of
from topkit.rankers.orders import drawn_top
from topkit.rankers.pieces import Whole
from topkit.scorers import Job


def some_data(seed: int = 0, queries: int = 12) -> tk.Dataset:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 12, queries)
    X = rng.uniform(size=(int(lengths.sum()), 3)).astype(np.float32)
    quality = X @ np.array([2.0, -1.0, 0.5]) + rng.normal(scale=0.4, size=len(X))
    return tk.Dataset.build(X, np.clip(np.floor(quality + 1), 0, 2), np.repeat(np.arange(queries), lengths))


def pairs_of(data: tk.Dataset) -> NDArray[np.int64]:
    return np.array(
        [
            (u, v)
            for _, rows in data
            for u, v in permutations(range(rows.start, rows.stop), 2)
            if data.y[u] > data.y[v]
        ]
    )


def plain_rankboost(data: tk.Dataset, rounds: int) -> Floats:
    """RankBoost with every threshold between two values, over listed pairs; scores of the training data."""
    pairs = pairs_of(data)
    weak = []
    for f in range(data.n_features):
        values = np.unique(data.X[:, f])
        weak += [(data.X[:, f] > threshold).astype(float) for threshold in values[:-1]]
    share = np.full(len(pairs), 1 / len(pairs))
    scores = np.zeros(len(data))
    for _ in range(rounds):
        r = np.array([share @ (h[pairs[:, 0]] - h[pairs[:, 1]]) for h in weak])
        best = int(np.argmax(np.abs(r)))
        alpha = 0.5 * np.log((1 + r[best]) / (1 - r[best]))
        scores += alpha * weak[best]
        share = share * np.exp(-alpha * (weak[best][pairs[:, 0]] - weak[best][pairs[:, 1]]))
        share /= share.sum()
    return scores


def test_rankboost_is_the_algorithm() -> None:
    data = some_data()
    ranker = tk.ranker("rankboost", rounds=25, thresholds=255, normalise="none").fit(data)
    np.testing.assert_allclose(ranker.score(data), plain_rankboost(data, 25), atol=1e-9)


def test_rankboost_first_round_written_out() -> None:
    """Features 0.1, 0.9, 0.5 for labels 0, 1, 2: above 0.3, r = (1 + 1 + 0)/3, so α = ½ ln((5/3)/(1/3))."""
    data = tk.Dataset.build([[0.1], [0.9], [0.5]], [0, 1, 2], ["q"] * 3)
    ranker = tk.ranker("rankboost", rounds=1, normalise="none").fit(data)
    np.testing.assert_allclose(ranker.score(data), [0, 0.5 * np.log(5), 0.5 * np.log(5)], rtol=1e-6)


def test_rankboost_learns_from_given_pairs() -> None:
    data = some_data(3)
    pairs = pairs_of(data)
    flat = data.with_labels(np.zeros(len(data)), data.truth)
    given_pairs = tk.ranker("rankboost", pairs="given", rounds=20).fit(
        flat, preferences=Preferences.of_rows(data.ptr, pairs[:, 0], pairs[:, 1])
    )
    labelled = tk.ranker("rankboost", rounds=20).fit(data)
    np.testing.assert_allclose(given_pairs.score(data), labelled.score(data), atol=1e-9)
    with pytest.raises(tk.InputError, match="must be used together"):
        tk.ranker("rankboost", pairs="given").fit(data)


def plain_adarank(data: tk.Dataset, name: str, rounds: int) -> Floats:
    """AdaRank's weights of features from the paper's formulas, with the rule for those that do not help."""
    turned = worst_ties(data)
    X = turned.X.astype(float)
    weak = [*X.T, *(-X.T)]

    def values(scores: Floats) -> Floats:
        return tk.evaluate(turned, scores, name).per_query[name]

    useful = np.array([len(np.unique(turned.y[rows])) > 1 for _, rows in turned])
    share = useful * np.exp(-values(np.zeros(len(turned))))
    share /= share.sum()
    total, level, aside = np.zeros(len(turned)), values(np.zeros(len(turned)))[useful].mean(), set[int]()
    weights = np.zeros(data.n_features)
    for _ in range(rounds):
        while True:
            left = [i for i in range(len(weak)) if i not in aside]
            if not left:
                return weights
            best = max(left, key=lambda i: share @ values(weak[i]))
            quality = values(weak[best])
            alpha = 0.5 * np.log((share * (1 + quality)).sum() / (share * (1 - quality)).sum())
            now = values(total + alpha * weak[best])
            if now[useful].mean() > level:
                break
            aside.add(best)
        aside.clear()
        total, level = total + alpha * weak[best], now[useful].mean()
        share = useful * np.exp(-now)
        share /= share.sum()
        weights[best % data.n_features] += alpha if best < data.n_features else -alpha
    return weights


@pytest.mark.parametrize("name", ["map", "ndcg@3", "err", "auc"])
def test_adarank_is_the_algorithm(name: str) -> None:
    data = some_data(4, 20)
    ranker = tk.ranker("adarank", metric=name, rounds=8, normalise="none").fit(data)
    ranges = np.array([data.X[rows].max(axis=0) - data.X[rows].min(axis=0) for _, rows in data])
    scale = 1 / ranges.max(axis=0).astype(np.float64)
    scaled = data.with_features((data.X * scale).astype(np.float32))
    expected = plain_adarank(scaled, name, 8) * scale
    np.testing.assert_allclose(linear_weights(ranker), expected, atol=1e-5)


def test_adarank_raises_the_training_measure() -> None:
    data = some_data(5, 30)
    ranker = tk.ranker("adarank", metric="map").fit(data)
    assert (np.diff(ranker.traces[0].values) > 0).all()
    assert ranker.traces[0].reason == "settled"


def test_validation_decides_the_rounds() -> None:
    train, valid = some_data(6), some_data(7)
    ranker = tk.ranker("rankboost", rounds=60, metric="ndcg@5").fit(train, valid)
    trace = ranker.traces[0]
    assert isinstance(ranker.model, Steps)
    assert len(ranker.model.alpha) == trace.best_step
    turned = worst_ties(valid)
    assert tk.evaluate(turned, ranker.score(turned), "ndcg@5").mean["ndcg@5"] == pytest.approx(trace.best)


@pytest.mark.parametrize("name", ["rankboost", "adarank", "perceptron"])
def test_validation_data_sorted_by_label(name: str) -> None:
    """Equal scores keep such a file in its ideal order; that must not count as a ranker without any round."""
    valid = some_data(7)
    rows = np.lexsort((-valid.y, valid.query_index))
    ideal = tk.Dataset.build(valid.X[rows], valid.y[rows], valid.query_index[rows])
    ranker = tk.ranker(name).fit(some_data(6), ideal)
    assert np.ptp(ranker.score(valid)) > 0


@pytest.mark.parametrize("weak", ["threshold", "feature"])
def test_beta_zero_is_rankboost_on_focused_pairs(weak: str) -> None:
    data = some_data(8).top_k(3, seed=0)
    ours = tk.ranker("focusedboost", k=3, beta=0.0, weak=weak, rounds=30).fit(data)
    parent = tk.ranker("rankboost", k=3, pairs="focused", weak=weak, thresholds=10, rounds=30).fit(data)
    np.testing.assert_allclose(ours.score(data), parent.score(data), atol=1e-9)


def test_beta_one_is_adarank_on_the_top() -> None:
    data = some_data(9, 20).top_k(4, seed=0)
    X = np.array(data.X)
    first = np.flatnonzero((data.query_index == 0) & (data.y > 0))
    X[first[0]], X[first[1]] = (
        1.0,
        0.0,
    )  # the largest range of each feature is 1, in the top and in whole lists
    data = data.with_features(X)
    inside = data.y > 0
    top = tk.Dataset.build(X[inside], data.y[inside], data.query_index[inside], truth="top-4")
    same = {"normalise": "none", "metric": "kndcg@4"}
    ours = tk.ranker("focusedboost", k=4, beta=1.0, weak="feature", **same).fit(data)
    parent = tk.ranker("adarank", **same).fit(top)
    assert ours.traces[0].steps > 1
    np.testing.assert_allclose(linear_weights(ours), linear_weights(parent), rtol=1e-12)


def test_focusedboost_round_written_out() -> None:
    """T = first two: f = x has E = 1 on T and Σ D'(f(u) − f(v)) = ((1−0) + (0.5−0))/2, so r = ½ + 3/8."""
    data = tk.Dataset.build([[1.0], [0.5], [0.0]], [2, 1, 0], ["q"] * 3, truth="top-2")
    ranker = tk.ranker("focusedboost", k=2, weak="feature", rounds=1, normalise="none").fit(data)
    r = 0.5 * 1 + 0.5 * 0.75
    assert linear_weights(ranker)[0] == pytest.approx(0.5 * np.log((1 + r) / (1 - r)))


def test_top_of_a_longer_order() -> None:
    data = tk.Dataset.build(np.zeros((6, 1)), [1, 3, 2, 4, 2, 1], ["a"] * 4 + ["b"] * 2, truth="order")
    top, rows, queries = top_of(*drawn_top(data, 2, 0))
    assert rows.tolist() == [1, 3, 4, 5]
    assert top.y.tolist() == [1, 2, 2, 1]
    assert queries.tolist() == [0, 1]
    assert str(top.truth) == "top-2"


@given(st.integers(0, 10**6), st.integers(1, 40))
@settings(max_examples=30)
def test_bin_sums_are_sums_above_thresholds(seed: int, thresholds: int) -> None:
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, thresholds + 1, (3, 57)).astype(np.uint8)
    weight, out = rng.normal(size=57), np.empty((3, thresholds))
    bin_sums(bins, weight, thresholds, 0, 3, np.empty((4, 256)), out)
    expected = [[weight[bins[f] > t].sum() for t in range(thresholds)] for f in range(3)]
    np.testing.assert_allclose(out, expected, atol=1e-12)


def test_borders() -> None:
    column = np.array([0, 1, 1, 2, np.nan, 4], np.float32)
    assert borders_of(column, 10).tolist() == [0.5, 1.5, 3.0]
    many = np.random.default_rng(0).uniform(size=1000).astype(np.float32)
    found = borders_of(many, 32)
    assert 20 <= len(found) <= 32
    assert not np.isin(found.astype(np.float32), many).all()
    assert borders_of(np.full(5, 2, np.float32), 10).tolist() == []


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 7, 32]), st.sampled_from([3, 40, 10**6]))
@settings(max_examples=25)
def test_borders_in_pieces_are_those_of_the_whole(seed: int, most: int, distinct: int) -> None:
    """Few and many values, negative ones, both zeros and missing ones, in pieces of any size."""
    rng = np.random.default_rng(seed)
    X = (rng.integers(-distinct, distinct, (90, 3)) / 7).astype(np.float32)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    X[rng.uniform(size=X.shape) < 0.1] = -0.0
    cuts = np.sort(rng.integers(1, 89, 3))
    found = borders_in_pieces(Several([(None, part) for part in np.split(X, cuts)]), most)
    for f in range(3):
        assert found[f][~np.isnan(found[f])].tolist() == borders_of(X[:, f], most).tolist()


def test_steps_and_missing_features() -> None:
    model = Steps(np.array([0, 1, 0]), np.array([0.5, 0.25, 0.125]), np.array([1.0, 2.0, -0.5]))
    data = tk.Dataset.build([[0.6, 0.1], [0.5, 0.3], [np.nan, np.nan], [0.125, 0.9]], [0] * 4, ["q"] * 4)
    assert model.score(data).tolist() == [0.5, 1.5, 0.0, 2.0]
    with pytest.raises(ValueError, match="one feature"):
        Steps.of_parts(Steps(np.array([0]), np.array([0.5, 0.2]), np.array([1.0])).parts())


def test_pools_agree_with_their_columns() -> None:
    data = some_data(11)
    weight = np.random.default_rng(0).normal(size=len(data))
    whole = Whole(BoostPiece(data.ptr, None, None), data.X)
    pools: list[Pool] = [pool_of(whole, "feature", 1), ThresholdPool.of(data.X, 12)]
    for pool in pools:
        expected = [weight @ pool.column(i, data.X) for i in range(pool.size)]
        for i in range(pool.size):
            bound = pool.column(i, data.X, pool.bind(data.X))
            np.testing.assert_array_equal(bound, pool.column(i, data.X))
        known = ~np.isnan(np.asarray(getattr(pool, "borders", np.zeros(pool.size)))).ravel()
        sums = pool.sums(pool.bind(data.X), data.X, weight)
        np.testing.assert_allclose(sums[known], np.array(expected)[known], atol=1e-9)
        np.testing.assert_allclose(sums[~known], 0.0)


@pytest.mark.real_data
def test_real_data_is_learnt(real_data: Path) -> None:
    """Both are far above a random order on real features."""
    parts = [
        tk.read_letor(real_data / "MQ2008" / "Fold1" / f"{part}.txt") for part in ("train", "vali", "test")
    ]
    train, valid, test = parts
    judged = Measured.of(test, "map", "letor3")
    guess = judged.mean(np.random.default_rng(0).uniform(size=len(test)))
    for name in ("rankboost", "adarank"):
        ranker = tk.ranker(name, metric="map", convention="letor3").fit(train, valid)
        assert judged.mean(ranker.score(test)) > guess + 0.1


def test_job_without_anything_to_learn() -> None:
    data = some_data(1)
    flat = data.with_labels(np.ones(len(data)), data.truth)
    job = Job(flat, None, lambda d, s: 0.0)
    for name in ("rankboost", "adarank", "focusedboost"):
        model, traces = tk.RANKERS[name]().train(job)
        assert not np.any(model.ordering_scores(flat))
        assert traces[0].reason == "settled"
