"""The labelling app under load. ``python -m bench.web PART [sqlite|postgresql] [--processes N] …``

Parts: kills (50 × kill -9 under load from 20 assessors), load (200 assessors for 60 s, compared with a bare
endpoint that inserts one row). Each runs on both databases unless one is named. Several processes need
PostgreSQL. Under kills the assessors change between them, and each kill hits one at random; under load
everybody stays with one process, as behind ``deploy/nginx.conf``.

The figures of the documentation::

    python -m bench.web kills --kills 1000
    python -m bench.web kills postgresql --kills 1000 --processes 2
    python -m bench.web load postgresql --assessors 500 --processes 2
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

from topkit.reporting.words import counted


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
    kind_database: str, kills: int, assessors: int = 20, topics: int = 60, seed: int = 0, processes: int = 1
) -> dict[str, int]:
    """Kill a server process repeatedly while assessors work; then check that no judgment is missing.

    When the assessors run out of questions, they get a new project.
    """
    chance = random.Random(seed)
    people = populate(kind_database, assessors, topics)
    servers = [Server(kind_database) for _ in range(processes)]
    load = Load()
    thread = _assessors(people, servers, load)
    for number in range(kills):
        before = len(load.acknowledged)
        while len(load.acknowledged) < before + 20:  # the server answers again
            thread.join(0.01)
            if not thread.is_alive():
                assert not load.errors, load.errors[:3]
                people = populate(kind_database, assessors, topics, name=f"load {number}")
                thread = _assessors(people, servers, load)
        thread.join(chance.uniform(0.0, 0.6))
        victim = chance.choice(servers)
        victim.kill()
        victim.start(victim.port)
        if (number + 1) % 50 == 0:
            print(f"{number + 1} kills, {len(load.acknowledged)} acknowledged", file=sys.stderr, flush=True)
    load.stop = True
    thread.join()
    for server in servers:
        server.kill()
    assert not load.errors, load.errors[:3]
    return {"kills": kills + len(servers), **check(kind_database, load)}


def _assessors(people: list[Assessor], servers: list[Server], load: Load) -> Thread:
    ports = [server.port for server in servers]
    thread = Thread(target=lambda: asyncio.run(_until_stopped(people, ports, load)))
    thread.start()
    return thread


async def _until_stopped(people: list[Assessor], ports: list[int], load: Load) -> None:
    await asyncio.gather(*(work(one, ports, load, random.Random(i)) for i, one in enumerate(people)))


def kills(kind: str, count: int, processes: int) -> None:
    with database(kind) as address:
        found = kill_often(address, count, processes=processes)
    print(
        f"{kind}, {counted(processes, 'server')}: {found['kills']} kills under load from 20 assessors; "
        f"{found['acknowledged']} judgments acknowledged, 0 lost, 0 twice ({found['stored']} stored, "
        f"{found['retries']} sent again)",
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


def load(kind: str, seconds: float, many: int, processes: int) -> float:
    """Print both rates; returns the ratio to the faster bare endpoint."""
    with database(kind) as address:
        people = populate(address, many, topics=12)
        bare = bare_rates(address, many, seconds / 3)
        servers = [Server(address) for _ in range(processes)]
        found = Load()
        asyncio.run(run(people, [server.port for server in servers], seconds, found, change=0.0))
        for server in servers:
            server.stop()
        check(address, found)
    rate, fastest = len(found.acknowledged) / seconds, max(bare.values())
    slow = quantiles(found.times, n=100)[98]
    print(
        f"{kind}, {counted(processes, 'server')}: {many} assessors for {seconds:g} s: "
        f"{len(found.acknowledged)} judgments, {rate:.0f}/s, {len(found.errors)} errors, median "
        f"{1000 * median(found.times):.0f} ms, 99 % within {1000 * slow:.0f} ms; bare endpoint "
        f"{bare['threads']:.0f} rows/s in threads, {bare['loop']:.0f} on the loop; "
        f"ratio to the faster {rate / fastest:.2f}",
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
    parser.add_argument("--assessors", type=int, default=200, help="for the part load")
    parser.add_argument("--processes", type=int, default=1, help="more than one need PostgreSQL")
    chosen = parser.parse_args()
    for part in [word for word in chosen.words if word in PARTS] or PARTS:
        for kind in [word for word in chosen.words if word in KINDS] or KINDS:
            if part == "kills":
                kills(kind, chosen.kills, chosen.processes)
            else:
                load(kind, chosen.seconds, chosen.assessors, chosen.processes)


if __name__ == "__main__":
    main()
