"""Checks a database: schema, integrity, and that every labelling can be replayed from its judgments."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from topkit.data.errors import InputError
from topkit.web.judging import LabellingState
from topkit.web.schema import judgment, labelling, person
from topkit.web.settings import Settings
from topkit.web.store import Store
from topkit.web.store.engine import database_error, newest_revision, revision_of
from topkit.web.store.judgments import judgments_after
from topkit.web.store.labellings import get_task


class Finding(NamedTuple):
    """The result of one check."""

    good: bool
    text: str


def examine(
    store: Store, settings: Settings, on_labelling: Callable[[int], object] = lambda total: None
) -> Iterator[Finding]:
    """Run all checks; the database is not changed. A damaged database ends the checks with a finding."""
    try:
        with store.read() as connection:
            revision, newest = revision_of(connection), newest_revision()
            is_newest = revision == newest
            advice = "" if is_newest else "; back it up, then start the server, which upgrades it"
            yield Finding(is_newest, f"schema {revision} (this version of topkit writes {newest}){advice}")
            if settings.file is not None:
                yield from _sqlite(connection, settings)
            if is_newest:
                yield _admins(connection)
                yield from _labellings(connection, on_labelling)
    except sa.exc.DatabaseError as error:
        yield Finding(False, f"the checks ended early: {database_error(error)}")


def _sqlite(connection: Connection, settings: Settings) -> Iterator[Finding]:
    report = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
    yield Finding(report == ["ok"], f"integrity of the file: {'; '.join(report[:3])}")
    if report != ["ok"]:
        yield Finding(False, "the file is damaged: stop the server, keep the file, and restore a backup")
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    yield Finding(not broken, f"references between tables: {len(broken)} broken")
    assert settings.file is not None  # noqa: S101 - checked by the caller
    mode = stat.S_IMODE(settings.file.stat().st_mode)
    others = mode & 0o077
    advice = f"; other users can read it, run: chmod 600 {settings.file}" if others else ""
    yield Finding(not others, f"permissions of the file: {mode:o}{advice}")


def _admins(connection: Connection) -> Finding:
    query = sa.select(sa.func.count()).where(
        person.c.role == "admin", person.c.active, person.c.password.is_not(None)
    )
    count = connection.scalar(query) or 0
    advice = "" if count else "; start the server to get a link"
    return Finding(count > 0, f"admins who can sign in: {count}{advice}")


def _labellings(connection: Connection, on_labelling: Callable[[int], object]) -> Iterator[Finding]:
    ids = list(connection.scalars(sa.select(labelling.c.id).order_by(labelling.c.id)))
    problems = []
    for labelling_id in ids:
        on_labelling(len(ids))
        task = get_task(connection, labelling_id)
        assert task is not None  # noqa: S101 - its id was just read
        try:
            LabellingState.replay(task, judgments_after(connection, labelling_id))
        except (InputError, ValueError) as error:
            problems.append(f"labelling {labelling_id}: {error}")
    total = connection.scalar(sa.select(sa.func.count()).select_from(judgment)) or 0
    replayed = len(ids) - len(problems)
    yield Finding(not problems, f"{replayed} of {len(ids)} labellings can be replayed, {total} judgments")
    yield from (Finding(False, problem) for problem in problems)
