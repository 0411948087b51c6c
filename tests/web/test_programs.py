"""Other programs: API tokens, webhooks, OpenID Connect, the live stream, exports on a schedule."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import sqlalchemy as sa

from tests.support.web_live import LiveWorld
from tests.support.web_world import ORDER, Actor, World, entry, label_all, tasks
from topkit.labelling import SimulatedAssessor
from topkit.web import oidc, webhooks
from topkit.web.guard import COOKIE
from topkit.web.oidc import Client, Provider, SignInError
from topkit.web.schedules import write_due
from topkit.web.schema import api_token, delivery, webhook
from topkit.web.settings import Settings
from topkit.web.standings import LabellingCache
from topkit.web.webhooks import ATTEMPTS, deliver_due, signature


# -- tokens ------------------------------------------------------------------------------------------------
def program(world: World, owner: Actor, *scopes: str, days: float | None = 1) -> Actor:
    """A program with a token of a person."""
    created = owner.post("/api/tokens", {"name": "script", "scopes": list(scopes), "days": days})
    assert created.status_code == 201, created.text

    class Program(Actor):
        def call(self, method: str, path: str, **options: object) -> httpx.Response:
            headers = {"authorization": f"Bearer {created.json()['token']}"}
            return super().call(method, path, headers=headers, **options)

    return Program(world.client)


def test_a_token_does_what_its_scopes_and_its_owner_may(world: World) -> None:
    ann = world.person("ann")
    project = world.project(ann)
    reader, worker = program(world, ann, "read"), program(world, ann, "read", "label")
    manager = program(world, world.admin, "read", "manage")
    labelling = tasks(reader)[0]
    path = f"/api/labellings/{labelling}"
    body = entry(worker.get(path).json(), "a")
    assert reader.post(f"{path}/answers", body).status_code == 403
    assert worker.post(f"{path}/answers", body).json()["outcome"] == "saved"  # without a CSRF token
    assert worker.get(f"/api/projects/{project}").status_code == 403  # ann is not an admin
    assert manager.call("PATCH", f"/api/projects/{project}", json={"instructions": "x"}).status_code == 200
    assert manager.post("/api/tokens", {"name": "more", "scopes": ["read"]}).status_code == 403
    change = {"password": "x", "new": "several new words"}
    assert manager.call("PUT", "/api/session/password", json=change).status_code == 403
    with world.store.read() as connection:
        stored = connection.execute(sa.select(api_token)).all()
    assert all("topkit_" not in str(tuple(row)) for row in stored)  # only hashes
    rows = ann.get("/api/tokens").json()
    assert [row["scopes"] for row in rows] == ["read", "read label"]
    assert rows[0]["used"] is not None
    assert world.admin.call("DELETE", f"/api/tokens/{rows[0]['id']}").status_code == 404  # not theirs
    assert ann.call("DELETE", f"/api/tokens/{rows[0]['id']}").status_code == 200
    assert reader.get("/api/tasks").status_code == 401
    world.admin.call("PATCH", f"/api/people/{ann.number}", json={"role": "assessor", "active": False})
    assert worker.get("/api/tasks").status_code == 401  # the owner was stopped


def test_an_expired_token_and_an_invented_one(world: World) -> None:
    ann = world.person("ann")
    old = program(world, ann, "read")
    with world.store.write() as connection:
        connection.execute(api_token.update().values(expires=time.time() - 1))
    assert old.get("/api/tasks").status_code == 401
    for header in ("Bearer topkit_x", "Bearer", "Basic YTpi", "bearer " + "x" * 5000):
        assert world.anonymous.get("/api/tasks", headers={"authorization": header}).status_code == 401


# -- webhooks ----------------------------------------------------------------------------------------------
@pytest.fixture
def receiver() -> Iterator[tuple[str, list[tuple[dict[str, str], str]], list[int]]]:
    """A server that notes what it gets: its URL, the deliveries, and the statuses to answer with."""
    got: list[tuple[dict[str, str], str]] = []
    statuses: list[int] = []

    class Receive(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(statuses.pop(0) if statuses else 204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receive)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hook", got, statuses
    server.shutdown()
    server.server_close()


def test_events_are_signed_sent_again_and_given_up(
    world: World, receiver: tuple[str, list[tuple[dict[str, str], str]], list[int]]
) -> None:
    url, got, statuses = receiver
    ann = world.person("ann")
    project = world.project(ann)
    path = f"/api/projects/{project}/webhooks"
    created = world.admin.post(path, {"url": url, "events": ["labelling.completed"]}).json()
    statuses.append(500)
    label_all(ann, tasks(ann)[0], SimulatedAssessor.of_order("ann", ORDER))
    question = ann.get(f"/api/labellings/{tasks(ann)[1]}").json()["question"]
    remark = {"a": question["a"]["key"], "b": question["b"]["key"], "flagged": True}
    ann.post(f"/api/labellings/{tasks(ann)[1]}/remarks", remark)  # not one of the events
    now = time.time()
    assert deliver_due(world.store, now=now) == 0  # the receiver fails
    assert deliver_due(world.store, now=now + 1) == 0  # not due yet
    assert world.admin.get(path).json()[0]["waiting"] == 1
    assert deliver_due(world.store, now=now + 100) == 1
    assert deliver_due(world.store, now=now + 10_000) == 0  # once
    assert len(got) == 2
    headers, body = got[-1]
    content = json.loads(body)
    assert (content["event"], content["topic"], content["assessor"]) == ("labelling.completed", "q1", "ann")
    assert headers["x-topkit-signature"] == signature(created["secret"], headers["x-topkit-time"], body)
    with world.store.write() as connection:
        connection.execute(delivery.update().values(done=None, attempts=ATTEMPTS - 1, next=now))
    statuses.append(404)
    assert deliver_due(world.store, now=now + 20_000) == 0
    assert world.admin.get(path).json()[0]["failed"] == 1
    assert deliver_due(world.store, now=now + 1e9) == 0  # given up
    assert world.admin.call("DELETE", f"{path}/{created['id']}").status_code == 200
    with world.store.read() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(delivery)) == 0


def test_invalid_webhooks_and_a_receiver_that_is_gone(world: World) -> None:
    project = world.project()
    path = f"/api/projects/{project}/webhooks"
    for url in ("ftp://host/x", "nonsense", "http://169.254.169.254/latest", "http://[fe80::1]/", "http://["):
        assert world.admin.post(path, {"url": url, "events": ["remark.created"]}).status_code == 400, url
    assert world.admin.post(path, {"url": "https://host/", "events": []}).status_code == 422
    with world.store.write() as connection:
        webhooks.add_webhook(connection, project, "http://127.0.0.1:9/none", ["decision.made"])
        webhooks.enqueue(connection, project, "decision.made", {})
    assert deliver_due(world.store) == 0
    with world.store.read() as connection:
        assert "ConnectError" in (connection.scalar(sa.select(delivery.c.problem)) or "")
        assert connection.scalar(sa.select(webhook.c.secret)) not in world.admin.get(path).text


def test_two_processes_deliver_an_event_once(world: World) -> None:
    project = world.project()
    with world.store.write() as connection:
        webhooks.add_webhook(connection, project, "https://host/", ["decision.made"])
        for _ in range(20):
            webhooks.enqueue(connection, project, "decision.made", {})
    sent: list[str] = []
    barrier = threading.Barrier(3)

    def post(_: str, __: bytes, headers: dict[str, str]) -> webhooks.Response:
        sent.append(headers["x-topkit-delivery"])
        return webhooks.Response(200)

    def deliver() -> None:
        barrier.wait()
        deliver_due(world.store, post)

    threads = [threading.Thread(target=deliver) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sent) == len(set(sent)) == 20


# -- exports on a schedule, and the live stream ------------------------------------------------------------
def test_exports_on_a_schedule(tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    with World(Settings(str(tmp_path / "labels.db"), exports=folder)) as world:
        ann = world.person("ann")
        project = world.project(ann, name="../../City: trees")
        path = f"/api/projects/{project}/schedules"
        assert world.admin.post(path, {"export": "none"}).status_code == 400
        assert world.admin.post(path, {"export": "top-k", "hours": 6}).status_code == 201
        cache, now = LabellingCache(), time.time()
        assert write_due(world.store, folder, cache, now) == []  # nothing is complete yet
        assert "no topic is complete" in world.admin.get(path).json()[0]["problem"]
        label_all(ann, tasks(ann)[0], SimulatedAssessor.of_order("ann", ORDER))
        assert write_due(world.store, folder, cache, now + 3600) == []  # not due
        (file,) = write_due(world.store, folder, cache, now + 6 * 3600 + 1)
        assert file.parent.parent == folder  # whatever the project is called
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-top-k\.txt", file.name)
        assert len(file.read_text().splitlines()) == 8
        for i in range(2, 40):
            write_due(world.store, folder, cache, now + i * 6 * 3600 + 10)
        assert len(list(file.parent.iterdir())) == 30
        assert "6" in world.admin.get(f"/projects/{project}/programs").text
    with World(Settings(str(tmp_path / "other.db"))) as world:
        refused = world.admin.post(f"/api/projects/{world.project()}/schedules", {"export": "top-k"})
        assert "--exports" in refused.json()["detail"]


def test_the_live_stream_tells_of_judgments(tmp_path: Path) -> None:
    with LiveWorld(Settings(str(tmp_path / "labels.db"))) as world:
        ann = world.person("ann")
        project = world.project(ann)
        cookies = {COOKIE: world.admin.cookie}
        url = f"{world.address}/api/projects/{project}/live"
        with httpx.stream("GET", url, cookies=cookies, timeout=30) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = (line for line in stream.iter_lines() if line.startswith("data: "))
            first = json.loads(next(lines).removeprefix("data: "))
            assert (first["judgments"], first["labellings"], first["people"]) == (0, 3, 1)
            path = f"/api/labellings/{tasks(ann)[0]}"
            ann.post(f"{path}/answers", entry(ann.get(path).json(), "a"))
            second = json.loads(next(lines).removeprefix("data: "))
        assert (second["judgments"], second["today"], second["people_today"]) == (1, 1, 1)
        assert httpx.get(url, timeout=60).status_code == 401


# -- OpenID Connect ----------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """A small OpenID Connect provider that runs in this process."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import oidc_provider_mock

        with oidc_provider_mock.run_server_in_thread() as server:
            yield f"http://localhost:{server.server_port}"


def sign_in(world: LiveWorld, issuer: str, subject: str, claims: Mapping[str, object]) -> httpx.Response:
    """Walk through the sign-in like a browser; the last response."""
    httpx.put(f"{issuer}/users/{subject}", json=claims).raise_for_status()
    with httpx.Client(timeout=20) as browser:
        start = browser.get(f"{world.address}/oidc/start?next=/account")
        assert start.status_code == 303, start.text
        asked = parse_qs(urlsplit(start.headers["location"]).query)
        assert asked["code_challenge_method"] == ["S256"]
        answer = browser.post(start.headers["location"], data={"sub": subject})
        assert answer.status_code == 302, answer.text
        back = browser.get(answer.headers["location"])
        if back.status_code == 303:
            return browser.get(world.address + back.headers["location"])
        return back


def test_sign_in_with_a_provider(tmp_path: Path, issuer: str) -> None:
    with LiveWorld(Settings(str(tmp_path / "labels.db"))) as world:
        client = Client(issuer, "topkit", "secret")
        world.app.state.oidc = Provider(client, world.store.secret)
        assert "Sign in with your organisation" in httpx.get(f"{world.address}/login", timeout=60).text
        world.person("ann@example.org")
        good = {"email": "ann@example.org", "email_verified": True}
        shown = sign_in(world, issuer, "ann-1", good)
        assert shown.status_code == 200, shown.text
        assert "ann@example.org" in shown.text  # the account page
        again = sign_in(world, issuer, "ann-1", {"email": "changed@example.org", "email_verified": True})
        assert "ann@example.org" in again.text  # linked by subject, not by name
        for subject, claims, text in (
            ("eve-1", {"email": "eve@example.org", "email_verified": True}, "There is no account"),
            ("eve-2", {"email": "ann@example.org"}, "has not verified"),
            ("eve-3", {}, "no usable"),
        ):
            refused = sign_in(world, issuer, subject, claims)
            assert refused.status_code == 403
            assert text in refused.text
        world.app.state.oidc = Provider(Client(issuer, "topkit", "secret", create=True), world.store.secret)
        joined = sign_in(world, issuer, "eve-1", {"email": "eve@example.org", "email_verified": True})
        assert "eve@example.org" in joined.text
        assert ", assessor." in joined.text
        stopped = world.signed_in("ann@example.org").number
        world.admin.call("PATCH", f"/api/people/{stopped}", json={"role": "assessor", "active": False})
        assert "stopped" in sign_in(world, issuer, "ann-1", good).text


def test_what_a_provider_may_not_do(world: World, issuer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import jwt

    assert world.anonymous.get("/oidc/start").status_code == 404  # off by default
    provider = Provider(Client(issuer, "topkit", "secret"), world.store.secret)
    url, cookie = provider.start("http://host/oidc/callback", "/")
    state = parse_qs(urlsplit(url).query)["state"][0]
    redirect = "http://host/oidc/callback"
    for arguments, text in (
        (("code", "another state", cookie, redirect), "does not belong"),
        (("code", state, cookie + "x", redirect), "took too long"),
        (("code", state, "", redirect), "took too long"),
        (("invented code", state, cookie, redirect), "did not accept"),
    ):
        with pytest.raises(SignInError, match=text):
            provider.finish(*arguments)
    now = int(time.time())
    claims = {"iss": issuer, "aud": "topkit", "sub": "x", "iat": now, "exp": now + 60, "nonce": "n"}
    forged = jwt.encode(claims, "s" * 32, algorithm="HS256", headers={"kid": "none"})
    unsigned = jwt.encode(claims, "", algorithm="none")
    for token in (forged, unsigned, "nonsense"):
        monkeypatch.setattr(Provider, "_exchange", lambda *_, token=token: token)
        with pytest.raises(SignInError, match="invalid"):
            provider.finish("code", state, cookie, redirect)
    assert "none" not in oidc.ALGORITHMS
    assert not any(name.startswith("HS") for name in oidc.ALGORITHMS)


def test_the_settings_of_the_provider() -> None:
    assert Client.from_environment({}) is None
    values = {"TOPKIT_OIDC_ISSUER": "https://id.example/", "TOPKIT_OIDC_CLIENT": "a"}
    with pytest.raises(Exception, match="TOPKIT_OIDC_SECRET is not set"):
        Client.from_environment(values)
    client = Client.from_environment({**values, "TOPKIT_OIDC_SECRET": "s", "TOPKIT_OIDC_CREATE": "yes"})
    assert client == Client("https://id.example", "a", "s", "email", True)
