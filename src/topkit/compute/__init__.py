"""The ground floor: threads, chunks of queries, processes, Dask, and when to stop an iteration."""

from topkit.compute.executors import Finished, run_cells
from topkit.compute.extras import MissingExtraError, require
from topkit.compute.progress import Report, silent
from topkit.compute.stopping import NotConverged, Trace
from topkit.compute.threads import (
    one_blas_thread,
    over_queries,
    query_chunks,
    row_chunks,
    thread_count,
    thread_map,
)

__all__ = [
    "Finished",
    "MissingExtraError",
    "NotConverged",
    "Report",
    "Trace",
    "one_blas_thread",
    "over_queries",
    "query_chunks",
    "require",
    "row_chunks",
    "run_cells",
    "silent",
    "thread_count",
    "thread_map",
]
