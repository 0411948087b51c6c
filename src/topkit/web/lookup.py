"""What a route names, loaded from the database, or a response with status 404."""

from __future__ import annotations

from typing import TypeVar

from fastapi import HTTPException
from sqlalchemy.engine import Connection, RowMapping

from topkit.web import auth
from topkit.web.records import Record, records_of
from topkit.web.standings import LabellingCache
from topkit.web.store import Store, people, projects

T = TypeVar("T")


def existing(value: T | None, what: str) -> T:
    """The value; status 404 if it is None or False."""
    if value is None or value is False:
        raise HTTPException(404, f"There is no such {what}.")
    return value


def project_of(connection: Connection, project_id: int) -> RowMapping:
    """The project with this id, or 404."""
    return existing(projects.get_project(connection, project_id), "project")


def topic_of(connection: Connection, project_id: int, topic_id: int) -> RowMapping:
    """The topic with this id in this project, or 404."""
    row = projects.get_topic(connection, topic_id)
    return existing(row if row is not None and row["project"] == project_id else None, "topic")


def document_of(connection: Connection, project_id: int, document_id: int) -> RowMapping:
    """The document with this id in this project, or 404."""
    row = projects.get_document(connection, document_id)
    return existing(row if row is not None and row["project"] == project_id else None, "document")


def project_records(
    store: Store,
    project_id: int,
    cache: LabellingCache,
    *,
    dropped: bool = False,
    topic_id: int | None = None,
) -> list[Record]:
    """All labellings of the project, or of one of its topics, or 404."""
    with store.read() as connection:
        project_of(connection, project_id)
        return records_of(connection, project_id, cache, dropped=dropped, topic_id=topic_id)


def open_invitation(store: Store, token: str) -> RowMapping:
    """The invitation of a link that is correctly signed and not used, withdrawn or expired; otherwise 404."""
    signed = auth.read_invitation_token(store.secret, token)
    if signed is not None:
        invitation_id, expires = signed
        with store.read() as connection:
            row = people.get_invitation(connection, invitation_id)
        # The database may reuse the id of a withdrawn invitation, so the expiry time must match too.
        if row is not None and row["expires"] == expires:
            return row
    raise HTTPException(404, "This link is invalid, expired, or was used before. Ask for a new one.")
