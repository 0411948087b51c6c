"""Threads: how many, a map over them, chunks of queries and of rows, and the limits of other libraries."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
R = TypeVar("R")

THREADS_VARIABLE = "TOPKIT_THREADS"
"""The environment variable that sets the number of threads of topkit."""

THREAD_VARIABLES = (
    THREADS_VARIABLE,
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""Environment variables that limit the threads of topkit and of the libraries it uses."""

CHUNK = 1 << 14
"""Documents that justify a thread: starting one costs about as much as work on this many."""


def thread_count() -> int:
    """Threads to use: ``TOPKIT_THREADS`` if set, else the cores that this process may run on.

    Only the time depends on it, never a result. An invalid value is ignored with a warning.
    """
    setting = os.environ.get(THREADS_VARIABLE, "").strip()
    if setting.isdecimal() and int(setting) > 0:
        return int(setting)
    if setting:
        warnings.warn(f"{THREADS_VARIABLE} must be a positive integer, got {setting!r}", stacklevel=2)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_map(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """``[function(item) for item in items]`` on :func:`thread_count` threads; results in order.

    Use it for work that releases the interpreter's lock: NumPy, Numba kernels, files.
    """
    work = list(items)
    threads = min(thread_count(), len(work)) if len(work) > 1 else 1
    if threads <= 1:
        return [function(item) for item in work]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, work))


@contextmanager
def beside(work: Callable[[], R], *, worth_it: bool = True) -> Iterator[Callable[[], R]]:
    """Run ``work`` on a thread of its own beside the body; yields a function that waits for its result.

    With one thread, or if the work is too small to be worth a thread, the function does the work itself.
    """
    if not worth_it or thread_count() == 1:
        yield work
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work).result


def query_chunks(ptr: NDArray[np.int64], documents: int = CHUNK) -> list[tuple[int, int]]:
    """Ranges of queries ``[first, last)`` with about equally many documents, one per thread, in order.

    A chunk has at least about ``documents`` documents, so small data gives one chunk. No chunk is empty.
    """
    total, queries = int(ptr[-1]), len(ptr) - 1
    if total < 2 * documents:  # without asking for the number of threads: small work is done very often
        return [(0, queries)] if queries else []
    count = min(thread_count(), total // documents)
    cuts = np.searchsorted(ptr, np.linspace(0, total, count + 1)[1:-1])
    return list(pairwise(np.unique([0, *cuts.tolist(), queries]).tolist()))


def row_chunks(rows: int, at_least: int = CHUNK) -> list[tuple[int, int]]:
    """Ranges of rows ``[first, last)`` of equal size, for work that does not depend on queries."""
    count = min(thread_count(), max(1, rows // at_least))
    return list(pairwise(np.linspace(0, rows, count + 1).astype(int).tolist()))


def over_queries(work: Callable[[int, int], object], ptr: NDArray[np.int64], documents: int = CHUNK) -> None:
    """Call ``work(first, last)`` for every chunk of queries, on threads.

    The work must treat each query separately, so that the result does not depend on the number of threads.
    """
    thread_map(lambda chunk: work(*chunk), query_chunks(ptr, documents))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread: faster on small matrices, and the same rounding on any machine."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):
        yield
