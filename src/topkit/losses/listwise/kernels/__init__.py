"""Numba kernels of the listwise losses. Query q is rows ptr[q]:ptr[q+1] of the block."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.losses.base import Block
from topkit.losses.kernels import LANES, exp, extent, largest, longest_list, zeros_of_block
from topkit.losses.listwise import Choices
from topkit.losses.sorted_labels import chosen_rows

Chosen = tuple[NDArray[np.int32], NDArray[np.int32], Floats]
"""Rows, tie groups and weights of the chosen documents of one query."""

Room = tuple[Floats, Floats, Floats, Floats]
"""Scratch space for the chosen documents, and their slopes and bends."""

PLAIN_SPREAD = 300.0
"""Range of a query's scores up to which e^s and the squares of its sums fit float64."""


@njit(**LANES)
def cross_entropy(scores: Floats, psi: Floats, ptr: Ints, curved: bool) -> Block:
    """ListNet: −Σ_j softmax(ψ)_j · log softmax(s)_j of each query."""
    values, gradient = np.zeros(len(ptr) - 1), np.empty(len(scores))
    curvature = np.empty(len(scores) if curved else 0)
    target = np.empty(longest_list(ptr))
    for q in range(len(ptr) - 1):
        a, b = ptr[q], ptr[q + 1]
        if a == b:
            continue
        s, truth, slope = scores[a:b], psi[a:b], gradient[a:b]
        top_score, top_psi = largest(s), largest(truth)
        mass, total, cross = 0.0, 0.0, 0.0
        for i in range(len(s)):
            likely, power = exp(truth[i] - top_psi), exp(s[i] - top_score)
            target[i] = likely
            slope[i] = power
            mass += likely
            total += power
            cross += likely * (s[i] - top_score)
        values[q] = math.log(total) - cross / mass
        per_mass, per_total = 1.0 / mass, 1.0 / total
        if curved:
            bend = curvature[a:b]
            for i in range(len(s)):
                p = slope[i] * per_total
                bend[i] = p * (1.0 - p)
        for i in range(len(s)):
            slope[i] = slope[i] * per_total - target[i] * per_mass
    return values, gradient, curvature


@njit(**LANES)
def cosine(scores: Floats, psi: Floats, ptr: Ints, curved: bool) -> Block:
    """RankCosine: ½(1 − cos(ψ, s)) of each query; if s = 0 the value is ½ and the gradient −½ψ/‖ψ‖."""
    values, gradient = np.zeros(len(ptr) - 1), np.empty(len(scores))
    curvature = np.empty(len(scores) if curved else 0)
    for q in range(len(ptr) - 1):
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
        if curved:
            bend = 0.5 / (norm * norm) if pp > 0.0 else 0.0
            for i in range(a, b):
                curvature[i] = bend
        values[q] = 0.5 * (1.0 - cos)
    return values, gradient, curvature


def top_choices(labels: Floats, ptr: Ints, k: int) -> Choices:
    """The chosen documents of each query, by descending label."""
    return Choices(*chosen_rows(labels, ptr, k))


def likelihood(scores: Floats, choices: Choices, ptr: Ints, curved: bool) -> Block:
    """Top-k ListMLE: Σ_i c_i [logsumexp over documents not above i − s_i] over the chosen documents."""
    block: Block = plain_likelihood(scores, choices, ptr, curved)
    wide = np.flatnonzero(np.isneginf(block[0]))
    if len(wide):
        wide_likelihood(scores, choices, ptr, curved, wide, *block)
    return block


@njit(**LANES)
def plain_likelihood(scores: Floats, choices: Choices, ptr: Ints, curved: bool) -> Block:
    """The likelihood of queries whose scores lie within PLAIN_SPREAD; the value of the others is −∞.

    Sums run from the bottom up, so no precision is lost by subtraction.
    """
    values, gradient, curvature = zeros_of_block(scores, ptr, curved)
    most = longest_list(choices.ptr)
    power, below, pulled = np.empty(most), np.empty(most), np.empty(most)
    for q in range(len(ptr) - 1):
        a, b, t0, t1 = ptr[q], ptr[q + 1], choices.ptr[q], choices.ptr[q + 1]
        if t0 == t1:
            continue
        s, slope = scores[a:b], gradient[a:b]
        item, tie, weight = choices.rows[t0:t1], choices.group[t0:t1], choices.weight[t0:t1]
        m = len(item)
        low, top = extent(s)
        if top - low > PLAIN_SPREAD:
            values[q] = -np.inf
            continue
        for i in range(len(s)):
            slope[i] = exp(s[i] - top)
        for j in range(m):  # documents that are chosen leave the sum, and come back one by one
            power[j] = slope[item[j]]
            slope[item[j]] = 0.0
        total = 0.0
        for i in range(len(s)):
            total += slope[i]
        value = 0.0
        j = m
        while j > 0:  # sums of e^s over the set of each choice, from the last tie to the first
            g = tie[j - 1]
            chosen = 0.0
            for i in range(g, j):
                total += power[i]
                chosen += weight[i]
                value -= weight[i] * s[item[i]]
            value += chosen * (top + math.log(total))
            below[g], pulled[g] = total, chosen
            j = g
        values[q] = value
        pull, pull2 = 0.0, 0.0
        for j in range(m):  # the sums of the downward pulls of the choices so far
            if tie[j] == j:
                more = pulled[j] / below[j]
                pull += more
                pull2 += more / below[j]
            below[j], pulled[j] = pull, pull2
        if curved:
            bend = curvature[a:b]
            for i in range(len(s)):
                bend[i] = slope[i] * (pull - slope[i] * pull2)
            for j in range(m):
                bend[item[j]] = power[j] * (below[j] - power[j] * pulled[j])
        for i in range(len(s)):
            slope[i] *= pull
        for j in range(m):
            slope[item[j]] = power[j] * below[j] - weight[j]
    return values, gradient, curvature


@njit(**LANES)
def wide_likelihood(
    scores: Floats,
    choices: Choices,
    ptr: Ints,
    curved: bool,
    queries: Ints,
    values: Floats,
    gradient: Floats,
    curvature: Floats,
) -> None:
    """The same for queries with any range of scores; fills their values, slopes and bends."""
    most = longest_list(choices.ptr)
    slope, bend = np.empty(most), np.empty(most)
    room = (np.empty(most), np.empty(most), slope, bend)
    for q in queries:
        a, b, t0, t1 = ptr[q], ptr[q + 1], choices.ptr[q], choices.ptr[q + 1]
        s, out, item = scores[a:b], gradient[a:b], choices.rows[t0:t1]
        chosen = (item, choices.group[t0:t1], choices.weight[t0:t1])
        values[q], pull, pull2 = wide_choices(s, out, chosen, room)
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
def wide_choices(s: Floats, power: Floats, choice: Chosen, room: Room) -> tuple[float, float, float]:
    """Loss and pulls on documents that are not chosen; fills slope and bend of those that are.

    Sums are kept relative to their largest score.

    Fills ``power`` relative to the sum over the set of the last choice.
    """
    item, tie, weight = choice
    t, level, slope, bend = room
    m = len(item)
    for i in range(len(s)):
        power[i] = s[i]
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
