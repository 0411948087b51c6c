"""Full orders whose gains 2^y − 1 exceed floating point: NDCG and weighted τ against exact integers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import topkit as tk
from topkit.metrics.compiled import Measured


def long_order(n: int, seed: int, swaps: int = 40) -> tuple[tk.Dataset, NDArray[np.float64]]:
    """An order of n documents beside a short one, and scores that confuse some of its top."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(n) + 1.0
    scores = labels + rng.normal(scale=swaps, size=n)
    data = tk.Dataset.build(
        np.zeros((n + 3, 1)), np.append(labels, [2, 3, 1]), ["long"] * n + ["short"] * 3, truth="order"
    )
    return data, np.append(scores, [0.3, 0.2, 0.1])


def exact_dcg(labels: list[int], depth: int) -> float:
    """DCG divided by 2^(largest label): gains as exact fractions, so nothing overflows."""
    top = 2 ** max(labels)
    return math.fsum(
        float(Fraction(2**y - 1, top)) / math.log2(1 + rank) for rank, y in enumerate(labels[:depth], 1)
    )


def exact_inversions(labels: list[int], scores: list[float], depth: int) -> float:
    """Σ_{j≤depth} α(j)·(later documents scored above the j-th), divided by 2^(largest label)."""
    order = sorted(range(len(labels)), key=lambda i: -labels[i])
    top = 2 ** max(labels)
    return math.fsum(
        float(Fraction(2 ** labels[i] - 1, top))
        / math.log2(2 + place)
        * sum(scores[j] > scores[i] for j in order[place + 1 :])
        for place, i in enumerate(order[:depth])
    )


@pytest.mark.parametrize("n", [900, 1001, 1500])
@pytest.mark.parametrize("depth", [1, 10, 50])
def test_against_exact_integers(n: int, depth: int) -> None:
    data, scores = long_order(n, n + depth)
    labels, by_score = data.y[:n].astype(int).tolist(), np.argsort(-scores[:n], kind="stable")
    ideal = exact_dcg(sorted(labels, reverse=True), depth)
    ndcg = exact_dcg([labels[i] for i in by_score[:depth]] + [n], depth) / ideal
    wkt = exact_inversions(labels, scores[:n].tolist(), depth)
    e = tk.evaluate(data, scores, [f"ndcg@{depth}", f"nwkt@{depth}", f"wkt@{depth}"])
    assert e.per_query[f"ndcg@{depth}"][0] == pytest.approx(ndcg, rel=1e-12)
    assert e.per_query[f"nwkt@{depth}"][0] == pytest.approx(wkt / ideal, rel=1e-12)
    scale = 1.0 if n > 1000 else 2.0**n
    assert e.per_query[f"wkt@{depth}"][0] == pytest.approx(wkt * scale, rel=1e-12)
    assert 1 - ndcg <= e.per_query[f"nwkt@{depth}"][0] + 1e-12  # theorem 1
    # the short list: labels 2, 3, 1 in the order of the scores, so one inversion of gain 7 at place 1
    assert e.per_query[f"wkt@{depth}"][1] == 7.0
    compiled = Measured.of(data, f"ndcg@{depth}", "yahoo")
    assert compiled.fast is not None
    np.testing.assert_allclose(compiled.values(scores), e.per_query[f"ndcg@{depth}"], atol=1e-12)


def test_normalised_inversions_written_out() -> None:
    """Labels 2, 1, 3: (7·1·1 + 3/log2 3·0)/(7 + 3/log2 3 + 1/2) with one document above the best."""
    data = tk.Dataset.build(np.zeros((3, 1)), [3, 2, 1], ["q"] * 3, truth="order")
    expected = 7 / (7 + 3 / math.log2(3) + 0.5)
    assert tk.evaluate(data, [0.2, 0.3, 0.1], "nwkt").mean["nwkt"] == pytest.approx(expected)
    assert tk.evaluate(data, [0.3, 0.2, 0.1], "nwkt").mean["nwkt"] == 0.0


def test_dcg_itself_still_says_why_not() -> None:
    data, scores = long_order(1200, 0)
    with pytest.raises(tk.InputError, match="exceeds floating point"):
        tk.evaluate(data, scores, "dcg@10")
    assert tk.evaluate(data, scores, "dcg@10", convention="trec").mean["dcg@10"] > 0


@pytest.mark.parametrize("name", ["err", "err_tm", "kerr"])
def test_err_of_long_orders_says_why_not(name: str) -> None:
    """The probability of a stop is (2^y − 1)/2^top, so there is no scale that would help."""
    data, scores = long_order(1200, 0)
    truth = data.top_k(1100) if name == "kerr" else data
    with pytest.raises(tk.InputError, match="exceeds floating point"):
        tk.evaluate(truth, scores, name)
    assert 0 < tk.evaluate(data.top_k(10), scores, "kerr").mean["kerr"] <= 1
