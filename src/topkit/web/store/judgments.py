"""The log of judgments. Rows are only ever added, and the unique constraints reject duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from topkit.web.judging import Judgment
from topkit.web.schema import judgment, labelling

_COLUMNS = tuple(judgment.c[field.name] for field in fields(Judgment))
_AFTER = (
    sa.select(*_COLUMNS)
    .where(judgment.c.labelling == sa.bindparam("labelling_id"), judgment.c.seq > sa.bindparam("after"))
    .order_by(judgment.c.seq)
)


def append_judgments(connection: Connection, rows: Sequence[tuple[int, Judgment]]) -> None:
    """Append (labelling, judgment) rows; a sequence number or key that exists is an IntegrityError."""
    connection.execute(judgment.insert(), [{"labelling": number, **asdict(row)} for number, row in rows])


def judgments_after(connection: Connection, labelling_id: int, after: int = 0) -> list[Judgment]:
    """The judgments of a labelling with a larger sequence number than ``after``."""
    rows = connection.execute(_AFTER, {"labelling_id": labelling_id, "after": after})
    return [Judgment(*row) for row in rows]


def judgments_of_project(
    connection: Connection, project_id: int, topic_id: int | None = None
) -> dict[int, list[Judgment]]:
    """All judgments of a project, or of one of its topics, by labelling."""
    query = (
        sa.select(judgment.c.labelling, *_COLUMNS)
        .join(labelling, labelling.c.id == judgment.c.labelling)
        .where(labelling.c.project == project_id)
        .order_by(judgment.c.labelling, judgment.c.seq)
    )
    if topic_id is not None:
        query = query.where(labelling.c.topic == topic_id)
    by_labelling: dict[int, list[Judgment]] = {}
    for labelling_id, *values in connection.execute(query):
        by_labelling.setdefault(labelling_id, []).append(Judgment(*values))
    return by_labelling
