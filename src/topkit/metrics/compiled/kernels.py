"""Numba kernels of measures for training: the value of every list, and of lists that a step re-ranks.

``list_values`` and ``stepped_values`` take the name of a value function in :data:`VALUES` and compile one
kernel for it, on its first use. The value functions are module-level functions under ``register_jitable``,
so that Numba can cache the kernels on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL

Places = NDArray[np.int32]
Column = NDArray[np.float32]

COUNTING_LIMIT = 256
"""Up to this length, counting the greater elements of each element sorts faster than a comparison sort."""
RUN = 16
"""Merge sort starts from runs of this length, sorted by insertion."""


# -- sorting -------------------------------------------------------------------------------------------------
@njit(**KERNEL, error_model="numpy")
def falling_order(values: Floats, order: Ints) -> None:
    """Fill ``order`` with the positions of ``values`` from the largest down; ties keep their order.

    Long lists are merge sorted. It is written out because ``np.argsort(kind="mergesort")`` takes Numba ten
    seconds to compile.
    """
    n = len(values)
    if n <= COUNTING_LIMIT:
        for i in range(n):
            value = values[i]
            place = 0
            for j in range(np.uint64(i)):
                place += 1 if values[j] >= value else 0
            for j in range(np.uint64(i + 1), np.uint64(n)):
                place += 1 if values[j] > value else 0
            order[place] = i
        return
    for i in range(n):  # runs, sorted by insertion
        value = values[i]
        start = i - i % RUN
        j = i
        while j > start and values[order[j - 1]] < value:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    source, target = order, np.empty(n, np.int64)
    width = RUN
    while width < n:
        for left in range(0, n, 2 * width):
            middle = left + width if left + width < n else n
            right = middle + width if middle + width < n else n
            i, j = left, middle
            for place in range(left, right):
                if i < middle and (j >= right or values[source[i]] >= values[source[j]]):
                    target[place] = source[i]
                    i += 1
                else:
                    target[place] = source[j]
                    j += 1
        source, target = target, source
        width *= 2
    for i in range(n):  # a slice assignment would take seconds to compile
        order[i] = source[i]


# -- the value of one list -----------------------------------------------------------------------------------
@register_jitable
def discounted_sum(gain: Floats, order: Any, start: int, discount: Floats) -> float:
    """Σ gain·discount over the ranks."""
    value = 0.0
    for r in range(min(len(order), len(discount))):
        value += gain[start + order[r]] * discount[r]
    return value


@register_jitable
def precision_at_hits(gain: Floats, order: Any, start: int, discount: Floats) -> float:
    """Σ gain·precision over the ranks of relevant documents, whose gain is 1 over their number."""
    value, hits = 0.0, 0
    for r in range(min(len(order), len(discount))):
        g = gain[start + order[r]]
        if g > 0.0:
            hits += 1
            value += g * hits / (r + 1.0)
    return value


@register_jitable
def cascade(gain: Floats, order: Any, start: int, discount: Floats) -> float:
    """Σ discount·stop·Π(1 − earlier stops); the gain is the probability to stop."""
    value, reached = 0.0, 1.0
    for r in range(min(len(order), len(discount))):
        stop = gain[start + order[r]]
        value += reached * stop * discount[r]
        reached *= 1.0 - stop
    return value


@register_jitable
def first_hit(gain: Floats, order: Any, start: int, discount: Floats) -> float:
    """The discount at the first rank with a gain, else 0."""
    for r in range(min(len(order), len(discount))):
        if gain[start + order[r]] > 0.0:
            return float(discount[r])
    return 0.0


Value = Callable[[Floats, Any, int, Floats], float]
"""(gain of each document, order of one list, its first row, discount of each rank) → value of the list."""

VALUES: dict[str, Value] = {
    "discounted_sum": discounted_sum,
    "precision_at_hits": precision_at_hits,
    "cascade": cascade,
    "first_hit": first_hit,
}
"""The value functions by the names that measures use (:class:`topkit.metrics.measure.FastMeasure`)."""


# -- all lists -----------------------------------------------------------------------------------------------
def list_values(kind: str, *arguments: Any) -> None:
    """The value of each query by descending score, ties in input order; ``fixed`` where it is not NaN.

    Arguments: scores, gain, discount, fixed, ptr, first query, last query, and the array to fill.
    """
    _list_kernel(VALUES[kind])(*arguments)


def stepped_values(kind: str, *arguments: Any) -> tuple[float, int]:
    """How much the weighted sum of values rises when scores move by step·column, and how many lists re-rank.

    Arguments: scores, column, step, order, gain, discount, ptr, queries, values, weights, keep. ``order``
    holds the current order of each list. A list that keeps its order costs one pass; another is sorted by
    insertion from its current order. With ``keep`` the new orders and values are stored.
    """
    rise, changed = _step_kernel(VALUES[kind])(*arguments)
    return rise, changed


@cache
def _list_kernel(value_of: Value) -> Callable[..., None]:
    @njit(**KERNEL)
    def fill(
        scores: Floats,
        gain: Floats,
        discount: Floats,
        fixed: Floats,
        ptr: Ints,
        first: int,
        last: int,
        values: Floats,
    ) -> None:
        longest = 0
        for q in range(first, last):
            longest = max(longest, ptr[q + 1] - ptr[q])
        order = np.empty(longest, np.int64)
        for q in range(first, last):
            if not np.isnan(fixed[q]):
                values[q] = fixed[q]
                continue
            a, b = ptr[q], ptr[q + 1]
            falling_order(scores[a:b], order[: b - a])
            values[q] = value_of(gain, order[: b - a], a, discount)

    return fill  # type: ignore[no-any-return]


@cache
def _step_kernel(value_of: Value) -> Callable[..., tuple[float, int]]:
    @njit(**KERNEL)
    def step_values(
        scores: Floats,
        column: Column,
        step: float,
        order: Places,
        gain: Floats,
        discount: Floats,
        ptr: Ints,
        queries: Ints,
        values: Floats,
        weights: Floats,
        keep: bool,
    ) -> tuple[float, int]:
        longest = 0
        for q in queries:
            longest = max(longest, ptr[q + 1] - ptr[q])
        moved, place = np.empty(longest), np.empty(longest, np.int64)
        rise, changed = 0.0, 0
        for q in queries:
            a, n = ptr[q], ptr[q + 1] - ptr[q]
            if _moved_in_order(scores[a : a + n], column[a : a + n], step, order[a : a + n], moved, place):
                continue
            changed += 1
            _sort_again(moved[:n], place[:n])
            value = value_of(gain, place[:n], a, discount)
            rise += weights[q] * (value - values[q])
            if keep:
                values[q] = value
                for i in range(n):
                    order[a + i] = place[i]
        return rise, changed

    return step_values  # type: ignore[no-any-return]


@njit(**KERNEL)
def _moved_in_order(
    scores: Floats, column: Column, step: float, order: Places, moved: Floats, place: Ints
) -> bool:
    """Fill the moved scores in the current order; whether that order still is the right one."""
    sorted_still = True
    for i in range(len(order)):
        row = order[i]
        moved[i], place[i] = scores[row] + step * np.float64(column[row]), row
        if i > 0:
            above, below = moved[i - 1], moved[i]
            sorted_still &= above > below or (above == below and place[i - 1] < row)
    return sorted_still


@njit(**KERNEL)
def _sort_again(moved: Floats, place: Ints) -> None:
    """Sort places by descending score, then by row: by insertion, as few documents move."""
    n = len(place)
    if n > COUNTING_LIMIT:
        by_row = np.empty(n)
        for i in range(n):
            by_row[place[i]] = moved[i]
        falling_order(by_row, place)
        return
    for i in range(1, n):
        s, row = moved[i], place[i]
        j = i
        while j > 0 and (moved[j - 1] < s or (moved[j - 1] == s and place[j - 1] > row)):
            moved[j], place[j] = moved[j - 1], place[j - 1]
            j -= 1
        moved[j], place[j] = s, row
