"""Many independent tasks, on processes of this machine or on a Dask cluster; results as they finish."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

from topkit.compute.cluster import connected
from topkit.compute.extras import require
from topkit.compute.threads import THREAD_VARIABLES, THREADS_VARIABLE


class Finished(NamedTuple):
    """The cell at position ``place`` of the list is done: its result, or the error that it raised."""

    place: int
    result: str
    error: Exception | None = None


def run_cells(
    function: Callable[[str], str], cells: Sequence[str], *, jobs: int = 1, dask: str | None = None
) -> Generator[Finished]:
    """``function(cell)`` for every cell, yielded as they finish, in any order.

    Cells and results are strings, so that a task is the same on any machine; ``function`` must be importable.
    The work runs on ``jobs`` processes of one thread each, in this process if ``jobs`` is 1, or on the
    workers of the Dask scheduler at the address ``dask``. An exception in one cell does not stop the others.
    All work ends at once when the iterator is closed or this process ends, even if it is killed.

    >>> sorted(done.result for done in run_cells(str.upper, ["a", "b"]))
    ['A', 'B']
    """
    if dask is not None:
        return _on_dask(function, cells, dask)
    return _here(function, cells) if jobs <= 1 else _on_processes(function, cells, jobs)


def _here(function: Callable[[str], str], cells: Sequence[str]) -> Generator[Finished]:
    for place, cell in enumerate(cells):
        try:
            finished = Finished(place, function(cell))
        except Exception as error:
            finished = Finished(place, "", error)
        yield finished


# -- processes ---------------------------------------------------------------------------------------------
def _on_processes(function: Callable[[str], str], cells: Sequence[str], jobs: int) -> Generator[Finished]:
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    context = get_context("spawn")  # a fork would copy the locks of running threads
    reader, lifeline = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(min(jobs, len(cells)) or 1, context, _enter_worker, (reader,))
    try:
        places = {pool.submit(_one_thread_each, cell, function): place for place, cell in enumerate(cells)}
        for future in as_completed(places):
            yield _outcome(places[future], future)
        pool.shutdown()
    finally:
        lifeline.close()  # ends the workers that are still busy
        reader.close()
        pool.shutdown(wait=False, cancel_futures=True)


def _enter_worker(lifeline: Any) -> None:
    """Limit the threads, leave Ctrl-C to the parent, and exit when the parent's end of the pipe closes.

    Only the parent holds that end, so it also closes when the parent is killed.
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


def _one_thread_each(cell: str, function: Callable[[str], str]) -> str:
    """Run a cell with one thread per library, so that one cell per core can run at the same time."""
    from threadpoolctl import threadpool_limits

    os.environ[THREADS_VARIABLE] = "1"
    with threadpool_limits(1):
        return function(cell)


def _outcome(place: int, future: Any) -> Finished:
    try:
        return Finished(place, future.result())
    except Exception as error:
        return Finished(place, "", error)


# -- Dask --------------------------------------------------------------------------------------------------
def _on_dask(function: Callable[[str], str], cells: Sequence[str], address: str) -> Generator[Finished]:
    distributed = require("distributed", "dask")
    with connected(address) as cluster:
        futures = cluster.submit(_one_thread_each, cells, function)
        places = {future.key: place for place, future in enumerate(futures)}
        try:
            for future in distributed.as_completed(futures):
                yield _outcome(places[future.key], future)
        finally:
            cluster.client.cancel(futures)
