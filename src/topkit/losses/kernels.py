"""Numba helpers that the kernels of all losses share, written so that the compiler uses vector registers.

Every function is deterministic: one thread processes a query, always in the same order of operations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, register_jitable

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.losses.sorted_labels import top_memberships as top_memberships
from topkit.metrics.compiled.kernels import falling_order as falling_order

PLAIN: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""How kernels are compiled. Kernels avoid division by zero themselves: a check inside the loop would keep it
out of vector registers. They also avoid slice assignments and NumPy sorts, which take seconds to compile."""

LANES: dict[str, Any] = {**PLAIN, "fastmath": {"reassoc", "nsz", "nnan", "contract"}}
"""The same, and sums may be reordered into vector lanes. Scores are checked to be finite before any kernel
runs."""

INLINED: dict[str, Any] = {name: LANES[name] for name in ("fastmath", "error_model")}
"""Options of a small function that is compiled as part of its callers (``register_jitable``)."""


EXP = tuple(1.0 / math.factorial(i) for i in range(13, -1, -1))
"""The Taylor coefficients of e^x, from the highest power down."""


@register_jitable(**INLINED)
def polynomial(x: float, coefficients: tuple[float, ...]) -> float:
    """The polynomial with these coefficients, from the highest power down; the compiler unrolls the loop."""
    value = 0.0
    for coefficient in coefficients:
        value = value * x + coefficient
    return value


@intrinsic
def float_of_bits(typing_context: Any, bits: Any) -> Any:
    """The float64 with these 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


@njit(**LANES, forceinline=True)
def exp(x: float) -> float:
    """e^x for x ≤ 709, exact to one unit in the last place, and 0 below −708.

    x = k·ln 2 + r with |r| ≤ ln 2 / 2; e^r by its Taylor series, 2^k by the bits of the exponent. Unlike the
    library function it has no call and no branch, so a loop over it runs in vector registers.
    """
    y = max(x, -708.0)
    k = math.floor(y * 1.4426950408889634 + 0.5)
    r = y - k * 6.93147180369123816490e-01
    r = r - k * 1.90821492927058770002e-10
    power = polynomial(r, EXP) * float_of_bits((np.int64(k) + 1023) << 52)
    return power if x >= -708.0 else 0.0


@njit(**LANES, forceinline=True)
def log_one_plus(p: float) -> float:
    """log(1 + p) = 2·artanh(p/(2 + p)) for 0 ≤ p ≤ 1, without a call or a branch.

    The series is in z² ≤ 1/9. It is written out: the compiler would not unroll a loop of this length.
    """
    z = p / (2.0 + p)
    y = z * z
    series = 1.0 / 33.0
    series = series * y + 1.0 / 31.0
    series = series * y + 1.0 / 29.0
    series = series * y + 1.0 / 27.0
    series = series * y + 1.0 / 25.0
    series = series * y + 1.0 / 23.0
    series = series * y + 1.0 / 21.0
    series = series * y + 1.0 / 19.0
    series = series * y + 1.0 / 17.0
    series = series * y + 1.0 / 15.0
    series = series * y + 1.0 / 13.0
    series = series * y + 1.0 / 11.0
    series = series * y + 1.0 / 9.0
    series = series * y + 1.0 / 7.0
    series = series * y + 1.0 / 5.0
    series = series * y + 1.0 / 3.0
    series = series * y + 1.0
    return 2.0 * z * series


@register_jitable(**INLINED)
def largest(values: Floats) -> float:
    """The largest value of a non-empty array."""
    best = values[0]
    for i in range(len(values)):
        best = max(best, values[i])
    return float(best)


@register_jitable(**INLINED)
def extent(values: Floats) -> tuple[float, float]:
    """The smallest and the largest value of a non-empty array."""
    low, high = values[0], values[0]
    for i in range(len(values)):
        low, high = min(low, values[i]), max(high, values[i])
    return float(low), float(high)


@register_jitable
def total_of(values: Floats) -> float:
    """Σ values, in their order; the sum of NumPy takes Numba half a second to compile."""
    total = 0.0
    for i in range(len(values)):
        total += values[i]
    return total


@njit(**PLAIN)
def longest_list(ptr: Ints) -> int:
    """Documents of the longest query."""
    longest = 0
    for q in range(len(ptr) - 1):
        longest = max(longest, ptr[q + 1] - ptr[q])
    return longest


@register_jitable
def zeros_of_block(scores: Floats, ptr: Ints, curved: bool) -> tuple[Floats, Floats, Floats]:
    """The value of each query, gradient and curvature to add to; the curvature is empty unless curved."""
    return np.zeros(len(ptr) - 1), np.zeros(len(scores)), np.zeros(len(scores) if curved else 0)


@register_jitable
def end_of_tie(scores: Floats, order: Ints, start: int) -> int:
    """The place after the last one with the same score as place ``start``."""
    stop = start + 1
    while stop < len(order) and scores[order[stop]] == scores[order[start]]:
        stop += 1
    return stop
