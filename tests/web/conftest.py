"""Stores on SQLite and on a PostgreSQL that is started here, and apps on them."""

from __future__ import annotations

import contextlib
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.web.world import World
from topkit.web.settings import Settings


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL server of our own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pgserver

        server = pgserver.get_server(tmp_path_factory.mktemp("pg"))
    yield server.get_uri()
    server.cleanup()


@contextlib.contextmanager
def fresh_database(address: str) -> Iterator[str]:
    """The address of a new, empty database on the server."""
    name = f"topkit_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    yield address.replace("/postgres?", f"/{name}?")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.database)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A new store's database: an SQLite file, then a PostgreSQL database."""
    if request.param == "sqlite":
        yield str(tmp_path / "labels.db")
        return
    with fresh_database(request.getfixturevalue("postgres")) as address:
        yield address


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """An app on an SQLite store with an admin."""
    with World(Settings(str(tmp_path / "labels.db"))) as made:
        yield made


@pytest.fixture
def any_world(database: str) -> Iterator[World]:
    """An app on each kind of store with an admin."""
    with World(Settings(database)) as made:
        yield made
