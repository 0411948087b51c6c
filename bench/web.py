"""The labelling app under load. ``python -m bench.web [sqlite|postgresql] [--assessors N] [--processes N]``

200 assessors judge for 60 s without pauses; the rate is compared with that of a bare endpoint that inserts
one row. Runs on both databases unless one is named. Several processes need PostgreSQL; everybody stays with
one process, as behind ``deploy/nginx.conf``. ``bench.web_kills`` kills the server meanwhile.

The figures of the documentation::

    python -m bench.web
    python -m bench.web postgresql --assessors 500 --processes 2
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
from statistics import median, quantiles

from tests.support.browser import Server
from tests.support.web_load import Line, Load, check, populate, run

from bench.web_database import KINDS, database
from topkit.data.words import counted

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help="databases; all of them by default")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--assessors", type=int, default=200)
    parser.add_argument("--processes", type=int, default=1, help="more than one needs PostgreSQL")
    chosen = parser.parse_args()
    for kind in chosen.kinds or KINDS:
        load(kind, chosen.seconds, chosen.assessors, chosen.processes)


if __name__ == "__main__":
    main()
