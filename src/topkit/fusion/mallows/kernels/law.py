"""Numba kernels: the distribution of lists around a centre, and its inverse."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit

FLAT = 1e-5
"""Below j·|θ| = FLAT a variable on 0..j−1 is uniform to double precision; series replace the quotients."""


class Lists(NamedTuple):
    """The sizes of one ranker's lists, log j!, and scratch space for tables and the overlaps of one query."""

    pools: Ints
    depths: Ints
    lengths: Ints
    log_factorials: Floats
    tables: Floats
    room: Floats


@njit(cache=True, nogil=True)
def _fill(theta: float, logs: Floats, means: Floats, variances: Floats) -> None:
    """Sums over i ≤ j of log [i], and of mean and variance of v with P(v) ∝ e^{θv} on 0..i−1."""
    logs[0] = means[0] = variances[0] = 0.0
    for j in range(1, len(logs)):
        if -j * theta < FLAT:
            log, mean, variance = np.log(j) + theta * (j - 1) / 2, (j - 1) / 2, (j * j - 1) / 12
            mean += theta * variance
        else:
            once, times = np.expm1(min(-theta, 700.0)), np.expm1(min(-j * theta, 700.0))
            log = np.log(-np.expm1(j * theta)) - np.log(-np.expm1(theta))
            mean = 1 / once - j / times
            variance = (1 + 1 / once) / once - j * j * (1 + 1 / times) / times
        logs[j] = logs[j - 1] + log
        means[j] = means[j - 1] + mean
        variances[j] = variances[j - 1] + variance


@njit(cache=True, nogil=True)
def list_law(theta: float, lists: Lists) -> tuple[float, float, float]:
    """Σ_q log Z(θ), Σ_q E_θ(D) and Σ_q Var_θ(D) of the lists of one ranker; see ListLaw."""
    pools, depths, lengths, log_factorials, tables, room = lists
    logs, means, variances = tables[0], tables[1], tables[2]
    _fill(theta, logs, means, variances)
    total_log = total_mean = total_variance = 0.0
    for q in range(len(pools)):
        n, d, length = pools[q], depths[q], lengths[q]
        least, most = max(0, length - (n - d)), min(d, length)
        top = -np.inf
        for z in range(least, most + 1):
            r, s = d - z, length - z
            m = min(r, s)
            constant = r * s - m * (m - 1) / 2
            room[0, z - least] = (
                log_factorials[n - d] - log_factorials[n - d - s] + theta * constant
                + logs[length] - logs[s] + logs[d] - logs[z] - logs[r]
            )  # fmt: skip
            room[1, z - least] = constant + means[length] - means[s] + means[d] - means[z] - means[r]
            room[2, z - least] = variances[length] - variances[s] + variances[d] - variances[z] - variances[r]
            top = max(top, room[0, z - least])
        weight = first = second = 0.0
        for i in range(most - least + 1):
            p = np.exp(room[0, i] - top)
            weight += p
            first += p * room[1, i]
            second += p * (room[2, i] + room[1, i] ** 2)
        mean = first / weight
        total_log += top + np.log(weight)
        total_mean += mean
        total_variance += max(second / weight - mean * mean, 0.0)
    return total_log, total_mean, total_variance


@njit(cache=True, nogil=True)
def solve_theta(distance: float, near: float, limit: float, lists: Lists) -> float:
    """θ in [−limit, 0] with Σ_q E_θ(D) = distance, by Newton's method within a bracket."""
    _, chance, _ = list_law(0.0, lists)
    _, least, _ = list_law(-limit, lists)
    if distance >= chance:
        return 0.0
    if distance <= least:
        return -limit
    low, high, theta = -limit, 0.0, near
    for _ in range(200):
        if not low < theta < high:
            theta = (low + high) / 2
        _, mean, variance = list_law(theta, lists)
        if mean < distance:
            low = theta
        else:
            high = theta
        if abs(mean - distance) <= 1e-10 * chance or high - low < 1e-13:
            break
        theta = theta - (mean - distance) / variance if variance > 0.0 else low
    return theta
