"""The whole database in one file, the same for SQLite and PostgreSQL; written while the server runs."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator
from typing import Any

import sqlalchemy as sa
from alembic.util import CommandError
from sqlalchemy.engine import Connection, Engine

from topkit.data.errors import InputError
from topkit.data.files import FilePath, text_writer
from topkit.data.text_lines import text_lines
from topkit.web.json_lines import read_records
from topkit.web.settings import Settings
from topkit.web.store.engine import Store, database_error, make_engine, migrate, revision_of, writing

LEFT_OUT = ("alembic_version", "login_attempt", "session", "sign_in")
"""Tables that are not part of a backup: after a restore everybody signs in again."""
ROWS_PER_LINE = 500
CHARACTERS_PER_LINE = 1_000_000
"""A line ends after this many characters of text; only a single row may be longer."""
LONGEST_LINE = 1 << 30
"""Bytes of a line that a restore accepts. The file comes from the same server, so it is trusted."""
REMEDY = "give a file that 'topkit label backup' has written"


def write_backup(store: Store, path: FilePath) -> dict[str, int]:
    """Write all tables as they are at one moment; returns the number of rows of each.

    The tables are written as the database has them, so an older schema can be backed up before its upgrade.
    """
    counts: dict[str, int] = {}
    digest = hashlib.sha256()
    level = "REPEATABLE READ" if store.engine.dialect.name == "postgresql" else "SERIALIZABLE"
    try:
        with text_writer(path) as stream, store.engine.connect() as connection:
            connection.execution_options(isolation_level=level)
            with connection.begin():
                for record in _records(connection, counts):
                    line = json.dumps(record, ensure_ascii=False) + "\n"
                    digest.update(line.encode("utf-8", "surrogateescape"))
                    stream.write(line)
            stream.write(json.dumps({"end": counts, "sha256": digest.hexdigest()}) + "\n")
    except sa.exc.DatabaseError as error:
        raise database_error(error) from None
    return counts


def _records(connection: Connection, counts: dict[str, int]) -> Iterator[dict[str, Any]]:
    yield {"topkit": "backup", "schema": revision_of(connection), "time": time.time()}
    tables = sa.MetaData()
    tables.reflect(connection)
    for table in tables.sorted_tables:
        if table.name in LEFT_OUT:
            continue
        counts[table.name] = 0
        names = [column.name for column in table.columns]
        query = sa.select(table).order_by(*table.primary_key.columns)
        for rows in _lines(connection.execute(query)):
            counts[table.name] += len(rows)
            yield {"table": table.name, "columns": names, "rows": rows}


def _lines(rows: Iterable[Any]) -> Iterator[list[list[Any]]]:
    """The rows of each line."""
    line: list[list[Any]] = []
    characters = 0
    for row in rows:
        line.append(list(row))
        characters += sum(len(value) for value in row if isinstance(value, str))
        if len(line) == ROWS_PER_LINE or characters > CHARACTERS_PER_LINE:
            yield line
            line, characters = [], 0
    if line:
        yield line


def restore_backup(settings: Settings, path: FilePath) -> dict[str, int]:
    """Fill an empty database from a backup of this or an earlier version; all of it or nothing."""
    engine = make_engine(settings)
    try:
        with engine.connect() as connection:
            if sa.inspect(connection).get_table_names():
                raise InputError("the database is not empty", "restore into a new one")
        schema = _checked_schema(path)
        try:
            migrate(engine, schema)
            counts = _fill(engine, path)
            migrate(engine)
        except BaseException:
            _drop_all(engine)
            raise
    except (sa.exc.DatabaseError, KeyError, CommandError) as error:
        raise InputError(f"the backup cannot be restored ({error})", REMEDY, file=path) from None
    finally:
        engine.dispose()
    return counts


def _fill(engine: Engine, path: FilePath) -> dict[str, int]:
    tables = sa.MetaData()
    counts: dict[str, int] = {}
    with writing(engine) as connection:
        tables.reflect(connection)  # the tables at the time of the backup
        for _, record in read_records(path, REMEDY, LONGEST_LINE):
            if "table" in record:
                rows = [dict(zip(record["columns"], row, strict=True)) for row in record["rows"]]
                connection.execute(tables.tables[record["table"]].insert(), rows)
                counts[record["table"]] = counts.get(record["table"], 0) + len(rows)
        if engine.dialect.name == "postgresql":
            _move_sequences(connection, tables)
    return counts


def _move_sequences(connection: Connection, tables: sa.MetaData) -> None:
    """Let the next row get an id after the largest one restored."""
    for table in tables.sorted_tables:
        if "id" in table.columns:
            sequence = sa.func.pg_get_serial_sequence(table.name, "id")
            largest = sa.select(sa.func.coalesce(sa.func.max(table.c.id), 0) + 1).scalar_subquery()
            connection.execute(sa.select(sa.func.setval(sequence, largest, False)))


def _checked_schema(path: FilePath) -> str:
    """The schema revision of a backup that is complete and unchanged."""
    digest = hashlib.sha256()
    last = ""
    for _, text in text_lines(path, LONGEST_LINE):
        if last:
            digest.update((last + "\n").encode("utf-8", "surrogateescape"))
        last = text
    _, head = next(read_records(path, REMEDY, LONGEST_LINE), (0, {}))
    try:
        end = json.loads(last)
    except ValueError:
        end = {}
    if head.get("topkit") != "backup" or end.get("sha256") != digest.hexdigest():
        raise InputError("the file is not a backup, or it is truncated or changed", REMEDY, file=path)
    return str(head["schema"])


def _drop_all(engine: Engine) -> None:
    """Undo a restore that failed half-way."""
    tables = sa.MetaData()
    with writing(engine) as connection:
        tables.reflect(connection)
        tables.drop_all(connection)
