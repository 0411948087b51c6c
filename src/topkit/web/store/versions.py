"""Versions of topics and documents: a text that changes under existing judgments is kept as a version."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from topkit.web.schema import document, document_version, judgment, labelling, topic, topic_version
from topkit.web.schema.projects import DOCUMENT_TEXTS, TOPIC_TEXTS

PART = 500
"""Ids per statement; databases limit the number of values."""
Changes = dict[str, tuple[float, ...]]
"""When each topic or document was changed under existing judgments, by key."""


class Versioned(NamedTuple):
    """A table of texts, the table of their earlier versions, and the columns that a version keeps."""

    table: sa.Table
    versions: sa.Table
    texts: tuple[str, ...]

    @property
    def owner(self) -> sa.Column[int]:
        """Whose version it is."""
        return self.versions.c[self.table.name]


TOPICS = Versioned(topic, topic_version, TOPIC_TEXTS)
DOCUMENTS = Versioned(document, document_version, DOCUMENT_TEXTS)


def keep_versions(connection: Connection, kind: Versioned, project_id: int, ids: Sequence[int]) -> int:
    """Keep the present texts of those that have judgments, before they change. Returns how many do."""
    judged = _judged_keys(connection, kind, project_id) if ids else set()
    now, kept = time.time(), 0
    for part in parts_of(ids):
        rows = connection.execute(sa.select(kind.table).where(kind.table.c.id.in_(part))).mappings().all()
        counted = sa.select(kind.owner, sa.func.count()).where(kind.owner.in_(part)).group_by(kind.owner)
        counts = {row[0]: row[1] for row in connection.execute(counted)}
        versions = [
            {
                kind.table.name: row["id"],
                "version": counts.get(row["id"], 0) + 1,
                "until": now,
                **{name: row[name] for name in kind.texts},
            }
            for row in rows
            if row["key"] in judged
        ]
        if versions:
            connection.execute(kind.versions.insert(), versions)
        kept += len(versions)
    return kept


def parts_of(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """The ids in parts that fit into one statement."""
    for start in range(0, len(ids), PART):
        yield ids[start : start + PART]


def _judged_keys(connection: Connection, kind: Versioned, project_id: int) -> set[str]:
    """The keys of the topics or documents of a project that have judgments."""
    log = sa.join(judgment, labelling, judgment.c.labelling == labelling.c.id)
    columns: Iterable[sa.Column[str]] = (judgment.c.a, judgment.c.b)
    if kind is TOPICS:
        log, columns = log.join(topic, topic.c.id == labelling.c.topic), (topic.c.key,)
    return {
        key
        for column in columns
        for key in connection.scalars(
            sa.select(column).select_from(log).where(labelling.c.project == project_id).distinct()
        )
    }


def versions_of(connection: Connection, kind: Versioned, number: int) -> list[RowMapping]:
    """Earlier texts of a topic or document, oldest first."""
    query = sa.select(kind.versions).where(kind.owner == number).order_by(kind.versions.c.version)
    return list(connection.execute(query).mappings())


def versions_by_owner(
    connection: Connection, kind: Versioned, project_id: int
) -> dict[int, list[RowMapping]]:
    """Earlier texts of all topics or documents of a project, by id, oldest first."""
    query = sa.select(kind.versions).join(kind.table, kind.table.c.id == kind.owner)
    query = query.where(kind.table.c.project == project_id).order_by(kind.owner, kind.versions.c.version)
    by_owner: dict[int, list[RowMapping]] = {}
    for row in connection.execute(query).mappings():
        by_owner.setdefault(row[kind.table.name], []).append(row)
    return by_owner


def changes_of(connection: Connection, kind: Versioned, project_id: int) -> Changes:
    """When the topics or documents of a project were changed after they had judgments.

    Starts from the versions, which are few, and not from the documents of the project, which may be many.
    """
    moments: dict[int, list[float]] = {}
    query = sa.select(kind.owner, kind.versions.c.until).order_by(kind.versions.c.version)
    for owner, until in connection.execute(query):
        moments.setdefault(owner, []).append(until)
    changes: Changes = {}
    for part in parts_of(list(moments)):
        keys = sa.select(kind.table.c.id, kind.table.c.key).where(kind.table.c.id.in_(part))
        for owner, key in connection.execute(keys.where(kind.table.c.project == project_id)):
            changes[key] = tuple(moments[owner])
    return changes
