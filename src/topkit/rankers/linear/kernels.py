"""Numba kernels of the linear rankers: the perceptron, crossings of scores, histograms of pair margins."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats, Floats32, Ints
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL
from topkit.metrics.compiled.kernels import falling_order

FEW = 24
"""Up to this many values are kept in order by insertion."""


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


@njit(**KERNEL)
def largest_values(values: Floats, keep: int, order: Ints, kept: Floats) -> int:
    """Fill ``kept`` with the largest values in descending order, at most ``keep`` of them; their number."""
    count = min(len(values), keep)
    if keep > FEW:
        falling_order(values, order)
        for i in range(count):
            kept[i] = values[order[i]]
        return count
    held = 0
    for i in range(len(values)):
        value = values[i]
        if held == count and value <= kept[held - 1]:
            continue  # most values end here: no sort is needed
        place = min(held, count - 1)
        while place > 0 and kept[place - 1] < value:
            kept[place] = kept[place - 1]
            place -= 1
        kept[place] = value
        held = min(held + 1, count)
    return count


@njit(**KERNEL, error_model="numpy")
def crossings(
    scores: Floats,
    column: Floats32,
    gain: Floats,
    discount: Floats,
    ptr: Ints,
    queries: Ints,
    shares: Floats,
    times: Floats,
    changes: Floats,
) -> int:
    """Where Σ share_q·Σ_i gain_i·discount(rank of i) changes when scores move by t·column, and by how much.

    Fills ``times`` with the t at which a document with a gain changes its rank, and ``changes`` with the
    change of the sum. Returns their number. Equal scores keep their order in the input.

    Documents with a smaller slope start above document i and fall below it; those with a larger one rise
    above it. While ``room`` or more of either are above it, its rank is beyond the depth, so only the last
    ``room`` that fall and the first ``room`` that rise have to be sorted.
    """
    count, longest = 0, 0
    for q in queries:
        longest = max(longest, ptr[q + 1] - ptr[q])
    slopes, order = np.empty(longest), np.empty(longest, np.int64)
    falls, rises = np.empty(longest), np.empty(longest)
    last_falls, first_rises = np.empty(longest), np.empty(longest)
    depth = len(discount)
    for q in queries:
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        for j in range(n):
            slopes[j] = column[a + j]
        for i in range(n):
            worth = shares[q] * gain[a + i]
            if worth == 0.0:
                continue
            always, falling, rising, score = 0, 0, 0, scores[a + i]
            for j in range(n):  # without branches, which the processor could not predict
                steeper = slopes[j] - slopes[i]
                higher = scores[a + j] - score
                minus_time = higher / steeper
                falls[falling], rises[rising] = -minus_time, minus_time
                falling += steeper < 0.0
                rising += steeper > 0.0
                always += (steeper == 0.0) & ((higher > 0.0) | ((higher == 0.0) & (j < i)))
            room = depth - always
            if room <= 0:
                continue
            now = discount[always + falling] if falling < room else 0.0
            fall = largest_values(falls[:falling], room, order, last_falls)
            rise_count = largest_values(rises[:rising], room, order, first_rises)
            rise, above = 0, always + fall
            while fall > 0 or rise < rise_count:
                if fall > 0 and (rise == rise_count or last_falls[fall - 1] <= -first_rises[rise]):
                    fall -= 1
                    above -= 1
                    time = last_falls[fall]
                else:
                    time = -first_rises[rise]
                    rise += 1
                    above += 1
                after = discount[above] if above < depth else 0.0
                if after != now:
                    times[count], changes[count] = time, worth * (after - now)
                    count += 1
                now = after
    return count
