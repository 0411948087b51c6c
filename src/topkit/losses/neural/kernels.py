"""Numba kernels on the soft permutation of NeuralSort.

Row i of its matrix is the softmax over documents j of ((n + 1 − 2i)·s_j − Σ_l |s_j − s_l|)/T, with i from 1:
the distribution of the document at place i.
"""

from __future__ import annotations

import math

import numpy as np

from topkit.compute import Floats, Ints, Ints32
from topkit.compute.jit import njit
from topkit.losses.base import Block
from topkit.losses.kernels import LANES, PLAIN, exp, largest, zeros_of_block
from topkit.losses.ndcg import Relevance
from topkit.losses.neural import Places

SMALLEST_SUM = 1e-12
"""Columns with a smaller sum are not rescaled: the document is at no place."""


@njit(**LANES)
def place_scores(s: Floats, temperature: float, places: int) -> Floats:
    """The arguments of the softmax of each of the first places: one row per place."""
    n = len(s)
    spread, z = np.zeros(n), np.empty((places, n))
    for j in range(n):
        for other in range(n):
            spread[j] += abs(s[j] - s[other])
    for i in range(places):
        row, factor = z[i], float(n - 1 - 2 * i)
        for j in range(n):
            row[j] = (factor * s[j] - spread[j]) / temperature
    return z


@njit(**LANES)
def pull_back(s: Floats, pulls: Floats, temperature: float, slope: Floats, bend: Floats) -> None:
    """Add the gradient by the scores, from the gradient by the arguments of each softmax.

    The curvature is the same sum with absolute values, over the temperature.
    """
    places, n = pulls.shape
    by_spread = np.zeros(n)
    for i in range(places):
        row, factor = pulls[i], float(n - 1 - 2 * i) / temperature
        for j in range(n):
            slope[j] += factor * row[j]
            bend[j] += abs(factor * row[j]) / temperature
            by_spread[j] -= row[j] / temperature
    for j in range(n):
        for other in range(n):
            gap = s[j] - s[other]
            side = 1.0 if gap > 0.0 else (-1.0 if gap < 0.0 else 0.0)
            slope[j] += side * (by_spread[j] + by_spread[other])
            bend[j] += abs(side) * (abs(by_spread[j]) + abs(by_spread[other])) / temperature


@njit(**PLAIN)
def place_entropy(
    scores: Floats, places: Places, ptr: Ints, k: int, temperature: float, curved: bool
) -> Block:
    """−Σ_{i≤k} w_i·log Σ_j P_ij / k of each query; j runs over the documents that may be at place i."""
    values, gradient, curvature = zeros_of_block(scores, ptr, True)
    for q in range(len(ptr) - 1):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        if n < 2 or places.below[a] == n:  # all labels are equal
            continue
        s, rows = scores[a : a + n], places.order[a : a + n]
        z = place_scores(s, temperature, min(k, n))
        tie = 0  # the first place of the tie of labels
        for i in range(len(z)):
            if i >= 1 and places.below[a + i] != places.below[a + i - 1]:
                tie = i
            share = places.weights[a + i] / len(z)
            values[q] += share * place_surprise(z[i], rows[tie : places.below[a + i]], share)
        pull_back(s, z, temperature, gradient[a : a + n], curvature[a : a + n])
    return values, gradient, curvature if curved else np.empty(0)


@njit(**PLAIN)
def place_surprise(z: Floats, right: Ints32, share: float) -> float:
    """−log of the probability that one of the right documents is at a place.

    Replaces the arguments of the softmax by the gradient of share times this.
    """
    best, best_right = largest(z), -np.inf
    for j in right:
        best_right = max(best_right, z[j])
    total, total_right = 0.0, 0.0
    for j in right:
        total_right += exp(z[j] - best_right)
    is_right = np.zeros(len(z))
    for j in right:
        is_right[j] = exp(z[j] - best_right) / total_right
    for j in range(len(z)):
        total += exp(z[j] - best)
    for j in range(len(z)):
        z[j] = share * (exp(z[j] - best) / total - is_right[j])
    return float(best - best_right + math.log(total) - math.log(total_right))


@njit(**PLAIN)
def neural_ndcg(
    scores: Floats, relevance: Relevance, ptr: Ints, k: int, temperature: float, rescalings: int, curved: bool
) -> Block:
    """1 − Σ_{i≤k} d_i·(P·g)_i / ideal of each query, with P rescaled to rows and columns of sum 1."""
    values, gradient, curvature = zeros_of_block(scores, ptr, True)
    for q in range(len(ptr) - 1):
        if relevance.ideal[q] <= 0.0:
            continue
        a, b = ptr[q], ptr[q + 1]
        s, n = scores[a:b], b - a
        discount = np.zeros(n)
        for i in range(min(k, n)):
            discount[i] = 1.0 / (math.log2(i + 2.0) * relevance.ideal[q])
        P = place_scores(s, temperature, n)
        for i in range(n):
            row, best, total = P[i], largest(P[i]), 0.0
            for j in range(n):
                row[j] = exp(row[j] - best)
                total += row[j]
            for j in range(n):
                row[j] /= total
        reached, pulls = rescaled_dcg(P, discount, relevance.gains[a:b], rescalings)
        values[q] = 1.0 - reached
        for i in range(n):  # through the softmax of each row
            row, pull, mean = P[i], pulls[i], 0.0
            for j in range(n):
                mean += row[j] * pull[j]
            for j in range(n):
                pull[j] = row[j] * (mean - pull[j])
        pull_back(s, pulls, temperature, gradient[a:b], curvature[a:b])
    return values, gradient, curvature if curved else np.empty(0)


@njit(**LANES)
def rescaled_dcg(P: Floats, discount: Floats, gain: Floats, rescalings: int) -> tuple[float, Floats]:
    """Σ_ij d_i r_i P_ij c_j g_j and its gradient by P; r and c alternately make columns and rows sum to 1."""
    n = len(P)
    columns, rows = np.ones((rescalings + 1, n)), np.ones((rescalings + 1, n))
    sums = np.empty(n)
    for step in range(1, rescalings + 1):
        r, c = rows[step - 1], columns[step]
        for j in range(n):
            sums[j] = 0.0
        for i in range(n):
            for j in range(n):
                sums[j] += P[i, j] * r[i]
        for j in range(n):
            c[j] = 1.0 / sums[j] if sums[j] > SMALLEST_SUM else 0.0
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += P[i, j] * c[j]
            rows[step, i] = 1.0 / total if total > SMALLEST_SUM else 0.0
    pulls, by_row, by_column = np.empty((n, n)), np.zeros(n), np.zeros(n)
    reached = 0.0
    r, c = rows[rescalings], columns[rescalings]
    for i in range(n):
        for j in range(n):
            pulls[i, j] = discount[i] * r[i] * c[j] * gain[j]
            reached += pulls[i, j] * P[i, j]
            by_row[i] += discount[i] * P[i, j] * c[j] * gain[j]
            by_column[j] += discount[i] * r[i] * P[i, j] * gain[j]
    for step in range(rescalings, 0, -1):
        r, c, earlier = rows[step], columns[step], rows[step - 1]
        for i in range(n):
            back = -by_row[i] * r[i] * r[i]
            for j in range(n):
                pulls[i, j] += back * c[j]
                by_column[j] += back * P[i, j]
        for i in range(n):
            by_row[i] = 0.0
            for j in range(n):
                back = -by_column[j] * c[j] * c[j]
                pulls[i, j] += back * earlier[i]
                by_row[i] += back * P[i, j]
        for j in range(n):
            by_column[j] = 0.0
    return reached, pulls
