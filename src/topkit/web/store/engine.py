"""Opens a database: the engine, its transactions, and the upgrade of the schema."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Connection, Engine

from topkit.compute.extras import require
from topkit.data.errors import InputError
from topkit.web import audit_log
from topkit.web.schema import meta
from topkit.web.settings import Settings

MIGRATIONS = Path(__file__).parent.parent / "migrations"
BUSY_SECONDS = 30
"""How long a transaction of SQLite waits for the write lock."""
MIGRATION_LOCK = 7075_6974
"""PostgreSQL's advisory lock while the schema changes; any number that other programs do not use."""


@dataclass(frozen=True)
class Store:
    """An open database."""

    engine: Engine
    secret: bytes
    """Signs invitation links."""

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that reads a consistent state."""
        with self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that writes; it is durable when the block ends."""
        with writing(self.engine) as connection:
            yield connection
            audit_log.write_entry(connection)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A writing transaction. SQLite takes the write lock at the start, so it cannot fail half-way."""
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        yield connection


def insert_one(connection: Connection, table: sa.Table, values: Mapping[str, Any]) -> int:
    """Insert a row and return its id."""
    key = connection.execute(table.insert().values(**values)).inserted_primary_key
    assert key is not None  # noqa: S101 - every table that this is used for has an id
    return int(key[0])


def open_store(settings: Settings, *, create: bool = True) -> Store:
    """Open the database; create it if it does not exist, and upgrade an older schema."""
    if not create:
        _check_exists(settings)
    engine = make_engine(settings)
    with understood(settings, engine):
        migrate(engine)
        with writing(engine) as connection:
            values = {row.name: row.value for row in connection.execute(sa.select(meta))}
            for name in {"secret", "access"} - values.keys():
                values[name] = secrets.token_hex(32)
                connection.execute(meta.insert(), [{"name": name, "value": values[name]}])
    return Store(engine, bytes.fromhex(values["secret"]))


def open_to_read(settings: Settings) -> Store:
    """Open the database as it is: it is neither created nor upgraded nor changed, and may be read-only."""
    _check_exists(settings)
    engine = _reading_engine(settings)
    with understood(settings, engine), engine.connect() as connection:
        if revision_of(connection) is None:
            raise InputError("not a topkit database", "check --database", file=settings.file)
        secret = connection.scalar(sa.select(meta.c.value).where(meta.c.name == "secret"))
    return Store(engine, bytes.fromhex(secret or ""))


def _check_exists(settings: Settings) -> None:
    if settings.file is not None and not settings.file.exists():
        raise InputError("the database does not exist", "check --database", file=settings.file)


def _reading_engine(settings: Settings) -> Engine:
    if settings.file is None:
        require("psycopg", "postgres")
        options = "-c default_transaction_read_only=on"
        return sa.create_engine(settings.url, connect_args={"options": options})
    path = settings.file.resolve()
    # With a write-ahead log beside it, the file may be in use. Without one, SQLite must not even create it.
    in_use = path.with_name(path.name + "-wal").exists()
    address = f"file:{quote(str(path))}?{'mode=ro' if in_use else 'immutable=1'}"
    engine = sa.create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, check_same_thread=False),
        poolclass=sa.pool.NullPool,
    )
    sa.event.listen(engine, "connect", _read_only)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _read_only(connection: Any, _: object) -> None:
    connection.isolation_level = None
    connection.execute("PRAGMA query_only=ON")


@contextmanager
def understood(settings: Settings, engine: Engine) -> Iterator[None]:
    """Turn an error of the database into a sentence, and close the database."""
    try:
        yield
    except sa.exc.DatabaseError as error:
        engine.dispose()
        raise database_error(error, settings.file) from None
    except InputError:
        engine.dispose()
        raise


_DAMAGED = ("malformed", "not a database", "disk I/O error", "invalid page")


def database_error(error: sa.exc.DatabaseError, file: Path | None = None) -> InputError:
    """What is wrong with the database, and what to do."""
    reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error).__name__
    low = reason.lower()
    if "readonly" in low or "read-only" in low:
        remedy = "let the server write to the file and to its folder: chown or chmod u+w"
        return InputError("the database is read-only", remedy, file=file)
    if "is full" in low or "no space" in low:
        return InputError("the disk of the database is full", "free some space", file=file)
    if any(word in low for word in _DAMAGED):
        problem = f"not a topkit database, or damaged ({reason})"
        return InputError(problem, "check --database; restore a backup if it is damaged", file=file)
    if isinstance(error, sa.exc.OperationalError):
        return InputError(f"cannot open the database ({reason})", "check --database", file=file)
    return InputError(f"not a topkit database ({reason})", "check --database", file=file)


def make_engine(settings: Settings) -> Engine:
    """The engine of the database: SQLite with a write-ahead log and a sync at every commit, or PostgreSQL."""
    pool: dict[str, Any] = {"pool_size": 20, "max_overflow": 40, "pool_timeout": 60}
    if settings.file is None:
        require("psycopg", "postgres")
        return sa.create_engine(settings.url, **pool, pool_pre_ping=True)
    if not settings.file.parent.is_dir():
        raise InputError("the folder of the database does not exist", "create it first", file=settings.file)
    if not settings.file.exists():  # readable by its owner only: it contains the secret
        os.close(os.open(settings.file, os.O_CREAT | os.O_WRONLY, 0o600))
    engine = sa.create_engine(settings.url, **pool, connect_args={"timeout": BUSY_SECONDS})
    sa.event.listen(engine, "connect", _set_up_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = (
        None  # sqlite3 would start transactions implicitly; _begin_sqlite starts them
    )
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


# -- schema ------------------------------------------------------------------------------------------------
def migrate(engine: Engine, revision: str = "head") -> None:
    """Upgrade the schema to a revision; a database from a newer version of topkit is rejected."""
    config = _config()
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
        present = revision_of(connection)
        if present is not None and present not in known:
            problem = f"the database has schema {present}, which this version of topkit does not know"
            raise InputError(problem, "use the version that created it, or a later one")
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def revision_of(connection: Connection) -> str | None:
    """The revision of the schema, or None for an empty database."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return revision


def newest_revision() -> str:
    """The revision that this version of topkit writes."""
    return str(ScriptDirectory.from_config(_config()).get_current_head())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config
