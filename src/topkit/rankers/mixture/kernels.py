"""Numba kernels: weighted sums of many calibrated scores of one classifier."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL


@njit(**KERNEL)
def add_shifts(
    f: Floats, reach: Floats, weights: Floats, gains: Floats, first: int, last: int, out: Floats
) -> None:
    """out += Σ_s weight_s·Σ_ℓ gain_ℓ·p_ℓ with p ∝ max(1 + f/reach_s, 0), uniform where all are 0."""
    K = f.shape[1]
    mean = 0.0
    for c in range(K):
        mean += gains[c]
    mean /= K
    for i in range(first, last):
        for s in range(len(reach)):
            total, value = 0.0, 0.0
            for c in range(K):
                part = max(1.0 + f[i, c] / reach[s], 0.0)
                total += part
                value += gains[c] * part
            out[i] += weights[s] * (value / total if total > 0.0 else mean)


@njit(**KERNEL)
def add_sigmoids(
    f: Floats,
    slope: Floats,
    centre: Floats,
    weights: Floats,
    gains: Floats,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """out += Σ_s weight_s·Σ_ℓ gain_ℓ·p_ℓ with p ∝ 1/(1 + exp(−slope_s·(f − centre_s)))."""
    K = f.shape[1]
    raised = np.empty(K)
    for i in range(first, last):
        for s in range(len(slope)):
            least = np.inf
            for c in range(K):
                raised[c] = -slope[s] * (f[i, c] - centre[s])
                least = min(least, raised[c])
            # Divide all sigmoids by the exponential of the largest one, so that their ratios stay finite.
            shift = max(least, 0.0)
            low = np.exp(-shift)
            total, value = 0.0, 0.0
            for c in range(K):
                part = 1.0 / (low + np.exp(min(raised[c] - shift, 700.0)))
                total += part
                value += gains[c] * part
            out[i] += weights[s] * value / total


@njit(**KERNEL)
def add_logistics(
    f: Floats, coefficients: Floats, weights: Floats, first: int, last: int, out: Floats
) -> None:
    """out += Σ_s weight_s/(1 + exp(−(coefficients_s·(f, 1))))."""
    K = f.shape[1]
    for i in range(first, last):
        for s in range(len(weights)):
            u = coefficients[s, K]
            for c in range(K):
                u += coefficients[s, c] * f[i, c]
            out[i] += weights[s] / (1.0 + np.exp(min(-u, 700.0)))


@njit(**KERNEL)
def add_polynomial(
    f: Floats,
    centre: Floats,
    spread: Floats,
    low: Floats,
    high: Floats,
    powers: Ints,
    coefficients: Floats,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """out += Σ_m coefficient_m·Π_c u_c^power_mc with u = (f − centre)/spread, clipped to low..high.

    Each monomial is an earlier monomial times one column; ``powers`` has (earlier, column).
    """
    K = f.shape[1]
    u = np.empty(K)
    value = np.empty(len(powers))
    for i in range(first, last):
        for c in range(K):
            u[c] = min(max((f[i, c] - centre[c]) / spread[c], low[c]), high[c])
        value[0] = 1.0
        total = coefficients[0]
        for m in range(1, len(powers)):
            value[m] = value[powers[m, 0]] * u[powers[m, 1]]
            total += coefficients[m] * value[m]
        out[i] += total


@njit(**KERNEL)
def add_networks(
    f: Floats, inner: Floats, outer: Floats, weights: Floats, first: int, last: int, out: Floats
) -> None:
    """out += Σ_s weight_s·(outer_s·(tanh(inner_s·(f, 1)), 1))."""
    K = f.shape[1]
    H = inner.shape[1]
    for i in range(first, last):
        for s in range(len(weights)):
            total = outer[s, H]
            for h in range(H):
                u = inner[s, h, K]
                for c in range(K):
                    u += inner[s, h, c] * f[i, c]
                total += outer[s, h] * np.tanh(u)
            out[i] += weights[s] * total
