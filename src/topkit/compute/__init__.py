"""Parallel work on one machine or many, and when to stop an iteration; the only room that knows how."""

from topkit.compute.parallel import thread_count, thread_map
from topkit.compute.stopping import NotConverged, Trace

__all__ = ["NotConverged", "Trace", "thread_count", "thread_map"]
