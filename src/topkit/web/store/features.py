"""Uploaded features of documents, as LETOR text."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from topkit.web.schema import feature_file


def store_features(connection: Connection, project_id: int, text: str) -> None:
    """Keep the features of a project; earlier ones are replaced. An empty text removes them."""
    connection.execute(feature_file.delete().where(feature_file.c.project == project_id))
    if text:
        connection.execute(feature_file.insert().values(project=project_id, content=text))


def stored_features(connection: Connection, project_id: int) -> str | None:
    """The uploaded features of a project, or None."""
    query = sa.select(feature_file.c.content).where(feature_file.c.project == project_id)
    text: str | None = connection.scalar(query)
    return text
