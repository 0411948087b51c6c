"""Theory of top-k losses, computed: bounds on 1 − NDCG@k, and whether a loss finds the top-k Bayes ranker.

Lan et al., CIKM 2013 (bounds); Xia et al., NIPS 2009 (consistency).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from topkit.compute import Floats
from topkit.data import InputError
from topkit.losses import Loss, loss
from topkit.losses.sensitivity import Order, subgroup_chances
from topkit.metrics.conventions import discounts

WHOLE_LIST_LOSSES = ("listmle", "listnet", "rankcosine", "logistic")
"""Losses on whole orders, which Proposition 10 is about."""

LARGEST_K = 5
"""The largest k of the table: all orders of k + 2 objects are listed."""

RIDGE = 1e-10
"""Penalty that keeps scores finite if the loss would push them apart without end; too small to matter."""


@dataclass(frozen=True)
class Bounds:
    """1 − NDCG@k of one list and its upper bounds, each divided by the ideal DCG@k."""

    error: float
    """1 − NDCG@k."""
    inversions: float
    """Weighted Kendall's τ: Σ_{j≤k} α(j)·(number of later documents scored above the j-th), over N_k."""
    any_inversion: float
    """Σ_{j≤k} α(j)·1[some later document is scored above the j-th], over N_k."""
    hinge: float
    exponential: float
    logistic: float
    """max α / N_k times the top-k loss; the logistic one in base 2, so that φ(0) = 1."""
    listmle: float
    """max α / (N_k ln 2) times top-k ListMLE. It bounds ``any_inversion``, not ``inversions``."""


def top_k_bounds(scores: ArrayLike, labels: ArrayLike, k: int) -> Bounds:
    """The error of one list and its bounds, for truth with a total order of at least the top k.

    α(j) is gain times discount of the j-th document of the truth, with gain 2^y − 1 and discount
    1/log2(1 + j). Then error ≤ any_inversion ≤ inversions ≤ hinge, exponential, logistic, and
    any_inversion ≤ listmle. All scores must be different.

    >>> bounds = top_k_bounds([0.0, 0.1, 0.2, 0.3], [4, 3, 2, 1], k=1)
    >>> bounds.inversions, bounds.any_inversion, round(bounds.listmle, 2)
    (3.0, 1.0, 2.23)
    """
    s, y = _checked_list(scores, labels)
    if k < 1:
        raise InputError(f"k must be at least 1, got {k}")
    ptr = [0, len(s)]

    def top_k_loss(name: str) -> float:
        return loss(name, pairs="topk", k=k)(s, y, ptr)[0]

    likelihood = loss("topk-listmle", k=k)(s, y, ptr)[0]
    order = np.argsort(-y, kind="stable")
    top = min(k, len(s))
    discount = discounts("log2(1+r)", top)
    gains = np.exp2(y) - 1
    alpha = gains[order[:top]] * discount
    ideal = float(alpha.sum())
    ranked = np.argsort(-s, kind="stable")
    reached = float(gains[ranked[:top]] @ discount)
    above = np.array([(s[order[j + 1 :]] > s[order[j]]).sum() for j in range(top)])
    scale = float(alpha.max()) / ideal
    return Bounds(
        1 - reached / ideal,
        float(alpha @ above) / ideal,
        float(alpha @ (above > 0)) / ideal,
        scale * top_k_loss("hinge"),
        scale * top_k_loss("exponential"),
        scale * top_k_loss("logistic") / math.log(2),
        scale * likelihood / math.log(2),
    )


def _checked_list(scores: ArrayLike, labels: ArrayLike) -> tuple[Floats, Floats]:
    """Scores and labels of one list; InputError if the bounds are not defined for them."""
    try:
        s, y = np.asarray(scores, np.float64), np.asarray(labels, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"scores and labels must be numbers ({error})") from None
    if s.ndim != 1 or s.shape != y.shape or not len(s):
        raise InputError(
            f"expected one list of scores and as many labels, got shapes {s.shape} and {y.shape}",
            "give at least one document",
        )
    if not (np.isfinite(s).all() and np.isfinite(y).all()):
        raise InputError("scores and labels must be finite numbers")
    if y.min() < 0 or y.max() <= 0:
        raise InputError(
            "the bounds need a label above 0 and none below 0", "give a list with a relevant document"
        )
    return s, y


def top_k_bayes(chances: Mapping[Order, float], k: int) -> Order:
    """The most likely content of the first k places: what a top-k Bayes ranker puts there."""
    total = subgroup_chances(chances, k)
    return max(total, key=lambda top: total[top])


def expected_minimiser(loss: Loss, chances: Mapping[Order, float]) -> Floats:
    """Scores of the objects that minimise the expected loss over random orders of them."""
    from scipy.optimize import minimize

    likely = [(order, chance) for order, chance in chances.items() if chance > 0]
    n = len(likely[0][0])
    labels = np.empty((len(likely), n))
    for row, (order, _) in enumerate(likely):
        labels[row, list(order)] = np.arange(n, 0, -1)
    objective = loss.on(labels.ravel(), np.arange(0, labels.size + 1, n), [chance for _, chance in likely])

    def expected(scores: Floats) -> tuple[float, Floats]:
        value, slope = objective(np.tile(scores, len(likely)))
        penalty = RIDGE * float(scores @ scores)
        return value + penalty, slope.reshape(-1, n).sum(axis=0) + 2 * RIDGE * scores

    start = labels.mean(axis=0) + np.linspace(0.01, 0.02, n)  # symmetry could make the mean stationary
    result = minimize(expected, start, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
    return np.asarray(result.x, np.float64)


def is_consistent(loss: Loss, chances: Mapping[Order, float], k: int) -> bool:
    """Whether sorting by the minimiser of the expected loss puts the most likely content into the top k."""
    scores = expected_minimiser(loss, chances)
    return tuple(np.argsort(-scores)[:k].tolist()) == top_k_bayes(chances, k)


def proposition_10(p1: float) -> dict[Order, float]:
    """Chances of orders of three objects that are top-1 order preserving but defeat losses on whole orders.

    Object 1 is first with chance p1, the others with p2 = (1 − p1)/2 each. The paper states the proposition
    for p1 > p2, that is for all p1 > 1/3. It holds only up to a limit that depends on the loss: 0.406 for
    ListNet with top-one probabilities, 0.522 with those of permutations, 0.526 for ListMLE, and 1/2 for
    RankCosine and logistic pairs, which need object 1 above object 2 in most orders.
    :func:`proposition_10_limit` computes it.
    """
    if not 1 / 3 < p1 < 1:
        raise InputError(f"p1 must be above 1/3 and below 1, got {p1:g}")
    p2 = (1 - p1) / 2
    return {(0, 1, 2): p1, (1, 0, 2): p2, (2, 1, 0): p2}


def proposition_10_limit(loss: Loss, tolerance: float = 1e-4) -> float:
    """The p1 up to which a loss misses the top-1 Bayes ranker in Proposition 10; 1/3 if it never does.

    >>> round(proposition_10_limit(loss("rankcosine")), 3)
    0.5
    """
    low, high = 1 / 3, 1.0
    if is_consistent(loss, proposition_10(low + tolerance), 1):
        return low
    while high - low > tolerance:
        middle = (low + high) / 2
        consistent = is_consistent(loss, proposition_10(middle), 1)
        low, high = (low, middle) if consistent else (middle, high)
    return (low + high) / 2


def hard_case(k: int, p1: float = 0.36) -> dict[Order, float]:
    """Proposition 10 at place k: k − 1 objects that are almost always first, in this order, then its three.

    The rest of the probability, 2 %, is that of a Mallows model, so that every order is possible and
    Theorem 6 applies to the order 0, 1, …, k + 1.
    """
    first = tuple(range(k - 1))
    tail = {first + tuple(k - 1 + item for item in order): p for order, p in proposition_10(p1).items()}
    if k == 1:
        return tail
    share = 0.02
    return {
        order: (1 - share) * tail.get(order, 0.0) + share * chance
        for order, chance in mallows(k + 2, 1.0).items()
    }


def mallows(n: int, spread: float) -> dict[Order, float]:
    """Chances ∝ e^(−Kendall distance to 0, 1, …, n−1 / spread), which preserve the order of every pair."""

    def distance(order: Sequence[int]) -> int:
        return sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))

    weight = {order: math.exp(-distance(order) / spread) for order in permutations(range(n))}
    total = sum(weight.values())
    return {order: value / total for order, value in weight.items()}


def consistency_table(k: int = 1) -> list[tuple[str, bool, bool]]:
    """Loss, consistent with the top k in :func:`hard_case`, consistent in an order-preserving case."""
    if not 1 <= k <= LARGEST_K:
        raise InputError(
            f"k must be from 1 to {LARGEST_K}, got {k}", "all orders of k + 2 objects are listed"
        )
    hard, mild = hard_case(k), mallows(min(k + 3, LARGEST_K + 2), 1.5)
    whole_list = [loss(name) for name in WHOLE_LIST_LOSSES]
    top_k = [loss(name, k=k) for name in ("topk-listmle", "topk-listnet", "topk-rankcosine")]
    return [
        (loss.name, is_consistent(loss, hard, k), is_consistent(loss, mild, k)) for loss in whole_list + top_k
    ]
