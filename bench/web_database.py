"""A new database for a benchmark of the labelling app: an SQLite file, or a PostgreSQL server."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KINDS = ("sqlite", "postgresql")


@contextmanager
def database(kind: str) -> Iterator[str]:
    """The address of a new database of this kind."""
    with tempfile.TemporaryDirectory() as folder:
        if kind == "sqlite":
            yield str(Path(folder) / "labels.db")
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pgserver.postgres_server import get_server

            server = get_server(Path(folder) / "pg")
        yield server.get_uri()
        server.cleanup()
