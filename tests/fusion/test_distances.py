"""Distances: written-out cases, definitions counted pair by pair, and the adjacent swaps they stand for."""

from __future__ import annotations

from collections import deque
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkit.fusion import kendall_distance, spearman_distance, top_k_distance

ITEMS = "abcdefgh"


def pairs_ranked_differently(first: list[str], second: list[str]) -> int:
    return sum(
        (first.index(a) < first.index(b)) != (second.index(a) < second.index(b))
        for i, a in enumerate(first)
        for b in first[:i]
    )


def by_definition(first: list[str], second: list[str]) -> int:
    """Σ V + Σ U + r·s − m(m−1)/2, each counted as it is defined."""
    common = [item for item in first if item in second]
    only_second = [item for item in second if item not in first]
    only_first = [item for item in first if item not in second]
    v = 0
    for i, item in enumerate(common):
        lower = common[i + 1 :] + only_second  # what the first list has below it
        v += sum(second.index(other) < second.index(item) for other in lower)
    u = sum(sum(other in common for other in first[first.index(item) :]) for item in only_first)
    m = min(len(only_first), len(only_second))
    return v + u + len(only_first) * len(only_second) - m * (m - 1) // 2


def swaps_between(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    """The fewest adjacent swaps from one top-k list to another that never drop an item which both have.

    The last place borders on all items that are not in the list. (With common items dropped and fetched back
    there can be fewer: abc → abd → adb → dab → dae → dea → dec.)
    """
    everything, common = set(first) | set(second), set(first) & set(second)
    seen = {first: 0}
    queue = deque([first])
    while queue:
        state = queue.popleft()
        if state == second:
            return seen[state]
        after = [(*state[:i], state[i + 1], state[i], *state[i + 2 :]) for i in range(len(state) - 1)]
        if state[-1] not in common:
            after += [(*state[:-1], item) for item in everything - set(state)]
        for one in after:
            if one not in seen:
                seen[one] = seen[state] + 1
                queue.append(one)
    raise AssertionError("unreachable")


def test_kendall_by_hand() -> None:
    assert kendall_distance("abcd", "abcd") == 0
    assert kendall_distance("abcd", "dcba") == 6
    assert kendall_distance([3, 1, 2], [1, 2, 3]) == 2  # 3 passes 1 and 2
    assert kendall_distance("a", "a") == 0
    assert kendall_distance("", "") == 0


@given(st.permutations(ITEMS), st.permutations(ITEMS))
def test_kendall_counts_pairs(first: list[str], second: list[str]) -> None:
    assert kendall_distance(first, second) == pairs_ranked_differently(first, second)


def test_kendall_of_a_long_order_agrees_with_scipy() -> None:
    import numpy as np
    from scipy.stats import kendalltau

    rng = np.random.default_rng(5)
    n = 2000
    first, second = rng.permutation(n), rng.permutation(n)
    tau = kendalltau(np.argsort(first), np.argsort(second)).statistic
    assert kendall_distance(first.tolist(), second.tolist()) == round((1 - tau) * n * (n - 1) / 4)


@pytest.mark.parametrize(("first", "second"), [("abc", "abd"), ("abc", "ab"), ("aab", "abb")])
def test_kendall_needs_the_same_items(first: str, second: str) -> None:
    with pytest.raises(ValueError, match=r"items|twice"):
        kendall_distance(first, second)


lists = st.integers(0, 8).flatmap(lambda k: st.permutations(ITEMS).map(lambda order: order[:k]))


@given(lists, lists)
def test_top_k_distance_follows_its_definition_and_is_symmetric(first: list[str], second: list[str]) -> None:
    found = top_k_distance(first, second)
    assert found == by_definition(first, second)
    assert found == top_k_distance(second, first)
    assert found >= 0


@given(st.permutations(ITEMS), st.permutations(ITEMS))
def test_top_k_distance_of_complete_orders_is_kendalls(first: list[str], second: list[str]) -> None:
    assert top_k_distance(first, second) == kendall_distance(first, second)


def test_top_k_distance_is_the_fewest_adjacent_swaps() -> None:
    for k in (1, 2, 3):
        first = tuple(ITEMS[:k])
        for second in permutations(ITEMS[: k + 2], k):
            assert top_k_distance(first, second) == swaps_between(first, second), second


def test_disjoint_lists_are_k_k_plus_1_over_2_apart() -> None:
    assert top_k_distance("abcd", "efgh") == 4 * 5 // 2


@given(st.permutations("abcdef"), st.integers(1, 5))
def test_a_list_is_as_far_from_an_order_as_its_nearest_completion(order: list[str], k: int) -> None:
    short = list("fdbeca")[:k]
    rest = [item for item in "abcdef" if item not in short]
    nearest = min(kendall_distance(order, [*short, *tail]) for tail in permutations(rest))
    assert top_k_distance(order, short) == nearest


def test_spearman_by_hand() -> None:
    assert spearman_distance("abc", "bca") == 4 + 1 + 1
    assert spearman_distance("abcd", "xa") == 1 + 1 + 0 + 1 + 16  # x stands at 5, b c d at 3
    with pytest.raises(ValueError, match="twice"):
        spearman_distance("aa", "ab")
