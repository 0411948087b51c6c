"""A map over threads, for work that releases the interpreter's lock (NumPy, Numba kernels, files)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def thread_count() -> int:
    """Threads to use: ``TOPKIT_THREADS`` if set, else the cores this process may run on.

    Results never depend on it; only the time does.
    """
    setting = os.environ.get("TOPKIT_THREADS", "")
    if setting.isdigit() and int(setting) > 0:
        return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_map(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """``[function(item) for item in items]`` on :func:`thread_count` threads; results in order."""
    work = list(items)
    threads = min(thread_count(), len(work))
    if threads <= 1:
        return [function(item) for item in work]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, work))
