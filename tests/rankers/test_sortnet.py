"""SortNet: exact symmetry, slopes against differences, merge sort, and a problem no linear ranker solves."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import topkit as tk
from topkit.data import InputError
from topkit.rankers.checks import quality
from topkit.rankers.sortnet import Comparator, SortNet
from topkit.rankers.sortnet.comparator import Pairs
from topkit.rankers.sortnet.method import _Side
from topkit.rankers.sortnet.sorting import cyclic_share, merge_sort


def random_comparator(features: int, hidden: int, seed: int) -> Comparator:
    rng = np.random.default_rng(seed)
    start = Comparator.random(features, hidden, seed)
    return start.with_vector(rng.normal(scale=3.0, size=len(start.vector())))


@given(st.integers(1, 12), st.integers(1, 9), st.integers(0, 10**6))
def test_swapping_documents_swaps_outputs_to_the_last_bit(features: int, hidden: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, features)) * 10.0 ** rng.integers(-3, 4, features)
    first, second = rng.integers(0, 20, 40), rng.integers(0, 20, 40)
    network = random_comparator(features, hidden, seed)
    forward, backward = network.outputs(X, first, second), network.outputs(X, second, first)
    assert (forward[:, 0] == backward[:, 1]).all()
    assert (forward[:, 1] == backward[:, 0]).all()
    differences = network.compare(X)
    assert (differences(first, second) == -differences(second, first)).all()


def test_outputs_by_the_formula() -> None:
    rng = np.random.default_rng(0)
    network = random_comparator(3, 2, 1)
    x, y = rng.normal(size=(2, 3))

    def squash(t: float) -> float:
        return float(t / np.sqrt(1 + t * t))

    h = [squash(network.v[i] @ x + network.v_dual[i] @ y + network.b[i]) for i in range(2)]
    dual = [squash(network.v_dual[i] @ x + network.v[i] @ y + network.b[i]) for i in range(2)]
    above = sum(network.w[i] * h[i] + network.w_dual[i] * dual[i] for i in range(2)) + network.bias
    below = sum(network.w_dual[i] * h[i] + network.w[i] * dual[i] for i in range(2)) + network.bias
    expected = [1 / (1 + np.exp(-above)), 1 / (1 + np.exp(-below))]
    assert network.outputs(np.array([x, y]), np.array([0]), np.array([1]))[0] == pytest.approx(expected)


def test_the_slope_of_the_error_against_differences() -> None:
    rng = np.random.default_rng(2)
    X, ptr = rng.normal(size=(9, 4)), np.array([0, 4, 9])
    pairs = Pairs(
        np.array([0, 0, 2, 5]), np.array([1, 3, 1, 8]), np.array([1.0, 2.0, 0.5, 1.0]), np.array([0, 3, 4])
    )
    network = Comparator.random(4, 3, 0)
    vector = network.vector() + rng.normal(scale=0.1, size=len(network.vector()))
    value, slope = network.with_vector(vector).error(X, ptr, pairs)
    outputs = network.with_vector(vector).outputs(X, pairs.better, pairs.worse)
    assert value == pytest.approx(float(pairs.weight @ ((1 - outputs[:, 0]) ** 2 + outputs[:, 1] ** 2)))
    for i in range(len(vector)):
        step = np.zeros(len(vector))
        step[i] = 1e-6
        up, down = (network.with_vector(vector + s).error(X, ptr, pairs)[0] for s in (step, -step))
        assert slope[i] == pytest.approx((up - down) / 2e-6, abs=1e-8)


@given(st.lists(st.integers(1, 33), min_size=1, max_size=6), st.integers(0, 1000))
def test_merge_sort_sorts_every_query_stably(lengths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    values = rng.integers(0, 6, int(ptr[-1])).astype(float)
    asked: list[int] = []

    def compare(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        asked.append(len(a))
        differences: NDArray[np.float64] = values[a] - values[b]
        return differences

    order, winners, losers = merge_sort(compare, ptr, np.arange(len(values)))
    for start, stop in pairwise(ptr):
        assert order[start:stop].tolist() == sorted(range(start, stop), key=lambda row: (-values[row], row))
    assert (values[winners] >= values[losers]).all()
    assert sum(asked) == len(winners) <= sum(n * int(np.ceil(np.log2(n))) for n in lengths if n > 1)
    # batches: as many calls as the longest query needs, however many queries there are
    longest = max(lengths)
    assert len(asked) <= sum(min(2 * width, longest) for width in (1, 2, 4, 8, 16, 32) if width < longest)


def test_circles_are_counted() -> None:
    def rock_paper_scissors(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.where((a - b) % 3 == 0, 0.0, np.where((a - b) % 3 == 1, 1.0, -1.0))

    assert cyclic_share(rock_paper_scissors, np.array([0, 3]), 200, 0) == 1.0
    # of five documents 0…4 taken modulo 3, triples of three different remainders: 2·2·1 of 10
    assert cyclic_share(rock_paper_scissors, np.array([0, 5]), 20_000, 0) == pytest.approx(0.4, abs=0.02)
    assert cyclic_share(lambda a, b: (a - b).astype(float), np.array([0, 2, 9]), 500, 0) == 0.0
    assert cyclic_share(rock_paper_scissors, np.array([0, 2]), 10, 0) == 0.0


def interaction(queries: int, seed: int) -> tk.Dataset:
    """Relevance is the product of two features, of which no weighted sum tells anything."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(queries * 12, 3)).astype(np.float32)
    y = np.digitize(X[:, 0] * X[:, 1], [-0.05, 0.1, 0.3])
    return tk.Dataset.build(X, y, np.repeat(np.arange(queries), 12))


def test_it_solves_what_no_linear_ranker_can() -> None:
    train, valid, test = interaction(60, 0), interaction(30, 1), interaction(60, 2)
    fitted = tk.ranker("sortnet", hidden=10, l2=1e-4, rounds=10).fit(train, valid)
    reached = quality(fitted, test)
    linear = {
        name: quality(tk.ranker(name, **settings).fit(train, valid), test)
        for name, settings in {
            "ranksvm": {}, "svmmap": {}, "bestfeature": {}, "perceptron": {}, "sigmoid": {},
            "coordinate-ascent": {"restarts": 2}, "listnet": {}, "ranknet": {}, "listmle": {},
            "linear-regression": {}, "rankcosine": {},
        }.items()
    }  # fmt: skip
    assert reached > 0.9
    assert reached > max(linear.values()) + 0.15, linear


def test_restart_trains_a_new_network_in_each_round() -> None:
    data = interaction(20, 3)
    fitted = tk.ranker("sortnet", hidden=4, rounds=1, restart=True, seed=5).fit(data)
    assert isinstance(fitted.model, Comparator)
    assert fitted.preparation is not None
    prepared = fitted.preparation(data)
    side = _Side.of(prepared, np.ones(prepared.n_queries))
    side.add(side.sort(Comparator.random(3, 4, 5))[1])
    expected = SortNet(hidden=4)._trained(Comparator.random(3, 4, 6), side, None)
    np.testing.assert_array_equal(fitted.model.vector(), expected.vector())
    train, valid, test = interaction(60, 0), interaction(30, 1), interaction(60, 2)
    anew = tk.ranker("sortnet", hidden=10, l2=1e-4, rounds=10, restart=True).fit(train, valid)
    assert quality(anew, test) > 0.9


def test_order_without_score_and_the_share_of_circles(tmp_path: object) -> None:
    data = interaction(10, 3)
    fitted = tk.ranker("sortnet", hidden=4, rounds=3).fit(data)
    with pytest.raises(InputError, match="without scoring them"):
        fitted.score(data)
    assert isinstance(fitted.model, Comparator)
    assert 0 <= fitted.model.cyclic < 0.1
    assert "cycle" in fitted.model.remark
    assert fitted.traces[0].values


def test_wrong_parts_are_refused() -> None:
    parts = Comparator.random(3, 2, 0).parts()
    for name in ("v", "w", "b"):
        arrays = {**parts.arrays, name: parts.arrays[name][:1]}
        with pytest.raises(ValueError, match="hidden neuron"):
            Comparator.of_parts(type(parts)(parts.values, arrays))
