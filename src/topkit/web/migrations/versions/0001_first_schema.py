"""The first schema. Do not change it."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    people()
    projects()
    labellings()


def people() -> None:
    op.create_table("meta", *required(sa.Text, "name", "value"), key("meta", "name"))
    op.create_table(
        "person",
        *required(sa.Integer, "id"),
        *required(sa.Text, "name", "role"),
        sa.Column("password", sa.Text),
        *required(sa.Boolean, "active"),
        *required(sa.Float, "created"),
        key("person", "id"),
        sa.UniqueConstraint("name", name="uq_person_name"),
    )
    op.create_table(
        "session",
        *required(sa.Text, "token"),
        reference("session", "person"),
        *required(sa.Text, "csrf"),
        *required(sa.Float, "created", "expires"),
        key("session", "token"),
    )
    op.create_index("ix_session_person", "session", ["person"])
    op.create_table(
        "invitation",
        *required(sa.Integer, "id"),
        *required(sa.Text, "name", "role"),
        reference("invitation", "person", nullable=True),
        *required(sa.Float, "created", "expires"),
        sa.Column("used", sa.Float),
        key("invitation", "id"),
    )


def projects() -> None:
    op.create_table(
        "project",
        *required(sa.Integer, "id"),
        *required(sa.Text, "name"),
        *required(sa.Integer, "k"),
        *required(sa.Text, "strategy", "tools"),
        *required(sa.Integer, "seed"),
        *required(sa.Float, "created"),
        key("project", "id"),
        sa.UniqueConstraint("name", name="uq_project_name"),
    )
    for name, columns in (
        ("topic", ("query", "description")),
        ("document", ("kind", "title", "body")),
    ):
        op.create_table(
            name,
            *required(sa.Integer, "id"),
            reference(name, "project"),
            *required(sa.Text, "key", *columns),
            key(name, "id"),
            sa.UniqueConstraint("project", "key", name=f"uq_{name}_project_key"),
        )
    op.create_table(
        "candidate",
        reference("candidate", "topic"),
        reference("candidate", "document"),
        *required(sa.Integer, "place"),
        sa.Column("prior", sa.Integer),
        key("candidate", "topic", "document"),
    )
    op.create_index("ix_candidate_document", "candidate", ["document"])


def labellings() -> None:
    op.create_table(
        "labelling",
        *required(sa.Integer, "id"),
        *(reference("labelling", name) for name in ("project", "topic", "person")),
        *required(sa.Text, "tool", "strategy"),
        *required(sa.Integer, "k", "seed"),
        *required(sa.Float, "created"),
        key("labelling", "id"),
        sa.UniqueConstraint("topic", "person", name="uq_labelling_topic_person"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_labelling_project", "labelling", ["project"])
    op.create_index("ix_labelling_person", "labelling", ["person"])
    op.create_table(
        "judgment",
        reference("judgment", "labelling"),
        *required(sa.Integer, "seq"),
        *required(sa.Text, "key", "a"),
        sa.Column("b", sa.Text),
        *required(sa.Text, "answer"),
        *required(sa.Float, "seconds", "time"),
        key("judgment", "labelling", "seq"),
        sa.UniqueConstraint("labelling", "key", name="uq_judgment_labelling_key"),
    )


def required(kind: type[sa.types.TypeEngine[Any]], *names: str) -> list[sa.Column[Any]]:
    """Columns of one type that are not null."""
    return [sa.Column(name, kind, nullable=False) for name in names]


def reference(table: str, name: str, *, nullable: bool = False) -> sa.Column[Any]:
    """A column with the id of a row of the table of its name."""
    return sa.Column(
        name, sa.Integer, sa.ForeignKey(f"{name}.id", name=f"fk_{table}_{name}"), nullable=nullable
    )


def key(table: str, *columns: str) -> sa.PrimaryKeyConstraint:
    """The primary key of a table."""
    return sa.PrimaryKeyConstraint(*columns, name=f"pk_{table}")
