"""Calibrated scores: from the scores of a classifier to probabilities and to an estimate of the gain.

A head is a family and a few numbers. Weighted sums of many heads of one classifier are computed together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.compute import thread_count, thread_map
from topkit.scorers import Floats
from topkit.scorers.network import row_products

Ints = NDArray[np.int64]

DEGREE = 4
"""The highest degree of a polynomial; lower ones have zeros, so that polynomials add up to one."""
HIDDEN = 4
"""Hidden units of the small network."""
PROBABILISTIC = ("shift", "sigmoid")
"""Families that give class probabilities."""
ROWS = 1 << 13
"""Documents worth a thread of their own."""


@dataclass(frozen=True)
class Head:
    """One calibration of one classifier. What the numbers are, for K classes:

    - ``shift``: the reach R; p_ℓ ∝ 1 + f_ℓ/R
    - ``sigmoid``: a, b; p_ℓ ∝ 1/(1 + exp(−a(f_ℓ − b)))
    - ``linear``: K weights and a constant
    - ``logistic``: K weights, a constant and the scale of the result
    - ``polynomial``: centre, spread, least and greatest value of the K columns, then a number a monomial
    - ``network``: hidden × (K + 1) inner weights, then hidden + 1 outer ones
    """

    name: str
    family: str
    numbers: Floats

    @property
    def probabilistic(self) -> bool:
        """Whether it estimates class probabilities; else only the gain."""
        return self.family in PROBABILISTIC

    def gain(self, f: Floats, gains: Floats) -> Floats:
        """The estimated gain of each document from its class scores (documents × classes)."""
        return mixed_gain(f, [self], np.ones(1), gains)

    def probabilities(self, f: Floats) -> Floats:
        """Class probabilities (documents × classes) of a family that has them."""
        if self.family == "shift":
            parts = np.maximum(1.0 + f / self.numbers[0], 0.0)
            total = parts.sum(axis=1, keepdims=True)
            shares: Floats = np.where(total > 0, parts / np.where(total > 0, total, 1.0), 1.0 / f.shape[1])
            return shares
        if self.family == "sigmoid":
            return sigmoid_shares(self.numbers[0] * (f - self.numbers[1]))[0]
        raise ValueError(f"a {self.family} calibration has no class probabilities")


def numbers_of(family: str, columns: int) -> int:
    """How many numbers a head of this family has for so many columns."""
    sizes = {
        "shift": 1,
        "sigmoid": 2,
        "linear": columns + 1,
        "logistic": columns + 2,
        "polynomial": 4 * columns + len(monomials(columns)[0]),
        "network": HIDDEN * (columns + 1) + HIDDEN + 1,
    }
    return sizes[family]


def sigmoid_shares(u: Floats) -> tuple[Floats, Floats]:
    """p_ℓ = σ(u_ℓ)/Σ σ(u_m), and 1 − σ(u); finite however large or small u is.

    >>> sigmoid_shares(np.array([[0.0, 0.0], [-900.0, -910.0]]))[0].round(4).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    shift = np.maximum(-u.max(axis=1, keepdims=True), 0.0)
    parts = 1.0 / (np.exp(-shift) + np.exp(np.minimum(-u - shift, 700.0)))
    rest = 1.0 / (1.0 + np.exp(np.clip(u, -700.0, 700.0)))
    return parts / parts.sum(axis=1, keepdims=True), rest


@cache
def monomials(columns: int, degree: int = DEGREE) -> tuple[Ints, Ints]:
    """All products of at most ``degree`` of the columns: (earlier monomial, column) of each, and its degree.

    >>> monomials(2, 2)[0].tolist()  # 1, x, y, x², xy, y²
    [[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [2, 1]]
    """
    made, degrees, start = [(0, 0)], [0], 0
    for power in range(1, degree + 1):
        end = len(made)
        for earlier in range(start, end):
            least = 0 if power == 1 else made[earlier][1]
            made += [(earlier, column) for column in range(least, columns)]
        degrees += [power] * (len(made) - end)
        start = end
    return np.array(made, np.int64), np.array(degrees, np.int64)


def monomial_values(u: Floats) -> Floats:
    """The value of every monomial for each row."""
    steps, _ = monomials(u.shape[1])
    values = np.ones((len(u), len(steps)))
    for m in range(1, len(steps)):
        values[:, m] = values[:, steps[m, 0]] * u[:, steps[m, 1]]
    return values


def mixed_gain(f: Floats, heads: Sequence[Head], weights: Floats, gains: Floats) -> Floats:
    """Σ weight·(gain that the head estimates), for heads of one classifier's scores ``f``.

    Linear heads add up to one linear head and polynomials to one polynomial; the others share one pass a
    family. Every document is computed by itself, so its neighbours and the threads do not matter.
    """
    from topkit.rankers.ensemble import kernels

    f = np.ascontiguousarray(f)
    n, K = f.shape
    out = np.zeros(n)
    tasks: list[tuple[Any, tuple[Any, ...]]] = []
    by_family: dict[str, list[int]] = {}
    for place, head in enumerate(heads):
        by_family.setdefault(head.family, []).append(place)
    for family, places in by_family.items():
        numbers = np.stack([heads[place].numbers for place in places])
        shares = weights[places]
        if family == "shift":
            tasks.append((kernels.add_shifts, (f, numbers[:, 0].copy(), shares, gains)))
        elif family == "sigmoid":
            tasks.append(
                (kernels.add_sigmoids, (f, numbers[:, 0].copy(), numbers[:, 1].copy(), shares, gains))
            )
        elif family == "linear":
            one = shares @ numbers
            out += row_products(f, one[:K, None])[:, 0] + one[K]
        elif family == "logistic":
            tasks.append((kernels.add_logistics, (f, numbers[:, : K + 1].copy(), shares * numbers[:, K + 1])))
        elif family == "polynomial":
            centre, spread, low, high = numbers[0, : 4 * K].reshape(4, K)
            tasks.append(
                (
                    kernels.add_polynomial,
                    (f, centre, spread, low, high, monomials(K)[0], shares @ numbers[:, 4 * K :]),
                )
            )
        else:
            inner = numbers[:, : HIDDEN * (K + 1)].reshape(len(places), HIDDEN, K + 1).copy()
            tasks.append((kernels.add_networks, (f, inner, numbers[:, HIDDEN * (K + 1) :].copy(), shares)))

    def work(run: tuple[int, int]) -> None:
        for kernel, arguments in tasks:
            kernel(*arguments, run[0], run[1], out)

    pieces = min(thread_count(), max(1, n // ROWS))
    thread_map(work, list(pairwise(np.linspace(0, n, pieces + 1).astype(int).tolist())))
    return out
