"""The Mallows model p(σ | θ, π) ∝ exp(θ d(σ, π)), θ ≤ 0: normaliser, mean distance, likelihood, sampling.

All formulas follow from one fact: with σ uniform, Kendall's distance is a sum of independent variables, each
uniform on 0, …, j−1. Under the model such a variable has P(v) ∝ e^{θv}, and its normaliser is the q-number
[j] = 1 + q + … + q^{j−1} with q = e^θ.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.compute import Floats
from topkit.fusion.distances import kendall_distance, top_k_distance

FLAT = 1e-5
"""Below j·|θ| = FLAT a variable is uniform to double precision, and series replace the quotients."""


def log_q_number(j: ArrayLike, theta: ArrayLike) -> Floats:
    """log [j] = log Σ_{v<j} e^{θv}, for any θ ≤ 0; arrays broadcast."""
    size, t = np.broadcast_arrays(np.asarray(j, np.float64), np.asarray(theta, np.float64))
    flat = size * np.abs(t) < FLAT
    safe = np.where(flat, -1.0, t)
    quotient = np.log(-np.expm1(size * safe)) - np.log(-np.expm1(safe))
    return np.asarray(np.where(flat, np.log(np.maximum(size, 1)) + t * (size - 1) / 2, quotient))


def mean_variable(j: ArrayLike, theta: ArrayLike) -> Floats:
    """Mean of v with P(v) ∝ e^{θv} on 0, …, j−1: e^θ/(1−e^θ) − j e^{jθ}/(1−e^{jθ}); (j−1)/2 at θ = 0."""
    size, t = np.broadcast_arrays(np.asarray(j, np.float64), np.asarray(theta, np.float64))
    flat = size * np.abs(t) < FLAT
    safe = np.where(flat, -1.0, t)
    tail = np.where(size * safe > -700, size, 0) / np.expm1(np.minimum(-size * safe, 700))
    series = (size - 1) / 2 + t * (size * size - 1) / 12
    return np.asarray(np.where(flat, series, 1 / np.expm1(np.minimum(-safe, 700)) - tail))


def log_normaliser(theta: float, n: int, k: int | None = None) -> float:
    """log Z(θ) of the Mallows model over the orders of n items, or over the top-k lists of n items.

    Z = Π_{j=1..n} [j] for full orders; for top-k lists only the first k places count: Π_{j=n−k+1..n} [j].

    >>> bool(np.isclose(np.exp(log_normaliser(np.log(0.5), 3)), 1 * (1 + 0.5) * (1 + 0.5 + 0.25)))
    True
    """
    first = 1 if k is None else n - k + 1
    return float(log_q_number(np.arange(first, n + 1), theta).sum())


def expected_distance(theta: float, n: int) -> float:
    """Mean Kendall distance to the centre, E_θ(D) = n e^θ/(1−e^θ) − Σ_{j=1..n} j e^{θj}/(1−e^{θj}).

    >>> expected_distance(0.0, 4)   # half of the 4·3/2 pairs
    3.0
    """
    return float(mean_variable(np.arange(1, n + 1), theta).sum())


def expected_top_k_distance(theta: float, k: int, z: int, *, independent: bool = False) -> float:
    """Mean distance of two top-k lists with z common items when one is drawn with weights e^{θ·distance}.

    With r = k − z: E = Σ_{j=r+1..k} m(j) + [Σ_{j=1..k} − Σ_{j=1..r} − Σ_{j=1..z}] m(j) + r(r+1)/2, where m(j)
    is the mean of a variable on 0..j−1 (:func:`mean_variable`). The first sum is the order of the common
    items; the bracket is the position of the r private items among the z common ones, whose generating
    function is the Gaussian binomial coefficient.

    ``independent`` gives the published formula instead (Klementiev, Roth and Small, LR4IR 2008, equation 10),
    k e^θ/(1−e^θ) − Σ_{j=r+1..k} j e^{jθ}/(1−e^{jθ}) + r(r+1)/2 − r(z+1) e^{θ(z+1)}/(1−e^{θ(z+1)}),
    which treats the places of the private items as independent. They are not, so the two formulas agree only
    at θ = 0, for r ≤ 1 and for z = 0. Enumeration confirms the first.
    """
    if not 0 <= z <= k:
        raise ValueError(f"z must be from 0 to k = {k}, got {z}")
    r = k - z
    constant = r * (r + 1) / 2
    m = mean_variable(np.arange(1, k + 2), theta)  # m[j − 1] is the mean on 0..j−1
    common = m[r:k].sum()
    spread = r * m[z] if independent else m[:k].sum() - m[:r].sum() - m[:z].sum()
    return float(common + spread + constant)


def log_likelihood(lists: Sequence[Sequence[Hashable]], theta: float, centre: Sequence[Hashable]) -> float:
    """log p of the lists, each a full order or a top-k list of the items of ``centre``, given θ and centre.

    The probability of a top-k list is the sum over all full orders that start with it.

    >>> round(log_likelihood(["abc", "acb"], -1.0, "abc"), 6)
    -2.441735
    """
    total = 0.0
    for items in lists:
        if not set(items) <= set(centre):
            raise ValueError("a list has an item that the centre lacks")
        total += theta * top_k_distance(centre, items) - log_normaliser(theta, len(centre), len(items))
    return total


def probabilities(n: int, theta: float) -> dict[tuple[int, ...], float]:
    """The probability of every order of 0..n−1 around (0, 1, …, n−1): exact, for n ≤ 8."""
    if n > 8:
        raise ValueError(f"enumeration of n! orders needs n ≤ 8, got {n}")
    centre = tuple(range(n))
    orders = list(permutations(centre))
    log_p = np.array([theta * kendall_distance(order, centre) for order in orders])
    p = np.exp(log_p - log_normaliser(theta, n))
    return dict(zip(orders, p.tolist(), strict=True))


def sample(n: int, theta: float, size: int, seed: int) -> NDArray[np.int64]:
    """Independent orders of 0..n−1 from the Mallows model around (0, 1, …, n−1); exact, one per row.

    Repeated insertion: item j is inserted v places above the end of the first j items, with P(v) ∝ e^{θv}.
    """
    rng = np.random.default_rng(seed)
    orders = np.zeros((size, n), np.int64)
    rows = np.arange(size)
    for j in range(n):
        weights = np.exp(theta * np.arange(j + 1))
        v = rng.choice(j + 1, size, p=weights / weights.sum())
        place = j - v
        moved = np.arange(j)[None, :] >= place[:, None]
        shifted = orders[:, :j] * moved
        orders[:, :j] *= ~moved
        orders[:, 1 : j + 1] += shifted
        orders[rows, place] = j
    return orders
