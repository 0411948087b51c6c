"""Many simultaneous assessors over real connections; they record every acknowledged judgment."""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from topkit.web.guard import COOKIE
from topkit.web.settings import Settings
from topkit.web.store import open_store, people, projects
from topkit.web.store.labellings import Assignment, assign, labellings_of

CHOICES = ("a", "a", "b", "b", "tie", "bad-a")


@dataclass(frozen=True)
class Assessor:
    """A signed-in person with labellings to do."""

    cookie: str
    csrf: str
    labellings: list[int]


def populate(
    database: str, count: int, topics: int, documents: int = 50, k: int = 10, name: str = "load"
) -> list[Assessor]:
    """Create a project and ``count`` signed-in assessors who all judge every topic."""
    store = open_store(Settings(database))
    with store.write() as connection:
        number = projects.add_project(
            connection, name, k=k, strategy="adaptive", tools="pairs", seed=0, instructions=""
        )
        projects.add_topics(
            connection, number, [projects.Topic(f"t{i}", f"query {i}") for i in range(topics)]
        )
        texts = [projects.Document(f"d{i}", "text", f"title {i}", "words " * 50) for i in range(documents)]
        projects.add_documents(connection, number, texts)
        ids = [row["id"] for row in projects.topics_of(connection, number)]
        persons = [people.add_person(connection, f"{name} assessor {i}", "assessor") for i in range(count)]
        assign(connection, number, [Assignment(t, person.id, "pairs") for person in persons for t in ids])
        sessions = []
        for person in persons:
            token, visit = people.start_session(connection, person, 24)
            sessions.append((person.id, token, visit.csrf))
    with store.read() as connection:
        by_person: dict[int, list[int]] = {}
        for row in labellings_of(connection, project_id=number):
            by_person.setdefault(row["person"], []).append(row["id"])
    store.close()
    return [Assessor(token, csrf, by_person[person]) for person, token, csrf in sessions]


@dataclass
class Load:
    """The log of a load test."""

    acknowledged: dict[str, tuple[int, int, str, str, str]] = field(default_factory=dict)
    """Key → labelling, sequence number, a, b, answer."""
    sent: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    retries: int = 0
    stop: bool = False


class Line:
    """One persistent connection; the client is minimal, so that the server is measured."""

    def __init__(self, *ports: int) -> None:
        self.ports = list(ports)
        self.port = ports[0]
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def request(self, method: str, path: str, headers: str, body: bytes = b"") -> tuple[int, bytes]:
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        assert self.reader is not None
        length = f"Content-Length: {len(body)}\r\nContent-Type: application/json\r\n" if body else ""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n{headers}{length}\r\n"
        self.writer.write(head.encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        status = int(answer[9:12])
        at = answer.lower().index(b"content-length:") + 15
        size = int(answer[at : answer.index(b"\r\n", at)])
        return status, await self.reader.readexactly(size)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None

    def next_server(self) -> None:
        """Connect to the next process from now on, as a proxy does when one does not answer."""
        self.close()
        self.port = self.ports[(self.ports.index(self.port) + 1) % len(self.ports)]


async def work(
    assessor: Assessor, ports: Sequence[int], load: Load, chance: random.Random, change: float = 0.1
) -> None:
    """Answer questions at random, one after the other, until stopped or all are answered.

    With several processes, this share of the questions goes to another process than the one before.
    """
    line = Line(*ports)
    for _ in range(chance.randrange(len(ports))):
        line.next_server()
    headers = f"Cookie: {COOKIE}={assessor.cookie}\r\nX-CSRF-Token: {assessor.csrf}\r\n"

    async def call(method: str, path: str, body: bytes = b"") -> tuple[int, Any]:
        while True:
            try:
                status, text = await line.request(method, path, headers, body)
                if status < 500:
                    return status, json.loads(text)
                load.errors.append(f"{status} {text[:200]!r}")
            except (OSError, asyncio.IncompleteReadError, ValueError):
                pass
            line.next_server()  # it was killed: send again with the same key, as the page does
            load.retries += 1
            if load.stop:
                return 0, None
            await asyncio.sleep(0.05)

    for labelling in assessor.labellings:
        path = f"/api/labellings/{labelling}"
        status, turn = await call("GET", path)
        while not load.stop and status == 200 and turn["question"] is not None:
            question = turn["question"]
            a, b, answer = question["a"]["key"], question["b"]["key"], chance.choice(CHOICES)
            key, seq = secrets.token_hex(8), turn["seq"] + 1
            body = {"seq": seq, "key": key, "a": a, "b": b, "answer": answer, "seconds": 1.0}
            load.sent.add(key)
            start = time.perf_counter()
            status, reply = await call("POST", f"{path}/answers", json.dumps(body).encode())
            if status != 200:
                if status:
                    load.errors.append(f"{status} {str(reply)[:200]}")
                break
            load.times.append(time.perf_counter() - start)
            if len(ports) > 1 and chance.random() < change:
                line.next_server()
            load.acknowledged[key] = (labelling, seq, a, b, answer)
            turn = reply["turn"]
        if load.stop:
            break
    line.close()


async def run(
    assessors: list[Assessor],
    ports: Sequence[int],
    seconds: float,
    load: Load,
    change: float = 0.1,
    *,
    enough: float = inf,
) -> None:
    """Let all assessors work at the same time for some seconds, or until enough judgments are saved."""
    tasks = [
        asyncio.create_task(work(assessor, ports, load, random.Random(i), change))
        for i, assessor in enumerate(assessors)
    ]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end and len(load.acknowledged) < enough:
        await asyncio.sleep(min(0.1, seconds))
    load.stop = True
    await asyncio.gather(*tasks)


def check(database: str, load: Load) -> dict[str, int]:
    """Check that every acknowledged judgment is stored unchanged and once, and every labelling replays."""
    import sqlalchemy as sa

    from topkit.web.doctor import examine
    from topkit.web.schema import judgment

    settings = Settings(database)
    store = open_store(settings, create=False)
    with store.read() as connection:
        rows = connection.execute(sa.select(judgment)).all()
    stored = {row.key: (row.labelling, row.seq, row.a, row.b, row.answer) for row in rows}
    assert len(stored) == len(rows), "a judgment is stored twice"
    lost = [key for key in load.acknowledged if key not in stored]
    assert not lost, f"{len(lost)} acknowledged judgments are lost"
    changed = [key for key, value in load.acknowledged.items() if stored[key] != value]
    assert not changed, f"{len(changed)} judgments were changed"
    assert set(stored) <= load.sent, "there are judgments that nobody sent"
    bad = [
        finding.text
        for finding in examine(store, settings)
        if not finding.good and "admin" not in finding.text
    ]
    assert not bad, bad
    store.close()
    return {"acknowledged": len(load.acknowledged), "stored": len(rows), "retries": load.retries}
