"""Every route × every role, from the OpenAPI: whatever is not listed here as allowed must be rejected."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import topkit.web
from tests.support.web_world import Actor, World, entry, tasks

EVERYBODY = {"POST /api/session", "POST /api/invitations/accept"}
SIGNED_IN = {
    "GET /api/session",
    "DELETE /api/session",
    "PUT /api/session/password",
    "GET /api/tasks",
    "GET /api/tokens",
    "POST /api/tokens",
    "DELETE /api/tokens/{token}",
}
OWNER = {
    "GET /api/labellings/{number}",
    "POST /api/labellings/{number}/answers",
    "POST /api/labellings/{number}/undo",
    "POST /api/labellings/{number}/remarks",
    "GET /api/labellings/{number}/suggestion",
    "GET /api/labellings/{number}/documents/{document}",
}
"""Only the assessor of the labelling: an admin may not answer for somebody else."""
PAGES = {
    "/": "signed in",
    "/account": "signed in",
    "/label/{number}": "owner",
    "/people": "admin",
    "/projects/new": "admin",
    "/projects/{number}": "admin",
    "/projects/{number}/material": "admin",
    "/projects/{number}/agreement": "admin",
    "/projects/{number}/adjudication": "admin",
    "/projects/{number}/quality": "admin",
    "/projects/{number}/programs": "admin",
    "/projects/{number}/models": "admin",
    "/projects/{number}/learning": "admin",
    "/audit": "admin",
    "/tokens": "signed in",
    "/language/{code}": "everybody",
    "/oidc/start": "everybody",
    "/oidc/callback": "everybody",
    "/projects/{number}/topics/{topic}": "admin",
    "/projects/{number}/settings": "admin",
    "/login": "everybody",
    "/health": "everybody",
    "/invite/{token}": "everybody",
}


def routes(world: World) -> list[str]:
    found = world.app.openapi()["paths"]
    return [f"{method.upper()} {path}" for path, methods in found.items() for method in methods]


def bodies(project: int, turn: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """A valid body for each route that needs one, so that only the role decides."""
    file = {"files": {"file": ("x.csv", "id,query\nq9,nine\n")}}
    return {
        "POST /api/session": {"json": {"name": "nobody", "password": "wrong password"}},
        "PUT /api/session/password": {"json": {"password": "x", "new": "long enough words"}},
        "POST /api/invitations": {"json": {"name": "zoe"}},
        "POST /api/invitations/accept": {"json": {"token": "1.x", "password": "long enough words"}},
        "PATCH /api/people/{number}": {"json": {"role": "assessor", "active": True}},
        "POST /api/projects": {"json": {"name": "another"}},
        "DELETE /api/projects/{number}": {"json": {"name": "not its name"}},
        "PATCH /api/projects/{number}/topics/{topic}": {"json": {"description": "Why."}},
        "PATCH /api/labellings/{number}": {"json": {"action": "reopen"}},
        "POST /api/people/{number}/removal": {"json": {"project": project}},
        "POST /api/projects/import": file,
        "PATCH /api/projects/{number}": {"json": {"instructions": "Read."}},
        "POST /api/projects/{number}/topics": file,
        "POST /api/projects/{number}/documents": {"files": {"file": ("x.csv", "id,text\nd99,words\n")}},
        "POST /api/projects/{number}/run": {"files": {"file": ("x.run", "q1 Q0 d1 1 2.0 x\n")}},
        "POST /api/projects/{number}/assignments": {"json": {"mode": "hand"}},
        "POST /api/labellings/{number}/answers": {"json": entry(turn, "a")},
        "POST /api/projects/{number}/gold": {"json": {"topic": "q1", "a": "d1", "b": "d2", "answer": "a"}},
        "POST /api/projects/{number}/gold/import": {
            "files": {"file": ("x.csv", "topic,a,answer\nq1,d1,bad\n")}
        },
        "PUT /api/projects/{number}/gold-rate": {"json": {"rate": 0.0}},
        "POST /api/projects/{number}/topics/{topic}/decisions": {
            "json": {"a": "d1", "b": "d2", "verdict": "a"}
        },
        "POST /api/projects/{number}/pictures": {"files": {"file": ("x.gif", b"GIF89a")}},
        "POST /api/projects/{number}/webhooks": {"json": {"url": "https://x/", "events": ["decision.made"]}},
        "POST /api/projects/{number}/schedules": {"json": {"export": "top-k"}},
        "POST /api/projects/{number}/models": {"json": {"name": "m", "url": "http://x/v1", "model": "m"}},
        "PATCH /api/projects/{number}/models/{model}": {"json": {"active": False}},
        "GET /api/labellings/{number}/suggestion": {"params": {"a": "d1", "b": "d2"}},
        "POST /api/projects/{number}/learning": {"json": {}},
        "POST /api/projects/{number}/features": {"files": {"file": ("x.txt", "0 qid:q1 1:1 # docid = d1\n")}},
        "POST /api/tokens": {"json": {"name": "x", "scopes": ["read"]}},
        "POST /api/labellings/{number}/remarks": {"json": {"a": "d1", "b": "d2", "flagged": True}},
        "POST /api/labellings/{number}/undo": {"json": {"seq": turn["seq"] + 2, "key": "undo"}},
    }


@pytest.fixture
def cast(world: World) -> dict[str, Actor]:
    owner, other = world.person("owner"), world.person("other")
    return {"nobody": world.anonymous, "other": other, "admin": world.admin, "owner": owner}


def test_every_route_and_role(world: World, cast: dict[str, Actor]) -> None:
    project = world.project(cast["owner"])
    labelling = tasks(cast["owner"])[0]
    turn = cast["owner"].get(f"/api/labellings/{labelling}").json()
    topic = world.admin.get(f"/api/projects/{project}/topics").json()[0]["id"]
    given = bodies(project, turn)
    refused = {401: 0, 403: 0, 404: 0}
    for route in routes(world):
        method, path = route.split()
        number = project if path.startswith("/api/projects") else labelling
        if method == "DELETE":
            number = tasks(cast["owner"])[-1]
        document = turn["question"]["a"]["id"]
        values = {"number": number, "topic": topic, "document": document, "export": "jsonl"}
        values |= dict.fromkeys(("gold", "remark", "token", "webhook", "schedule", "model"), 1)
        url = path.format(**values)
        allowed = {"admin"}
        if route in EVERYBODY:
            allowed = set(cast)
        elif route in SIGNED_IN:
            allowed = {"other", "admin", "owner"}
        elif route in OWNER:
            allowed = {"owner"}
        if "people" in path:
            url = url.replace(f"/people/{labelling}", f"/people/{cast['other'].number}")
        for role, actor in cast.items():
            if route in ("DELETE /api/session", "PUT /api/session/password") and role != "nobody":
                actor = world.person(f"{role} for {method}", "admin" if role == "admin" else "assessor")
            status = actor.call(method, url, **given.get(route, {})).status_code
            assert status < 500, (route, role, status)
            if role in allowed:
                assert status != 403, (route, role)
                assert status != 401 or route == "POST /api/session", (route, role)
                if route in OWNER:
                    assert status in (200, 201), (route, role)
            else:
                expected = 401 if role == "nobody" else 404 if route in OWNER else 403
                assert status == expected, (route, role, status)
                refused[status] += 1
    assert set(routes(world)) >= EVERYBODY | SIGNED_IN | OWNER
    assert min(refused.values()) >= 8  # each kind of rejection occurred


def test_every_page_and_role(world: World, cast: dict[str, Actor]) -> None:
    project = world.project(cast["owner"])
    topic = world.admin.get(f"/api/projects/{project}/topics").json()[0]["id"]
    link = world.admin.post("/api/invitations", {"name": "zoe"}).json()["link"]
    pages = {
        route.path
        for router in world.app.routes
        for route in getattr(getattr(router, "original_router", router), "routes", [router])
        if getattr(route, "path", "/static").startswith("/")
        and not getattr(route, "path", "/api").startswith("/api")
        and "GET" in getattr(route, "methods", {"GET"})
    } - {"/static", "/openapi.json"}
    assert pages == set(PAGES)
    for path, who in PAGES.items():
        number = tasks(cast["owner"])[0] if path.startswith("/label") else project
        url = path.format(number=number, topic=topic, token=link.split("/")[-1], code="de")
        for role, actor in cast.items():
            status = actor.get(url).status_code
            if path.startswith(("/language", "/oidc")):
                assert status == (303 if "language" in path else 404)  # the provider is not set up
            elif who == "everybody":
                assert status in ((303,) if role != "nobody" and path == "/login" else (200,))
            elif role == "nobody":
                assert status == 303
            elif who == "owner":
                assert status == (200 if role == "owner" else 404)
            elif who == "admin":
                assert status == (200 if role == "admin" else 403)
            else:
                assert status == 200


def test_changes_need_the_token_of_the_session(world: World) -> None:
    """The cookie alone is not enough, because a browser also sends it with requests from other sites."""
    for route in routes(world):
        method, path = route.split()
        if method == "GET" or route in EVERYBODY:
            continue
        url = re.sub(r"\{\w+\}", "1", path)
        for token in ("", "wrong", world.admin.csrf[:-1]):
            assert world.admin.call(method, url, headers={"x-csrf-token": token}).status_code == 403
    other = {"origin": "https://evil.example"}
    assert (
        world.anonymous.post("/api/session", {"name": "a", "password": "b"}, headers=other).status_code == 403
    )
    cross = {"sec-fetch-site": "cross-site"}
    assert (
        world.anonymous.post("/api/session", {"name": "a", "password": "b"}, headers=cross).status_code == 403
    )


def test_a_blocked_person_is_signed_out_at_once(world: World) -> None:
    ann = world.person("ann")
    assert ann.get("/api/tasks").status_code == 200
    changed = world.admin.call(
        "PATCH", f"/api/people/{ann.number}", json={"role": "assessor", "active": False}
    )
    assert changed.status_code == 200
    assert ann.get("/api/tasks").status_code == 401
    last = world.admin.call(
        "PATCH", f"/api/people/{world.admin.number}", json={"role": "assessor", "active": True}
    )
    assert last.status_code == 400  # at least one admin must remain


def test_pages_do_nothing_that_the_openapi_does_not_describe(world: World) -> None:
    """The OpenAPI describes the method and URL of every form, and every link to the API."""
    known = {re.sub(r"\{\w+\}", "{}", route) for route in routes(world)}
    folder = Path(topkit.web.__file__).parent
    used = set()
    for template in sorted((folder / "templates").glob("*.html")):
        text = template.read_text()
        used |= set(re.findall(r'data-method="(\w+)" data-url="([^"]+)"', text))
        used |= {("GET", link) for link in re.findall(r'href="(/api[^"?]+)', text)}
        changing = [tag for tag in re.findall(r"<form[^>]*>", text) if 'method="get"' not in tag]
        changing = [tag for tag in changing if 'method="dialog"' not in tag]  # a dialog sends nothing
        assert all("data-url=" in tag for tag in changing)
    script = (folder / "static" / "label.js").read_text()
    for method, path in re.findall(r'callApi\("(\w+)", (?:`\$\{api\}([^`]*)`|api\b)', script):
        paths = (
            [path.replace("${request.path}", name) for name in ("answers", "undo")]
            if "request" in path
            else [path]
        )
        used |= {(method, f"/api/labellings/{{}}{one.split('?')[0]}") for one in paths}
    called = {f"{method} {re.sub(r'{{.*?}}', '{}', path)}" for method, path in used}
    called = {re.sub(r"exports/\w+$", "exports/{}", one) for one in called}
    assert len(called) > 20
    assert called <= known
