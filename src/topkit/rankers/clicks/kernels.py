"""Numba kernels of the click-and-label ranker: exact moment matching, one event at a time.

For a Gaussian belief N(m, v) about s and a likelihood with normaliser Z(m), the posterior has mean
m + v·(ln Z)' and variance v + v²·(ln Z)''. With s = Σ x_i w_i and independent weights, the update of w_i is
mean_i += x_i·v_i·(ln Z)' and v_i += (x_i·v_i)²·(ln Z)''. Both are exact for each weight separately.
"""

from __future__ import annotations

import math

import numpy as np

from topkit.compute import Bools, Floats, Floats32, Ints
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL

ROOT_HALF = math.sqrt(0.5)
ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
SMALLEST = 1e-12
"""Less likely events are skipped: their update would be dominated by rounding errors."""

# Gauss–Legendre nodes and weights of 20 points on (0, 1).
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
NODES, WEIGHTS = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS


@njit(**KERNEL)
def normal_cdf(x: float) -> float:
    """Φ(x)."""
    return 0.5 * math.erfc(-x * ROOT_HALF)


@njit(**KERNEL)
def normal_pdf(x: float) -> float:
    """φ(x)."""
    return math.exp(-0.5 * x * x) / ROOT_TWO_PI


@njit(**KERNEL)
def both_above(a: float, b: float, r: float) -> float:
    """P(U > −a, V > −b) for standard normal U, V of correlation −1 < r ≤ 0.

    It is Φ(a)Φ(b) + ∫_0^r φ₂(a, b; t) dt. With t = −sin θ the integrand varies on the scale of cos θ. Halving
    the remaining interval each time cos θ halves keeps every piece smooth enough for 20 points.
    """
    end = math.asin(-r)
    pieces = 2 + int(-math.log2(max(math.cos(end), 1e-9)))
    total, left = 0.0, 0.0
    for piece in range(pieces):
        right = end if piece == pieces - 1 else left + 0.5 * (end - left)
        part = 0.0
        for i in range(len(NODES)):
            theta = left + (right - left) * NODES[i]
            cosine = math.cos(theta)
            part += WEIGHTS[i] * math.exp(
                -0.5 * (a * a + b * b + 2.0 * a * b * math.sin(theta)) / (cosine * cosine)
            )
        total += part * (right - left)
        left = right
    probability: float = normal_cdf(a) * normal_cdf(b) - total / (2.0 * math.pi)
    return max(probability, 0.0)


@njit(**KERNEL, forceinline=True)
def belief_of(
    mean: Floats, variance: Floats, X: Floats32, row: int, slots: Ints, e: int
) -> tuple[float, float]:
    """Mean and variance of s for event e with the features X[row] (none if negative)."""
    m, v = 0.0, 0.0
    for j in range(slots.shape[1]):
        m += mean[slots[e, j]]
        v += variance[slots[e, j]]
    if row >= 0:
        for f in range(X.shape[1]):
            x = X[row, f]
            m += x * mean[f]
            v += x * x * variance[f]
    return m, v


@njit(**KERNEL, forceinline=True)
def update_weights(
    mean: Floats, variance: Floats, X: Floats32, row: int, slots: Ints, e: int, slope: float,
    bend: float,
) -> None:  # fmt: skip
    """Update the weights of event e by slope = (ln Z)' and bend = −(ln Z)''."""
    for j in range(slots.shape[1]):
        i = slots[e, j]
        mean[i] += variance[i] * slope
        variance[i] -= variance[i] * variance[i] * bend
    if row >= 0:
        for f in range(X.shape[1]):
            pull = X[row, f] * variance[f]
            mean[f] += pull * slope
            variance[f] -= pull * pull * bend


@njit(**KERNEL)
def learn_clicks(
    mean: Floats,
    variance: Floats,
    noise: Floats,
    share: Floats,
    X: Floats32,
    row: Ints,
    slots: Ints,
    clicked: Bools,
) -> float:
    """One pass over examined documents; returns the sum of their predictive log-likelihoods.

    Event e has the features X[row[e]] (none if negative), which belong to weights 0, 1, …, and the weights
    ``slots[e]`` with input 1. The noise is integrated out: P(click | s) = Σ share_k·Φ(s/√noise_k).
    """
    kinds = len(noise)
    total = 0.0
    for e in range(len(clicked)):
        m, v = belief_of(mean, variance, X, row[e], slots, e)
        t = 1.0 if clicked[e] else -1.0
        z, slope, bend = 0.0, 0.0, 0.0
        for k in range(kinds):
            scale = 1.0 / math.sqrt(v + noise[k])
            h = t * m * scale
            density = share[k] * normal_pdf(h) * scale
            z += share[k] * normal_cdf(h)
            slope += density
            bend += h * density * scale
        total += math.log(max(z, SMALLEST))
        if z < SMALLEST:
            continue
        slope /= z
        bend = slope * slope + bend / z  # −(ln Z)''
        update_weights(mean, variance, X, row[e], slots, e, t * slope, bend)
    return total


@njit(**KERNEL)
def interval(m: float, v: float, low: float, low_v: float, high: float, high_v: float, out: Floats) -> None:
    """Z = P(b₁ < z < b₂) for independent Gaussians z, b₁, b₂, and its first and second derivatives.

    ``out`` gets Z, then the first and second derivative in the means of z, b₁ and b₂. A boundary with an
    infinite mean does not exist.
    """
    for i in range(len(out)):
        out[i] = 0.0
    s1, s2 = math.sqrt(v + low_v), math.sqrt(v + high_v)
    if low == -math.inf and high == math.inf:
        out[0] = 1.0
    elif low == -math.inf:
        h = (high - m) / s2
        out[0], first = normal_cdf(h), normal_pdf(h) / s2
        out[1], out[2], out[5], out[6] = -first, -h * first / s2, first, -h * first / s2
    elif high == math.inf:
        h = (m - low) / s1
        out[0], first = normal_cdf(h), normal_pdf(h) / s1
        out[1], out[2], out[3], out[4] = first, -h * first / s1, -first, -h * first / s1
    else:
        h1, h2, r = (m - low) / s1, (high - m) / s2, -v / (s1 * s2)
        root = math.sqrt(max(1.0 - r * r, 1e-300))
        a1 = normal_pdf(h1) * normal_cdf((h2 - r * h1) / root)
        a2 = normal_pdf(h2) * normal_cdf((h1 - r * h2) / root)
        both = normal_pdf(h1) * normal_pdf((h2 - r * h1) / root) / root
        bend1, bend2 = (-h1 * a1 - r * both) / (s1 * s1), (-h2 * a2 - r * both) / (s2 * s2)
        out[0] = both_above(h1, h2, r)
        out[1], out[2] = a1 / s1 - a2 / s2, bend1 + bend2 - 2.0 * both / (s1 * s2)
        out[3], out[4], out[5], out[6] = -a1 / s1, bend1, a2 / s2, bend2


@njit(**KERNEL)
def temper(v: float, slope: float, bend: float, weight: float) -> tuple[float, float]:
    """Slope and curvature of a likelihood to the power ``weight``, from those of the likelihood itself.

    v is the variance of the belief.
    """
    left = max(1.0 - v * bend, 1e-12)  # posterior variance divided by v
    after = v / (1.0 + weight * (1.0 / left - 1.0))
    # v·slope = (posterior variance)·(what the likelihood adds to mean/variance)
    return weight * (slope / left) * after / v, (v - after) / (v * v)


@njit(**KERNEL)
def learn_grades(
    mean: Floats,
    variance: Floats,
    bound: Floats,
    bound_variance: Floats,
    noise: Floats,
    share: Floats,
    X: Floats32,
    slots: Ints,
    level: Ints,
    weight: Floats,
) -> float:
    """One pass over graded documents: s plus noise lies between the boundaries of its level.

    ``bound`` holds −∞, the boundaries between levels, and ∞. All grades share one noise variance, one of
    ``noise``; its probabilities ``share`` are updated by Bayes' rule. Returns the sum of log-likelihoods.
    """
    kinds = len(noise)
    parts, sums, z_of = np.empty(7), np.empty(7), np.empty(kinds)
    total = 0.0
    for e in range(len(level)):
        if weight[e] == 0.0:
            continue
        m, v = belief_of(mean, variance, X, e, slots, e)
        low, high = level[e], level[e] + 1
        for i in range(len(sums)):
            sums[i] = 0.0
        for k in range(kinds):
            interval(
                m, v + noise[k], bound[low], bound_variance[low], bound[high], bound_variance[high], parts
            )
            for i in range(len(sums)):
                sums[i] += share[k] * parts[i]
            z_of[k] = parts[0]
        z = sums[0]
        total += weight[e] * math.log(max(z, SMALLEST))
        if z < SMALLEST:
            continue
        shares = 0.0
        for k in range(kinds):
            share[k] *= (z_of[k] / z) ** weight[e]
            shares += share[k]
        for k in range(kinds):
            share[k] /= shares
        slope = sums[1] / z
        slope, bend = temper(v, slope, slope * slope - sums[2] / z, weight[e])
        update_weights(mean, variance, X, e, slots, e, slope, bend)
        for side, at in ((0, low), (1, high)):
            if not math.isinf(bound[at]):
                slope = sums[3 + 2 * side] / z
                slope, bend = temper(
                    bound_variance[at], slope, slope * slope - sums[4 + 2 * side] / z, weight[e]
                )
                bound[at] += bound_variance[at] * slope
                bound_variance[at] -= bound_variance[at] * bound_variance[at] * bend
    return total


@njit(**KERNEL)
def predict(mean: Floats, variance: Floats, X: Floats32, row: Ints, slots: Ints, out: Floats) -> None:
    """Mean and variance of s for each event."""
    for e in range(len(slots)):
        out[e, 0], out[e, 1] = belief_of(mean, variance, X, row[e], slots, e)
