"""Many independent pieces of work, on processes of this machine or on a Dask cluster, as they finish."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

from topkit.compute.cluster import RETRIES, connected
from topkit.compute.extras import require
from topkit.compute.threads import THREAD_VARIABLES


class Finished(NamedTuple):
    """The piece at this place of the list is done: its result, or what went wrong."""

    place: int
    result: str
    error: Exception | None = None


def run_cells(
    function: Callable[[str], str], cells: Sequence[str], *, jobs: int = 1, dask: str | None = None
) -> Generator[Finished]:
    """``function(cell)`` for every cell, yielded as they finish, in any order.

    Cells and results are texts, so that a piece of work is the same wherever it is done; ``function`` must be
    importable. ``jobs`` processes of one thread each do the work, or this process itself where it is one, or
    the workers of the Dask scheduler at the address ``dask``. An exception of one cell does not stop the
    others. Closing the iterator ends all work at once, and so does the end of this process, however sudden.

    >>> sorted(done.result for done in run_cells(str.upper, ["a", "b"]))
    ['A', 'B']
    """
    if dask is not None:
        return _on_dask(function, cells, dask)
    return _here(function, cells) if jobs <= 1 else _on_processes(function, cells, jobs)


def _here(function: Callable[[str], str], cells: Sequence[str]) -> Generator[Finished]:
    for place, cell in enumerate(cells):
        try:
            done = Finished(place, function(cell))
        except Exception as error:
            done = Finished(place, "", error)
        yield done


# -- processes ---------------------------------------------------------------------------------------------
def _on_processes(function: Callable[[str], str], cells: Sequence[str], jobs: int) -> Generator[Finished]:
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    context = get_context("spawn")  # a fork would copy the locks of running threads
    reader, lifeline = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(min(jobs, len(cells)) or 1, context, _enter_worker, (reader,))
    try:
        places = {pool.submit(_one_thread_each, function, cell): place for place, cell in enumerate(cells)}
        for future in as_completed(places):
            yield _outcome(places[future], future)
        pool.shutdown()
    finally:
        lifeline.close()  # workers that are still at work end now
        reader.close()
        pool.shutdown(wait=False, cancel_futures=True)


def _enter_worker(lifeline: Any) -> None:
    """Bound the threads, leave Ctrl-C to the parent, and end when the parent lets go of its lifeline.

    Only the parent holds the other end, so it closes even if the parent is killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"

    def watch() -> None:
        try:
            lifeline.recv_bytes()
        except (EOFError, OSError):
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _one_thread_each(function: Callable[[str], str], cell: str) -> str:
    """Run a cell with one thread a library, so that as many cells as there are cores run well together."""
    from threadpoolctl import threadpool_limits

    os.environ["TOPKIT_THREADS"] = "1"
    with threadpool_limits(1):
        return function(cell)


def _outcome(place: int, future: Any) -> Finished:
    try:
        return Finished(place, future.result())
    except Exception as error:
        return Finished(place, "", error)


# -- Dask --------------------------------------------------------------------------------------------------
def _on_dask(function: Callable[[str], str], cells: Sequence[str], address: str) -> Generator[Finished]:
    with connected(address) as cluster:
        client = cluster.client
        distributed = require("distributed", "dask")
        futures = client.map(
            _one_thread_each, [function] * len(cells), list(cells), pure=False, retries=RETRIES
        )
        places = {future.key: place for place, future in enumerate(futures)}
        try:
            for future in distributed.as_completed(futures):
                yield _outcome(places[future.key], future)
        finally:
            client.cancel(futures)
