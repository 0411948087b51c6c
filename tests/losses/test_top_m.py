"""ListNet with top-m probabilities against the sum over all groups; the ε of the top-k losses."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topkit as tk
from topkit.compute import Floats


def chance(s: Floats, group: tuple[int, ...]) -> float:
    """Π_t e^(s_g_t) / Σ over documents not yet chosen, written out."""
    left = set(range(len(s)))
    product = 1.0
    for document in group:
        product *= math.exp(s[document]) / sum(math.exp(s[i]) for i in left)
        left.remove(document)
    return product


def cross_entropy(s: Floats, y: Floats, m: int) -> float:
    return -sum(chance(y, group) * math.log(chance(s, group)) for group in permutations(range(len(s)), m))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 6), m=st.integers(1, 3), spread=st.sampled_from([0.3, 3.0])
)
def test_is_the_sum_over_all_groups(seed: int, n: int, m: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    s, y = spread * rng.normal(size=n), rng.integers(0, 4, n).astype(float)
    value = tk.loss("listnet", m=m)(s, y, [0, n])[0]
    assert value == pytest.approx(cross_entropy(s, y, min(m, n)), rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_least_at_the_labels(m: int) -> None:
    """A cross entropy is smallest where the two distributions are equal."""
    y = np.array([2.0, 0.0, 1.0, 3.0, 1.0])
    value, gradient = tk.loss("listnet", m=m)(y, y, [0, 5])
    assert gradient == pytest.approx(np.zeros(5), abs=1e-12)
    assert tk.loss("listnet", m=m)(y + np.array([0.1, 0, 0, -0.1, 0]), y, [0, 5])[0] > value


def test_two_places_written_out() -> None:
    """n = 2: the second place is certain, so m = 2 and 3 are m = 1."""
    values = [tk.loss("listnet", m=m)([0.5, 0.0], [1, 0], [0, 2])[0] for m in (1, 2, 3)]
    p, q = math.e / (1 + math.e), 1 / (1 + math.e)
    assert values == pytest.approx([p * math.log1p(math.exp(-0.5)) + q * math.log1p(math.exp(0.5))] * 3)


@pytest.mark.parametrize("m", [2, 3])
def test_dominant_scores_keep_their_digits(m: int) -> None:
    """Sums without the largest scores are not computed by subtraction: compared with Python's exact sums."""
    s, y = np.array([90.0, 45.0, 0.5, 0.0, -0.5]), np.array([0.0, 1.0, 2.0, 0.0, 1.0])
    value, gradient = tk.loss("listnet", m=m)(s, y, [0, 5])
    assert value == pytest.approx(cross_entropy(s, y, m), rel=1e-12)
    expected = np.zeros(5)
    for group in permutations(range(5), m):
        left = set(range(5))
        for document in group:
            total = math.fsum(math.exp(s[i] - max(s[j] for j in left)) for i in left)
            for i in left:
                expected[i] += chance(y, group) * math.exp(s[i] - max(s[j] for j in left)) / total
            expected[document] -= chance(y, group)
            left.remove(document)
    assert gradient == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["listnet", "focusednet"])
def test_rankers_take_m(name: str) -> None:
    from topkit.rankers.checks import easy_data

    train, test = easy_data(20), easy_data(10, seed=1)
    scores = [tk.ranker(name, m=m, l2=0.01).fit(train).score(test) for m in (1, 2, 3)]
    assert not np.array_equal(scores[0], scores[1])
    for values in scores:
        assert tk.evaluate(test, values, "ndcg@5").mean["ndcg@5"] > 0.8
    with pytest.raises(tk.InputError, match="m must be"):
        tk.ranker(name, m=4)


@pytest.mark.parametrize("name", ["topk-listnet", "topk-rankcosine"])
def test_epsilon_must_not_exceed_the_labels_of_the_top(name: str) -> None:
    for labels, epsilon in (([3, 2, 1, 0], 2.5), ([3, 1, 1, 0], 2.0), ([1, 0, 0], 5.0)):
        with pytest.raises(tk.InputError, match="epsilon must be at most the labels of the top k"):
            tk.loss(name, k=2, epsilon=epsilon)(np.zeros(len(labels)), labels, [0, len(labels)])
    for labels, epsilon in (([3, 2, 1, 0], 2.0), ([2, 1], 9.0), ([0, 0, 0], 0.5), ([1, 0, 0], 0.5)):
        tk.loss(name, k=2, epsilon=epsilon)(np.zeros(len(labels)), labels, [0, len(labels)])
