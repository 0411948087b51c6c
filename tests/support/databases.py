"""Databases for tests."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator

import psycopg


@contextlib.contextmanager
def fresh_database(address: str) -> Iterator[str]:
    """The URL of a new, empty database on the server."""
    name = f"topkit_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    yield address.replace("/postgres?", f"/{name}?")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def without_disk(address: str) -> None:
    """Let the server not wait for the disk: a test does not outlive the machine."""
    with psycopg.connect(address, autocommit=True) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off".encode())
        connection.execute(b"SELECT pg_reload_conf()")
