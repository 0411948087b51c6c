"""Numba kernels of the linear rankers: the perceptron, crossings of scores, histograms of pair margins."""

from __future__ import annotations

import numpy as np
from numba import njit

from topkit.compute import Floats, Ints
from topkit.compute.kernel_options import KERNEL
from topkit.metrics.compiled.kernels import falling_order


@njit(**KERNEL)
def perceptron_pass(
    X: Floats, y: Floats, ptr: Ints, queries: Ints, weights: Floats, w: Floats, late: Floats, seen: int
) -> tuple[int, int]:
    """Visit every pair once; on a mistake add the difference of features. Returns pairs seen and mistakes.

    ``late`` sums each change times the number of pairs seen before it, so the mean of all w is w − late/seen.
    """
    mistakes = 0
    for q in queries:
        for u in range(ptr[q], ptr[q + 1]):
            for v in range(ptr[q], ptr[q + 1]):
                if y[u] <= y[v] or weights[q] == 0.0:
                    continue
                margin = 0.0
                for f in range(len(w)):
                    margin += w[f] * (X[u, f] - X[v, f])
                if margin <= 0.0:
                    mistakes += 1
                    for f in range(len(w)):
                        change = weights[q] * (X[u, f] - X[v, f])
                        w[f] += change
                        late[f] += seen * change
                seen += 1
    return seen, mistakes


@njit(**KERNEL)
def margin_range(scores: Floats, y: Floats, ptr: Ints) -> tuple[float, float]:
    """The smallest and the largest margin s_u − s_v over pairs with y_u > y_v; (∞, −∞) without pairs."""
    low, high = np.inf, -np.inf
    for q in range(len(ptr) - 1):
        for u in range(ptr[q], ptr[q + 1]):
            for v in range(ptr[q], ptr[q + 1]):
                if y[u] > y[v]:
                    low = min(low, scores[u] - scores[v])
                    high = max(high, scores[u] - scores[v])
    return low, high


@njit(**KERNEL)
def margin_sums(scores: Floats, y: Floats, ptr: Ints) -> tuple[int, float, int]:
    """The number of pairs, the sum of their squared margins, and the number of margins not above 0."""
    count, square, wrong = 0, 0.0, 0
    for q in range(len(ptr) - 1):
        for u in range(ptr[q], ptr[q + 1]):
            for v in range(ptr[q], ptr[q + 1]):
                if y[u] > y[v]:
                    margin = scores[u] - scores[v]
                    count += 1
                    square += margin * margin
                    wrong += margin <= 0.0
    return count, square, wrong


@njit(**KERNEL)
def margin_counts(scores: Floats, y: Floats, ptr: Ints, edges: Floats, counts: Ints, border: float) -> int:
    """Count margins per bin of equal width (the last includes its upper edge), and those below the border."""
    bins = len(counts)
    low, width = edges[0], (edges[-1] - edges[0]) / bins
    far = 0
    for q in range(len(ptr) - 1):
        for u in range(ptr[q], ptr[q + 1]):
            for v in range(ptr[q], ptr[q + 1]):
                if y[u] > y[v]:
                    margin = scores[u] - scores[v]
                    counts[min(max(int((margin - low) / width), 0), bins - 1)] += 1
                    far += margin < border
    return far


@njit(**KERNEL, error_model="numpy")
def crossings(
    scores: Floats,
    column: Floats,
    gain: Floats,
    discount: Floats,
    ptr: Ints,
    queries: Ints,
    shares: Floats,
    times: Floats,
    changes: Floats,
) -> tuple[int, float]:
    """Where Σ share_q·Σ_i gain_i·discount(rank of i) changes when scores move by t·column, and by how much.

    Fills ``times`` with the t at which a document with a gain changes its rank, and ``changes`` with the
    change of the sum. Returns their number and the sum at t = −∞. Equal scores keep their order in the input.
    """
    count, start = 0, 0.0
    longest = 0
    for q in queries:
        longest = max(longest, ptr[q + 1] - ptr[q])
    falling, order, moves = np.empty(longest), np.empty(longest, np.int64), np.empty(longest, np.int64)
    depth = len(discount)
    for q in queries:
        for i in range(ptr[q], ptr[q + 1]):
            worth = shares[q] * gain[i]
            if worth == 0.0:
                continue
            above, met = 0, 0
            for j in range(ptr[q], ptr[q + 1]):
                steeper = column[j] - column[i]
                if steeper != 0.0:
                    falling[met] = (scores[j] - scores[i]) / steeper  # minus the time of the crossing
                    moves[met] = 1 if steeper > 0.0 else -1
                    above += steeper < 0.0
                    met += 1
                elif j != i:
                    above += scores[j] > scores[i] or (scores[j] == scores[i] and j < i)
            falling_order(falling[:met], order[:met])
            now = discount[above] if above < depth else 0.0
            start += worth * now
            for place in range(met):
                above += moves[order[place]]
                after = discount[above] if above < depth else 0.0
                if after != now:
                    times[count], changes[count] = -falling[order[place]], worth * (after - now)
                    count += 1
                now = after
    return count, start
