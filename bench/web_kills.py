"""kill -9 while 20 assessors judge. ``python -m bench.web_kills [sqlite|postgresql] [--kills N] …``

A server process is killed at a random moment and started again, while the assessors send what was not
acknowledged again. At the end every acknowledged judgment must be in the database unchanged and once. With
several processes, which need PostgreSQL, the assessors change between them, and each kill hits one at random.

The figures of the documentation::

    python -m bench.web_kills --kills 1000
    python -m bench.web_kills postgresql --kills 1000 --processes 2
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import NamedTuple

from tests.support.web_load import Assessor, Load, check, populate, work

from bench.web_database import KINDS, database
from bench.web_forks import ForkedServer
from topkit.data.words import counted

BETWEEN = 10
"""Judgments that must be acknowledged after a restart before the next kill: the server works again."""
LONGEST_WAIT = 0.25
"""Seconds; after these judgments the kill follows at a random moment within this time."""


class Kills(NamedTuple):
    """What a database contains after the kills. Nothing is lost and nothing is stored twice, or it raises."""

    kills: int
    seconds: float
    acknowledged: int
    stored: int
    sent_again: int


def kill_often(
    address: str, kills: int, *, assessors: int = 20, topics: int = 60, seed: int = 0, processes: int = 1
) -> Kills:
    """Kill a server process repeatedly while assessors work; then check that no judgment is missing.

    When the assessors run out of questions, they get a new project.
    """
    chance, load, start = random.Random(seed), Load(), time.perf_counter()
    people = populate(address, assessors, topics)
    with _servers(address, processes) as servers:
        thread = _start(people, servers, load)
        for number in range(kills):
            before = len(load.acknowledged)
            while len(load.acknowledged) < before + BETWEEN:
                thread.join(0.01)
                if not thread.is_alive():
                    assert not load.errors, load.errors[:3]
                    people = populate(address, assessors, topics, name=f"load {number}")
                    thread = _start(people, servers, load)
            thread.join(chance.uniform(0.0, LONGEST_WAIT))
            victim = chance.choice(servers)
            victim.kill()
            victim.start(victim.port)
            if (number + 1) % 50 == 0:
                print(f"{number + 1} kills, {len(load.acknowledged)} acknowledged", file=sys.stderr)
        load.stop = True
        thread.join()
    seconds = time.perf_counter() - start
    assert not load.errors, load.errors[:3]
    counts = check(address, load)
    return Kills(kills, seconds, counts["acknowledged"], counts["stored"], counts["retries"])


@contextmanager
def _servers(address: str, count: int) -> Iterator[list[ForkedServer]]:
    servers = [ForkedServer(address) for _ in range(count)]
    try:
        yield servers
    finally:
        for server in servers:
            server.kill()
            server.close()


def _start(people: Sequence[Assessor], servers: Sequence[ForkedServer], load: Load) -> Thread:
    """Let the assessors work in a thread, until all is answered or ``load.stop`` is set."""
    ports = [server.port for server in servers]

    async def everybody() -> None:
        await asyncio.gather(*(work(one, ports, load, random.Random(i)) for i, one in enumerate(people)))

    thread = Thread(target=lambda: asyncio.run(everybody()))
    thread.start()
    return thread


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help="databases; all of them by default")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--processes", type=int, default=1, help="more than one needs PostgreSQL")
    chosen = parser.parse_args()
    for kind in chosen.kinds or KINDS:
        with database(kind) as address:
            result = kill_often(address, chosen.kills, processes=chosen.processes)
        print(
            f"{kind}, {counted(chosen.processes, 'server')}: {result.kills:,} kills under load from 20 "
            f"assessors in {result.seconds:.0f} s; {result.acknowledged:,} judgments acknowledged, 0 lost, "
            f"0 twice ({result.stored:,} stored, {result.sent_again:,} requests sent again)",
            flush=True,
        )


if __name__ == "__main__":
    main()
