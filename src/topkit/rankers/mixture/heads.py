"""Calibrated scores: from the class scores of a classifier to probabilities and to an estimated gain.

A head is a family and a few numbers. Weighted sums of many heads of one classifier are computed together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from topkit.compute import Floats, Ints, row_chunks, thread_map
from topkit.scorers.model import row_products

DEGREE = 4
"""The highest degree of a polynomial; lower degrees are padded with zeros, so that all can be summed."""
HIDDEN = 4
"""Hidden units of the small network."""
PROBABILISTIC = ("shift", "sigmoid")
"""Families that estimate class probabilities."""
ROWS_PER_THREAD = 1 << 13
"""Documents that justify a thread; heads cost more per document than most loops."""


@dataclass(frozen=True)
class Head:
    """One calibration of one classifier. The numbers of each family, for K classes:

    - ``shift``: the reach R; p_ℓ ∝ 1 + f_ℓ/R
    - ``sigmoid``: a, b; p_ℓ ∝ 1/(1 + exp(−a(f_ℓ − b)))
    - ``linear``: K weights and a constant
    - ``logistic``: K weights, a constant and the scale of the result
    - ``polynomial``: centre, spread, minimum and maximum of the K columns, then one number per monomial
    - ``network``: hidden × (K + 1) inner weights, then hidden + 1 outer weights
    """

    name: str
    family: str
    numbers: Floats

    @property
    def probabilistic(self) -> bool:
        """Whether it estimates class probabilities, not only the gain."""
        return self.family in PROBABILISTIC

    def gain(self, f: Floats, gains: Floats) -> Floats:
        """The estimated gain of each document from its class scores (documents × classes)."""
        return mixed_gain(f, [self], np.ones(1), gains)

    def probabilities(self, f: Floats) -> Floats:
        """Class probabilities (documents × classes); ValueError for a family without them."""
        if self.family == "shift":
            parts = np.maximum(1.0 + f / self.numbers[0], 0.0)
            total = parts.sum(axis=1, keepdims=True)
            shares: Floats = np.where(total > 0, parts / np.where(total > 0, total, 1.0), 1.0 / f.shape[1])
            return shares
        if self.family == "sigmoid":
            return sigmoid_shares(self.numbers[0] * (f - self.numbers[1]))[0]
        raise ValueError(f"a {self.family} calibration has no class probabilities")


def check_numbers(family: str, classes: int, numbers: Floats) -> None:
    """Raise ValueError if a head of this family cannot have these numbers; 0 classes means a ranker."""
    columns = max(classes, 1)
    sizes = {
        "shift": 1,
        "sigmoid": 2,
        "linear": columns + 1,
        "logistic": columns + 2,
        "polynomial": 4 * columns + math.comb(columns + DEGREE, DEGREE),
        "network": HIDDEN * (columns + 1) + HIDDEN + 1,
    }
    if family not in sizes or (family in PROBABILISTIC and classes == 0):
        raise ValueError(f"unknown calibration {str(family)[:40]!r} of {classes} classes")
    if len(numbers) != sizes[family]:
        raise ValueError(f"a {family} calibration needs {sizes[family]} numbers, got {len(numbers)}")
    divisors = {"shift": slice(0, 1), "polynomial": slice(columns, 2 * columns)}
    if family in divisors and not (numbers[divisors[family]] > 0).all():
        raise ValueError(f"the scale of a {family} calibration must be greater than 0")


def sigmoid_shares(u: Floats) -> tuple[Floats, Floats]:
    """p_ℓ = σ(u_ℓ)/Σ σ(u_m), and 1 − σ(u); finite for any u.

    >>> sigmoid_shares(np.array([[0.0, 0.0], [-900.0, -910.0]]))[0].round(4).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    shift = np.maximum(-u.max(axis=1, keepdims=True), 0.0)
    parts = 1.0 / (np.exp(-shift) + np.exp(np.minimum(-u - shift, 700.0)))
    rest = 1.0 / (1.0 + np.exp(np.clip(u, -700.0, 700.0)))
    return parts / parts.sum(axis=1, keepdims=True), rest


@cache
def monomials(columns: int, degree: int = DEGREE) -> tuple[Ints, Ints]:
    """All products of at most ``degree`` columns: (earlier monomial, column) of each, and its degree.

    >>> monomials(2, 2)[0].tolist()  # 1, x, y, x², xy, y²
    [[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [2, 1]]
    """
    factors, degrees, start = [(0, 0)], [0], 0
    for power in range(1, degree + 1):
        end = len(factors)
        for earlier in range(start, end):
            first_column = 0 if power == 1 else factors[earlier][1]
            factors += [(earlier, column) for column in range(first_column, columns)]
        degrees += [power] * (len(factors) - end)
        start = end
    return np.array(factors, np.int64), np.array(degrees, np.int64)


def monomial_values(u: Floats) -> Floats:
    """The value of every monomial for each row."""
    steps, _ = monomials(u.shape[1])
    values = np.ones((len(u), len(steps)))
    for m in range(1, len(steps)):
        values[:, m] = values[:, steps[m, 0]] * u[:, steps[m, 1]]
    return values


def mixed_gain(f: Floats, heads: Sequence[Head], weights: Floats, gains: Floats) -> Floats:
    """Σ weight·(gain estimated by the head), for heads of one classifier with class scores ``f``.

    Linear heads add up to one linear head and polynomials to one polynomial; heads of each other family share
    one pass. Each document is computed separately, so the result does not depend on the other documents or on
    the number of threads.
    """
    f = np.ascontiguousarray(f)
    out = np.zeros(len(f))
    by_family: dict[str, list[int]] = {}
    for place, head in enumerate(heads):
        by_family.setdefault(head.family, []).append(place)
    passes: list[AddRows] = []
    for family, places in by_family.items():
        numbers = np.stack([heads[place].numbers for place in places])
        if family == "linear":
            total = weights[places] @ numbers
            out += row_products(f, total[:-1, None])[:, 0] + total[-1]
        else:
            passes.append(_pass(family, f, numbers, weights[places], gains))

    def work(rows: tuple[int, int]) -> None:
        for add in passes:
            add(rows[0], rows[1], out)

    thread_map(work, row_chunks(len(f), ROWS_PER_THREAD))
    return out


AddRows = Callable[[int, int, Floats], None]
"""(first row, last row, out): add the weighted gains of these rows to ``out``."""


def _pass(family: str, f: Floats, numbers: Floats, shares: Floats, gains: Floats) -> AddRows:
    """The kernel that adds all heads of one family; ``numbers`` has one row per head."""
    from topkit.rankers.mixture import kernels

    K = f.shape[1]
    kernel: Callable[..., None]
    arguments: tuple[Any, ...]
    if family == "shift":
        kernel, arguments = kernels.add_shifts, (numbers[:, 0].copy(), shares, gains)
    elif family == "sigmoid":
        kernel = kernels.add_sigmoids
        arguments = (numbers[:, 0].copy(), numbers[:, 1].copy(), shares, gains)
    elif family == "logistic":
        kernel = kernels.add_logistics
        arguments = (numbers[:, : K + 1].copy(), shares * numbers[:, K + 1])
    elif family == "polynomial":
        centre, spread, low, high = numbers[0, : 4 * K].reshape(4, K)
        kernel = kernels.add_polynomial
        arguments = (centre, spread, low, high, monomials(K)[0], shares @ numbers[:, 4 * K :])
    else:
        inner = numbers[:, : HIDDEN * (K + 1)].reshape(len(numbers), HIDDEN, K + 1).copy()
        kernel, arguments = kernels.add_networks, (inner, numbers[:, HIDDEN * (K + 1) :].copy(), shares)
    return lambda first, last, out: kernel(f, *arguments, first, last, out)
