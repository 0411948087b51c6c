"""Work on queries in threads: runs of neighbouring queries, each a thread's own."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from topkit.compute import thread_count, thread_map

BLOCK = 1 << 14
"""Documents worth a thread of their own."""


def over_queries(work: Callable[[int, int], object], ptr: NDArray[np.int64]) -> None:
    """Call ``work(first, last)`` for runs of queries that together are all of them, one run a thread.

    The work must keep queries apart, so that the result does not depend on the number of threads.
    """
    documents, queries = int(ptr[-1]), len(ptr) - 1
    count = min(thread_count(), max(1, documents // BLOCK))
    if count == 1:
        work(0, queries)
        return
    cuts = np.searchsorted(ptr, np.linspace(0, documents, count + 1)[1:-1])
    thread_map(lambda run: work(*run), list(pairwise([0, *cuts.tolist(), queries])))
