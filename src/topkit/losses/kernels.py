"""Numba helpers that the kernels of all losses share, written so that the compiler uses vector registers.

Every function is deterministic: one thread processes a query, always in the same order of operations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from topkit.compute import Floats, Ints
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
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    power = p * float_of_bits((np.int64(k) + 1023) << 52)
    return power if x >= -708.0 else 0.0


@njit(**LANES)
def largest(values: Floats) -> float:
    """The largest value of a non-empty array."""
    best = values[0]
    for i in range(len(values)):
        best = max(best, values[i])
    return float(best)


@njit(**LANES)
def extent(values: Floats) -> tuple[float, float]:
    """The smallest and the largest value of a non-empty array."""
    low, high = values[0], values[0]
    for i in range(len(values)):
        low, high = min(low, values[i]), max(high, values[i])
    return float(low), float(high)


@njit(**PLAIN)
def longest_list(ptr: Ints) -> int:
    """Documents of the longest query."""
    longest = 0
    for q in range(len(ptr) - 1):
        longest = max(longest, ptr[q + 1] - ptr[q])
    return longest
