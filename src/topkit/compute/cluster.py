"""Work on a Dask cluster: maps in order, and values that stay with the workers between maps.

What stays with a worker is always the result of a task that can be done again (a file and a range of rows),
never data that was only sent: so when a worker dies, Dask does its tasks again elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from topkit.compute.extras import require
from topkit.compute.threads import THREAD_VARIABLES

T = TypeVar("T")
R = TypeVar("R")

LOCAL = "local"
"""The address of a cluster that is started here and ends with the command."""
RETRIES = 3
"""How often Dask repeats a task whose worker was lost."""
CONNECT_SECONDS = 10


class ClusterError(Exception):
    """The cluster cannot be reached; the message says why and what to do."""


@dataclass(frozen=True)
class Kept:
    """Values that stay with the workers that made them."""

    futures: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.futures)


@dataclass(frozen=True)
class Cluster:
    """Workers behind a Dask client."""

    client: Any

    @property
    def workers(self) -> int:
        """Workers that are there now."""
        return len(self.client.scheduler_info(n_workers=-1)["workers"])

    def map(self, function: Callable[..., R], items: Sequence[Any], *fixed: Any) -> list[R]:
        """``[function(item, *fixed) for item in items]`` on the workers; results in order."""
        futures = self._submit(function, items, fixed)
        results: list[R] = self.client.gather(futures)
        return results

    def keep(self, function: Callable[..., Any], items: Sequence[Any], *fixed: Any) -> Kept:
        """Start ``function(item, *fixed)`` for every item; the results stay where they are made.

        Items are dealt out to the workers in turn: Dask by itself fills one worker while the others start. A
        worker that is lost loses its turn too.
        """
        places = sorted(self.client.scheduler_info(n_workers=-1)["workers"])
        return Kept(
            tuple(
                self.client.submit(
                    function,
                    item,
                    *fixed,
                    pure=False,
                    retries=RETRIES,
                    workers=[places[i % len(places)]],
                    allow_other_workers=True,
                )
                for i, item in enumerate(items)
            )
        )

    def over(self, kept: Kept, function: Callable[..., R], *fixed: Any) -> list[R]:
        """``function(value, *fixed)`` of every kept value, where the value is; results in order."""
        return self.map(function, kept.futures, *fixed)

    def columns(
        self, kept: Kept, picks: Sequence[Callable[[Any], Any]], shapes: Sequence[Sequence[tuple[int, ...]]]
    ) -> list[Any]:
        """Dask arrays with a chunk a kept value: ``pick(value)`` of shape ``shapes[pick][value]``."""
        import dask
        from dask import array

        return [
            array.concatenate(
                [
                    array.from_delayed(dask.delayed(pick)(future), shape, dtype="float32")
                    for future, shape in zip(kept.futures, own, strict=True)
                ]
            )
            for pick, own in zip(picks, shapes, strict=True)
        ]

    def _submit(self, function: Callable[..., Any], items: Sequence[Any], fixed: Sequence[Any]) -> list[Any]:
        columns = [list(items), *([value] * len(items) for value in fixed)]
        found: list[Any] = self.client.map(function, *columns, pure=False, retries=RETRIES)
        return found


@contextmanager
def connected(address: str = LOCAL, workers: int | None = None) -> Iterator[Cluster]:
    """The cluster at an address such as ``tcp://host:8786``, or one of local processes, a thread each."""
    distributed = require("distributed", "dask")
    if address == LOCAL:
        with _local(distributed, workers or os.cpu_count() or 1) as client:
            yield Cluster(client)
        return
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"there is no Dask scheduler at {address!r} ({error}); start one with 'dask scheduler'"
        ) from None
    with client:
        yield Cluster(client)


@contextmanager
def _local(distributed: Any, workers: int) -> Iterator[Any]:
    import dask

    # partitions are as large as memory allows: moving one to an idle worker costs more than waiting
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit=0,
            env=dict.fromkeys(THREAD_VARIABLES, "1"),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
