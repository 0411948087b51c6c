"""Numba kernels of the listwise losses. Query q is rows ptr[q]:ptr[q+1]; outputs have the full length."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topkit.losses.kernels import (
    LANES,
    count_from,
    exp,
    falling_order,
    kth_largest,
    largest,
    longest_list,
    next_above,
    smallest,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True, nogil=True, fastmath=LANES)
def cross_entropy(
    scores: Floats,
    psi: Floats,
    ptr: Ints,
    first: int,
    last: int,
    values: Floats,
    gradient: Floats,
    curvature: Floats,
) -> None:
    """ListNet: −Σ_j softmax(ψ)_j · log softmax(s)_j of each query."""
    target = np.empty(longest_list(ptr, first, last))
    for q in range(first, last):
        a, b = ptr[q], ptr[q + 1]
        if a == b:
            continue
        s, truth, slope = scores[a:b], psi[a:b], gradient[a:b]
        top_score, top_psi = largest(s), largest(truth)
        mass, total, cross = 0.0, 0.0, 0.0
        for i in range(len(s)):
            wanted, power = exp(truth[i] - top_psi), exp(s[i] - top_score)
            target[i] = wanted
            slope[i] = power
            mass += wanted
            total += power
            cross += wanted * (s[i] - top_score)
        values[q] = math.log(total) - cross / mass
        per_mass, per_total = 1.0 / mass, 1.0 / total
        if len(curvature) > 0:
            bend = curvature[a:b]
            for i in range(len(s)):
                p = slope[i] * per_total
                bend[i] = p * (1.0 - p)
        for i in range(len(s)):
            slope[i] = slope[i] * per_total - target[i] * per_mass


@njit(cache=True, nogil=True, fastmath=LANES)
def cosine(
    scores: Floats,
    psi: Floats,
    ptr: Ints,
    first: int,
    last: int,
    values: Floats,
    gradient: Floats,
    curvature: Floats,
) -> None:
    """RankCosine: ½(1 − cos(ψ, s)) of each query; where s = 0 the value is ½ and the gradient −½ψ/‖ψ‖."""
    for q in range(first, last):
        a, b = ptr[q], ptr[q + 1]
        s, truth, slope = scores[a:b], psi[a:b], gradient[a:b]
        dot, ss, pp = 0.0, 0.0, 0.0
        for i in range(len(s)):
            dot += truth[i] * s[i]
            ss += s[i] * s[i]
            pp += truth[i] * truth[i]
        norm = math.sqrt(ss) if ss > 0.0 else 1.0
        length = norm * math.sqrt(pp)
        cos = dot / length if pp > 0.0 else 1.0
        along_psi = -0.5 / length if pp > 0.0 else 0.0
        along_s = 0.5 * cos / (norm * norm) if pp > 0.0 else 0.0
        for i in range(len(s)):
            slope[i] = along_psi * truth[i] + along_s * s[i]
        if len(curvature) > 0:
            curvature[a:b] = 0.5 / (norm * norm) if pp > 0.0 else 0.0
        values[q] = 0.5 * (1.0 - cos)


@njit(cache=True, nogil=True)
def find_borders(labels: Floats, ptr: Ints, k: int, borders: Floats, counts: Ints) -> None:
    """The least label that a top-k likelihood chooses in each query, and how many documents have it or more.

    It is the k-th largest label, but never the lowest one of the list: when only documents of the lowest
    label are left, nothing is known of their order.
    """
    for q in range(len(ptr) - 1):
        y = labels[ptr[q] : ptr[q + 1]]
        counts[q] = 0
        borders[q] = np.inf
        if len(y) < 2:
            continue
        border, low = kth_largest(y, k), smallest(y)
        if border == low:
            border = next_above(y, low)
        borders[q], counts[q] = border, count_from(y, border)


@njit(cache=True, nogil=True)
def fill_choices(
    labels: Floats,
    ptr: Ints,
    k: int,
    borders: Floats,
    item_ptr: Ints,
    items: NDArray[np.int32],
    group: NDArray[np.int32],
    share: Floats,
) -> None:
    """List the chosen documents of each query, best label first: row, first place of its ties, weight.

    The weight of a choice is 1, or for ties at the border the share of the places left.
    """
    longest = longest_list(ptr, 0, len(ptr) - 1) + 1
    rows, chosen, order = np.empty(longest, np.int64), np.empty(longest), np.empty(longest, np.int64)
    for q in range(len(ptr) - 1):
        y, t0, m = labels[ptr[q] : ptr[q + 1]], item_ptr[q], item_ptr[q + 1] - item_ptr[q]
        found, above = 0, 0
        for i in range(len(y)):  # without a branch: a row that is not wanted is written over by the next
            rows[found] = i
            found += y[i] >= borders[q]
            above += y[i] > borders[q]
        for j in range(m):
            chosen[j] = y[rows[j]]
        falling_order(chosen[:m], order[:m])
        for j in range(m):
            items[t0 + j] = rows[order[j]]
            tie = j > 0 and chosen[order[j]] == chosen[order[j - 1]]
            group[t0 + j] = group[t0 + j - 1] if tie else j
            share[t0 + j] = 1.0 if j < above else min(1.0, (k - above) / (m - above))


@njit(cache=True, nogil=True, fastmath=LANES)
def likelihood(
    scores: Floats,
    item_ptr: Ints,
    items: NDArray[np.int32],
    group: NDArray[np.int32],
    share: Floats,
    ptr: Ints,
    first: int,
    last: int,
    values: Floats,
    gradient: Floats,
    curvature: Floats,
) -> None:
    """Top-k ListMLE: Σ_i c_i [logsumexp over documents not above i − s_i] over the chosen documents.

    Sums run from the bottom up relative to the largest score seen, so no range of scores over- or underflows.
    """
    most = longest_list(item_ptr, first, last)
    t, level, slope, bend = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    curved = len(curvature) > 0
    for q in range(first, last):
        a, b, t0, t1 = ptr[q], ptr[q + 1], item_ptr[q], item_ptr[q + 1]
        s, out = scores[a:b], gradient[a:b]
        item, tie, weight = items[t0:t1], group[t0:t1], share[t0:t1]
        m = len(item)
        if m == 0:
            out[:] = 0.0
            if curved:
                curvature[a:b] = 0.0
            continue
        # the documents that are never chosen, relative to their largest score
        for i in range(len(s)):
            out[i] = s[i]
        for j in range(m):
            t[j] = s[item[j]]
            out[item[j]] = -np.inf
        rest_top = largest(out)
        total = 0.0
        for i in range(len(s)):
            power = exp(out[i] - rest_top)
            out[i] = power
            total += power
        # log-sums of the choices, from the last group to the first
        top, value = rest_top, 0.0
        j = m
        while j > 0:
            g = tie[j - 1]
            for i in range(g, j):
                if t[i] > top:
                    total *= exp(top - t[i])
                    top = t[i]
                total += exp(t[i] - top)
            log_sum = top + math.log(total)
            for i in range(g, j):
                level[i] = log_sum
                value += weight[i] * (log_sum - t[i])
            j = g
        values[q] = value
        # how hard the choices so far pull a document down, from the first group to the last
        pull, pull2, before = 0.0, 0.0, level[0]
        j = 0
        while j < m:
            fall = exp(level[j] - before)
            pull, pull2, before = pull * fall, pull2 * fall * fall, level[j]
            g = j
            while g < m and tie[g] == j:
                pull += weight[g]
                pull2 += weight[g]
                g += 1
            for i in range(j, g):
                p = exp(t[i] - before)
                slope[i] = p * pull - weight[i]
                bend[i] = p * (pull - p * pull2)
            j = g
        reach = exp(rest_top - before)
        if curved:
            curve = curvature[a:b]
            for i in range(len(s)):
                p = out[i] * reach
                curve[i] = p * (pull - p * pull2)
            for j in range(m):
                curve[item[j]] = bend[j]
        for i in range(len(s)):
            out[i] *= reach * pull
        for j in range(m):
            out[item[j]] = slope[j]
