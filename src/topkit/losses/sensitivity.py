"""Definitions 2 and 3 and Propositions 4, 5, 8 and 9 on the consistency of top-k losses, for few objects.

Notation of the paper: y is an order of the n objects, G_k(y) the set of orders with the same first k objects
(its top-k subgroup), σ_ij y the order with i and j exchanged, g the scores. All functions enumerate orders,
so they are for small n. Xia, Liu & Li, NIPS 2009.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import ArrayLike

from topkit.compute import Floats
from topkit.data import InputError
from topkit.losses.base import Loss

Order = tuple[int, ...]
"""Objects from the best to the worst."""
Chances = Mapping[Order, float]
"""Order → its probability; orders that are left out have probability 0."""

ROUNDING = 1e-9
"""Differences up to this size count as equal."""
MOST_OBJECTS = 8
"""Objects whose orders can be enumerated: 8! = 40,320."""


def subgroup_chances(chances: Chances, k: int) -> dict[Order, float]:
    """First k objects → the probability of their top-k subgroup (Definition 1).

    >>> subgroup_chances({(0, 1, 2): 0.5, (0, 2, 1): 0.25, (1, 0, 2): 0.25}, 1)
    {(0,): 0.75, (1,): 0.25}
    """
    total: dict[Order, float] = {}
    for order, chance in chances.items():
        total[order[:k]] = total.get(order[:k], 0.0) + chance
    return total


def exchanged(order: Order, i: int, j: int) -> Order:
    """The order with the objects i and j exchanged: σ_ij y.

    >>> exchanged((2, 0, 1), 0, 1)
    (2, 1, 0)
    """
    return tuple(j if item == i else i if item == j else item for item in order)


def preserves_order(chances: Chances, k: int, i: int, j: int) -> bool:
    """Definition 2: whether the top-k subgroup probabilities are order preserving with respect to i and j.

    Every order with i before j whose subgroup changes when i and j are exchanged must be in a subgroup that
    is more probable than the one after the exchange.

    >>> chances = {(0, 1, 2): 0.4, (1, 0, 2): 0.3, (2, 1, 0): 0.3}  # Proposition 10
    >>> preserves_order(chances, 1, 0, 1), preserves_order(chances, 3, 0, 1)
    (True, False)
    """
    objects = len(_checked(chances))
    total = subgroup_chances(chances, k)
    for first in permutations(range(objects), min(k, objects)):
        after_j = i in first and (j not in first or first.index(i) < first.index(j))
        if after_j and not total.get(first, 0.0) > total.get(exchanged(first, i, j), 0.0):
            return False
    return True


def meets_theorem_6(chances: Chances, k: int, order: Order) -> bool:
    """Whether Theorem 6 applies: the probabilities preserve each pair of neighbours j_1 … j_(k+1), and each
    later object of the order is below one of j_k, j_(k+1), … before it."""
    if not all(preserves_order(chances, k, order[t], order[t + 1]) for t in range(min(k, len(order) - 1))):
        return False
    return all(
        any(preserves_order(chances, k, order[s], order[t]) for s in range(k - 1, t))
        for t in range(k + 1, len(order))
    )


@dataclass(frozen=True)
class Sensitivity:
    """The three conditions of Definition 3 at one vector of scores."""

    symmetric: bool
    """(1) Exchanging two objects in the truth and their scores does not change the loss."""
    ordered: bool
    """(2) If g_i < g_j and y has i before j, the loss of y is at least that of σ_ij y, and equal to it if
    both are in one subgroup."""
    strict: bool
    """(2) For each such i and j some order has the strict inequality."""
    steeper: bool
    """(3) If g_i = g_j, some y with i before j has ∂φ(g, σ_ij y)/∂g_i > ∂φ(g, y)/∂g_i."""

    def __bool__(self) -> bool:
        return self.symmetric and self.ordered and self.strict and self.steeper


def order_sensitivity(loss: Loss, scores: ArrayLike, k: int) -> Sensitivity:
    """Definition 3: whether a loss is top-k subgroup order sensitive at these scores.

    A loss is order sensitive on a set if it is at every vector of the set.

    >>> from topkit.losses import loss
    >>> bool(order_sensitivity(loss("topk-listmle", k=1), [0.3, 0.1, 0.1], 1))
    True
    >>> order_sensitivity(loss("listmle"), [0.3, 0.1, 0.1], 1).ordered
    False
    """
    g = _scores(scores)
    value, slope = losses_of_orders(loss, g)
    symmetric = all(v > -ROUNDING for v in value.values())
    ordered = strict = steeper = True
    for i, j in combinations(range(len(g)), 2):
        swapped = g.copy()
        swapped[[i, j]] = g[[j, i]]
        value_after, _ = losses_of_orders(loss, swapped)
        symmetric &= all(
            abs(value[order] - value_after[exchanged(order, i, j)]) <= ROUNDING for order in value
        )
        if g[i] == g[j]:
            steeper &= any(
                slope[other][i] > slope[order][i] + ROUNDING for order, other in _changing(g, k, i, j)
            )
            continue
        low, high = (i, j) if g[i] < g[j] else (j, i)
        gaps = [value[order] - value[other] for order, other in _changing(g, k, low, high)]
        kept = [value[order] - value[other] for order, other in _unchanged(g, k, low, high)]
        ordered &= all(gap >= -ROUNDING for gap in gaps) and all(abs(gap) <= ROUNDING for gap in kept)
        strict &= any(gap > ROUNDING for gap in gaps)
    return Sensitivity(symmetric, ordered, strict, steeper)


def proposition_4(loss: Loss, scores: ArrayLike, k: int) -> bool:
    """Whether all orders in one top-k subgroup have the same loss at these scores.

    It follows for every top-k subgroup order sensitive loss.
    """
    value, _ = losses_of_orders(loss, _scores(scores))
    in_subgroup: dict[Order, list[float]] = {}
    for order, loss_of_order in value.items():
        in_subgroup.setdefault(order[:k], []).append(loss_of_order)
    return all(max(values) - min(values) <= ROUNDING for values in in_subgroup.values())


def proposition_5(loss: Loss, scores: ArrayLike, k: int) -> bool:
    """Whether ∂φ(g, σ_ij y)/∂g_i ≥ ∂φ(g, y)/∂g_i for all i, j with g_i = g_j and y with i before j.

    Both are equal if y and σ_ij y are in one subgroup. It follows for every top-k subgroup order sensitive
    loss.
    """
    g = _scores(scores)
    _, slope = losses_of_orders(loss, g)
    equal = [(i, j) for i, j in permutations(range(len(g)), 2) if g[i] == g[j]]
    return all(
        slope[other][i] >= slope[order][i] - ROUNDING
        for i, j in equal
        for order, other in _changing(g, k, i, j)
    ) and all(
        abs(slope[other][i] - slope[order][i]) <= ROUNDING
        for i, j in equal
        for order, other in _unchanged(g, k, i, j)
    )


def proposition_8(chances: Chances, k: int, i: int, j: int) -> bool:
    """Whether top-k order preserving implies top-(k−1) order preserving here; k is at least 2."""
    return not preserves_order(chances, k, i, j) or preserves_order(chances, k - 1, i, j)


def proposition_9(loss: Loss, scores: ArrayLike, k: int) -> bool:
    """Whether top-k order sensitive implies top-(k+1) order sensitive at these scores."""
    return not order_sensitivity(loss, scores, k) or bool(order_sensitivity(loss, scores, k + 1))


def losses_of_orders(loss: Loss, scores: Floats) -> tuple[dict[Order, float], dict[Order, Floats]]:
    """Order of the objects → the loss of the scores, and its gradient, with that order as truth."""
    n = len(scores)
    orders = list(permutations(range(n)))
    labels = np.empty((len(orders), n))
    for row, order in enumerate(orders):
        labels[row, list(order)] = np.arange(n, 0, -1)
    objective = loss.on(labels.ravel(), np.arange(0, labels.size + 1, n))
    tiled = np.tile(scores, len(orders))
    gradient = objective(tiled)[1].reshape(-1, n)
    values = objective.per_query(tiled).tolist()
    return dict(zip(orders, values, strict=True)), dict(zip(orders, gradient, strict=True))


def _changing(g: Floats, k: int, i: int, j: int) -> Iterator[tuple[Order, Order]]:
    """(y, σ_ij y) for the orders with i before j that are in another subgroup after the exchange."""
    yield from _pairs(g, i, j, lambda order, other: order[:k] != other[:k])


def _unchanged(g: Floats, k: int, i: int, j: int) -> Iterator[tuple[Order, Order]]:
    """(y, σ_ij y) for the orders with i before j that stay in their subgroup."""
    yield from _pairs(g, i, j, lambda order, other: order[:k] == other[:k])


def _pairs(g: Floats, i: int, j: int, kept: Callable[[Order, Order], bool]) -> Iterator[tuple[Order, Order]]:
    for order in permutations(range(len(g))):
        if order.index(i) < order.index(j):
            other = exchanged(order, i, j)
            if kept(order, other):
                yield order, other


def _scores(scores: ArrayLike) -> Floats:
    g = np.asarray(scores, np.float64)
    if g.ndim != 1 or not 2 <= len(g) <= MOST_OBJECTS:
        raise InputError(f"expected scores of 2 to {MOST_OBJECTS} objects, got an array of shape {g.shape}")
    return g


def _checked(chances: Chances) -> Order:
    """One of the orders; InputError unless all are orders of the same few objects."""
    orders = list(chances)
    objects = len(orders[0]) if orders else 0
    if not 1 <= objects <= MOST_OBJECTS or any(sorted(order) != list(range(objects)) for order in orders):
        raise InputError(
            f"expected probabilities of orders of the objects 0, 1, …, at most {MOST_OBJECTS} of them"
        )
    return orders[0]
