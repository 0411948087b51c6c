"""How much data to read at once so that a process stays within its memory limit."""

from __future__ import annotations

import os
from collections.abc import Callable

from topkit.data import InputError
from topkit.data.partitions import Plan
from topkit.scale.recipe import PIECE_BYTES

MIN_WORKSPACE = 48 << 20
"""A limit below this is certainly a typing error: Python and NumPy alone need more."""
COPIES = 5
"""Copies of a batch in memory: Arrow's buffers, a matrix, and temporary copies of both."""
PIECE_COPIES = 16
"""Normalising a piece and converting it to double takes this many times its size."""
MOST_BYTES = 4 << 20
"""Bytes of features to read at once; more is not faster."""
SPARE = 24 << 20
"""Reserve for memory that allocators hold back and for the history of L-BFGS."""


def rows_within(memory: int | None, plan: Plan) -> int:
    """Documents to read at once so that the process stays within ``memory`` bytes, or InputError.

    Call it after everything that training needs is loaded, because that memory counts too.
    """
    row = 4 * max(plan.features, 1)
    most = max(MOST_BYTES // row, 1)
    if memory is None:
        return most
    longest = plan.longest * row
    piece = PIECE_COPIES * max(PIECE_BYTES, longest)
    room = memory - resident() - SPARE - piece
    rows = min(most, room // (COPIES * row))
    if rows < 1 or room < COPIES * longest:
        needed = memory - room + COPIES * max(longest, row)
        raise InputError(
            f"a memory limit of {memory / 1e6:.0f} MB is too small for this data: the process and the "
            f"longest query ({plan.longest:,} documents) need {needed / 1e6:.0f} MB",
            "raise --memory",
        )
    return int(rows)


def room_within(memory: int | None) -> Callable[[], bool]:
    """A function that tells whether the process may keep more in memory."""
    return lambda: memory is None or resident() < memory - SPARE


def give_memory_back() -> None:
    """Let Arrow use the system's allocator, which returns freed memory; Arrow's own keeps it.

    Call it before Arrow is imported, so that Arrow's own allocator never starts.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())


def resident() -> int:
    """Resident memory of this process in bytes."""
    try:
        with open("/proc/self/statm") as stream:
            pages = int(stream.read().split()[1])
    except OSError:  # not Linux: the peak is the best available estimate
        import resource
        import sys

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else 1024 * peak
    return pages * os.sysconf("SC_PAGE_SIZE")
