"""Sign-in: delays instead of locks, stopped people stay out, forms without a script, the way back in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from typer.testing import CliRunner, Result

from tests.support.web_world import Actor, TestClient, World
from topkit.cli import command_line
from topkit.data.errors import InputError
from topkit.web import auth
from topkit.web.app import create_app
from topkit.web.forwarded import client_address, neighbourhood
from topkit.web.guard import COOKIE
from topkit.web.settings import Settings
from topkit.web.store import open_store, people, sign_ins

GOOD = "a long and good password"
OTHER = "seven green bicycles under water"


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hashes that take no time: these tests are about who may try, not about the hash."""
    monkeypatch.setattr(auth, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    auth._unknown_person_hash.cache_clear()
    yield
    auth._unknown_person_hash.cache_clear()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the server, which a test can set."""
    now = [1e9]
    monkeypatch.setattr(time, "time", lambda: now[0])
    return now


def add(world: World, name: str, role: str = "assessor") -> None:
    with world.store.write() as connection:
        people.add_person(connection, name, role, auth.hash_password(GOOD))


def at(world: World, address: str) -> Actor:
    """Somebody with this IP address."""
    return Actor(TestClient(world.app, client=(address, 50_000)))


def enter(actor: Actor, name: str, password: str = GOOD) -> int:
    return actor.post("/api/session", {"name": name, "password": password}).status_code


# -- delays ------------------------------------------------------------------------------------------------
def test_guesses_slow_down_and_do_not_lock_out_the_owner(database: str, clock: list[float]) -> None:
    with World(Settings(database)) as world:
        add(world, "admin", "admin")
        attacker, owner = at(world, "203.0.113.66"), at(world, "198.51.100.1")
        statuses = [enter(attacker, "admin", f"guess number {i}") for i in range(40)]
        assert statuses == [401] * 4 + [429] * 36
        late = attacker.post("/api/session", {"name": "admin", "password": GOOD})
        assert late.status_code == 429  # the correct one too, so that guessing does not help
        assert late.headers["retry-after"] == "1"
        assert enter(owner, "admin") == 200


def test_many_wrong_names_do_not_lock_an_address(tmp_path: Path, clock: list[float]) -> None:
    with World(Settings(str(tmp_path / "labels.db"))) as world:
        add(world, "ann")
        office = at(world, "198.51.100.1")
        assert enter(office, "ann") == 200
        statuses = {enter(office, f"nobody {i}", "guess") for i in range(56)}
        assert statuses == {401, 429}
        assert enter(office, "ann") == 200  # has signed in from here before


def test_parallel_guesses_are_all_counted(database: str, clock: list[float]) -> None:
    with World(Settings(database)) as world:
        add(world, "ann")
        with ThreadPoolExecutor(16) as pool:
            statuses = list(
                pool.map(lambda i: enter(at(world, "203.0.113.66"), "ann", f"guess {i}"), range(40))
            )
        assert set(statuses) == {401, 429}
        assert statuses.count(401) == 4


def test_the_delay_doubles_and_is_forgotten(database: str, clock: list[float]) -> None:
    """Failures 1 to 3 are free; then 1, 2, 4, … seconds. After ten minutes one failure is forgotten."""
    store = open_store(Settings(database))

    def attempt() -> float:
        with store.write() as connection:
            return sign_ins.begin_attempt(connection, "ann", "203.0.113.66")

    assert [attempt() for _ in range(4)] == [0, 0, 0, 0]
    for delay in (1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300):
        assert attempt() == delay
        clock[0] += delay
        assert attempt() == 0
    clock[0] += 600 * sign_ins.BOTH.most
    assert [attempt() for _ in range(4)] == [0, 0, 0, 0]
    store.close()


def test_a_wrong_clock_does_not_lock(database: str, clock: list[float]) -> None:
    """The clock was a year ahead when somebody mistyped, and is right again."""
    store = open_store(Settings(database))

    def attempt() -> float:
        with store.write() as connection:
            return sign_ins.begin_attempt(connection, "ann", "203.0.113.66")

    clock[0] += 365 * 86_400
    for _ in range(4):
        attempt()
    clock[0] -= 365 * 86_400
    assert attempt() == 1
    clock[0] += 1.5
    assert attempt() == 0
    store.close()


def test_forwarded_addresses_are_believed_only_from_configured_proxies(tmp_path: Path) -> None:
    with World(Settings(str(tmp_path / "a.db"))) as world:
        add(world, "ann")
        local = at(world, "127.0.0.1")
        for i in range(8):  # a new address in every request, by which the delays were avoided
            headers = {"x-forwarded-for": f"203.0.113.{i}"}
            last = local.post("/api/session", {"name": "ann", "password": "guess"}, headers=headers)
        assert last.status_code == 429
    with World(Settings(str(tmp_path / "b.db"), proxies=("127.0.0.1",))) as world:
        add(world, "ann")
        proxy = at(world, "127.0.0.1")
        for i in range(8):
            headers = {"x-forwarded-for": f"203.0.113.{i}, 198.51.100.7"}
            last = proxy.post("/api/session", {"name": "ann", "password": "guess"}, headers=headers)
        assert last.status_code == 429  # the proxy vouches for the last entry only
        headers = {"x-forwarded-for": "198.51.100.8"}
        assert (
            proxy.post("/api/session", {"name": "ann", "password": GOOD}, headers=headers).status_code == 200
        )


def test_addresses() -> None:
    trusted = Settings(proxies=("10.0.0.0/8", "::1")).trusted
    assert client_address("::1", "203.0.113.5", trusted) == "203.0.113.5"
    assert client_address("10.1.1.1", "", trusted) == "10.1.1.1"
    assert client_address("10.1.1.1", "nonsense, 10.2.2.2", trusted) == "10.2.2.2"
    assert client_address("testclient", "203.0.113.5", trusted) == "testclient"
    assert neighbourhood("2001:db8:0:1:aaaa::1") == neighbourhood("2001:db8:0:1:bbbb::2")
    with pytest.raises(InputError, match="invalid address 'nginx'"):
        Settings(proxies=("nginx",))


# -- stopped people ----------------------------------------------------------------------------------------
def test_a_stopped_person_stays_out(any_world: World) -> None:
    ann = any_world.person("ann")
    link = any_world.admin.post(f"/api/people/{ann.number}/link").json()["link"]
    stop = {"role": "assessor", "active": False}
    assert any_world.admin.call("PATCH", f"/api/people/{ann.number}", json=stop).status_code == 200
    body = {"token": link.removeprefix("/invite/"), "password": GOOD}
    assert any_world.anonymous.post("/api/invitations/accept", body).status_code == 404
    assert any_world.anonymous.get(link).status_code == 404
    assert any_world.admin.post(f"/api/people/{ann.number}/link").status_code == 400
    with any_world.store.write() as connection:  # not even with a password that is set elsewhere
        people.set_password(connection, ann.number, auth.hash_password(GOOD))
    assert enter(any_world.anonymous, "ann") == 401
    assert ann.get("/api/tasks").status_code == 401
    again = any_world.admin.call("PATCH", f"/api/people/{ann.number}", json={**stop, "active": True})
    assert again.status_code == 200
    assert any_world.anonymous.get(link).status_code == 404  # the link does not come back


def test_a_new_password_revokes_links_and_sessions(world: World) -> None:
    add(world, "ann")
    here, elsewhere = world.signed_in("ann"), world.signed_in("ann")
    links = [world.admin.post(f"/api/people/{here.number}/link").json()["link"] for _ in range(2)]
    changed = here.call("PUT", "/api/session/password", json={"password": GOOD, "new": OTHER})
    assert changed.status_code == 200
    assert [world.anonymous.get(link).status_code for link in links] == [404, 404]
    assert elsewhere.get("/api/tasks").status_code == 401
    second = world.admin.post(f"/api/people/{here.number}/link").json()["link"]
    third = world.admin.post(f"/api/people/{here.number}/link").json()["link"]
    body = {"token": second.removeprefix("/invite/"), "password": GOOD}
    assert world.anonymous.post("/api/invitations/accept", body).status_code == 201
    assert world.anonymous.get(third).status_code == 404


def test_another_process_learns_at_once_that_somebody_was_stopped(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topkit.web.guard.CHECK_SECONDS", 0.0)
    with World(Settings(database)) as here, TestClient(create_app(Settings(database))) as client:
        ann = here.person("ann")
        there = Actor(client, ann.number, ann.csrf, ann.cookie)
        assert there.get("/api/tasks").status_code == 200
        stop = {"role": "assessor", "active": False}
        here.admin.call("PATCH", f"/api/people/{ann.number}", json=stop)
        assert there.get("/api/tasks").status_code == 401


# -- names and passwords -----------------------------------------------------------------------------------
COMMON = ("1234567890", "password123", "Passw0rd2024!", "qwertyuiop", "aaaaaaaaaaaa", "Zoe Miller 1999")


def test_common_passwords_are_refused(world: World) -> None:
    link = world.admin.post("/api/invitations", {"name": "Zoe Miller"}).json()["link"]
    body = {"token": link.removeprefix("/invite/")}
    for password in COMMON:
        reply = world.anonymous.post("/api/invitations/accept", {**body, "password": password})
        assert reply.status_code == 400, password
        assert "easy to guess" in reply.json()["detail"]
    assert world.anonymous.post("/api/invitations/accept", {**body, "password": GOOD}).status_code == 201


def test_names_that_look_like_another_are_refused(world: World) -> None:
    world.person("admin", "admin")
    for name in ("Admin", "ADMIN", "аdmin", "ａｄｍｉｎ", "аԁmіn", "admin\u3164"):
        reply = world.admin.post("/api/invitations", {"name": name})
        assert reply.status_code == 400, name
        assert "looks like 'admin'" in reply.json()["detail"]


def test_different_names_are_not_look_alikes(world: World) -> None:
    for name in ("Lia", "Ila", "Zoë", "Zoe", "Иван", "assessor 1", "assessor 11"):
        assert world.admin.post("/api/invitations", {"name": name}).status_code == 201
        world.person(name)


# -- forms without a script --------------------------------------------------------------------------------
def post_form(world: World, path: str, values: dict[str, str], cookie: str = "") -> tuple[int, str, str, str]:
    """Post as a browser without scripts; returns the status, the text, the location and the new cookie."""
    headers = {"cookie": f"{COOKIE}={cookie}"} if cookie else {}
    world.client.cookies.clear()
    reply = world.client.post(path, data=values, headers=headers, follow_redirects=False)
    value = reply.cookies.get(COOKIE) or ""
    return reply.status_code, reply.text, reply.headers.get("location", ""), value


def test_sign_in_works_without_a_script(world: World) -> None:
    add(world, "ann")
    status, text, *_ = post_form(world, "/login", {"name": "ann", "password": "wrong password"})
    assert status == 401
    assert "The name or the password is wrong." in text
    status, _, location, cookie = post_form(world, "/login", {"name": "ann", "password": GOOD})
    assert (status, location) == (303, "/")
    csrf = world.signed_in("ann").csrf
    change = {"password": GOOD, "new": OTHER}
    assert (
        post_form(world, "/account/password", {**change, "csrf": csrf}, cookie)[0] == 403
    )  # of another session
    csrf = world.client.get("/api/session", headers={"cookie": f"{COOKIE}={cookie}"}).json()["csrf"]
    assert post_form(world, "/account/password", change, cookie)[0] == 403
    status, _, location, cookie = post_form(world, "/account/password", {**change, "csrf": csrf}, cookie)
    assert (status, location) == (303, "/")
    csrf = world.client.get("/api/session", headers={"cookie": f"{COOKIE}={cookie}"}).json()["csrf"]
    assert post_form(world, "/account/sign-out", {"csrf": csrf}, cookie)[2] == "/login"
    assert world.client.get("/api/session", headers={"cookie": f"{COOKIE}={cookie}"}).status_code == 401


def test_an_invitation_works_without_a_script(world: World) -> None:
    link = world.admin.post("/api/invitations", {"name": "Zoë"}).json()["link"]
    status, text, *_ = post_form(world, link, {"password": "short"})
    assert status == 400
    assert "at least 10 characters" in text
    status, _, location, cookie = post_form(world, link, {"password": GOOD})
    assert (status, location) == (303, "/")
    assert cookie


def test_no_form_puts_its_values_into_the_url(world: World) -> None:
    """Every form posts. One that needs the script goes to a page that says that nothing was changed."""
    ann = world.person("ann")
    number = world.project(ann)
    link = world.admin.post("/api/invitations", {"name": "zoe"}).json()["link"]
    pages = [
        "/",
        "/people",
        "/account",
        "/projects/new",
        f"/projects/{number}",
        f"/projects/{number}/material",
    ]
    texts = [world.admin.get(path).text for path in pages]
    texts += [world.anonymous.get(path).text for path in ("/login", link)]
    actions = set()
    for text in texts:
        for form in text.split("<form")[1:]:
            start = form.split(">")[0]
            if start.startswith(' method="get" role="search"'):
                continue  # what somebody searches for is no secret
            assert start.startswith(' method="post"')
            actions.add(start.split('action="')[1].split('"')[0])
    assert actions == {"/login", link, "/account/password", "/account/sign-out", "/script-needed"}
    status, text, *_ = post_form(world, "/script-needed", {"name": "x"}, world.admin.cookie)
    assert status == 400
    assert "Nothing was changed" in text


# -- the way back in ---------------------------------------------------------------------------------------
def test_the_password_of_an_admin_is_set_on_the_server(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    with World(Settings(str(path))) as world:
        add(world, "chief", "admin")
        chief = world.signed_in("chief")

        def reset(name: str, password: str) -> Result:
            words = ["label", "password", name, "--database", str(path)]
            return CliRunner().invoke(command_line(["label"]), words, input=password + "\n")

        unknown = reset("nobody", OTHER)
        assert "existing names: chief, root" in str(unknown.exception)
        assert "easy to guess" in str(reset("chief", "password1234").exception)
        assert enter(world.anonymous, "chief") == 200
        assert reset("chief", OTHER).exit_code == 0
        assert enter(world.anonymous, "chief") == 401
        assert enter(world.anonymous, "chief", OTHER) == 200
        world.app.state.sessions.forget()
        assert chief.get("/api/tasks").status_code == 401
