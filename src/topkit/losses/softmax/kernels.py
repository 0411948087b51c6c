"""Numba kernels of the softmax losses. Query q is rows ptr[q]:ptr[q+1] of the block."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.losses.base import Block
from topkit.losses.kernels import LANES, PLAIN, exp, largest, longest_list, zeros_of_block
from topkit.losses.listwise import Choices


@njit(**LANES)
def cross_entropy(
    scores: Floats, masses: Floats, ptr: Ints, epsilon: float, anchor: float, curved: bool
) -> Block:
    """Σ_i m_i (log Z − s_i) + anchor·log Z + ε(1 − Σ_i m_i/M · p_i), with Z = Σ e^s, plus 1 if anchor > 0."""
    values, gradient, curvature = zeros_of_block(scores, ptr, curved)
    for q in range(len(ptr) - 1):
        a, b = ptr[q], ptr[q + 1]
        s, mass, slope = scores[a:b], masses[a:b], gradient[a:b]
        total_mass, scored = anchor, 0.0
        for i in range(len(s)):
            total_mass += mass[i]
        if a == b or total_mass <= 0.0:
            continue
        top = largest(s)
        total = 0.0
        if anchor > 0.0:
            top = max(top, 0.0)
            total = exp(-top)
            scored = -anchor * top
        target = 0.0
        for i in range(len(s)):
            slope[i] = exp(s[i] - top)
            total += slope[i]
            scored += mass[i] * (s[i] - top)
            target += mass[i] * slope[i]
        per_total = 1.0 / total
        target *= per_total / total_mass
        extra = epsilon if epsilon > 0.0 else 0.0
        values[q] = total_mass * math.log(total) - scored + extra * (1.0 - target)
        for i in range(len(s)):
            p = slope[i] * per_total
            gap = p * (mass[i] / total_mass - target)
            slope[i] = total_mass * p - mass[i] - extra * gap
            if curved:
                curvature[a + i] = total_mass * p * (1.0 - p) + extra * abs(gap)
    return values, gradient, curvature


@njit(**PLAIN)
def against_lower_labels(scores: Floats, choices: Choices, gains: Floats, ptr: Ints, curved: bool) -> Block:
    """Σ_i g_i·log(1 + e^(L_i − s_i)), with L_i the logsumexp of the scores of all lower labels.

    Sums are kept relative to their largest score, so any range of scores is exact.
    """
    values, gradient, curvature = zeros_of_block(scores, ptr, curved)
    bend, level = np.empty(longest_list(ptr)), np.empty(longest_list(choices.ptr))
    for q in range(len(ptr) - 1):
        a, b, t0, t1 = ptr[q], ptr[q + 1], choices.ptr[q], choices.ptr[q + 1]
        if t0 == t1:
            continue
        s, gain, slope = scores[a:b], gains[a:b], gradient[a:b]
        item, tie = choices.rows[t0:t1], choices.group[t0:t1]
        chosen = fill_levels(s, item, tie, level)
        # pulls of the ties so far on a document below them, relative to e^before
        pull, pull2, before = 0.0, 0.0, level[0]
        start = 0
        while start < len(item):
            lower, stop = level[start], start
            more, more2 = 0.0, 0.0
            while stop < len(item) and tie[stop] == start:
                i = item[stop]
                gap = lower - s[i]
                power = math.exp(-abs(gap))
                wrong = (power if gap < 0.0 else 1.0) / (1.0 + power)
                share = math.exp(s[i] - before) if start > 0 else 0.0
                values[q] += gain[i] * (max(gap, 0.0) + math.log1p(power))
                slope[i] = share * pull - gain[i] * wrong
                bend[i] = gain[i] * wrong * (1.0 - wrong) + share * (pull - share * pull2)
                more += gain[i] * wrong
                more2 += gain[i] * wrong * wrong
                stop += 1
            fall = math.exp(lower - before)
            pull, pull2, before = pull * fall + more, pull2 * fall * fall + more2, lower
            start = stop
        for i in range(b - a):
            if not chosen[i]:
                share = math.exp(s[i] - before)
                slope[i] = share * pull
                bend[i] = share * (pull - share * pull2)
            if curved:
                curvature[a + i] = bend[i]
    return values, gradient, curvature


@njit(**PLAIN)
def fill_levels(
    s: Floats, item: NDArray[np.int32], tie: NDArray[np.int32], level: Floats
) -> NDArray[np.bool_]:
    """Fill the logsumexp of all lower labels for each chosen document; returns which are chosen."""
    chosen = np.zeros(len(s), np.bool_)
    for j in range(len(item)):
        chosen[item[j]] = True
    top, total = -np.inf, 0.0
    for i in range(len(s)):
        if not chosen[i]:
            top = max(top, s[i])
    for i in range(len(s)):
        if not chosen[i]:
            total += math.exp(s[i] - top)
    last = len(item)
    while last > 0:
        first = tie[last - 1]
        below = top + math.log(total)
        for j in range(first, last):
            level[j] = below
        for j in range(first, last):
            score = s[item[j]]
            if score > top:
                total *= math.exp(top - score)
                top = score
            total += math.exp(score - top)
        last = first
    return chosen
