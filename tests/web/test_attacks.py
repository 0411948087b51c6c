"""Attacks: scripts in texts, other sites, sessions, ids of others, paths, SQL, smuggling, bombs, formulas.

Attacks that have a file of their own: guesses, links and stopped people (``test_sign_in``), every route with
every role and the CSRF token (``test_authorisation``), documents in a browser (``test_hostile_documents``),
random requests (``test_security``), proxies (``test_proxy``).
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Server
from tests.support.web_world import World, entry, tasks
from topkit.data.csv_cells import plain_cell, safe_cell
from topkit.labelling.files import read_preferences_csv
from topkit.web.guard import COOKIE
from topkit.web.store import people

SCRIPT = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}"


# -- scripts in texts --------------------------------------------------------------------------------------
def test_scripts_in_every_text_are_shown_as_text(world: World) -> None:
    """By eight routes: a person, a project, instructions, a query, a description, a title, an id, a URL."""
    ann = world.person(SCRIPT[:90])
    number = world.project(name=SCRIPT[:95], instructions=SCRIPT)
    key = "".join(SCRIPT.split())
    topic = json.dumps({"id": key, "query": SCRIPT, "description": SCRIPT}) + "\n"
    assert world.admin.upload(f"/api/projects/{number}/topics", topic, "t.jsonl").status_code == 201
    documents = "".join(
        json.dumps({"id": f"{key}{i}", "title": SCRIPT, "text": SCRIPT, "topic": key}) + "\n"
        for i in range(4)
    )
    assert world.admin.upload(f"/api/projects/{number}/documents", documents, "d.jsonl").status_code == 201
    plan = {"mode": "overlap", "people": [ann.number, world.admin.number], "copies": 2}
    assert world.admin.post(f"/api/projects/{number}/assignments", plan).status_code == 201
    world.admin.post("/api/invitations", {"name": f"invited {SCRIPT}"[:90]})
    labelling = tasks(ann)[-1]
    turn = ann.get(f"/api/labellings/{labelling}").json()
    topic_id = world.admin.get(f"/api/projects/{number}/topics").json()[-1]["id"]
    document = turn["question"]["a"]["id"]
    for actor in (ann, world.admin):
        path = f"/api/labellings/{tasks(actor)[-1]}"
        actor.post(f"{path}/answers", entry(actor.get(path).json(), "a" if actor is ann else "b"))
    project_pages = ("", "/material", "/agreement", "/settings", f"/topics/{topic_id}")
    admin_pages = ["/", "/people", "/account", *(f"/projects/{number}{page}" for page in project_pages)]
    pages = [(world.admin, path) for path in admin_pages]
    pages += [(ann, "/"), (ann, "/account"), (ann, f"/label/{labelling}"), (ann, f"/projects/{SCRIPT}")]
    pages += [(ann, f"/api/labellings/{labelling}/documents/{document}"), (world.anonymous, f"/{SCRIPT}")]
    escaped = 0
    for actor, path in pages:
        text = actor.get(path).text
        assert "<script>alert" not in text, path
        assert "<img src=x" not in text, path
        assert "49" not in text.replace("&#39;", "&#34;") or "{{7*7}}" in text, path
        escaped += text.count("&lt;script&gt;alert")
    assert escaped > 20
    for path in (f"/api/projects/{number}", "/api/people", f"/api/labellings/{labelling}"):
        reply = (ann if "labellings" in path else world.admin).get(path)
        assert reply.headers["content-type"] == "application/json"
        assert reply.headers["x-content-type-options"] == "nosniff"


# -- sessions ----------------------------------------------------------------------------------------------
def test_a_session_cannot_be_chosen_by_an_attacker(world: World) -> None:
    """Fixation: the cookie that the browser had before is not the one of the new session."""
    link = world.admin.post("/api/invitations", {"name": "zoe"}).json()["link"]
    body = {"token": link.removeprefix("/invite/"), "password": "a long and good password"}
    planted = {"cookie": f"{COOKIE}=planted-by-an-attacker"}
    reply = world.anonymous.post("/api/invitations/accept", body, headers=planted)
    assert reply.status_code == 201
    assert reply.cookies[COOKIE] != "planted-by-an-attacker"
    assert world.anonymous.get("/api/session", headers=planted).status_code == 401
    first = reply.cookies[COOKIE]
    again = world.anonymous.post(
        "/api/session",
        {"name": "zoe", "password": body["password"]},
        headers={"cookie": f"{COOKIE}={first}"},
    )
    assert again.cookies[COOKIE] != first


def test_other_sites_cannot_post(world: World) -> None:
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://testserver.evil.example"},
        {"origin": "http://testserver:8000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        reply = world.admin.post("/api/projects", {"name": "by another site"}, headers=headers)
        assert reply.status_code == 403, headers
        form = world.client.post("/login", data={"name": "a", "password": "b"}, headers=headers)
        assert form.status_code == 403, headers
    without_script = {"origin": "null", "sec-fetch-site": "same-origin"}
    assert world.client.post("/script-needed", data={"a": "b"}, headers=without_script).status_code == 400
    own = {"origin": "http://testserver", "sec-fetch-site": "same-origin"}
    assert world.admin.post("/api/projects", {"name": "by this site"}, headers=own).status_code == 201


def test_ids_of_others(world: World) -> None:
    """A topic or document of another project, and work of another person."""
    ann, bob = world.person("ann"), world.person("bob")
    mine, other = world.project(ann), world.project(bob)
    topic = world.admin.get(f"/api/projects/{other}/topics").json()[0]["id"]
    document = world.admin.get(f"/api/projects/{other}/documents").json()["documents"][0]["id"]
    for path in (
        f"/api/projects/{mine}/topics/{topic}/top",
        f"/api/projects/{mine}/documents/{document}",
        f"/projects/{mine}/topics/{topic}",
    ):
        assert world.admin.get(path).status_code == 404, path
    labelling = tasks(ann)[0]
    assert ann.get(f"/api/labellings/{labelling}/documents/{document}").status_code == 404
    for path in (f"/api/labellings/{labelling}", f"/label/{labelling}"):
        assert bob.get(path).status_code == 404
    turn = ann.get(f"/api/labellings/{labelling}").json()
    assert bob.post(f"/api/labellings/{labelling}/answers", entry(turn, "a")).status_code == 404
    hand = {"mode": "hand", "assignments": [{"topic": topic, "person": ann.number, "tool": "pairs"}]}
    assert world.admin.post(f"/api/projects/{mine}/assignments", hand).status_code == 400


# -- paths and SQL -----------------------------------------------------------------------------------------
def test_paths_that_leave_the_app(world: World) -> None:
    number = world.project()
    for path in (
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2f..%2fapp.py",
        "/static/....//app.py",
        "/static//etc/passwd",
        "/static/app.js%00.html",
        f"/api/projects/{number}/exports/..%2f..%2fetc%2fpasswd",
        f"/api/projects/{number}/exports/%2fetc%2fpasswd",
    ):
        reply = world.admin.get(path)
        assert reply.status_code in (400, 404, 422), path
        assert "root:" not in reply.text
        assert "import" not in reply.text


def test_file_names_of_uploads_are_not_paths(world: World, tmp_path: Path) -> None:
    number = world.project()
    for name in ("../../escaped.csv", "/tmp/escaped.csv", "..\\escaped.csv"):  # noqa: S108 - must not appear
        assert (
            world.admin.upload(f"/api/projects/{number}/topics", "id,query\nx,y\n", name).status_code == 201
        )
    assert not list(tmp_path.rglob("escaped*"))
    assert not Path("/tmp/escaped.csv").exists()  # noqa: S108


INJECTED = ("' OR '1'='1", "x'; DROP TABLE person; --", '" OR 1=1 --', "%' OR name LIKE '%")


def test_sql_is_text(world: World) -> None:
    for text in INJECTED:
        wrong = world.anonymous.post("/api/session", {"name": text, "password": "a long and good password"})
        assert wrong.status_code == 401
        assert world.admin.post("/api/projects", {"name": text}).json()["name"] == text
        assert world.admin.post("/api/invitations", {"name": text}).json()["name"] == text
        for path in (
            f"/api/projects/{text}",
            f"/api/labellings/{text}",
            f"/projects/1%20OR%201=1?first={text}",
        ):
            assert world.admin.get(path).status_code in (400, 404, 422)
        headers = {"cookie": f"{COOKIE}={text}"}
        assert world.anonymous.get("/api/session", headers=headers).status_code == 401
    assert [row["name"] for row in world.admin.get("/api/people").json()] == ["root"]


# -- large and malformed requests --------------------------------------------------------------------------
def asgi(world: World, headers: dict[str, str], path: str = "/api/projects/1/topics") -> tuple[int, int]:
    """Post without the test client; returns the status and how often the body was asked for."""
    asked = 0
    status = 0

    async def receive() -> dict[str, Any]:
        nonlocal asked
        asked += 1
        return {"type": "http.request", "body": b"x" * 1000, "more_body": asked < 10}

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)

    raw = [(name.encode(), value.encode()) for name, value in {"host": "testserver", **headers}.items()]
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": raw,
        "scheme": "http",
        "http_version": "1.1",
        "client": ("203.0.113.5", 1),
        "server": ("testserver", 80),
        "root_path": "",
        "asgi": {"version": "3.0"},
    }
    asyncio.run(world.app(scope, receive, send))
    return status, asked


def test_uploads_are_refused_before_they_are_read(world: World) -> None:
    number = world.project()
    path = f"/api/projects/{number}/topics"
    ann = world.person("ann")
    upload = {"content-type": "multipart/form-data; boundary=x", "content-length": "10000"}
    cookies = {"cookie": f"{COOKIE}={ann.cookie}", "x-csrf-token": ann.csrf}
    forged = {"cookie": f"{COOKIE}={world.admin.cookie}", "x-csrf-token": "guess"}
    assert asgi(world, upload, path) == (401, 0)
    assert asgi(world, {**upload, **cookies}, path) == (403, 0)  # not an admin
    assert asgi(world, {**upload, **forged}, path) == (403, 0)
    right = {"cookie": f"{COOKIE}={world.admin.cookie}", "x-csrf-token": world.admin.csrf}
    status, asked = asgi(world, {**upload, **right}, path)
    assert status in (400, 422)
    assert asked > 0
    assert asgi(world, {**upload, **right, "content-length": str(1 << 40)}, path) == (413, 0)


def test_bombs_are_refused(world: World) -> None:
    number = world.project()
    bombs = {
        "zeros.jsonl.gz": gzip.compress(b"0" * 50_000_000),
        "deep.jsonl": b'{"id": "a", "text": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
        "digits.jsonl": b'{"id": ' + b"9" * 100_000 + b', "text": "a"}',
        "entities.trec": b"<DOC><DOCNO>1</DOCNO>" + b"<a " * 300_000,
        "quotes.csv": b'id,text\n1,"' + b'""' * 2_000_000,
    }
    for name, content in bombs.items():
        reply = world.admin.upload(f"/api/projects/{number}/documents", content, name)
        assert reply.status_code == 400, (name, reply.text)
        assert len(reply.json()["detail"]) < 500
    body = b'{"name": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    headers = {"content-type": "application/json"}
    assert world.admin.call("POST", "/api/projects", content=body, headers=headers).status_code in (400, 422)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    server = Server(str(tmp_path_factory.mktemp("attacks") / "labels.db"))
    yield "127.0.0.1", server.port
    server.stop()


SMUGGLED = b"GET /api/people HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 4\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: chunked\r\nContent-Length: 4",
        b"Content-Length: 4\r\nContent-Length: 40",
        b"Transfer-Encoding: xchunked",
        b"Transfer-Encoding : chunked",
        b"Content-Length: +4",
    ],
)
def test_a_request_cannot_hide_another(address: tuple[str, int], head: bytes) -> None:
    """Smuggling: where a proxy and the server could see different ends of a request, the connection ends."""
    with socket.create_connection(address, timeout=20) as line:
        line.sendall(b"POST /api/session HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n0\r\n\r\n" + SMUGGLED)
        received = b""
        while part := line.recv(65_536):
            received += part
            if received.count(b"HTTP/1.1") > 1:
                break
    assert received.count(b"HTTP/1.1") <= 1, received
    assert received == b"" or received.split()[1] in (b"400", b"413", b"422"), received


# -- formulas, names and descriptions ----------------------------------------------------------------------
FORMULAS = ('=HYPERLINK("http://evil")', "+1+cmd|' /C calc'!A0", "@SUM(1)", "-2+3", "'=1")


def test_exports_contain_no_formulas(world: World, tmp_path: Path) -> None:
    """A name or id that a spreadsheet would calculate gets an apostrophe, which topkit's readers remove."""
    ann = world.person('=HYPERLINK("http://evil")')
    number = world.project()
    documents = "".join(json.dumps({"id": "".join(text.split()), "text": text}) + "\n" for text in FORMULAS)
    plain = world.admin.post("/api/projects", {"name": "formulas", "k": 2, "tools": "pairs"}).json()["id"]
    assert plain != number
    world.admin.upload(f"/api/projects/{plain}/topics", 'id,query\n"=1+1",words\n')
    assert world.admin.upload(f"/api/projects/{plain}/documents", documents, "d.jsonl").status_code == 201
    world.admin.post(
        f"/api/projects/{plain}/assignments", {"mode": "overlap", "people": [ann.number], "copies": 1}
    )
    path = f"/api/labellings/{tasks(ann)[0]}"
    turn = ann.get(path).json()
    while turn["question"] is not None:
        turn = ann.post(f"{path}/answers", entry(turn, "a")).json()["turn"]
    file = tmp_path / "preferences.csv"
    file.write_bytes(world.admin.get(f"/api/projects/{plain}/exports/preferences-csv").content)
    cells = [cell.strip('"') for line in file.read_text().splitlines()[1:] for cell in line.split(",")]
    assert not [cell for cell in cells if cell[:1] in "=+-@" and cell]
    read = read_preferences_csv(file)[0].preferences
    assert {p.assessor for p in read} == {'=HYPERLINK("http://evil")'}
    assert {p.query for p in read} == {"=1+1"}
    assert {p.a for p in read} | {p.b for p in read} <= {"".join(text.split()) for text in FORMULAS}


@pytest.mark.parametrize("text", [*FORMULAS, "", "d7", "-12", "+3.5e4", "\t=1", "''=1", "'quoted'"])
def test_cells_come_back(text: str) -> None:
    assert plain_cell(safe_cell(text)) == text
    assert safe_cell(text)[:1] not in ("=", "@", "\t")


def project_file(**changes: object) -> list[dict[str, Any]]:
    settings = {"name": "p", "k": 2, "strategy": "adaptive", "tools": "pairs", "seed": 0, "instructions": ""}
    return [
        {"project": {**settings, **changes}, "version": 1},
        {"topic": "q", "query": "words", "description": ""},
        {"document": "d", "kind": "text", "title": "", "body": "text"},
    ]


INVALID: tuple[tuple[int, dict[str, object], str], ...] = (
    (0, {"name": ""}, "name"),
    (0, {"name": "x" * 101}, "name"),
    (0, {"name": "a\u202eb"}, "printable"),
    (0, {"k": 0}, "k"),
    (0, {"k": 1001}, "k"),
    (0, {"tools": "hammer"}, "tools"),
    (0, {"strategy": "guess"}, "unknown strategy"),
    (0, {"instructions": "x" * 20_001}, "instructions"),
    (1, {"topic": "q 1"}, "contains spaces"),
    (1, {"topic": "x" * 1001}, "1,001 characters"),
    (2, {"document": ""}, "has no id"),
    (2, {"kind": "url", "body": "javascript:alert(1)"}, "invalid URL"),
    (2, {"body": "x" * 2_000_001}, "2,000,001 characters"),
)


def test_a_project_file_passes_the_checks_of_the_form(world: World) -> None:
    for line, change, problem in INVALID:
        records = project_file(**change) if line == 0 else project_file()
        if line:
            records[line] |= change
        text = "".join(json.dumps(record) + "\n" for record in records)
        reply = world.admin.upload("/api/projects/import", text, "p.jsonl")
        assert reply.status_code == 400, reply.text
        assert problem in reply.json()["detail"]
        assert f"line {line + 1}" in reply.json()["detail"]
    assert world.admin.get("/api/projects").json() == []


def test_a_project_file_cannot_bring_a_look_alike(world: World) -> None:
    world.person("admin", "admin")
    records = project_file()
    records += [
        {"document": "e", "kind": "text", "title": "", "body": "text"},
        {"candidates": "q", "documents": ["d", "e"], "prior": []},
    ]
    labelling = {"labelling": "q", "tool": "pairs", "strategy": "adaptive", "k": 2, "seed": 0, "created": 1.0}
    records.append({**labelling, "assessor": "Admin", "judgments": []})
    text = "".join(json.dumps(record) + "\n" for record in records)
    reply = world.admin.upload("/api/projects/import", text, "p.jsonl")
    assert reply.status_code == 400
    assert "looks like 'admin'" in reply.json()["detail"]
    with world.store.read() as connection:
        assert [person.name for person in people.everyone(connection)] == ["admin", "root"]


def test_the_description_of_the_api_needs_a_sign_in(world: World) -> None:
    assert world.anonymous.get("/openapi.json").status_code == 401
    assert "paths" in world.person("ann").get("/openapi.json").json()
    assert world.anonymous.get("/docs").status_code == 404
