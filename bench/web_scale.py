"""How the labelling app grows with a project. ``python -m bench.web_scale [--documents N N N] [postgresql]``

Builds projects of 10,000, 100,000 and 1,000,000 documents by the import: 100 documents per topic, every topic
assigned to one of 20 assessors, every tenth topic begun with 20 judgments, every hundredth by two assessors.
Then a new server process answers. Prints the seconds of each kind of request at each size, and the exponent e
of time ~ documents^e: 0 is independent of the size of the project, 1 proportional to it. The rows "kernel"
are the labelling without the app: one labelling per topic, which are answered in turn.

Times of the server are processor seconds of its process, so other programs do not count. The first visit of a
page is the first request to a server that has just started.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.support.browser import Server
from tests.support.web_world import entry

from bench.growth import exponent
from bench.web_database import KINDS, database
from topkit.labelling import Labelling
from topkit.web.bundle import import_project
from topkit.web.guard import COOKIE
from topkit.web.project_file import read_project
from topkit.web.settings import Settings
from topkit.web.store import open_store, people
from topkit.web.store.labellings import labellings_of

TOPIC_SIZE = 100
PEOPLE = 20
BEGUN = 10
"""Every tenth topic is begun."""
SHARED = 100
"""Every hundredth topic has a second assessor."""
ANSWERS = 20
QUESTIONS = 400
"""Questions that are timed at each size."""
TICKS = os.sysconf("SC_CLK_TCK")


def records(documents: int) -> Iterator[dict[str, Any]]:
    """The lines of a project file."""
    topics = documents // TOPIC_SIZE
    settings = {"name": "large", "k": 10, "strategy": "adaptive", "tools": "pairs", "seed": 0}
    yield {"project": {**settings, "instructions": ""}, "version": 1}
    for i in range(topics):
        yield {"topic": f"q{i}", "query": f"query {i}", "description": ""}
    for i in range(documents):
        yield {"document": f"d{i}", "kind": "text", "title": f"title {i}", "body": "words " * 20}
    for i in range(topics):
        yield {"candidates": f"q{i}", "documents": _keys(i), "prior": []}
    for i in range(topics):
        for assessor in (i, i + 1) if i % SHARED == 0 else (i,):
            yield _labelling(i, f"assessor {assessor % PEOPLE}", ANSWERS if i % BEGUN == 0 else 0)


def _keys(topic: int) -> list[str]:
    return [f"d{TOPIC_SIZE * topic + j}" for j in range(TOPIC_SIZE)]


def _labelling(topic: int, assessor: str, answers: int) -> dict[str, Any]:
    lab, rows = Labelling(_keys(topic), 10, "adaptive", topic), []
    for seq in range(1, answers + 1):
        question = lab.question
        assert question is not None
        answer = "a" if question.a < str(question.b) else "b"
        rows.append([seq, f"{topic}-{seq}", question.a, question.b, answer, 5.0, 1.7e9 + 60 * seq])
        lab = lab.answer(answer, seconds=5.0)
    settings = {"tool": "pairs", "strategy": "adaptive", "k": 10, "seed": topic, "created": 1.7e9}
    return {"labelling": f"q{topic}", "assessor": assessor, **settings, "judgments": rows}


def write_project(path: Path, documents: int) -> None:
    """Write the file of a project with this many documents."""
    with path.open("w") as stream:
        stream.writelines(json.dumps(record) + "\n" for record in records(documents))


def build(address: str, documents: int, folder: Path) -> float:
    """Import a project; returns the seconds."""
    path = folder / "project.jsonl"
    write_project(path, documents)
    store = open_store(Settings(address))
    start = time.perf_counter()
    import_project(store, read_project(path))
    seconds = time.perf_counter() - start
    with store.write() as connection:
        people.add_person(connection, "root", "admin")
    store.close()
    return seconds


class Visitor:
    """A signed-in person with a connection to the server."""

    def __init__(self, server: Server, address: str, name: str) -> None:
        self.process_id = server.process.pid
        store = open_store(Settings(address))
        with store.write() as connection:
            account = people.find_person(connection, name)
            assert account is not None
            token, visit = people.start_session(connection, account[0], 24)
            self.labellings = [row["id"] for row in labellings_of(connection, person_id=account[0].id)]
        store.close()
        self._headers = {"Cookie": f"{COOKIE}={token}", "X-CSRF-Token": visit.csrf}
        self._connection = HTTPConnection("127.0.0.1", server.port)

    def get(self, path: str) -> bytes:
        return self._call("GET", path, None)

    def post(self, path: str, body: object) -> Any:
        return json.loads(self._call("POST", path, json.dumps(body)))

    def _call(self, method: str, path: str, body: str | None) -> bytes:
        kind = {"Content-Type": "application/json"} if body is not None else {}
        self._connection.request(method, path, body, {**self._headers, **kind})
        reply = self._connection.getresponse()
        text = reply.read()
        assert reply.status == 200, text[:500]
        return text

    def processor_seconds(self) -> float:
        """What the server process has used so far."""
        fields = Path(f"/proc/{self.process_id}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def served(address: str, name: str) -> Iterator[Visitor]:
    """A visitor of a new server process that has started completely."""
    server = Server(address)
    visitor = Visitor(server, address, name)
    used = -1.0
    while used < (used := visitor.processor_seconds()):
        time.sleep(1.0)
    yield visitor
    server.stop()


def visits(visitor: Visitor, path: str, times: int) -> tuple[float, float]:
    """Processor seconds of the server for the first visit of a page and for a later one."""
    start = visitor.processor_seconds()
    visitor.get(path)
    middle = visitor.processor_seconds()
    for _ in range(times):
        visitor.get(path)
    return middle - start, (visitor.processor_seconds() - middle) / times


def questions(visitor: Visitor) -> tuple[float, float]:
    """Processor seconds of the server per opened topic and per answer."""
    opened = visitor.labellings[: max(1, QUESTIONS // 20)]
    begin, turns = visitor.processor_seconds(), {}
    for number in opened:
        turns[number] = json.loads(visitor.get(f"/api/labellings/{number}"))
    middle = visitor.processor_seconds()
    for i in range(QUESTIONS):
        number = opened[i % len(opened)]
        reply = visitor.post(f"/api/labellings/{number}/answers", entry(turns[number], "a"))
        turns[number] = reply["turn"]
    return (middle - begin) / len(opened), (visitor.processor_seconds() - middle) / QUESTIONS


def kernel(documents: int) -> tuple[float, float]:
    """Processor seconds of the labelling alone: per start of a topic, and per answer to any of the topics."""
    start = time.process_time()
    labellings = [Labelling(_keys(i), 10, "adaptive", i) for i in range(documents // TOPIC_SIZE)]
    middle = time.process_time()
    for i in range(QUESTIONS):
        place = i * 7919 % len(labellings)
        labellings[place] = labellings[place].answer("a")
    return (middle - start) / len(labellings), (time.process_time() - middle) / QUESTIONS


PAGES = (
    ("home page of an admin", "/", "root"),
    ("home page of an assessor", "/", "assessor 0"),
    ("dashboard", "/projects/1", "root"),
    ("agreement", "/projects/1/agreement", "root"),
    ("page of a topic", "/projects/1/topics/1", "root"),
    ("material", "/projects/1/material", "root"),
)


def measure(kind: str, documents: int, folder: Path) -> dict[str, float]:
    """The seconds of everything at one size."""
    costs: dict[str, float] = {}
    with database(kind) as address:
        costs["import (by the clock)"] = build(address, documents, folder)
        for name, path, who in PAGES:
            with served(address, who) as visitor:  # a new process: nothing is in memory
                costs[f"{name}, first visit"], costs[f"{name}, later"] = visits(visitor, path, 10)
        with served(address, "assessor 0") as visitor:
            page = f"/label/{visitor.labellings[0]}"
            costs["judging page, first visit"], costs["judging page, later"] = visits(visitor, page, 20)
            costs["opening a topic"], costs["an answer"] = questions(visitor)
    costs["kernel: start of a topic"], costs["kernel: an answer"] = kernel(documents)
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", nargs="?", choices=KINDS, default="sqlite")
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    chosen = parser.parse_args()
    table: list[dict[str, float]] = []
    for documents in chosen.documents:
        with tempfile.TemporaryDirectory() as folder:
            table.append(measure(chosen.kind, documents, Path(folder)))
        print(f"{documents:,} documents measured", flush=True)
    sizes = "".join(f"{documents:>12,}" for documents in chosen.documents)
    print(f"{'seconds at this number of documents':<46}{sizes}{'exponent':>10}")
    for name in table[0]:
        row = [max(costs[name], 1e-5) for costs in table]
        shown = "".join(f"{seconds:>12.4f}" for seconds in row)
        fitted = f"{exponent(tuple(chosen.documents), row):>10.2f}" if len(row) > 1 else ""
        print(f"{name:<46}{shown}{fitted}", flush=True)


if __name__ == "__main__":
    main()
