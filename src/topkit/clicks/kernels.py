"""Numba kernels: one pass of expectation–maximisation over counts, and one over pages.

They run on one thread and add in the order of the rows, so the result never depends on the machine. Each is
linear in the number of rows; the tests compare it with NumPy and with sums over all latent states.
"""

from __future__ import annotations

import math

from topkit.compute import Bools, Floats, Ints, Ints32
from topkit.compute.jit import njit

SMALLEST = 1e-300
"""Keeps the logarithm of an impossible event finite."""


@njit(cache=True, nogil=True)
def product_pass(
    pair: Ints,
    bucket: Ints,
    shown: Floats,
    clicked: Floats,
    a: Floats,
    g: Floats,
    new_a: Floats,
    new_g: Floats,
) -> float:
    """P(click) = a[pair]·g[bucket]: adds the expected attracted and examined impressions, returns ln L."""
    total = 0.0
    for i in range(len(pair)):
        u, b = pair[i], bucket[i]
        p = a[u] * g[b]
        skipped = shown[i] - clicked[i]
        if clicked[i] > 0.0:
            total += clicked[i] * math.log(max(p, SMALLEST))
        if skipped > 0.0:
            total += skipped * math.log(max(1.0 - p, SMALLEST))
        left = skipped / max(1.0 - p, SMALLEST)
        new_a[u] += clicked[i] + left * (a[u] - p)
        new_g[b] += clicked[i] + left * (g[b] - p)
    return total


@njit(cache=True, nogil=True)
def mixture_pass(
    pair: Ints, bucket: Ints, shown: Floats, clicked: Floats, r: Floats, high: Floats, low: Floats,
    new_r: Floats, sums: Floats,
) -> float:  # fmt: skip
    """P(click) = r·high[bucket] + (1 − r)·low[bucket]: adds the expected relevant impressions, returns ln L.

    ``sums`` has per bucket: relevant and clicked, relevant, irrelevant and clicked, irrelevant.
    """
    total = 0.0
    for i in range(len(pair)):
        u, b = pair[i], bucket[i]
        p = r[u] * high[b] + (1.0 - r[u]) * low[b]
        skipped = shown[i] - clicked[i]
        if clicked[i] > 0.0:
            total += clicked[i] * math.log(max(p, SMALLEST))
        if skipped > 0.0:
            total += skipped * math.log(max(1.0 - p, SMALLEST))
        hit = clicked[i] * r[u] * high[b] / max(p, SMALLEST)
        missed = skipped * r[u] * (1.0 - high[b]) / max(1.0 - p, SMALLEST)
        new_r[u] += hit + missed
        sums[b, 0] += hit
        sums[b, 1] += hit + missed
        sums[b, 2] += clicked[i] - hit
        sums[b, 3] += shown[i] - hit - missed
    return total


@njit(cache=True, nogil=True)
def chain_pass(
    ptr: Ints, pair: Ints32, key: Ints32, clicked: Bools,
    a: Floats, t: Floats, onward: float, examined: Floats, unsatisfied: Floats,
    clicks_of_key: Floats, steps: Floats, tail: Floats,
) -> float:  # fmt: skip
    """Users look from the top until they leave: adds the expected examinations and steps, returns ln L.

    A user who examines a document clicks with probability a[pair]; is unsatisfied after a click with
    probability t[key]; and, unless satisfied, continues with probability ``onward``. ``steps`` counts the
    decisions to continue and all decisions. ``tail`` has room for the longest page.
    """
    total = 0.0
    for page in range(len(ptr) - 1):
        first, end = ptr[page], ptr[page + 1]
        last = first - 1
        for i in range(first, end):
            if clicked[i]:
                last = i
        for i in range(first, last + 1):  # everything down to the last click was examined
            examined[pair[i]] += 1.0
            p = a[pair[i]] if clicked[i] else 1.0 - a[pair[i]]
            total += math.log(max(p, SMALLEST))
            if i < last:
                steps[0] += 1.0
                steps[1] += 1.0
                p = onward
                if clicked[i]:
                    unsatisfied[key[i]] += 1.0
                    clicks_of_key[key[i]] += 1.0
                    p *= t[key[i]]
                total += math.log(max(p, SMALLEST))
        if last == end - 1:
            continue  # what the user did after the last document leaves no trace
        below = 1.0  # P(no click from the next document on, if it is examined)
        for i in range(end - 1, last, -1):
            tail[i - last] = below
            below = (1.0 - a[pair[i]]) * (1.0 if i == end - 1 else 1.0 - onward + onward * below)
        looking = 1.0  # P(the document is examined | the clicks)
        if last >= first:
            p = t[key[last]]
            evidence = max(1.0 - p * onward + p * onward * below, SMALLEST)
            total += math.log(evidence)
            looking = p * onward * below / evidence
            stopped = p * (1.0 - onward) / evidence
            unsatisfied[key[last]] += looking + stopped
            clicks_of_key[key[last]] += 1.0
            steps[0] += looking
            steps[1] += looking + stopped
        else:
            total += math.log(max(below, SMALLEST))
        for i in range(last + 1, end):
            examined[pair[i]] += looking
            if i < end - 1:
                ahead = onward * tail[i - last]
                share = ahead / max(1.0 - onward + ahead, SMALLEST)
                steps[0] += looking * share
                steps[1] += looking
                looking *= share
    return total
