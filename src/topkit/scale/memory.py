"""How much to read at once so that a process stays within a limit."""

from __future__ import annotations

import os

from topkit.data import InputError
from topkit.data.partitions import Plan
from topkit.scale.sums import PIECE_BYTES

MIN_WORKSPACE = 48 << 20
COPIES = 5
"""A batch is in memory as Arrow's buffers, as a matrix, and for a moment as a copy of either."""
PIECE_COPIES = 16
"""Normalising and widening a piece takes a few matrices of doubles."""
MOST_BYTES = 4 << 20
"""Features read at once; more would be no faster."""
SPARE = 24 << 20
"""For what allocators hold back and the optimiser remembers."""


def rows_within(memory: int | None, plan: Plan) -> int:
    """Documents to read at once so that the process stays within ``memory`` bytes, or InputError.

    To be called when everything is loaded that training needs: what it takes counts too.
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
            f"{memory / 1e6:.0f} MB of memory are too little for this data: the process itself and the "
            f"longest query ({plan.longest:,} documents) take {needed / 1e6:.0f} MB",
            "raise --memory",
        )
    return int(rows)


def give_memory_back() -> None:
    """Let Arrow use the system's allocator, which returns what is freed; its own reserves much and keeps it.

    Best called before Arrow is loaded, since its own allocator then never starts.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())


def resident() -> int:
    """Bytes of memory that this process holds now."""
    try:
        with open("/proc/self/statm") as stream:
            pages = int(stream.read().split()[1])
    except OSError:  # not Linux: the peak so far is the best that is known
        import resource
        import sys

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else 1024 * peak
    return pages * os.sysconf("SC_PAGE_SIZE")
