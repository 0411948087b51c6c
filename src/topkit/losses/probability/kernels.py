"""Numba kernels of the losses with probabilities."""

from __future__ import annotations

import math

import numpy as np

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.losses.base import Block
from topkit.losses.kernels import LANES, PLAIN, exp, extent, falling_order, total_of, zeros_of_block

MOST_STEPS = 100
"""Steps of the search for a threshold; bisection alone needs about 60."""
NEAR = 1e-13
"""Relative change of a threshold that ends the search: its square is the error of the loss."""


@njit(**PLAIN)
def shared_place_weights(values: Floats, ptr: Ints, place_weights: Floats) -> Floats:
    """The weight of the place of each document by descending value; equal values share their weights.

    Places after the last weight have weight 0, and the weights of a query sum to 1.
    """
    weights = np.zeros(len(values))
    for q in range(len(ptr) - 1):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        order = np.empty(n, np.int64)
        falling_order(values[a : a + n], order)
        total = 0.0
        for place in range(min(n, len(place_weights))):
            total += place_weights[place]
        start = 0
        while start < n and start < len(place_weights):
            stop, share = start, 0.0
            while stop < n and values[a + order[stop]] == values[a + order[start]]:
                share += place_weights[stop] if stop < len(place_weights) else 0.0
                stop += 1
            for place in range(start, stop):
                weights[a + order[place]] = share / (total * (stop - start))
            start = stop
    return weights


@njit(**LANES)
def fitted_threshold(s: Floats, weights: Floats, target: float, total: float) -> float:
    """The b with Σ_i w_i·σ(s_i − b) = target, by Newton steps inside a bracket."""
    low, high = extent(s)
    b, odds = 0.0, math.log(target / (total - target))
    for i in range(len(s)):
        b += weights[i] * s[i] / total
    low, high, b = low - max(odds, 0.0) - 1.0, high - min(odds, 0.0) + 1.0, b - odds
    for _ in range(MOST_STEPS):
        reached, slope = 0.0, 0.0
        for i in range(len(s)):
            gap = s[i] - b
            power = exp(-abs(gap))
            inverse = 1.0 / (1.0 + power)
            reached += weights[i] * (1.0 if gap >= 0.0 else power) * inverse
            slope += weights[i] * power * inverse * inverse
        if reached > target:
            low = b
        else:
            high = b
        newton = b + (reached - target) / slope if slope > 0.0 else b
        step = newton if low < newton < high else (low + high) / 2.0
        near = abs(step - b) <= NEAR * max(abs(b), 1.0)
        b = step
        if near:
            break
    return float(b)


@njit(**PLAIN)
def ordinal(scores: Floats, order: Ints, above: Ints, weights: Floats, ptr: Ints, curved: bool) -> Block:
    """Logistic losses of "at least this grade" at the best threshold of each grade of a query."""
    values, gradient, curvature = zeros_of_block(scores, ptr, True)
    for q in range(len(ptr) - 1):
        a, n = ptr[q], ptr[q + 1] - ptr[q]
        s, weight, slope, bend = (
            scores[a : a + n],
            weights[a : a + n],
            gradient[a : a + n],
            curvature[a : a + n],
        )
        force = np.empty(n)
        everything = total_of(weight)
        target = 0.0
        for place in range(n):
            first = above[a + place]  # the documents before it are the higher grades
            if first == place and place > 0 and 0.0 < target < everything:
                b = fitted_threshold(s, weight, target, everything)
                total = 0.0
                for j in range(n):
                    i = order[a + j]
                    gap = s[i] - b
                    power = math.exp(-abs(gap))
                    probability = (1.0 if gap >= 0.0 else power) / (1.0 + power)
                    higher = 1.0 if j < place else 0.0
                    values[q] += weight[i] * (max(gap, 0.0) + math.log1p(power) - higher * gap)
                    slope[i] += weight[i] * (probability - higher)
                    force[i] = weight[i] * probability * (1.0 - probability)
                    total += force[i]
                for i in range(n):
                    bend[i] += force[i] * (1.0 - force[i] / total) if total > 0.0 else 0.0
            target += weight[order[a + place]]
    return values, gradient, curvature if curved else np.empty(0)
