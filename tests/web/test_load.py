"""Short versions of bench/web_kills.py and bench/web.py: kill -9 under load, many assessors at once."""

from __future__ import annotations

import asyncio

import pytest
from bench.web_kills import kill_often

from tests.support.browser import Server
from tests.support.web_load import Load, check, populate, run

pytestmark = pytest.mark.slow


def test_no_acknowledged_judgment_is_lost_by_kill_9(database: str) -> None:
    counts = kill_often(database, kills=3, topics=10)
    assert counts.acknowledged > 30


def test_many_assessors_at_once(database: str) -> None:
    people = populate(database, 100, topics=2, documents=20, k=5)
    server = Server(database)
    load = Load()
    asyncio.run(run(people, [server.port], 60.0, load, enough=150))
    server.stop()
    assert load.errors == []
    assert load.retries == 0
    assert check(database, load)["stored"] == len(load.acknowledged) > 100
