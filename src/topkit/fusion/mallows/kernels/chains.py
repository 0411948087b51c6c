"""Numba kernels: Metropolis chains over lists.

Random numbers come from a splitmix64 state that the caller seeds, so a chain does not depend on the thread
that runs it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.compute.jit import njit
from topkit.fusion.kernels import augmented_distance

Places = NDArray[np.int32]
Table = NDArray[np.float32]
Draws = tuple[Floats, Floats, Floats]
"""Column sums of the support, the weight of each document when one is drawn, and sums of these weights."""


class Chain(NamedTuple):
    """The state of a Metropolis chain: documents by place, places by document, random state, m by ranker."""

    order: Ints
    place: Ints
    state: NDArray[np.uint64]
    missing: Ints


@njit(cache=True, nogil=True)
def all_distances(top: Ints, ranks: Places, lengths: Ints, out: Ints) -> None:
    """The distance of ``top`` to the list of every ranker."""
    tree = np.empty(lengths.max() + 1, np.int64)
    for i in range(len(ranks)):
        out[i] = augmented_distance(top, ranks[i], lengths[i], tree)


@njit(cache=True, nogil=True, inline="always")
def _random(state: NDArray[np.uint64]) -> float:
    """A number in [0, 1) from a splitmix64 state of one word."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True, nogil=True, inline="always")
def _margin(support: Table, a: int, b: int) -> float:
    """Weight for a above b minus weight for b above a."""
    return np.float64(support[a, b]) - np.float64(support[b, a])


@njit(cache=True, nogil=True)
def _move_inside(order: Ints, p: int, q: int, support: Table) -> float:
    """Change of the energy if the document at place p moves to place q and those between shift."""
    change = 0.0
    if p < q:
        for j in range(p + 1, q + 1):
            change += _margin(support, order[p], order[j])
    else:
        for j in range(q, p):
            change -= _margin(support, order[p], order[j])
    return change


@njit(cache=True, nogil=True)
def _move(order: Ints, place: Ints, p: int, q: int) -> None:
    """Move the document at place p to place q."""
    a = order[p]
    step = 1 if p < q else -1
    while p != q:
        order[p] = order[p + step]
        place[order[p]] = p
        p += step
    order[q] = a
    place[a] = q


@njit(cache=True, nogil=True)
def _swap_outside(order: Ints, depth: int, p: int, q: int, support: Table, column_sums: Floats) -> float:
    """Change of the pair part of the energy if the document at place q replaces the one at place p."""
    a, b = order[p], order[q]
    change = column_sums[b] - column_sums[a]
    for j in range(p):
        x = order[j]
        change += np.float64(support[x, a]) - np.float64(support[x, b])
    for j in range(p + 1, depth):
        x = order[j]
        change += np.float64(support[a, x]) - np.float64(support[b, x])
    return float(change)


@njit(cache=True, nogil=True)
def _candidates(support: Table, ranks: Places, weights: Floats) -> tuple[Floats, Floats]:
    """Column sums of the support, and the weight with which each document is drawn: its lists plus 0.1."""
    n = support.shape[0]
    column_sums, lists = np.zeros(n), np.zeros(n)
    for x in range(n):
        for a in range(n):
            column_sums[a] += support[x, a]
    for i in range(len(weights)):
        for a in range(n):
            lists[a] += weights[i] > 0.0 and ranks[i, a] > 0
    return column_sums, lists + 0.1


@njit(cache=True, nogil=True)
def _missing(top: Ints, ranks: Places, lengths: Ints) -> Ints:
    """m of each ranker: the smaller of both lengths minus the number of common documents."""
    missing = np.empty(len(lengths), np.int64)
    for i in range(len(lengths)):
        missing[i] = min(len(top), lengths[i])
        for p in range(len(top)):
            missing[i] -= ranks[i, top[p]] > 0
    return missing


@njit(cache=True, nogil=True)
def _with_overlap(change: float, leaving: Places, entering: Places, weights: Floats, missing: Ints) -> float:
    """The change of the energy plus that of its overlap part, for two documents given by their ranks."""
    for i in range(len(weights)):
        leaves, enters = leaving[i] > 0, entering[i] > 0
        if leaves and not enters:  # m grows by one, and m(m−1)/2 by m
            change -= weights[i] * missing[i]
        elif enters and not leaves:
            change += weights[i] * (missing[i] - 1)
    return change


@njit(cache=True, nogil=True)
def _try_move(chain: Chain, depth: int, scales: int, support: Table) -> tuple[bool, float]:
    """Perhaps move a document within the list; whether it moved, and the change of the energy."""
    order, place, state, _ = chain
    span = 1 + int(_random(state) * (1 << int(_random(state) * scales)))
    p = int(_random(state) * depth)
    q = p + span if _random(state) < 0.5 else p - span
    if not 0 <= q < depth:
        return False, 0.0
    change = _move_inside(order, p, q, support)
    if change > 0.0 and _random(state) >= np.exp(-change):
        return False, 0.0
    _move(order, place, p, q)
    return True, change


@njit(cache=True, nogil=True)
def _try_swap(
    chain: Chain, depth: int, support: Table, ranks: Places, weights: Floats, draws: Draws
) -> tuple[bool, float]:
    """Perhaps replace a document of the list; whether it was replaced, and the change of the energy."""
    order, place, state, missing = chain
    column_sums, lists, up_to = draws
    u = _random(state)
    p = depth - 1 - int(depth * u * u)
    a, b = order[p], np.searchsorted(up_to, _random(state) * up_to[-1], side="right")
    q = place[b]
    if q < depth:
        return False, 0.0
    change = _swap_outside(order, depth, p, q, support, column_sums)
    change = _with_overlap(change, ranks[:, a], ranks[:, b], weights, missing)
    if _random(state) * lists[b] >= np.exp(-change) * lists[a]:
        return False, 0.0
    for i in range(len(missing)):
        missing[i] += int(ranks[i, a] > 0) - int(ranks[i, b] > 0)
    order[p], order[q] = b, a
    place[a], place[b] = q, p
    return True, change


@njit(cache=True, nogil=True)
def metropolis(
    order: Ints, depth: int, support: Table, ranks: Places, lengths: Ints, weights: Floats,
    plan: tuple[int, int, int], seed: int, distances: Floats, places: Ints, energies: Floats,
) -> float:  # fmt: skip
    """Metropolis chain over lists of the first ``depth`` of n documents; returns the share of accepted moves.

    The target is exp(−Σ weights_i · distance_i). A step moves a document within the list, by a number of
    places drawn on a doubling scale, or (if depth < n) replaces one in the list, mostly near its end, by one
    from outside. Candidates are drawn in proportion to the number of their lists, which the acceptance
    corrects for. ``order`` holds the state. ``plan`` is (burn_in, samples, thin): every ``thin`` steps after
    ``burn_in``, a sample is added to ``distances`` (by ranker), ``places`` (document × place, if it has
    columns) and ``energies``.
    """
    n, rankers = len(order), len(lengths)
    burn_in, samples, thin = plan
    state = np.empty(1, np.uint64)
    state[0] = np.uint64(seed)
    scales = 1
    while (1 << scales) < depth:
        scales += 1
    place = np.empty(n, np.int64)
    for p in range(n):
        place[order[p]] = p
    column_sums, lists = _candidates(support, ranks, weights) if depth < n else (np.zeros(n), np.zeros(n))
    draws = (column_sums, lists, np.cumsum(lists))
    chain = Chain(order, place, state, _missing(order[:depth], ranks, lengths))
    current = np.empty(rankers, np.int64)
    all_distances(order[:depth], ranks, lengths, current)
    energy = 0.0
    for i in range(rankers):
        energy += weights[i] * current[i]
    accepted = 0
    taken = 0
    steps = burn_in + samples * thin
    for step in range(1, steps + 1):
        moved, change = False, 0.0
        if depth < n and (depth == 1 or _random(state) < 0.5):
            moved, change = _try_swap(chain, depth, support, ranks, weights, draws)
        elif depth > 1:
            moved, change = _try_move(chain, depth, scales, support)
        energy += change
        accepted += moved
        if step > burn_in and (step - burn_in) % thin == 0:
            all_distances(order[:depth], ranks, lengths, current)
            for i in range(rankers):
                distances[i] += current[i]
            if places.shape[1] > 0:
                for p in range(depth):
                    places[order[p], p] += 1
            energies[taken] = energy
            taken += 1
    return accepted / max(steps, 1)
