"""Numba kernels of SortNet: the two halves of the hidden layer, comparisons, squared error and its slope."""

from __future__ import annotations

import math

import numpy as np

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL


@njit(**KERNEL, forceinline=True)
def squash(x: float) -> float:
    """The activation x/√(1 + x²): a sigmoid that compiles to vector instructions, unlike tanh.

    Its slope at the value h is (1 − h²)^{3/2}.
    """
    return x / math.sqrt(1.0 + x * x)


@njit(**KERNEL)
def project(X: Floats, V: Floats, out: Floats) -> None:
    """out = X·Vᵀ, each row summed separately, so that a document's result does not depend on other rows."""
    for i in range(len(X)):
        for h in range(len(V)):
            total = 0.0
            for f in range(X.shape[1]):
                total += X[i, f] * V[h, f]
            out[i, h] = total


@njit(**KERNEL)
def outputs(
    P: Floats, Q: Floats, b: Floats, w: Floats, w_dual: Floats, bias: float, i: int, j: int
) -> tuple[float, float]:
    """N≻ and N≺ of documents i and j before the last sigmoid.

    Swapping i and j swaps h with its dual and so the two sums, term by term: sums of two products do not
    depend on their order, so N≻(i, j) and N≺(j, i) have the same bits.
    """
    above, below = bias, bias
    for h in range(len(b)):
        first = squash((P[i, h] + Q[j, h]) + b[h])
        dual = squash((P[j, h] + Q[i, h]) + b[h])
        above += w[h] * first + w_dual[h] * dual
        below += w_dual[h] * first + w[h] * dual
    return above, below


@njit(**KERNEL)
def pair_outputs(
    P: Floats, Q: Floats, b: Floats, w: Floats, w_dual: Floats, bias: float, first: Ints, second: Ints,
    out: Floats,
) -> None:  # fmt: skip
    """N≻ and N≺ before the last sigmoid, for each pair of rows."""
    for p in range(len(first)):
        out[p, 0], out[p, 1] = outputs(P, Q, b, w, w_dual, bias, first[p], second[p])


@njit(**KERNEL)
def pair_errors(
    P: Floats,
    Q: Floats,
    b: Floats,
    w: Floats,
    w_dual: Floats,
    bias: float,
    better: Ints,
    worse: Ints,
    weight: Floats,
    starts: Ints,
    first_query: int,
    last_query: int,
    values: Floats,
    slopes: Floats,
    dP: Floats,
    dQ: Floats,
) -> None:
    """Σ weight·((1 − N≻)² + N≺²) of each query's pairs, and its slopes.

    ``slopes`` (one row per query) has the slopes in b, w, w_dual and the output bias; dP and dQ have the
    slopes in the two projections of each document.
    """
    H = len(b)
    first, dual = np.empty(H), np.empty(H)
    for q in range(first_query, last_query):
        total = 0.0
        slope = slopes[q]
        for p in range(starts[q], starts[q + 1]):
            i, j = better[p], worse[p]
            above, below = bias, bias
            for h in range(H):
                first[h] = squash((P[i, h] + Q[j, h]) + b[h])
                dual[h] = squash((P[j, h] + Q[i, h]) + b[h])
            for h in range(H):
                above += w[h] * first[h] + w_dual[h] * dual[h]
                below += w_dual[h] * first[h] + w[h] * dual[h]
            high, low = 1.0 / (1.0 + math.exp(-above)), 1.0 / (1.0 + math.exp(-below))
            total += weight[p] * ((1.0 - high) ** 2 + low**2)
            up = -2.0 * weight[p] * (1.0 - high) * high * (1.0 - high)
            down = 2.0 * weight[p] * low * low * (1.0 - low)
            slope[3 * H] += up + down
            for h in range(H):
                slope[H + h] += up * first[h] + down * dual[h]
                slope[2 * H + h] += up * dual[h] + down * first[h]
                left, right = 1.0 - first[h] * first[h], 1.0 - dual[h] * dual[h]
                of_first = (up * w[h] + down * w_dual[h]) * left * math.sqrt(left)
                of_dual = (up * w_dual[h] + down * w[h]) * right * math.sqrt(right)
                slope[h] += of_first + of_dual
                dP[i, h] += of_first
                dQ[j, h] += of_first
                dP[j, h] += of_dual
                dQ[i, h] += of_dual
        values[q] = total
