"""A lower bound of the number of judgments."""

from __future__ import annotations

from math import log2


def lower_bound(n: int, k: int) -> float:
    """n − k + log₂(n·(n−1)···(n−k+2)): what any strategy needs in the worst case for the top k of n.

    Every item outside the top k must lose once (n − k), and the order of the first k − 1 items must be
    distinguished from all others. k := min(k, n); 0 for n = 1.

    Reference: D. E. Knuth, The Art of Computer Programming 3, section 5.3.3.

    >>> round(lower_bound(50, 10), 1), lower_bound(8, 1), lower_bound(1, 5)
    (89.7, 7.0, 0.0)
    """
    k = min(k, n)
    return float(n - k) + sum(log2(n - i) for i in range(k - 1))
