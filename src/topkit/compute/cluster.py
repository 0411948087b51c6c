"""Work on a Dask cluster: maps in order, and values that stay on the workers between maps.

A value that stays on a worker is always the result of a task that can be repeated (a file and a range of
rows), never data that was only sent. If a worker dies, Dask repeats its tasks on another worker.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from topkit.compute.extras import require
from topkit.compute.threads import THREAD_VARIABLES

R = TypeVar("R")

LOCAL = "local"
"""The address of a cluster of local processes that is started here and ends with the command."""
RETRIES = 3
"""How often Dask repeats a task whose worker was lost; a task that kills four workers is the cause itself."""
CONNECT_SECONDS = 10
"""How long to wait for a scheduler: one that is running answers within a second, even on a slow network."""


class ClusterError(Exception):
    """The cluster cannot be reached; the message says why and what to do."""


@dataclass(frozen=True)
class Kept:
    """Values that stay on the workers that computed them."""

    futures: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.futures)


@dataclass(frozen=True)
class Cluster:
    """Workers behind a Dask client."""

    client: Any

    @property
    def addresses(self) -> list[str]:
        """The addresses of the workers that are connected now."""
        return sorted(self.client.scheduler_info(n_workers=-1)["workers"])

    @property
    def workers(self) -> int:
        """The number of workers that are connected now."""
        return len(self.addresses)

    def map(self, function: Callable[..., R], items: Sequence[Any], *fixed: Any) -> list[R]:
        """``[function(item, *fixed) for item in items]`` on the workers; results in order."""
        results: list[R] = self.client.gather(self.submit(function, items, *fixed))
        return results

    def submit(self, function: Callable[..., Any], items: Sequence[Any], *fixed: Any) -> list[Any]:
        """The futures of ``function(item, *fixed)`` for every item."""
        columns = [list(items), *([value] * len(items) for value in fixed)]
        futures: list[Any] = self.client.map(function, *columns, pure=False, retries=RETRIES)
        return futures

    def keep(self, function: Callable[..., Any], items: Sequence[Any], *fixed: Any) -> Kept:
        """Start ``function(item, *fixed)`` for every item; the results stay on the workers.

        Items are assigned to the workers in turn, because Dask alone fills one worker while the others start.
        If a worker is lost, any other worker may take its items.
        """
        addresses = self.addresses
        options = {"pure": False, "retries": RETRIES, "allow_other_workers": True}
        return Kept(
            tuple(
                self.client.submit(function, item, *fixed, workers=[addresses[i % len(addresses)]], **options)
                for i, item in enumerate(items)
            )
        )

    def over(self, kept: Kept, function: Callable[..., R], *fixed: Any) -> list[R]:
        """``function(value, *fixed)`` for every kept value, on its worker; results in order."""
        return self.map(function, kept.futures, *fixed)

    def columns(
        self, kept: Kept, picks: Sequence[Callable[[Any], Any]], shapes: Sequence[Sequence[tuple[int, ...]]]
    ) -> list[Any]:
        """Dask arrays with one chunk per kept value: ``pick(value)`` has shape ``shapes[pick][value]``."""
        import dask
        from dask import array

        return [
            array.concatenate(
                [
                    array.from_delayed(dask.delayed(pick)(future), shape, dtype="float32")
                    for future, shape in zip(kept.futures, column_shapes, strict=True)
                ]
            )
            for pick, column_shapes in zip(picks, shapes, strict=True)
        ]


@contextmanager
def connected(address: str = LOCAL, workers: int | None = None) -> Iterator[Cluster]:
    """The cluster at an address such as ``tcp://host:8786``, or a local one: one thread per process.

    ``workers`` is the number of local processes; the default is one per core.
    """
    distributed = require("distributed", "dask")
    if address == LOCAL:
        with _local(distributed, workers or os.cpu_count() or 1) as client:
            yield Cluster(client)
        return
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"no Dask scheduler at {address!r} answers ({error}); start one with 'dask scheduler'"
        ) from None
    with client:
        yield Cluster(client)


@contextmanager
def _local(distributed: Any, workers: int) -> Iterator[Any]:
    import dask

    # Partitions are as large as memory allows: moving one to an idle worker costs more than waiting.
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
