"""Looks a store over: schema, integrity, and that every labelling can be replayed from its judgments."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from topkit.data.errors import InputError
from topkit.web.schema import judgment, labelling, person
from topkit.web.settings import Settings
from topkit.web.store import Store
from topkit.web.store.engine import newest_revision, revision_of
from topkit.web.store.work import events_after, get_task
from topkit.web.turns import Course


class Finding(NamedTuple):
    """One thing that was looked at."""

    good: bool
    text: str


def examine(
    store: Store, settings: Settings, on_labelling: Callable[[int], object] = lambda total: None
) -> Iterator[Finding]:
    """Everything that can be checked without changing the store."""
    with store.read() as connection:
        there, newest = revision_of(connection), newest_revision()
        yield Finding(there == newest, f"schema {there} (this version writes {newest})")
        if settings.file is not None:
            yield from _sqlite(connection, settings)
        yield _admins(connection)
        yield from _labellings(connection, on_labelling)


def _sqlite(connection: Connection, settings: Settings) -> Iterator[Finding]:
    said = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
    yield Finding(said == ["ok"], f"integrity of the file: {'; '.join(said[:3])}")
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    yield Finding(not broken, f"references between tables: {len(broken)} broken")
    assert settings.file is not None  # noqa: S101 - the caller looked
    mode = stat.S_IMODE(settings.file.stat().st_mode)
    others = mode & 0o077
    advice = "" if not others else f", which others may read: chmod 600 {settings.file}"
    yield Finding(not others, f"permissions of the file: {mode:o}{advice}")


def _admins(connection: Connection) -> Finding:
    query = sa.select(sa.func.count()).where(
        person.c.role == "admin", person.c.active, person.c.password.is_not(None)
    )
    count = connection.scalar(query) or 0
    return Finding(
        count > 0, f"admins who can sign in: {count}" + ("" if count else "; start the server for a link")
    )


def _labellings(connection: Connection, on_labelling: Callable[[int], object]) -> Iterator[Finding]:
    numbers = list(connection.scalars(sa.select(labelling.c.id).order_by(labelling.c.id)))
    troubles = []
    for number in numbers:
        on_labelling(len(numbers))
        task, events = get_task(connection, number), events_after(connection, number)
        assert task is not None  # noqa: S101 - its id was just read
        if [event.seq for event in events] != list(range(1, len(events) + 1)):
            troubles.append(f"labelling {number}: the sequence numbers have gaps")
            continue
        try:
            Course.replayed(task, events)
        except (InputError, ValueError) as error:
            troubles.append(f"labelling {number}: {error}")
    total = connection.scalar(sa.select(sa.func.count()).select_from(judgment)) or 0
    yield Finding(
        not troubles, f"{len(numbers) - len(troubles)} of {len(numbers)} labellings replay, {total} judgments"
    )
    yield from (Finding(False, trouble) for trouble in troubles)
