"""Definitions 2 and 3 and Propositions 4, 5, 8, 9 of the consistency of top-k losses, by brute force."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topkit as tk
from topkit.losses.consistency import mallows, proposition_10
from topkit.losses.sensitivity import (
    exchanged,
    order_sensitivity,
    preserves_order,
    proposition_4,
    proposition_5,
    proposition_8,
    proposition_9,
    subgroup_chances,
)

TOP_K = ("topk-listmle", "topk-listnet", "topk-rankcosine")
WHOLE = ("listmle", "listnet", "rankcosine")


def random_chances(seed: int, n: int) -> dict[tuple[int, ...], float]:
    """Some orders with probability 0, the others at random."""
    rng = np.random.default_rng(seed)
    orders = list(permutations(range(n)))
    weights = rng.random(len(orders)) * (rng.random(len(orders)) < 0.8) + 1e-12
    return dict(zip(orders, (weights / weights.sum()).tolist(), strict=True))


def tilted_chances(seed: int, n: int) -> dict[tuple[int, ...], float]:
    """Near a Mallows model, so that some pairs are preserved and others are not."""
    noise = random_chances(seed, n)
    return {order: p * (0.3 + noise[order] * len(noise)) for order, p in mallows(n, 1.0).items()}


def preserved_by_definition(chances: dict[tuple[int, ...], float], k: int, i: int, j: int) -> bool:
    """Definition 2 as it is printed: over all orders with i before j."""

    def subgroup(order: tuple[int, ...]) -> float:
        return sum(p for other, p in chances.items() if other[:k] == order[:k])

    n = len(next(iter(chances)))
    for order in permutations(range(n)):
        other = exchanged(order, i, j)
        if order.index(i) < order.index(j) and order[:k] != other[:k] and subgroup(order) <= subgroup(other):
            return False
    return True


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 4), k=st.integers(1, 4), tilted=st.booleans())
def test_definition_2(seed: int, n: int, k: int, tilted: bool) -> None:
    chances = tilted_chances(seed, n) if tilted else random_chances(seed, n)
    for i, j in permutations(range(n), 2):
        assert preserves_order(chances, k, i, j) == preserved_by_definition(chances, k, i, j)


def test_definition_2_written_out() -> None:
    """The paper's example: top-2 needs p(1,2) > p(2,1), p(1,3) > p(2,3) and p(3,1) > p(3,2)."""
    chances: dict[tuple[int, ...], float] = {
        (0, 1, 2): 0.3,
        (0, 2, 1): 0.2,
        (1, 0, 2): 0.2,
        (1, 2, 0): 0.1,
        (2, 0, 1): 0.15,
        (2, 1, 0): 0.05,
    }
    assert preserves_order(chances, 2, 0, 1)
    assert preserves_order(chances, 1, 0, 1)  # 0.5 > 0.3
    assert subgroup_chances(chances, 1) == pytest.approx({(0,): 0.5, (1,): 0.3, (2,): 0.2})
    chances[2, 0, 1], chances[2, 1, 0] = 0.05, 0.15  # now p(3,1) < p(3,2)
    assert not preserves_order(chances, 2, 0, 1)
    assert preserves_order(chances, 1, 0, 1)  # so the converse of Proposition 8 does not hold
    assert preserves_order(proposition_10(0.4), 1, 0, 2)
    assert not preserves_order(proposition_10(0.4), 2, 0, 1)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 4), tilted=st.booleans())
def test_proposition_8(seed: int, n: int, tilted: bool) -> None:
    chances = tilted_chances(seed, n) if tilted else random_chances(seed, n)
    for i, j in permutations(range(n), 2):
        assert all(proposition_8(chances, k, i, j) for k in range(2, n + 1))


def scores_with_ties(seed: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-2, 3, n) / 4 + 0.1  # RankCosine is not defined at 0


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 4), k=st.integers(1, 3))
@pytest.mark.parametrize("name", TOP_K)
def test_top_k_losses_are_order_sensitive(name: str, seed: int, n: int, k: int) -> None:
    """Section 4.3 of the paper; then Propositions 4, 5 and 9 follow."""
    g = scores_with_ties(seed, n)
    loss = tk.loss(name, k=k)
    assert order_sensitivity(loss, g, k)
    assert proposition_4(loss, g, k)
    assert proposition_5(loss, g, k)
    assert proposition_9(loss, g, k)
    assert all(order_sensitivity(loss, g, larger) for larger in range(k, n + 1))


@pytest.mark.parametrize("name", WHOLE)
def test_losses_on_whole_orders_are_sensitive_to_whole_orders_only(name: str) -> None:
    g = np.array([0.4, 0.1, 0.1, -0.2])
    loss = tk.loss(name)
    assert order_sensitivity(loss, g, 4)
    assert order_sensitivity(loss, g, 3)  # the last place follows from the first three
    for k in (1, 2):
        found = order_sensitivity(loss, g, k)
        assert (found.symmetric, found.ordered) == (True, False)
        assert not proposition_4(loss, g, k)
        assert not proposition_5(loss, g, k)


@pytest.mark.parametrize("m", [2, 3])
def test_top_m_probabilities_are_not_enough(m: int) -> None:
    """Footnote 4: the cross entropy of top-m probabilities is sensitive to whole orders, not to the top m."""
    g = np.array([0.4, 0.1, 0.1, -0.2, 0.3])
    assert order_sensitivity(tk.loss("listnet", m=m), g, 5)
    assert not order_sensitivity(tk.loss("listnet", m=m), g, m)


def test_a_loss_that_is_not_sensitive_is_found() -> None:
    """A loss of the first two places tells orders with the same first place apart."""
    loss = tk.loss("topk-listmle", k=2)
    assert not order_sensitivity(loss, [0.3, 0.2, 0.1, 0.0], 1)
    assert order_sensitivity(loss, [0.3, 0.2, 0.1, 0.0], 2)


def test_few_objects_only() -> None:
    with pytest.raises(tk.InputError, match="2 to 8 objects"):
        order_sensitivity(tk.loss("listmle"), np.zeros(9), 1)
    with pytest.raises(tk.InputError, match="orders of the objects"):
        preserves_order({(0, 2): 1.0}, 1, 0, 1)


def test_the_block_in_the_guide_runs() -> None:
    guide = (Path(__file__).resolve().parents[2] / "docs" / "losses.md").read_text()
    (block,) = [
        text for text in re.findall(r"^```python\n(.*?)^```", guide, re.M | re.S) if "chances" in text
    ]
    lines = block.splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(line for line in lines if " # " not in line), names)  # noqa: S102
    values = [eval(line.split("  # ")[0], names) for line in lines if " # " in line]  # noqa: S307
    assert values == [(True, False), False, True]
