"""Two server processes on one PostgreSQL database: judgments, sign-in delays, sessions, pages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import httpx
import pytest

from tests.support.browser import PASSWORD, Server
from tests.support.databases import fresh_database
from tests.support.web_load import Load, check, populate, run
from tests.support.web_world import entry
from topkit.web import auth
from topkit.web.guard import COOKIE
from topkit.web.settings import Settings
from topkit.web.store import open_store, people

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def servers(postgres: str) -> Iterator[tuple[str, list[Server]]]:
    with fresh_database(postgres) as address:
        processes = [Server(address) for _ in range(2)]
        yield address, processes
        for process in processes:
            process.stop()


def add(database: str, name: str, role: str) -> None:
    store = open_store(Settings(database))
    with store.write() as connection:
        people.add_person(connection, name, role, auth.hash_password(PASSWORD))
    store.close()


def test_assessors_who_change_between_processes(servers: tuple[str, list[Server]]) -> None:
    database, processes = servers
    assessors = populate(database, 12, topics=3, documents=20, k=5)
    load = Load()
    asyncio.run(run(assessors, [process.port for process in processes], 4.0, load))
    assert load.errors == []
    counts = check(database, load)
    assert counts["stored"] == counts["acknowledged"] > 12


def test_sign_in_delays_sessions_and_pages_are_shared(servers: tuple[str, list[Server]]) -> None:
    database, processes = servers
    add(database, "chief", "admin")
    add(database, "ann", "assessor")
    urls = [process.address for process in processes]
    guesses = [
        httpx.post(
            f"{urls[i % 2]}/api/session", json={"name": "ann", "password": f"guess {i}"}, timeout=60
        ).status_code
        for i in range(12)
    ]
    assert 429 in guesses
    assert guesses.count(401) <= 8  # four, and one more whenever this machine was slower than a delay
    time.sleep(0.1)
    entered = httpx.post(f"{urls[0]}/api/session", json={"name": "chief", "password": PASSWORD}, timeout=60)
    cookies, csrf = {COOKIE: entered.cookies[COOKIE]}, entered.json()["csrf"]
    headers = {"x-csrf-token": csrf}
    first, second = (httpx.Client(base_url=url, cookies=cookies, headers=headers, timeout=60) for url in urls)
    number = first.post("/api/projects", json={"name": "shared", "k": 2, "tools": "pairs"}).json()["id"]
    for path, text in (("topics", "id,query\nq,words\n"), ("documents", "id,text\na,1\nb,2\nc,3\n")):
        assert (
            second.post(f"/api/projects/{number}/{path}", files={"file": ("x.csv", text)}).status_code == 201
        )
    me = entered.json()["person"]["id"]
    plan = {"mode": "overlap", "people": [me], "copies": 1}
    assert first.post(f"/api/projects/{number}/assignments", json=plan).status_code == 201
    path = f"/api/labellings/{second.get('/api/tasks').json()[0]['labelling']}"
    for i in range(2):  # both processes have the state in memory and answer in turn
        client = (first, second)[i % 2]
        assert client.post(f"{path}/answers", json=entry(client.get(path).json(), "a")).status_code == 200
    for client in (first, second):
        assert client.get(f"/api/projects/{number}/progress").json()[0]["asked"] == 2
    second.patch(f"/api/projects/{number}", json={"state": "paused"})
    turn = first.get(path).json()
    if turn["question"] is not None:
        assert first.post(f"{path}/answers", json=entry(turn, "a")).status_code == 423
    assert first.delete("/api/session").status_code == 200
    end = time.monotonic() + 30
    while (status := second.get("/api/session").status_code) != 401 and time.monotonic() < end:
        time.sleep(0.1)  # the other process asks twice per second whether somebody's access changed
    assert status == 401
