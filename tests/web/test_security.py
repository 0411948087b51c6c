"""Passwords, links, limits, headers, and whatever Schemathesis thinks of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy
from schemathesis import GenerationMode

from tests.web.driver import Server
from tests.web.world import World, tasks
from topkit.data.errors import InputError
from topkit.web import auth
from topkit.web.guard import COOKIE
from topkit.web.serve import admin_link
from topkit.web.settings import Settings
from topkit.web.store import open_store, people

GOOD = "a long and good password"


def test_passwords_are_argon2_and_long_enough() -> None:
    hashed = auth.hash_password(GOOD)
    assert hashed.startswith("$argon2id$")
    assert auth.password_fits(GOOD, hashed)
    assert not auth.password_fits("a long and bad password", hashed)
    assert not auth.password_fits(GOOD, None)
    with pytest.raises(InputError, match="10 to"):
        auth.hash_password("short")


def test_every_store_has_a_secret_of_its_own(tmp_path: Path) -> None:
    one, two = (open_store(Settings(str(tmp_path / name))) for name in ("one.db", "two.db"))
    assert one.secret != two.secret
    assert len(one.secret) == 32
    again = open_store(Settings(str(tmp_path / "one.db")))
    assert again.secret == one.secret
    assert (tmp_path / "one.db").stat().st_mode & 0o077 == 0
    for store in (one, two, again):
        store.close()


def test_an_invitation_works_once(any_world: World) -> None:
    world = any_world
    link = world.admin.post("/api/invitations", {"name": "Zoë"}).json()["link"]
    token = link.removeprefix("/invite/")
    assert "Zoë" in world.anonymous.get(link).text
    number, _, signature = token.partition(".")
    for forged in (
        f"{int(number) + 1}.{signature}",
        f"{number}.{signature[:-1]}x",
        number,
        "x.y",
        "1." + "é" * 9,
    ):
        answer = world.anonymous.post("/api/invitations/accept", {"token": forged, "password": GOOD})
        assert answer.status_code == 404, forged
    assert (
        world.anonymous.post("/api/invitations/accept", {"token": token, "password": "x"}).status_code == 400
    )
    first = world.anonymous.post("/api/invitations/accept", {"token": token, "password": GOOD})
    assert first.status_code == 201
    assert first.json()["person"]["role"] == "assessor"
    assert "httponly" in first.headers["set-cookie"].lower()
    assert "samesite=lax" in first.headers["set-cookie"].lower()
    again = world.anonymous.post("/api/invitations/accept", {"token": token, "password": "another good one"})
    assert again.status_code == 404
    assert world.anonymous.get(link).status_code == 404
    assert world.anonymous.post("/api/session", {"name": "Zoë", "password": GOOD}).status_code == 200


def test_an_old_or_withdrawn_link_is_worth_nothing(world: World) -> None:
    with world.store.write() as connection:
        row = people.add_invitation(connection, "old", "assessor", hours=-1)
    token = auth.sign_invitation(world.store.secret, row["id"], row["expires"])
    assert world.anonymous.get(f"/invite/{token}").status_code == 404
    made = world.admin.post("/api/invitations", {"name": "gone"}).json()
    assert world.admin.call("DELETE", f"/api/invitations/{made['id']}").status_code == 200
    assert world.anonymous.get(made["link"]).status_code == 404


def test_a_link_for_a_new_password_ends_old_sessions(world: World) -> None:
    ann = world.person("ann")
    link = world.admin.post(f"/api/people/{ann.number}/link").json()["link"]
    body = {"token": link.removeprefix("/invite/"), "password": GOOD}
    assert world.anonymous.post("/api/invitations/accept", body).status_code == 201
    assert ann.get("/api/tasks").status_code == 401


def test_the_first_admin_gets_a_link_and_nobody_else(tmp_path: Path) -> None:
    store = open_store(Settings(str(tmp_path / "x.db")))
    link = admin_link(store, "root", 1)
    assert link is not None
    assert admin_link(store, "root", 1) == link  # started again before it was used
    with store.write() as connection:
        people.add_person(connection, "boss", "admin", auth.hash_password(GOOD))
    assert admin_link(store, "root", 1) is None
    store.close()


def test_too_many_wrong_passwords_have_to_wait(database: str) -> None:
    with World(Settings(database, attempts=2)) as world:
        with world.store.write() as connection:
            people.add_person(connection, "ann", "assessor", auth.hash_password(GOOD))
        wrong = {"name": "ann", "password": "a guess or another"}
        assert [world.anonymous.post("/api/session", wrong).status_code for _ in range(2)] == [401] * 2
        late = world.anonymous.post("/api/session", {"name": "ann", "password": GOOD})
        assert late.status_code == 429  # the right one too: guessing must not pay
        assert int(late.headers["retry-after"]) > 60
        for number in range(6):  # many names from one address, four times as many in all
            world.anonymous.post("/api/session", {"name": f"n{number}", "password": "guess"})
        assert world.anonymous.post("/api/session", {"name": "new", "password": "guess"}).status_code == 429


def test_names_that_do_not_exist_cost_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2 runs for them too, so that time does not tell which names there are."""
    verified: list[str] = []

    class Counting:
        def verify(self, hashed: str, password: str) -> bool:
            verified.append(hashed)
            return True

        def hash(self, password: str) -> str:
            return "hash of nobody"

    auth._nobody.cache_clear()
    monkeypatch.setattr(auth, "_hasher", Counting())
    assert auth.password_fits("a guess", "hash of ann")
    assert not auth.password_fits("a guess", None)
    assert verified == ["hash of ann", "hash of nobody"]
    auth._nobody.cache_clear()


def test_uploads_and_bodies_have_limits(tmp_path: Path) -> None:
    with World(Settings(str(tmp_path / "x.db"), upload_bytes=20_000, body_bytes=2_000)) as world:
        number = world.project()
        large = "id,query\n" + "".join(f"q{i},words\n" for i in range(3_000))
        answer = world.admin.upload(f"/api/projects/{number}/topics", large)
        assert answer.status_code == 413
        assert "20,000" in answer.json()["detail"]
        assert (
            world.admin.post("/api/projects", {"name": "x", "instructions": "x" * 3_000}).status_code == 413
        )

        def endless() -> Iterator[bytes]:  # no length is declared
            for _ in range(100):
                yield b"x" * 1000

        assert world.admin.call("POST", "/api/projects", content=endless()).status_code == 413


def test_headers_of_every_answer(world: World) -> None:
    ann = world.person("ann")
    world.project(ann)
    labelling = tasks(ann)[0]
    turn = ann.get(f"/api/labellings/{labelling}").json()
    document = turn["question"]["a"]["id"]
    for path in ("/", "/login", "/static/app.js", "/api/session", "/nothing", "/openapi.json"):
        headers = ann.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
    policy = ann.get(f"/api/labellings/{labelling}/documents/{document}").headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "script" not in policy
    page = ann.get(f"/label/{labelling}").text
    assert "<script>" not in page
    assert "style=" not in page
    assert "onclick" not in page


def test_cookies_are_for_https_only_where_it_is_used(tmp_path: Path) -> None:
    with World(Settings(str(tmp_path / "x.db"), https=True)) as world:
        with world.store.write() as connection:
            people.add_person(connection, "ann", "assessor", auth.hash_password(GOOD))
        answer = world.anonymous.post("/api/session", {"name": "ann", "password": GOOD})
        assert "; secure" in answer.headers["set-cookie"].lower()
        assert "strict-transport-security" in answer.headers


def test_cookies_in_the_store_are_hashed(world: World) -> None:
    with world.store.read() as connection:
        tokens = [row[0] for row in connection.exec_driver_sql("SELECT token FROM session")]
    assert world.admin.cookie not in tokens
    assert all(len(token) == 64 for token in tokens)


@pytest.mark.slow
def test_schemathesis_finds_no_server_error(database: str) -> None:
    """Every operation of the API, with requests that fit its description and with such as do not."""
    with World(Settings(database)) as world:
        ann, leaver = world.person("ann"), world.person("leaver")
        world.project(ann)
        description = world.app.openapi()
    server = Server(database)
    schema = schemathesis.openapi.from_dict(description)
    schema.config.update(base_url=server.address)
    counted: dict[str, set[int]] = {}
    examples = 5 if Settings(database).file is None else 10
    try:
        for found in schema.get_all_operations():
            operation = found.ok()
            mine = "/labellings/" in operation.path and operation.method != "delete"
            actor = leaver if operation.label == "DELETE /api/session" else ann if mine else world.admin
            headers = {"Cookie": f"{COOKIE}={actor.cookie}", "X-CSRF-Token": actor.csrf}
            statuses = counted.setdefault(operation.label, set())
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                explore(operation.as_strategy(generation_mode=mode), headers, statuses, examples)
    finally:
        server.stop()
    assert len(counted) > 30
    assert max(max(statuses) for statuses in counted.values()) < 500, counted
    assert sum(min(statuses) < 300 for statuses in counted.values()) > 15  # it got behind the door


def explore(
    cases: SearchStrategy[schemathesis.Case], headers: dict[str, str], statuses: set[int], examples: int
) -> None:
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(cases)
    def call(case: schemathesis.Case) -> None:
        statuses.add(case.call(headers=headers).status_code)

    with suppress(Unsatisfiable):  # nothing can be wrong with a request that takes nothing
        call()
