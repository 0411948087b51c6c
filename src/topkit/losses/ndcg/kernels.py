"""Numba kernels of the losses modelled on NDCG; discounts follow the current order of the scores."""

from __future__ import annotations

import math

import numpy as np

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.losses.base import WHOLE, Block
from topkit.losses.kernels import (
    LANES,
    PLAIN,
    end_of_tie,
    exp,
    extent,
    falling_order,
    log_one_plus,
    longest_list,
    total_of,
    zeros_of_block,
)

LONG = 1000
"""Documents above which LambdaRank visits only the pairs of the first ranks."""


@njit(**PLAIN)
def current_discounts(s: Floats, k: int) -> tuple[Floats, Floats]:
    """The discount of each document at its rank, 0 beyond rank k; ties share the mean of their ranks.

    The second array is the discount of a tie's first rank minus that of its last: what a tied document may
    gain.
    """
    n = len(s)
    order, middle, spread = np.empty(n, np.int64), np.empty(n), np.empty(n)
    falling_order(s, order)
    start = 0
    while start < n:
        stop = end_of_tie(s, order, start)
        total, first, final = 0.0, 0.0, 0.0
        for rank in range(start, stop):
            discount = 1.0 / math.log2(rank + 2.0) if rank < k else 0.0
            total += discount
            first = discount if rank == start else first
            final = discount
        for rank in range(start, stop):
            middle[order[rank]] = total / (stop - start)
            spread[order[rank]] = first - final
        start = stop
    return middle, spread


@njit(**PLAIN)
def long_lambdarank(
    s: Floats, gain: Floats, ideal: float, k: int, slope: Floats, bend: Floats
) -> tuple[float, int]:
    """LambdaRank of one long list: fills slope and bend, and returns the value and the pairs visited.

    Only pairs with a document in the first k ranks are visited (the first LONG ranks if k is the whole list).
    Documents with the same score and gain are one class, so that a list of equal scores, as before the first
    step of training, is not a list of n² pairs.
    """
    n = len(s)
    by_gain, by_score = np.empty(n, np.int64), np.empty(n, np.int64)
    middle, spread = current_discounts(s, k)
    falling_order(gain, by_gain)
    falling_order(s[by_gain], by_score)
    order = by_gain[by_score]  # by score, then by gain, both descending
    first = np.empty(n + 1, np.int64)  # the first place of each class
    counted = np.empty(n, np.bool_)  # whether the tie of a class starts within the counted ranks
    depth, classes, tie = k if k < WHOLE else LONG, 0, 0
    for place in range(n):
        i = order[place]
        new_score = place == 0 or s[i] != s[order[place - 1]]
        if new_score:
            tie = place
        if new_score or gain[i] != gain[order[place - 1]]:
            first[classes] = place
            counted[classes] = tie < depth
            classes += 1
    first[classes] = n
    total, visited = 0.0, 0
    pull, curve = np.zeros(classes), np.zeros(classes)
    for x in range(classes):
        if not counted[x]:
            break
        i, many = order[first[x]], float(first[x + 1] - first[x])
        for y in range(x + 1, classes):
            j, others = order[first[y]], float(first[y + 1] - first[y])
            visited += 1
            better = 1.0 if gain[i] > gain[j] else -1.0
            swap = spread[i] if s[i] == s[j] else abs(middle[i] - middle[j])
            weight = abs(gain[i] - gain[j]) * swap / ideal
            margin = better * (s[i] - s[j])
            power = math.exp(-abs(margin))
            wrong = (power if margin >= 0.0 else 1.0) / (1.0 + power)
            bending = weight * wrong * (1.0 - wrong)
            total += many * others * weight * (max(-margin, 0.0) + math.log1p(power))
            pull[x] -= better * others * weight * wrong
            pull[y] += better * many * weight * wrong
            curve[x] += others * bending
            curve[y] += many * bending
    for x in range(classes):
        for place in range(first[x], first[x + 1]):
            slope[order[place]] = pull[x]
            bend[order[place]] = curve[x]
    return total, visited


def lambdarank(scores: Floats, gains: Floats, ideal: Floats, ptr: Ints, k: int, curved: bool) -> Block:
    """Σ |ΔNDCG@k of swapping u and v| · log(1 + e^−(s_u − s_v)) over pairs with gain_u > gain_v."""
    block: Block = short_lambdarank(scores, gains, ideal, ptr, k, curved)
    long = np.flatnonzero((np.diff(ptr) > LONG) & (ideal > 0.0))
    for q in long.tolist():
        rows = slice(ptr[q], ptr[q + 1])
        bend = np.zeros(rows.stop - rows.start)
        block[0][q], _ = long_lambdarank(scores[rows], gains[rows], ideal[q], k, block[1][rows], bend)
        if curved:
            block[2][rows] = bend
    return block


@njit(**LANES)
def short_lambdarank(scores: Floats, gains: Floats, ideal: Floats, ptr: Ints, k: int, curved: bool) -> Block:
    """LambdaRank of the lists with at most LONG documents; others are left at 0.

    The inner loop has no branch and no call, so that it runs in vector registers: pairs in the wrong order
    have the weight 0.
    """
    values, gradient, curvature = zeros_of_block(scores, ptr, True)
    for q in range(len(ptr) - 1):
        a, b = ptr[q], ptr[q + 1]
        if ideal[q] <= 0.0 or b - a > LONG:
            continue
        s, gain, slope, bend = scores[a:b], gains[a:b], gradient[a:b], curvature[a:b]
        middle, spread = current_discounts(s, k)
        lowest = gain[0]
        for u in range(len(s)):
            lowest = gain[u] if gain[u] < lowest else lowest
        total = 0.0
        for u in range(len(s)):
            if gain[u] == lowest:
                continue
            top, worth, place, tied = s[u], gain[u], middle[u], spread[u]
            pull, curve, value = 0.0, 0.0, 0.0
            for v in range(len(s)):
                more = worth - gain[v]
                swap = tied if top == s[v] else abs(place - middle[v])
                weight = (more if more > 0.0 else 0.0) * swap
                margin = top - s[v]
                power = exp(-abs(margin))
                inverse = 1.0 / (1.0 + power)
                wrong = (power if margin >= 0.0 else 1.0) * inverse
                value += weight * ((-margin if margin < 0.0 else 0.0) + log_one_plus(power))
                force = weight * wrong
                bending = force * (1.0 - wrong)
                slope[v] += force
                bend[v] += bending
                pull += force
                curve += bending
            slope[u] -= pull
            bend[u] += curve
            total += value
        values[q] = total / ideal[q]
        for i in range(len(s)):
            slope[i] /= ideal[q]
            bend[i] /= ideal[q]
    return values, gradient, curvature


@njit(**LANES)
def soft_ndcg(
    scores: Floats, gains: Floats, ideal: Floats, ptr: Ints, k: int, sigma: float, curved: bool
) -> Block:
    """1 − Σ_i g_i Σ_j c_j h_ij / DCG*; h_i is a softmax over j of −(s_i − s_j)²/σ, c_j the discount of j."""
    values, gradient, curvature = zeros_of_block(scores, ptr, curved)
    near = np.empty(longest_list(ptr))
    for q in range(len(ptr) - 1):
        if ideal[q] <= 0.0:
            continue
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        s, gain, slope, bend = scores[a : a + n], gains[a : a + n], gradient[a : a + n], np.zeros(n)
        discount, _ = current_discounts(s, k)
        total = 0.0
        for i in range(n):
            if gain[i] <= 0.0:
                continue
            mass, expected = 0.0, 0.0
            for j in range(n):
                gap = s[i] - s[j]
                near[j] = exp(-gap * gap / sigma)
                mass += near[j]
                expected += near[j] * discount[j]
            expected /= mass
            total += gain[i] * expected
            share = 2.0 * gain[i] / (mass * sigma * ideal[q])
            push, curve = 0.0, 0.0
            for j in range(n):
                pull = share * near[j] * (discount[j] - expected) * (s[i] - s[j])
                size = share * near[j] * abs(discount[j] - expected)
                slope[j] -= pull
                bend[j] += size
                push += pull
                curve += size
            slope[i] += push
            bend[i] += curve
        values[q] = 1.0 - total / ideal[q]
        low, high = extent(s)
        if low == high:  # no order yet: point towards the ideal one
            mean = total_of(gain) / n
            for i in range(n):
                slope[i] = (mean - gain[i]) / ideal[q]
                bend[i] = 1.0
        if curved:
            for i in range(n):
                curvature[a + i] = bend[i]
    return values, gradient, curvature
