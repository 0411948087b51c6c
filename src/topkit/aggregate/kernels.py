"""Numba kernels: pooling documents of many runs, distances between lists, and Metropolis sampling.

Each has a plain twin in the tests. Random numbers come from a splitmix64 state that the caller seeds, so a
chain is the same whichever thread runs it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# -- pooling ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def pool_query(blob, offsets, rows, items, first_rows):  # type: ignore[no-untyped-def]
    """Number the distinct documents among ``rows`` in order of first mention → how many there are.

    ``items[j]`` becomes the number of the document at ``rows[j]`` and ``first_rows[d]`` a row that holds
    document d. One open hash table; bytes are compared where hashes agree.
    """
    size = 16
    while size < 2 * len(rows):
        size *= 2
    table = np.full(size, -1, np.int32)
    hashes = np.empty(len(rows), np.uint64)
    mask = np.uint64(size - 1)
    count = 0
    for j in range(len(rows)):
        start, stop = offsets[rows[j]], offsets[rows[j] + 1]
        h = np.uint64(14695981039346656037)
        for i in range(start, stop):
            h = (h ^ np.uint64(blob[i])) * np.uint64(1099511628211)
        h ^= h >> np.uint64(29)
        slot = h & mask
        while True:
            other = table[slot]
            if other < 0:
                table[slot] = count
                hashes[count] = h
                first_rows[count] = rows[j]
                items[j] = count
                count += 1
                break
            if hashes[other] == h and _compare(blob, offsets, rows[j], first_rows[other]) == 0:
                items[j] = other
                break
            slot = (slot + np.uint64(1)) & mask
    return count


@njit(cache=True, nogil=True)
def _compare(blob, offsets, a, b):  # type: ignore[no-untyped-def]
    """Negative, zero or positive as string a comes before, equals or comes after string b, by bytes."""
    i, j = offsets[a], offsets[b]
    while i < offsets[a + 1] and j < offsets[b + 1]:
        if blob[i] != blob[j]:
            return np.int64(blob[i]) - np.int64(blob[j])
        i += 1
        j += 1
    return (offsets[a + 1] - i) - (offsets[b + 1] - j)


@njit(cache=True, nogil=True)
def settle_ties(order, scores, blob, offsets, first_rows):  # type: ignore[no-untyped-def]
    """Sort stretches of equal scores in ``order`` by document id, in place (bottom-up merge sort)."""
    start = 0
    spare = np.empty_like(order)
    while start < len(order):
        stop = start + 1
        while stop < len(order) and scores[order[stop]] == scores[order[start]]:
            stop += 1
        width = 1
        while width < stop - start:
            left = start
            while left + width < stop:
                middle, right = left + width, min(left + 2 * width, stop)
                i, j = left, middle
                for k in range(left, right):
                    take_left = i < middle
                    if take_left and j < right:
                        take_left = _compare(blob, offsets, first_rows[order[i]], first_rows[order[j]]) <= 0
                    if take_left:
                        spare[k] = order[i]
                        i += 1
                    else:
                        spare[k] = order[j]
                        j += 1
                order[left:right] = spare[left:right]
                left = right
            width *= 2
        start = stop


# -- distances ----------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def count_inversions(values):  # type: ignore[no-untyped-def]
    """Pairs i < j with values[i] > values[j], in n log n (merge sort); ``values`` ends sorted."""
    n = len(values)
    spare = np.empty_like(values)
    found = 0
    width = 1
    while width < n:
        left = 0
        while left + width < n:
            middle, right = left + width, min(left + 2 * width, n)
            i, j = left, middle
            for k in range(left, right):
                if i < middle and (j >= right or values[i] <= values[j]):
                    spare[k] = values[i]
                    i += 1
                else:
                    spare[k] = values[j]
                    j += 1
                    found += middle - i
            values[left:right] = spare[left:right]
            left = right
        width *= 2
    return found


@njit(cache=True, nogil=True)
def augmented_distance(top, rank, length, tree):  # type: ignore[no-untyped-def]
    """Distance between the list ``top`` of documents and a list given by ranks (0 = absent).

    For each document of ``top``: how many documents of the other list belong above it and are not above it.
    ``tree`` is room for a Fenwick tree over the ranks, at least length + 1 long.
    """
    tree[: length + 1] = 0
    total = 0
    common = 0
    for p in range(len(top)):
        r = rank[top[p]]
        if r == 0:
            total += length - common
            continue
        above = 0
        i = r - 1
        while i > 0:
            above += tree[i]
            i -= i & -i
        total += r - 1 - above
        common += 1
        i = r
        while i <= length:
            tree[i] += 1
            i += i & -i
    m = min(len(top), length) - common
    return total - m * (m - 1) // 2


@njit(cache=True, nogil=True)
def all_distances(top, ranks, lengths, out):  # type: ignore[no-untyped-def]
    """The distance of ``top`` to every ranker's list."""
    tree = np.empty(lengths.max() + 1, np.int64)
    for i in range(len(ranks)):
        out[i] = augmented_distance(top, ranks[i], lengths[i], tree)


# -- sampling -----------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, inline="always")
def _random(state):  # type: ignore[no-untyped-def]
    """A number in [0, 1) from a splitmix64 state of one word."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True, nogil=True, inline="always")
def _margin(support, a, b):  # type: ignore[no-untyped-def]
    """Weight for a above b minus weight for b above a."""
    return np.float64(support[a, b]) - np.float64(support[b, a])


@njit(cache=True, nogil=True)
def _move_inside(order, p, q, support):  # type: ignore[no-untyped-def]
    """Change of the energy when the document at place p moves to place q and those between make room."""
    change = 0.0
    if p < q:
        for j in range(p + 1, q + 1):
            change += _margin(support, order[p], order[j])
    else:
        for j in range(q, p):
            change -= _margin(support, order[p], order[j])
    return change


@njit(cache=True, nogil=True)
def _move(order, place, p, q):  # type: ignore[no-untyped-def]
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
def _swap_outside(order, depth, p, q, support, column_sums):  # type: ignore[no-untyped-def]
    """Change of the energy's pair part when the document at place p leaves the list for the one at q."""
    a, b = order[p], order[q]
    change = column_sums[b] - column_sums[a]
    for j in range(p):
        x = order[j]
        change += np.float64(support[x, a]) - np.float64(support[x, b])
    for j in range(p + 1, depth):
        x = order[j]
        change += np.float64(support[a, x]) - np.float64(support[b, x])
    return change


@njit(cache=True, nogil=True)
def metropolis(  # type: ignore[no-untyped-def]
    order, depth, support, ranks, lengths, weights, plan, seed, distances, places, energies
):
    """Metropolis chain over lists of the first ``depth`` of n documents → share of accepted moves.

    The target is exp(−Σ weights_i · distance_i). A step moves a document within the list, by a number of
    places drawn on a doubling scale, or (when depth < n) puts one from outside in the place of one in the
    list, mostly near its end; candidates come in proportion to the lists that have them, which the
    acceptance allows for. ``order`` holds the state. ``plan`` is (burn_in, samples, thin): every ``thin``
    steps after ``burn_in`` a sample adds to ``distances`` (by ranker) and to ``places`` (document × place, if
    it has columns) and goes into ``energies``.
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
    column_sums, lists = np.zeros(n), np.zeros(n)
    if depth < n:
        for x in range(n):
            for a in range(n):
                column_sums[a] += support[x, a]
        for i in range(rankers):
            for a in range(n):
                lists[a] += weights[i] > 0.0 and ranks[i, a] > 0
        lists += 0.1
    up_to = np.cumsum(lists)
    missing = np.empty(rankers, np.int64)
    for i in range(rankers):
        missing[i] = min(depth, lengths[i])
        for p in range(depth):
            missing[i] -= ranks[i, order[p]] > 0
    own = np.empty(rankers, np.int64)
    all_distances(order[:depth], ranks, lengths, own)
    energy = 0.0
    for i in range(rankers):
        energy += weights[i] * own[i]
    accepted = 0
    taken = 0
    steps = burn_in + samples * thin
    for step in range(1, steps + 1):
        if depth < n and (depth == 1 or _random(state) < 0.5):
            u = _random(state)
            p = depth - 1 - int(depth * u * u)
            a, b = order[p], np.searchsorted(up_to, _random(state) * up_to[-1], side="right")
            q = place[b]
            if q >= depth:
                change = _swap_outside(order, depth, p, q, support, column_sums)
                for i in range(rankers):
                    gone, come = ranks[i, a] > 0, ranks[i, b] > 0
                    if gone and not come:  # m grows by one, and m(m−1)/2 by m
                        change -= weights[i] * missing[i]
                    elif come and not gone:
                        change += weights[i] * (missing[i] - 1)
                if _random(state) * lists[b] < np.exp(-change) * lists[a]:
                    for i in range(rankers):
                        missing[i] += int(ranks[i, a] > 0) - int(ranks[i, b] > 0)
                    order[p], order[q] = b, a
                    place[a], place[b] = q, p
                    energy += change
                    accepted += 1
        elif depth > 1:
            span = 1 + int(_random(state) * (1 << int(_random(state) * scales)))
            p = int(_random(state) * depth)
            q = p + span if _random(state) < 0.5 else p - span
            if 0 <= q < depth:
                change = _move_inside(order, p, q, support)
                if change <= 0.0 or _random(state) < np.exp(-change):
                    _move(order, place, p, q)
                    energy += change
                    accepted += 1
        if step > burn_in and (step - burn_in) % thin == 0:
            all_distances(order[:depth], ranks, lengths, own)
            for i in range(rankers):
                distances[i] += own[i]
            if places.shape[1] > 0:
                for p in range(depth):
                    places[order[p], p] += 1
            energies[taken] = energy
            taken += 1
    return accepted / max(steps, 1)
