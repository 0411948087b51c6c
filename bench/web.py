"""The labelling app under load. ``python -m bench.web PART [sqlite|postgresql]``

Parts: kills (50 × kill -9 under load from 20 assessors), load (200 assessors for 60 s, compared with a bare
endpoint that inserts one row). Each runs on both databases unless one is named.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from threading import Thread

from tests.support.browser import Server
from tests.support.web_load import Assessor, Line, Load, check, populate, run, work


@contextmanager
def database(kind: str) -> Iterator[str]:
    """A new database of this kind."""
    with tempfile.TemporaryDirectory() as folder:
        if kind == "sqlite":
            yield str(Path(folder) / "labels.db")
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pgserver.postgres_server import get_server

            server = get_server(Path(folder) / "pg")
        yield server.get_uri()
        server.cleanup()


# -- kill -9 -----------------------------------------------------------------------------------------------
def kill_often(
    kind_database: str, kills: int, assessors: int = 20, topics: int = 60, seed: int = 0
) -> dict[str, int]:
    """Kill the server repeatedly while assessors work; then check that no judgment is missing."""
    chance = random.Random(seed)
    people = populate(kind_database, assessors, topics)
    server = Server(kind_database)
    load = Load()
    thread = Thread(target=lambda: asyncio.run(_until_stopped(people, server.port, load)))
    thread.start()
    for _ in range(kills):
        before = len(load.acknowledged)
        while len(load.acknowledged) < before + 20:  # the server answers again
            thread.join(0.01)
            assert thread.is_alive(), load.errors[:3]
        thread.join(chance.uniform(0.0, 0.6))
        server.kill()
        server.start(server.port)
    load.stop = True
    thread.join()
    server.kill()
    assert not load.errors, load.errors[:3]
    return {"kills": kills + 1, **check(kind_database, load)}


async def _until_stopped(people: list[Assessor], port: int, load: Load) -> None:
    await asyncio.gather(*(work(one, port, load, random.Random(i)) for i, one in enumerate(people)))


def kills(kind: str, count: int) -> None:
    with database(kind) as address:
        found = kill_often(address, count)
    print(
        f"{kind}: {found['kills']} kills under load from 20 assessors; {found['acknowledged']} judgments "
        f"acknowledged, all there, none twice ({found['stored']} stored, {found['retries']} sent again)",
        flush=True,
    )


# -- throughput --------------------------------------------------------------------------------------------
ROW = b'{"key":"0123456789abcdef","a":"d17","b":"d33","answer":"a","seconds":1.0}'


async def hammer(port: int, path: str, many: int, seconds: float) -> int:
    """The number of rows that ``many`` simultaneous clients insert through the bare endpoint."""
    done = 0
    stop = False

    async def one() -> None:
        nonlocal done
        line = Line(port)
        while not stop:
            status, _ = await line.request("POST", path, "", ROW)
            assert status == 200
            done += 1
        line.close()

    tasks = [asyncio.create_task(one()) for _ in range(many)]
    await asyncio.sleep(seconds)
    stop = True
    counted = done
    await asyncio.gather(*tasks)
    return counted


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def bare_rates(address: str, many: int, seconds: float) -> dict[str, float]:
    """Rows per second of the bare endpoint, as a plain function (in threads) and as an async one."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "bench.web_bare", address, str(port)])
    try:
        asyncio.run(_wait(port, process))
        return {
            way: asyncio.run(hammer(port, f"/{way}", many, seconds)) / seconds for way in ("threads", "loop")
        }
    finally:
        process.kill()
        process.wait()


async def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        try:
            await Line(port).request("GET", "/nothing", "")
            return
        except OSError:
            await asyncio.sleep(0.1)


def load(kind: str, seconds: float, many: int = 200) -> float:
    """Print both rates; returns the ratio to the faster bare endpoint."""
    with database(kind) as address:
        people = populate(address, many, topics=12)
        bare = bare_rates(address, many, seconds / 3)
        server = Server(address)
        found = Load()
        asyncio.run(run(people, server.port, seconds, found))
        server.stop()
        check(address, found)
    rate, fastest = len(found.acknowledged) / seconds, max(bare.values())
    slow = quantiles(found.times, n=100)[98]
    print(
        f"{kind}: {many} assessors for {seconds:g} s: {len(found.acknowledged)} judgments, {rate:.0f}/s, "
        f"{len(found.errors)} errors, median {1000 * median(found.times):.0f} ms, 99 % within "
        f"{1000 * slow:.0f} ms; bare endpoint {bare['threads']:.0f} rows/s in threads, {bare['loop']:.0f} on "
        f"the loop; ratio to the faster {rate / fastest:.2f}",
        flush=True,
    )
    assert not found.errors, found.errors[:3]
    return rate / fastest


PARTS = ("kills", "load")
KINDS = ("sqlite", "postgresql")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="parts and databases; all of them by default")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    chosen = parser.parse_args()
    for part in [word for word in chosen.words if word in PARTS] or PARTS:
        for kind in [word for word in chosen.words if word in KINDS] or KINDS:
            if part == "kills":
                kills(kind, chosen.kills)
            else:
                load(kind, chosen.seconds)


if __name__ == "__main__":
    main()
