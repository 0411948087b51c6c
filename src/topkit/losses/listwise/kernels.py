"""Numba kernels of the listwise losses. Query q is rows ptr[q]:ptr[q+1]; outputs have the full length."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topkit.losses.kernels import (
    LANES,
    PLAIN,
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

PLAIN_SPREAD = 300.0
"""Range of a query's scores up to which e^s and the squares of its sums stay inside float64."""


@njit(**LANES)
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


@njit(**LANES)
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


@njit(**PLAIN)
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


@njit(**PLAIN)
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


@njit(**LANES)
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

    Sums run from the bottom up, so that nothing is lost by subtraction.
    """
    most = longest_list(item_ptr, first, last)
    t, below, slope, bend = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    curved = len(curvature) > 0
    for q in range(first, last):
        a, b, t0, t1 = ptr[q], ptr[q + 1], item_ptr[q], item_ptr[q + 1]
        s, out = scores[a:b], gradient[a:b]
        item, tie, weight = items[t0:t1], group[t0:t1], share[t0:t1]
        if t0 == t1:
            out[:] = 0.0
            if curved:
                curvature[a:b] = 0.0
            continue
        top = largest(s)
        if top - smallest(s) <= PLAIN_SPREAD:
            for i in range(len(s)):
                out[i] = exp(s[i] - top)
            value, pull, pull2 = _plain_choices(s, out, top, item, tie, weight, t, below, slope, bend)
        else:
            value, pull, pull2 = _wide_choices(s, out, item, tie, weight, t, below, slope, bend)
        values[q] = value
        if curved:
            curve = curvature[a:b]
            for i in range(len(s)):
                curve[i] = out[i] * (pull - out[i] * pull2)
            for j in range(len(item)):
                curve[item[j]] = bend[j]
        for i in range(len(s)):
            out[i] *= pull
        for j in range(len(item)):
            out[item[j]] = slope[j]


@njit(**LANES)
def _plain_choices(
    s: Floats,
    power: Floats,
    top: float,
    item: NDArray[np.int32],
    tie: NDArray[np.int32],
    weight: Floats,
    t: Floats,
    below: Floats,
    slope: Floats,
    bend: Floats,
) -> tuple[float, float, float]:
    """Loss, and pulls on the documents not chosen, from power = e^(s − top); slope and bend of the chosen.

    The chosen rows of ``power`` are set to 0.
    """
    m = len(item)
    for j in range(m):
        t[j] = power[item[j]]
        power[item[j]] = 0.0
    total = 0.0
    for i in range(len(power)):
        total += power[i]
    value = 0.0
    j = m
    while j > 0:  # sums of what each choice was made from, from the last tie to the first
        g = tie[j - 1]
        chosen, scored = 0.0, 0.0
        for i in range(g, j):
            total += t[i]
            chosen += weight[i]
            scored += weight[i] * s[item[i]]
        value += chosen * (top + math.log(total)) - scored
        below[g], bend[g] = total, chosen
        j = g
    pull, pull2 = 0.0, 0.0
    while j < m:  # how hard the choices so far pull a document down
        g = j
        more = bend[g] / below[g]
        pull += more
        pull2 += more / below[g]
        while j < m and tie[j] == g:
            slope[j] = t[j] * pull - weight[j]
            bend[j] = t[j] * (pull - t[j] * pull2)
            j += 1
    return value, pull, pull2


@njit(**LANES)
def _wide_choices(
    s: Floats,
    power: Floats,
    item: NDArray[np.int32],
    tie: NDArray[np.int32],
    weight: Floats,
    t: Floats,
    level: Floats,
    slope: Floats,
    bend: Floats,
) -> tuple[float, float, float]:
    """The same for any range of scores: sums are kept relative to the largest score in them.

    Fills ``power`` relative to the sum that the last choice was made from.
    """
    m = len(item)
    power[:] = s
    for j in range(m):
        t[j] = s[item[j]]
        power[item[j]] = -np.inf
    top = largest(power)
    total, value = 0.0, 0.0
    for i in range(len(s)):
        total += exp(power[i] - top)
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
    pull, pull2, before = 0.0, 0.0, level[0]
    for j in range(m):
        if tie[j] == j:
            fall = exp(level[j] - before)
            pull, pull2, before = pull * fall, pull2 * fall * fall, level[j]
            i = j
            while i < m and tie[i] == j:
                pull += weight[i]
                pull2 += weight[i]
                i += 1
        p = exp(t[j] - before)
        slope[j] = p * pull - weight[j]
        bend[j] = p * (pull - p * pull2)
    for i in range(len(s)):
        power[i] = exp(power[i] - before)
    return value, pull, pull2
