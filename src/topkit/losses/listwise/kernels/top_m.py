"""Numba kernel of ListNet with top-m probabilities, m ≤ 3, without listing the n!/(n−m)! groups.

The probability of a group (g_1, …, g_m) is Π_t e^(s_g_t) / (sum of e^s over the documents that are not among
g_1…g_(t−1)). The cross entropy needs the expected logarithm of these sums. The first sum is the same for all
groups, the second depends on g_1 and the third on {g_1, g_2}, so the cost is linear for m = 2 and quadratic
for m = 3.

A sum without the largest terms would lose its digits if it were computed by subtraction. There are therefore
three scales: relative to the largest score, for sums that contain it; to the second largest, for sums without
the largest; to the third largest, for the sum without both. Each sum is then at least 1.
"""

from __future__ import annotations

import math

import numpy as np

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.losses.base import Block
from topkit.losses.kernels import PLAIN, exp, longest_list, zeros_of_block

Scaled = tuple[Floats, Floats, Floats]
"""e^s of one query relative to the largest, the second and the third largest score."""
Sums = tuple[float, float, float]
"""Sums of these powers, each without the larger terms."""
Tops = tuple[int, int, float, float]
"""Rows of the largest and of the second largest score; second and third largest relative to the largest."""
Weights = tuple[Floats, Floats, Floats, Floats]
"""Weight over sum, and weight over squared sum, of the sets of documents that are already placed: two totals
per scale, and two parts per document on the first two scales, for the sets that contain the document."""


@njit(**PLAIN)
def scale_powers(s: Floats, scaled: Scaled) -> tuple[Tops, Sums]:
    """Fill the powers of one query of at least two documents; also their sums, each without larger terms."""
    by_first, by_second, by_third = scaled
    first, second = 0, -1
    for i in range(1, len(s)):
        if s[i] > s[first]:
            first = i
    for i in range(len(s)):
        if i != first and (second < 0 or s[i] > s[second]):
            second = i
    third_score = -np.inf
    for i in range(len(s)):
        if i != first and i != second:
            third_score = max(third_score, s[i])
    sums = (0.0, 0.0, 0.0)
    for i in range(len(s)):
        by_first[i] = exp(s[i] - s[first])
        by_second[i] = exp(s[i] - s[second]) if i != first else 0.0
        by_third[i] = exp(s[i] - third_score) if i != first and i != second else 0.0
        sums = (sums[0] + by_first[i], sums[1] + by_second[i], sums[2] + by_third[i])
    return (first, second, s[second] - s[first], third_score - s[first]), sums


@njit(**PLAIN)
def first_then(j: int, i: int, first: int, scaled: Scaled, sums: Sums) -> float:
    """The probability that j is at place 1 and i at place 2."""
    chosen = scaled[0][j] / sums[0]
    if j == first:
        return float(chosen * scaled[1][i] / sums[1])
    return float(chosen * scaled[0][i] / (sums[0] - scaled[0][j]))


@njit(**PLAIN)
def clear(weights: Weights, n: int) -> None:
    """Set all weights of one query to 0."""
    total, total_squared, inside, inside_squared = weights
    for scale in range(3):
        total[scale] = 0.0
        total_squared[scale] = 0.0
    for scale in range(2):
        for i in range(n):
            inside[scale, i] = 0.0
            inside_squared[scale, i] = 0.0


@njit(**PLAIN)
def add_single_sets(
    value: float,
    first: int,
    gap: float,
    by_score: Scaled,
    sums: Sums,
    label_powers: Floats,
    label_sum: float,
    n: int,
    weights: Weights,
) -> float:
    """Add the expected log of the sums without the document at place 1 to the value, and their weights."""
    total, total_squared, inside, inside_squared = weights
    for j in range(n):
        weight = label_powers[j] / label_sum
        scale = 1 if j == first else 0
        rest = sums[1] if j == first else sums[0] - by_score[0][j]
        value += weight * (math.log(rest) + (gap if j == first else 0.0))
        total[scale] += weight / rest
        total_squared[scale] += weight / (rest * rest)
        if scale == 0:
            inside[0, j] += weight / rest
            inside_squared[0, j] += weight / (rest * rest)
    return value


@njit(**PLAIN)
def add_double_sets(
    value: float,
    tops: Tops,
    by_score: Scaled,
    sums: Sums,
    best: int,
    by_label: Scaled,
    label_sums: Sums,
    n: int,
    weights: Weights,
) -> float:
    """The same for the sums without the documents at places 1 and 2."""
    first, second, gap, wide_gap = tops
    total, total_squared, inside, inside_squared = weights
    for j in range(n):
        for i in range(j + 1, n):
            weight = first_then(j, i, best, by_label, label_sums)
            weight += first_then(i, j, best, by_label, label_sums)
            if first != j and first != i:
                scale, shift, rest = 0, 0.0, sums[0] - by_score[0][j] - by_score[0][i]
            elif second != j and second != i:
                scale, shift, rest = 1, gap, sums[1] - by_score[1][j] - by_score[1][i]
            else:
                scale, shift, rest = 2, wide_gap, sums[2]
            value += weight * (math.log(rest) + shift)
            total[scale] += weight / rest
            total_squared[scale] += weight / (rest * rest)
            if scale < 2:
                inside[scale, j] += weight / rest
                inside[scale, i] += weight / rest
                inside_squared[scale, j] += weight / (rest * rest)
                inside_squared[scale, i] += weight / (rest * rest)
    return value


@njit(**PLAIN)
def derivatives(i: int, by_score: Scaled, weights: Weights) -> tuple[float, float]:
    """Slope and curvature of the expected log sums in the score of document i."""
    total, total_squared, inside, inside_squared = weights
    slope, bend = 0.0, 0.0
    for scale in range(3):  # powers are 0 on the scales of sums that leave the document out
        power = by_score[scale][i]
        left, left_squared = total[scale], total_squared[scale]
        if scale < 2:
            left, left_squared = left - inside[scale, i], left_squared - inside_squared[scale, i]
        slope += power * left
        bend += power * left - power * power * left_squared
    return slope, bend


@njit(**PLAIN)
def top_m_entropy(scores: Floats, labels: Floats, target: Floats, ptr: Ints, m: int, curved: bool) -> Block:
    """−Σ P_y(group)·log P_s(group) over the groups of the first min(m, n − 1) places of each query.

    ``target`` is the expected number of times that each document is in the group. With scores equal to labels
    and a target of 0, the gradient is that number.
    """
    values, gradient, curvature = zeros_of_block(scores, ptr, curved)
    room = longest_list(ptr)
    by_score = (np.empty(room), np.empty(room), np.empty(room))
    by_label = (np.empty(room), np.empty(room), np.empty(room))
    weights = (np.empty(3), np.empty(3), np.empty((2, room)), np.empty((2, room)))
    for q in range(len(ptr) - 1):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        if n < 2:
            continue
        places = min(m, n - 1)
        s = scores[a : a + n]
        tops, sums = scale_powers(s, by_score)
        first, _, gap, _ = tops
        (best, _, _, _), label_sums = scale_powers(labels[a : a + n], by_label)
        clear(weights, n)
        value = math.log(sums[0])
        weights[0][0] = 1.0 / sums[0]
        weights[1][0] = weights[0][0] * weights[0][0]
        if places > 1:
            value = add_single_sets(value, first, gap, by_score, sums, by_label[0], label_sums[0], n, weights)
        if places > 2:
            value = add_double_sets(value, tops, by_score, sums, best, by_label, label_sums, n, weights)
        for i in range(n):
            value -= target[a + i] * (s[i] - s[first])
            slope, bend = derivatives(i, by_score, weights)
            gradient[a + i] = slope - target[a + i]
            if curved:
                curvature[a + i] = max(bend, 0.0)
        values[q] = value
    return values, gradient, curvature
