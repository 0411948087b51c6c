"""Exports on a schedule: files in a folder of the server that another program can pick up."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from topkit.data.errors import InputError
from topkit.web.exports import EXPORTS
from topkit.web.lookup import project_records
from topkit.web.schema import export_schedule, project
from topkit.web.standings import LabellingCache
from topkit.web.store import Store
from topkit.web.store.engine import insert_one

KEPT = 30
"""Files kept per schedule; older ones are deleted."""


def add_schedule(connection: Connection, project_id: int, export: str, hours: float) -> int:
    """Write an export every so many hours, the first one at once."""
    if export not in EXPORTS:
        raise InputError(f"unknown export {export!r}", f"choose from {', '.join(EXPORTS)}")
    values = {"project": project_id, "export": export, "hours": hours, "next": time.time(), "problem": ""}
    return insert_one(connection, export_schedule, values)


def schedules_of(connection: Connection, project_id: int) -> list[RowMapping]:
    """The schedules of a project."""
    query = sa.select(export_schedule).where(export_schedule.c.project == project_id)
    return list(connection.execute(query.order_by(export_schedule.c.id)).mappings())


def remove_schedule(connection: Connection, project_id: int, number: int) -> bool:
    """Remove a schedule; its files stay."""
    condition = (export_schedule.c.id == number, export_schedule.c.project == project_id)
    return connection.execute(export_schedule.delete().where(*condition)).rowcount == 1


def write_due(store: Store, folder: Path, cache: LabellingCache, now: float | None = None) -> list[Path]:
    """Write the exports that are due; returns their files. Of several processes, one writes each."""
    now = time.time() if now is None else now
    with store.read() as connection:
        query = sa.select(export_schedule, project.c.name).join(project)
        rows = connection.execute(query.where(export_schedule.c.next <= now)).all()
    return [
        path for row in rows if _claim(store, row, now) and (path := _write(store, row, folder, cache, now))
    ]


def _claim(store: Store, row: Any, now: float) -> bool:
    mine = (export_schedule.c.id == row.id, export_schedule.c.next == row.next)
    with store.write() as connection:
        update = export_schedule.update().where(*mine).values(next=now + 3600 * row.hours)
        return connection.execute(update).rowcount == 1


def _write(store: Store, row: Any, folder: Path, cache: LabellingCache, now: float) -> Path | None:
    form = EXPORTS[row.export]
    name = re.sub(r"[^\w-]+", "-", row.name).strip("-")[:60]
    place = folder / f"{row.project}-{name}"
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H-%M-%S")
    path = place / f"{stamp}-{form.file}"
    problem = ""
    try:
        place.mkdir(parents=True, exist_ok=True)
        form.write(project_records(store, row.project, cache), path)
        for old in sorted(place.glob(f"*-{form.file}"))[:-KEPT]:
            old.unlink()
    except (InputError, OSError) as error:
        problem = str(error)[:300]
    with store.write() as connection:
        values = {"last": now, "problem": problem}
        update = export_schedule.update().where(export_schedule.c.id == row.id)
        connection.execute(update.values(values))
    return None if problem else path
