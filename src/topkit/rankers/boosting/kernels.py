"""Numba kernel of boosting: the gain of every threshold at once."""

from __future__ import annotations

from topkit.compute import Bytes, Floats
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL


@njit(**KERNEL)
def bin_sums(
    bins: Bytes, weight: Floats, size: int, first: int, last: int, sums: Floats, out: Floats
) -> None:
    """out[f, t] = Σ weight over the documents whose bin of feature f is above t: the gain of each threshold.

    ``bins`` has one row per feature. Four sums per bin let the processor overlap additions; ``sums`` is a
    buffer of 4 × 256 numbers for them.
    """
    n = len(weight)
    for f in range(first, last):
        for b in range(256):
            for lane in range(4):
                sums[lane, b] = 0.0
        row = bins[f]
        even = n - n % 4
        for i in range(0, even, 4):
            sums[0, row[i]] += weight[i]
            sums[1, row[i + 1]] += weight[i + 1]
            sums[2, row[i + 2]] += weight[i + 2]
            sums[3, row[i + 3]] += weight[i + 3]
        for i in range(even, n):
            sums[0, row[i]] += weight[i]
        total = 0.0
        for t in range(size - 1, -1, -1):
            b = t + 1
            if b < 256:
                total += (sums[0, b] + sums[1, b]) + (sums[2, b] + sums[3, b])
            out[f, t] = total
