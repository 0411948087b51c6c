"""A small world for tests: an app with people who are signed in, and a project with topics and documents."""

from __future__ import annotations

import json
import secrets
import warnings
from types import TracebackType
from typing import Any, Self

import httpx

from topkit.labelling import Question, SimulatedAssessor
from topkit.web.app import create_app
from topkit.web.guard import COOKIE
from topkit.web.settings import Settings
from topkit.web.store import people

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would rather have a newer httpx than FastAPI's own
    from fastapi.testclient import TestClient

__all__ = ["Actor", "TestClient", "World", "entry", "label_all", "tasks"]

TOPICS = (
    "id,query,description\nq1,cooling of wings,How hot wings are cooled.\nq2,jet noise,\nq3,sonic boom,\n"
)
DOCUMENTS = "".join(
    json.dumps({"id": f"d{i}", "title": f"Paper {i}", "text": f"Cooling the wing, number {i}."}) + "\n"
    for i in range(1, 9)
)


class Actor:
    """Somebody with a browser: the cookie and the CSRF token are sent along."""

    def __init__(self, client: TestClient, number: int = 0, csrf: str = "", cookie: str = "") -> None:
        self.client, self.number, self.csrf, self.cookie = client, number, csrf, cookie

    def call(self, method: str, path: str, **given: Any) -> httpx.Response:
        headers = dict(given.pop("headers", {}))
        if self.cookie:
            headers["cookie"] = f"{COOKIE}={self.cookie}"
        if self.csrf and "x-csrf-token" not in headers:
            headers["x-csrf-token"] = self.csrf
        self.client.cookies.clear()
        return self.client.request(method, path, headers=headers, follow_redirects=False, **given)

    def get(self, path: str, **given: Any) -> httpx.Response:
        return self.call("GET", path, **given)

    def post(self, path: str, body: object = None, **given: Any) -> httpx.Response:
        return self.call("POST", path, **({"json": body} if body is not None else {}), **given)

    def upload(self, path: str, text: str | bytes, file: str = "file.csv", **form: Any) -> httpx.Response:
        return self.call("POST", path, files={"file": (file, text)}, data=form)


class World:
    """An app, an admin, and whoever is added."""

    def __init__(self, settings: Settings, admin: str = "root") -> None:
        self._admin = admin
        self.app = create_app(settings)
        self.store = self.app.state.store
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
        """A new person who is signed in."""
        with self.store.write() as connection:
            person = people.add_person(connection, name, role)
            token, visit = people.start_session(connection, person, 1)
        return Actor(self.client, person.id, visit.csrf, token)

    def signed_in(self, name: str) -> Actor:
        """Somebody who is there already."""
        with self.store.write() as connection:
            found = people.find_person(connection, name)
            assert found is not None
            token, visit = people.start_session(connection, found[0], 1)
        return Actor(self.client, found[0].id, visit.csrf, token)

    def project(self, *assessors: Actor, mode: str = "overlap", **settings: Any) -> int:
        """A project with three topics and eight documents, every topic for all the assessors in pairs."""
        asked = {"name": f"project {secrets.token_hex(4)}", "k": 3, "tools": "pairs", **settings}
        made = self.admin.post("/api/projects", asked)
        assert made.status_code == 201, made.text
        number = int(made.json()["id"])
        assert self.admin.upload(f"/api/projects/{number}/topics", TOPICS).status_code == 201
        documents = self.admin.upload(f"/api/projects/{number}/documents", DOCUMENTS, "documents.jsonl")
        assert documents.status_code == 201, documents.text
        if assessors:
            body = {"mode": mode, "people": [one.number for one in assessors], "copies": len(assessors)}
            said = self.admin.post(f"/api/projects/{number}/assignments", body)
            assert said.status_code == 201, said.text
        return number


def tasks(actor: Actor) -> list[int]:
    """The labellings of somebody."""
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
    """Answer as the judge does until the topic is done; the last turn."""
    turn: dict[str, Any] = actor.get(f"/api/labellings/{labelling}").json()
    while turn["question"] is not None:
        body = entry(turn, "")
        body["answer"] = judge.judge("", Question(body["a"], body["b"])).answer
        reply = actor.post(f"/api/labellings/{labelling}/answers", body)
        assert reply.status_code == 200, reply.text
        turn = reply.json()["turn"]
    return turn
