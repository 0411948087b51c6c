"""An app with signed-in people, and a project with topics and documents."""

from __future__ import annotations

import json
import os
import secrets
import tempfile
import warnings
from functools import cache
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Self

import httpx

from topkit.labelling import Question, SimulatedAssessor
from topkit.web.app import create_app
from topkit.web.guard import COOKIE
from topkit.web.settings import Settings
from topkit.web.store import people
from topkit.web.store.engine import make_engine, migrate

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette warns about the version of httpx
    from fastapi.testclient import TestClient

__all__ = ["ORDER", "Actor", "TestClient", "World", "entry", "label_all", "labelled_project", "tasks"]

ORDER = ["d5", "d2", "d8", "d1", "d7", "d3", "d6", "d4"]
"""The documents, best first, as most simulated assessors see them."""

TOPICS = (
    "id,query,description\nq1,cooling of wings,How hot wings are cooled.\nq2,jet noise,\nq3,sonic boom,\n"
)
DOCUMENTS = "".join(
    json.dumps({"id": f"d{i}", "title": f"Paper {i}", "text": f"Cooling the wing, number {i}."}) + "\n"
    for i in range(1, 9)
)


class Actor:
    """A person with a browser: the cookie and the CSRF token are sent with every request."""

    def __init__(self, client: TestClient, number: int = 0, csrf: str = "", cookie: str = "") -> None:
        self.client, self.number, self.csrf, self.cookie = client, number, csrf, cookie

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = dict(options.pop("headers", {}))
        if self.cookie:
            headers["cookie"] = f"{COOKIE}={self.cookie}"
        if self.csrf and "x-csrf-token" not in headers:
            headers["x-csrf-token"] = self.csrf
        self.client.cookies.clear()
        response: httpx.Response = self.client.request(
            method, path, headers=headers, follow_redirects=False, **options
        )
        return response

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.call("GET", path, **options)

    def post(self, path: str, body: object = None, **options: Any) -> httpx.Response:
        return self.call("POST", path, **({"json": body} if body is not None else {}), **options)

    def upload(self, path: str, text: str | bytes, file: str = "file.csv", **form: Any) -> httpx.Response:
        return self.call("POST", path, files={"file": (file, text)}, data=form)


class World:
    """An app with an admin; more people can be added."""

    def __init__(self, settings: Settings, admin: str = "root") -> None:
        self._admin = admin
        if settings.file is not None and not settings.file.exists():
            with open(os.open(settings.file, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
                file.write(migrated_file())
        self.app = create_app(settings)
        self.store = self.app.state.store
        self.app.state.server = SimpleNamespace(should_exit=True)  # streams end after the first event
        self.client = TestClient(self.app)
        self.anonymous = Actor(self.client)

    def __enter__(self) -> Self:
        self.client.__enter__()
        self.admin = self.person(self._admin, "admin")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.__exit__(kind, error, trace)

    def person(self, name: str, role: str = "assessor") -> Actor:
        """A new, signed-in person."""
        with self.store.write() as connection:
            person = people.add_person(connection, name, role)
            token, visit = people.start_session(connection, person, 1)
        return Actor(self.client, person.id, visit.csrf, token)

    def signed_in(self, name: str) -> Actor:
        """A new session of an existing person."""
        with self.store.write() as connection:
            account = people.find_person(connection, name)
            assert account is not None
            token, visit = people.start_session(connection, account[0], 1)
        return Actor(self.client, account[0].id, visit.csrf, token)

    def project(self, *assessors: Actor, mode: str = "overlap", **settings: Any) -> int:
        """A project with three topics and eight documents; all the assessors judge every topic in pairs."""
        body = {"name": f"project {secrets.token_hex(4)}", "k": 3, "tools": "pairs", **settings}
        created = self.admin.post("/api/projects", body)
        assert created.status_code == 201, created.text
        number = int(created.json()["id"])
        assert self.admin.upload(f"/api/projects/{number}/topics", TOPICS).status_code == 201
        documents = self.admin.upload(f"/api/projects/{number}/documents", DOCUMENTS, "documents.jsonl")
        assert documents.status_code == 201, documents.text
        if assessors:
            people_ids = [assessor.number for assessor in assessors]
            plan = {"mode": mode, "people": people_ids, "copies": len(assessors)}
            assigned = self.admin.post(f"/api/projects/{number}/assignments", plan)
            assert assigned.status_code == 201, assigned.text
        return number


@cache
def migrated_file() -> bytes:
    """An SQLite database with the newest schema and no rows; a copy of it saves running the migrations."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        engine = make_engine(Settings(str(path)))
        migrate(engine)
        engine.dispose()
        return path.read_bytes()


def tasks(actor: Actor) -> list[int]:
    """The labellings of a person."""
    return [task["labelling"] for task in actor.get("/api/tasks").json()]


def entry(turn: dict[str, Any], answer: str, key: str | None = None, seconds: float = 1.5) -> dict[str, Any]:
    """The body that answers the open question."""
    question = turn["question"]
    b = question["b"]
    return {
        "seq": turn["seq"] + 1,
        "key": key or secrets.token_hex(8),
        "a": question["a"]["key"],
        "b": None if b is None else b["key"],
        "answer": answer,
        "seconds": seconds,
    }


def label_all(actor: Actor, labelling: int, judge: SimulatedAssessor) -> dict[str, Any]:
    """Answer like the judge until the topic is complete; returns the last turn."""
    turn: dict[str, Any] = actor.get(f"/api/labellings/{labelling}").json()
    while turn["question"] is not None:
        body = entry(turn, "")
        body["answer"] = judge.judge("", Question(body["a"], body["b"])).answer
        reply = actor.post(f"/api/labellings/{labelling}/answers", body)
        assert reply.status_code == 200, reply.text
        turn = reply.json()["turn"]
    return turn


def labelled_project(world: World) -> int:
    """A project in which two assessors completed a topic in pairs, and one of them graded another topic."""
    ann, bob = world.person("ann lee"), world.person("bob")
    number = world.project(tools="both")
    topics = [topic["id"] for topic in world.admin.get(f"/api/projects/{number}/topics").json()]
    hand = [
        {"topic": topics[0], "person": ann.number, "tool": "pairs"},
        {"topic": topics[0], "person": bob.number, "tool": "pairs"},
        {"topic": topics[1], "person": bob.number, "tool": "grades"},
    ]
    world.admin.post(f"/api/projects/{number}/assignments", {"mode": "hand", "assignments": hand})
    first = tasks(ann)[0]
    turn = ann.get(f"/api/labellings/{first}").json()
    ann.post(f"/api/labellings/{first}/answers", entry(turn, "tie"))
    ann.post(f"/api/labellings/{first}/undo", {"seq": 2, "key": "back"})
    label_all(ann, first, SimulatedAssessor.of_order("ann", ORDER, bad_below=2.5))
    label_all(bob, tasks(bob)[0], SimulatedAssessor.of_order("bob", ORDER))
    label_all(bob, tasks(bob)[1], SimulatedAssessor("bob", {f"d{i}": i / 2 for i in range(1, 9)}))
    return number
