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
from numba import njit
from numpy.typing import NDArray

from topkit.losses.base import Block
from topkit.losses.kernels import PLAIN, exp, longest_list

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Scaled = tuple[Floats, Floats, Floats]
"""e^s of one query relative to the largest, the second and the third largest score."""
Tops = tuple[int, int, float, float]
"""Rows of the largest and of the second largest score; second and third largest relative to the largest."""


@njit(**PLAIN)
def scale_powers(s: Floats, scaled: Scaled) -> tuple[Tops, tuple[float, float, float]]:
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
def first_then(j: int, i: int, first: int, scaled: Scaled, sums: tuple[float, float, float]) -> float:
    """The probability that j is at place 1 and i at place 2."""
    chosen = scaled[0][j] / sums[0]
    if j == first:
        return float(chosen * scaled[1][i] / sums[1])
    return float(chosen * scaled[0][i] / (sums[0] - scaled[0][j]))


@njit(**PLAIN)
def top_m_entropy(scores: Floats, labels: Floats, target: Floats, ptr: Ints, m: int, curved: bool) -> Block:
    """−Σ P_y(group)·log P_s(group) over the groups of the first min(m, n − 1) places of each query.

    ``target`` is the expected number of times that each document is in the group. With scores equal to labels
    and a target of 0, the gradient is that number.
    """
    values, gradient = np.zeros(len(ptr) - 1), np.zeros(len(scores))
    curvature = np.zeros(len(scores) if curved else 0)
    room = longest_list(ptr)
    by_score = (np.empty(room), np.empty(room), np.empty(room))
    by_label = (np.empty(room), np.empty(room), np.empty(room))
    # weights over sums, for sets on the first two scales: the part of each document that a set leaves out
    out, out_squared = np.empty((2, room)), np.empty((2, room))
    for q in range(len(ptr) - 1):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        if n < 2:
            continue
        places = min(m, n - 1)
        s = scores[a : a + n]
        (first, second, gap, wide_gap), sums = scale_powers(s, by_score)
        (best, _, _, _), label_sums = scale_powers(labels[a : a + n], by_label)
        for scale in range(2):
            for i in range(n):
                out[scale, i] = 0.0
                out_squared[scale, i] = 0.0
        value = math.log(sums[0])
        total, total_squared = np.zeros(3), np.zeros(3)
        total[0] = 1.0 / sums[0]
        total_squared[0] = total[0] * total[0]
        for j in range(n if places > 1 else 0):
            weight = by_label[0][j] / label_sums[0]
            scale = 1 if j == first else 0
            rest = sums[1] if j == first else sums[0] - by_score[0][j]
            value += weight * (math.log(rest) + (gap if j == first else 0.0))
            total[scale] += weight / rest
            total_squared[scale] += weight / (rest * rest)
            if scale == 0:
                out[0, j] += weight / rest
                out_squared[0, j] += weight / (rest * rest)
        for j in range(n if places > 2 else 0):
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
                    out[scale, j] += weight / rest
                    out[scale, i] += weight / rest
                    out_squared[scale, j] += weight / (rest * rest)
                    out_squared[scale, i] += weight / (rest * rest)
        for i in range(n):
            value -= target[a + i] * (s[i] - s[first])
            slope, bend = 0.0, 0.0
            for scale in range(3):  # powers are 0 on the scales of sums that leave the document out
                power = by_score[scale][i]
                left, left_squared = total[scale], total_squared[scale]
                if scale < 2:
                    left, left_squared = left - out[scale, i], left_squared - out_squared[scale, i]
                slope += power * left
                bend += power * left - power * power * left_squared
            gradient[a + i] = slope - target[a + i]
            if curved:
                curvature[a + i] = max(bend, 0.0)
        values[q] = value
    return values, gradient, curvature
