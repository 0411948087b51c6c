"""Behind a real nginx that rewrites Host, below a path that it removes or not; and what deploy/ contains."""

from __future__ import annotations

import json
import re
import shlex
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from playwright.sync_api import Browser, expect
from typer.testing import CliRunner

from tests.support.browser import PASSWORD, Server, accept, press, seq
from tests.support.nginx import free_port, nginx
from tests.support.web_stage import QUERIES, open_task, start
from topkit.cli import command_line
from topkit.data.errors import InputError
from topkit.web.forwarded import Front
from topkit.web.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"


class Site(NamedTuple):
    """An app behind nginx."""

    server: Server
    url: str
    link: str
    log: Path


@pytest.fixture(scope="module", params=["keeps the path", "removes the path"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("proxy")
    outer, inner, metrics = free_port(), free_port(), free_port()
    target = f"http://127.0.0.1:{inner}" + ("/" if request.param == "removes the path" else "")
    # No proxy_set_header Host: nginx's default is the address of the app.
    body = f"""server {{
        listen 127.0.0.1:{outer};
        location /label/ {{
            proxy_pass {target};
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        }}
    }}"""
    url = f"http://127.0.0.1:{outer}/label"
    log = folder / "log.jsonl"
    with nginx(folder, body), log.open("w") as stream:
        server = Server(
            str(folder / "labels.db"),
            inner,
            *("--public", url, "--proxy", "127.0.0.1", "--metrics", f"127.0.0.1:{metrics}", "--log", "json"),
            errors=stream,
        )
        yield Site(server, url, server.admin_link(), log)
        server.stop()


def test_the_app_behind_nginx(site: Site) -> None:
    assert site.link.startswith(f"{site.url}/invite/")
    host = site.url.removesuffix("/label")
    with httpx.Client(headers={"origin": host}, timeout=60) as client:
        assert client.get(site.url, follow_redirects=True).url == f"{site.url}/login"
        assert client.get(f"{site.url}/people").headers["location"] == "/label/login?next=%2Fpeople"
        body = {"token": site.link.split("/")[-1], "password": PASSWORD}
        assert (
            httpx.post(
                f"{site.url}/api/invitations/accept",
                json=body,
                headers={"origin": site.server.address},
                timeout=60,
            ).status_code
            == 403
        )
        entered = client.post(f"{site.url}/api/invitations/accept", json=body)
        assert entered.status_code == 201
        assert "Path=/label;" in entered.headers["set-cookie"]
        client.headers["x-csrf-token"] = entered.json()["csrf"]
        made = client.post(f"{site.url}/api/invitations", json={"name": "Zoë"}).json()
        assert made["link"].startswith("/label/invite/")
        people = client.get(f"{site.url}/people").text
        assert f'value="{host}{made["link"]}"' in people
        paths = set(re.findall(r'(?:href|src|action)="(/[^"]*)"', people))
        assert paths >= {"/label/", "/label/people", "/label/static/app.js", "/label/script-needed"}
        assert all(path.startswith("/label/") for path in paths)
        for path in paths - {"/label/script-needed"}:
            expected = 303 if path.startswith("/label/language/") else 200
            assert client.get(host + path).status_code == expected, path
        assert client.get(f"{site.url}/label/1").status_code == 404  # a page of the app, not its root
        assert client.get(f"{site.url}/api/session").json()["person"]["name"] == "admin"
        form = client.post(f"{site.url}/script-needed", data={"x": "y"})
        assert form.status_code == 400
        assert "Nothing was changed" in form.text
        assert client.get(f"{site.url}/health").json()["status"] == "ok"


def test_metrics_and_structured_logs(site: Site) -> None:
    client = {"x-forwarded-for": "203.0.113.77"}
    httpx.get(f"{site.url}/invite/a-secret-token", headers=client, timeout=60)
    httpx.get(f"{site.url}/static/app.js", timeout=60)
    port = site.server.options[site.server.options.index("--metrics") + 1]
    with urllib.request.urlopen(f"http://{port}/metrics") as reply:
        text = reply.read().decode()
    assert 'topkit_label_requests_total{method="GET",route="/invite/{token}",status="404"}' in text
    assert "topkit_label_database_up 1.0" in text
    assert "topkit_label_judgments 0.0" in text
    assert 'topkit_label_request_seconds_bucket{le="0.25",route="/static"}' in text
    rows = [json.loads(line) for line in site.log.read_text().splitlines()]
    assert "a-secret-token" not in site.log.read_text()
    row = next(row for row in rows if row.get("route") == "/invite/{token}")
    assert row["status"] == 404
    # nginx appended the address of its own client, which is trusted here, so what that one says is believed.
    assert row["address"] == "203.0.113.77"
    assert {"time", "level", "message", "method", "ms", "person"} <= row.keys()
    assert "topkit_label" not in httpx.get(f"{site.url}/metrics", follow_redirects=True, timeout=60).text


@pytest.mark.slow
def test_a_browser_behind_nginx(
    request: pytest.FixtureRequest, site: Site, browser: Browser, tmp_path: Path
) -> None:
    if "removes" not in request.node.name:
        pytest.skip("one way is enough for the browser: the pages are the same")
    admin = browser.new_context().new_page()
    if httpx.get(site.link, timeout=60).status_code == 200:
        accept(admin, site.link)
    else:  # the other test used the link
        admin.goto(f"{site.url}/login")
        admin.get_by_label("Name").fill("admin")
        admin.get_by_label("Password").fill(PASSWORD)
        admin.get_by_role("button", name="Sign in").click()
        admin.wait_for_url("**/")
    assert admin.url == f"{site.url}/"
    site.server.address = site.url
    _, (ann,) = start(site.server, admin, tmp_path, ["Ann"])
    open_task(ann, site.url, QUERIES["t1"])
    expect(ann.frame_locator("#frame-a iframe").locator("mark").first).to_be_visible()
    press(ann, "a")
    press(ann, "tie")
    assert seq(ann) == 2
    ann.goto(f"{site.url}/account")
    ann.get_by_role("button", name="Sign out").click()
    ann.wait_for_url("**/label/login")


def test_public_urls() -> None:
    assert Settings(public="https://example.org").secure
    assert not Settings(public="http://example.org/label").secure
    for url in (
        "example.org",
        "ftp://example.org",
        "https://",
        "https://me@example.org",
        "https://x/?a=1",
        "https://x:port",
        "https://x/..",
    ):
        with pytest.raises(InputError, match="public URL"):
            Settings(public=url)
    for path in ("/api", "/people", "/static", "/login"):
        with pytest.raises(InputError, match="the app has pages at"):
            Front(Settings(public=f"https://example.org{path}"), PATHS)
    for path in ("", "/", "/label", "/tools/label", "/projects"):
        Front(Settings(public=f"https://example.org{path}"), PATHS)


PATHS = frozenset(
    ("/", "/login", "/people", "/projects/{number}", "/label/{number}", "/static", "/api/projects")
)


@pytest.mark.parametrize(
    ("path", "inner"),
    [
        ("/label", "/"),
        ("/label/", "/"),
        ("/label/people", "/people"),
        ("/people", "/people"),
        ("/label/7", "/label/7"),
        ("/label/label/7", "/label/7"),
        ("/", "/"),
    ],
)
def test_a_path_with_and_without_the_root(path: str, inner: str) -> None:
    """What a proxy passes on that removes the root, or does not; /label/7 is a page of the app."""
    scope: dict[str, Any] = {"path": path, "headers": [(b"host", b"127.0.0.1:8765")], "scheme": "http"}
    front = Front(Settings(public="https://Example.org:443/label"), PATHS)
    front.apply(scope)
    assert scope["path"] == f"/label{inner}"
    assert scope["root_path"] == "/label"
    assert (scope["scheme"], scope["headers"][0]) == ("https", (b"host", b"example.org"))
    assert front.origin == "https://example.org"


# -- deploy/ -----------------------------------------------------------------------------------------------
def commands(text: str) -> list[str]:
    """The commands of topkit in a file."""
    return re.findall(r"topkit label (?:serve|backup)[^\n;&|>']*", text)


def test_the_files_of_deploy_call_commands_that_exist(tmp_path: Path) -> None:
    """Docker and systemd do not run here: their files are checked by the commands that they call."""
    found = []
    for path in sorted(DEPLOY.iterdir()):
        found += commands(path.read_text())
    assert len(found) >= 4
    for command in found:
        words = shlex.split(re.sub(r"\$\(.*?\)", "today", command).replace("$$", "$"))
        runner = CliRunner(env={"COLUMNS": "200"})
        help_text = runner.invoke(command_line(["label"]), [*words[1:3], "--help"]).output
        for option in (word for word in words if word.startswith("--")):
            assert option in help_text, (command, option)
    docker = (DEPLOY / "Dockerfile").read_text()
    for name in re.findall(r"^COPY (.*) \./", docker, re.MULTILINE):
        for file in name.split():
            assert (DEPLOY.parent / file).exists(), file
    words = json.loads(re.findall(r"^CMD (\[.*\])", docker, re.MULTILINE)[-1])
    assert words[0] == "serve"
    compose = (DEPLOY / "compose.yaml").read_text()
    for name in re.findall(r"\./([\w.-]+):", compose):
        assert (DEPLOY / name).exists(), name


@pytest.mark.parametrize("name", ["nginx-compose.conf", "nginx.conf"])
def test_nginx_accepts_the_files_of_deploy(tmp_path: Path, name: str) -> None:
    text = (DEPLOY / name).read_text()
    text = re.sub(r"listen \d+( ssl)?;", f"listen 127.0.0.1:{free_port()};", text)
    text = re.sub(r"ssl_certificate.*", "", text).replace("server label:8765;", "server 127.0.0.1:8765;")
    with nginx(tmp_path, text):
        pass
