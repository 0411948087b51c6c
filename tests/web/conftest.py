"""Databases (SQLite, and a PostgreSQL server started here), apps on them, and a server with a browser."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import Server, accept, chromium
from tests.support.databases import fresh_database, without_disk
from tests.support.web_world import World
from topkit.web.settings import Settings


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server that runs for these tests."""
    pytest.importorskip("pgserver", reason="pgserver (it brings PostgreSQL) has no release for this Python")
    # Not in pytest's folder: for root, the server runs as another user, who cannot read that folder.
    with tempfile.TemporaryDirectory() as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pgserver.postgres_server import get_server

            server = get_server(Path(folder) / "pg")
        without_disk(server.get_uri())
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.database)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A new database: an SQLite file, then a PostgreSQL database."""
    if request.param == "sqlite":
        yield str(tmp_path / "labels.db")
        return
    with fresh_database(request.getfixturevalue("postgres")) as address:
        yield address


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """An app with an admin on SQLite."""
    with World(Settings(str(tmp_path / "labels.db"))) as created:
        yield created


@pytest.fixture
def any_world(database: str) -> Iterator[World]:
    """An app with an admin on each kind of database."""
    with World(Settings(database)) as created:
        yield created


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as created:
        yield created


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    process = Server(str(tmp_path_factory.mktemp("web") / "labels.db"))
    yield process
    process.stop()


@pytest.fixture(scope="module")
def admin(server: Server, browser: Browser) -> Page:
    page = browser.new_context().new_page()
    accept(page, server.admin_link())
    return page


@pytest.fixture
def outside() -> Iterator[tuple[str, list[str]]]:
    """Another site: its URL, and the paths requested from it."""
    asked: list[str] = []

    class Note(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            page = f"<h1>{self.path}</h1><script>top.pwned = 1; fetch('/script')</script>"
            self.wfile.write(page.encode())

        do_POST = do_GET  # noqa: N815 - named by http.server

        def log_message(self, *_: object) -> None:
            pass

    site = ThreadingHTTPServer(("127.0.0.1", 0), Note)
    Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{site.server_port}", asked
    site.shutdown()
    site.server_close()
