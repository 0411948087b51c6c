"""Parallel work on one machine or many, and when to stop an iteration; the only room that knows how."""

from topkit.compute.executors import Finished, NoClusterError, run_cells
from topkit.compute.parallel import thread_count, thread_map
from topkit.compute.stopping import NotConverged, Trace

__all__ = ["Finished", "NoClusterError", "NotConverged", "Trace", "run_cells", "thread_count", "thread_map"]
