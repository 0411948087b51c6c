"""Parallel work on one machine or many; the only room that knows how."""

from topkit.compute.parallel import thread_count, thread_map

__all__ = ["thread_count", "thread_map"]
