"""Numba kernel of the Crammer–Singer machine: coordinate descent on the dual, one document at a time."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL


@njit(**KERNEL)
def solve_document(label: int, bound: float, size: float, slope: Floats, dual: Floats, order: Floats) -> None:
    """The exact minimum over the duals of one document: a_m ≤ bound·[m = label], Σ a_m = 0.

    The minimiser is min(bound_m, (β − B_m)/size) with B = slope − size·dual, for the β that makes the sum 0;
    β comes from a pass over the B_m + size·bound_m in falling order.
    """
    K = len(slope)
    for m in range(K):
        slope[m] -= size * dual[m]
        order[m] = slope[m]
    order[label] += size * bound
    for i in range(1, K):  # K is small: insertion sort, falling
        value, j = order[i], i
        while j > 0 and order[j - 1] < value:
            order[j] = order[j - 1]
            j -= 1
        order[j] = value
    beta = order[0] - size * bound
    used = 1
    while used < K and beta < used * order[used]:
        beta += order[used]
        used += 1
    beta /= used
    for m in range(K):
        dual[m] = min(bound if m == label else 0.0, (beta - slope[m]) / size)


@njit(**KERNEL)
def sweep(
    X: Floats,
    labels: Ints,
    bounds: Floats,
    sizes: Floats,
    order: Ints,
    dual: Floats,
    weights: Floats,
    violations: Floats,
) -> float:
    """Solve for each document in turn, keeping weights = Σ dual·x; returns the largest violation.

    ``X`` and ``dual`` have one row per document, ``weights`` one row per feature. The violation of a document
    is the largest slope minus the smallest slope of the duals that may still grow; it goes to ``violations``.
    """
    K = dual.shape[1]
    slope, now, buffer = np.empty(K), np.empty(K), np.empty(K)
    worst = 0.0
    for i in order:
        violations[i] = 0.0
        if bounds[i] <= 0.0 or sizes[i] <= 0.0:
            continue
        for m in range(K):
            slope[m] = 0.0 if m == labels[i] else 1.0
            now[m] = dual[i, m]
        for f in range(X.shape[1]):
            x = X[i, f]
            if x != 0.0:
                for m in range(K):
                    slope[m] += weights[f, m] * x
        low, high = np.inf, -np.inf
        for m in range(K):
            high = max(high, slope[m])
            if now[m] < (bounds[i] if m == labels[i] else 0.0):
                low = min(low, slope[m])
        if high - low <= 1e-12:
            continue
        violations[i] = high - low
        worst = max(worst, high - low)
        solve_document(labels[i], bounds[i], sizes[i], slope, now, buffer)
        for m in range(K):
            buffer[m] = now[m] - dual[i, m]
            dual[i, m] = now[m]
        for f in range(X.shape[1]):
            x = X[i, f]
            if x != 0.0:
                for m in range(K):
                    weights[f, m] += buffer[m] * x
    return worst
