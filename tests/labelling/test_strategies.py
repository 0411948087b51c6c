"""Known numbers of comparisons, plans of matches, the model of the prior, and mean judgments."""

from __future__ import annotations

from itertools import permutations
from math import asin, factorial, log2, pi
from random import Random
from statistics import fmean

import numpy as np
import pytest
from scipy.stats import kendalltau

from tests.support.labelling import by_rank, play
from topkit.labelling.bound import lower_bound
from topkit.labelling.simulate import PriorKind, Scenario, prior_ranking, simulate
from topkit.labelling.strategies.forest import MATCH, lightest_first
from topkit.labelling.strategies.merge_insertion import merge_insertion_most
from topkit.labelling.strategies.prior import CORRELATIONS, Newcomer, Trust, top_probabilities


def test_lower_bound_by_hand() -> None:
    assert lower_bound(4, 1) == 3.0
    assert lower_bound(4, 2) == pytest.approx(2 + log2(4))
    assert lower_bound(5, 5) == pytest.approx(log2(factorial(5)))
    assert lower_bound(3, 9) == lower_bound(3, 3)


@pytest.mark.parametrize(("n", "worst"), [(2, 1), (3, 3), (4, 5), (5, 7), (6, 10)])
def test_merge_insertion_worst_case_is_fords_and_johnsons(n: int, worst: int) -> None:
    needed = [len(play("merge-insertion", n, n, by_rank(rank)).asks) for rank in permutations(range(n))]
    assert max(needed) == worst == merge_insertion_most(n)


def test_merge_insertion_of_five_needs_what_no_method_can_better() -> None:
    # 120 leaves of depth 6 or 7 in a binary tree: 8 of depth 6 and 112 of depth 7 in the mean 104/15
    needed = [len(play("merge-insertion", 5, 5, by_rank(rank)).asks) for rank in permutations(range(5))]
    assert fmean(needed) == pytest.approx(104 / 15)


@pytest.mark.parametrize(("n", "k"), [(8, 1), (8, 3), (16, 2)])
def test_knockout_of_a_full_bracket_needs_exactly_its_bound(n: int, k: int) -> None:
    # every path has log2 n matches, and a replay leaves the lowest out; later replays may find empty sides
    chance = Random(1)
    for _ in range(50):
        rank = chance.sample(range(n), n)
        asked = len(play("knockout", n, k, by_rank(rank)).asks)
        assert asked <= n - 1 + (k - 1) * (int(log2(n)) - 1)
        if k <= 2:
            assert asked == n - 1 + (k - 1) * (int(log2(n)) - 1)


def test_heap_follows_the_paper_on_three_items() -> None:
    # k = 1: the heap is one item, every other is compared with the root: n − 1 questions
    record = play("heap", 3, 1, by_rank([2, 0, 1]))
    assert len(record.asks) == 2
    # k = n = 3: build (children, then the better child's rival), sort (one comparison of the last two)
    record = play("heap", 3, 3, by_rank([0, 1, 2]))
    assert record.top(3) == [0, 1, 2]
    assert len(record.asks) == 3


def test_a_tie_never_replaces_the_root() -> None:
    record = play("heap", 4, 1, lambda a, b: "tie", seed=3)
    first = record.asks[0].b
    assert record.top(1) == [first]
    assert all(ask.b == first for ask in record.asks)


def test_huffman_plan_is_the_textbook_tree() -> None:
    # weights 5, 9, 12, 13, 16, 45 give code lengths 4, 4, 3, 3, 3, 1 (Cormen et al., section 16.3)
    weights = [5.0, 9.0, 12.0, 13.0, 16.0, 45.0]
    depth = dict.fromkeys(range(6), 0)
    stack: list[set[int]] = []
    for step in lightest_first(list(range(6)), weights):
        if step == MATCH:
            both = stack.pop() | stack.pop()
            for item in both:
                depth[item] += 1
            stack.append(both)
        else:
            stack.append({step})
    assert list(depth.values()) == [4, 4, 3, 3, 3, 1]


def test_top_probabilities_against_draws() -> None:
    n, j, draws = 200, 10, 8_000
    rng = np.random.default_rng(3)
    index = 4
    rho = CORRELATIONS[index]
    x = np.sort(rng.normal(size=(draws, n)), 1)[:, ::-1]
    z = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=(draws, n))
    drawn = (np.argsort(np.argsort(-z, 1), 1) < j).mean(0)
    assert np.abs(top_probabilities(n, j)[:, index] - drawn).max() < 0.03


def test_trust_finds_the_correlation() -> None:
    rng = np.random.default_rng(8)
    n = 60
    chances = top_probabilities(n, 20)
    for index in (1, 6):
        trust = Trust()
        for _ in range(8):
            hit = rng.random(n) < chances[:, index]
            for place in range(n):
                trust.add(chances[place] if hit[place] else 1 - chances[place])
        assert int(np.argmax(trust.belief())) == index


def test_newcomer_chances_rise_down_the_list_and_mean_what_they_say() -> None:
    newcomer = Newcomer(30, Trust())
    newcomer.add(0, 10)
    chances = newcomer.chances(10, 10, 10)
    assert chances.shape == (10, len(CORRELATIONS))
    assert (np.diff(chances, axis=0) >= 0).all()
    # without correlation a newcomer beats position p of ten others with probability (p + 1)/11
    assert np.abs(chances[:, 0] - np.arange(1, 11) / 11).max() < 0.03


@pytest.mark.parametrize("kind", ["rank", "score"])
@pytest.mark.parametrize("tau", [0.2, 0.5, 0.8])
def test_priors_have_the_tau_they_promise(kind: PriorKind, tau: float) -> None:
    chance = Random(4)
    found = []
    for _ in range(150):
        rank = chance.sample(range(40), 40)
        order = prior_ranking(rank, tau, chance, kind)
        found.append(kendalltau(range(40), [rank[item] for item in order]).statistic)
    assert fmean(found) == pytest.approx(tau, abs=0.03)
    if kind == "score":
        assert 2 / pi * asin(0.5**0.5) == pytest.approx(0.5)  # ρ = 0.71 is τ = 0.5


def test_means_of_two_hundred_orders_are_near_the_benchmark() -> None:
    names = ("heap", "knockout", "adaptive", "insertion", "quicksort", "select-best")
    found = {o.setting.strategy: o for o in simulate([Scenario(name, 50, 10) for name in names], 200, seed=9)}
    assert 0.9 * 151 < found["heap"].judgments < 1.1 * 151
    assert found["heap"].different_pairs < found["heap"].judgments
    assert found["knockout"].judgments < 91.5
    assert found["adaptive"].judgments <= min(outcome.judgments for outcome in found.values())
    assert all(outcome.exact == 1.0 for outcome in found.values())
    primed = [Scenario("adaptive", 50, 10, 0.0, 0.5, "rank"), Scenario("adaptive", 50, 10, 0.0, 0.5, "score")]
    for outcome in simulate(primed, 200, seed=9):
        assert outcome.judgments < 84
        assert outcome.documents_read < found["adaptive"].documents_read
