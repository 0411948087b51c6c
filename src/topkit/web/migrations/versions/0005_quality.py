"""Gold questions, adjudications, remarks of assessors, pictures, and the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("project", sa.Column("gold_rate", sa.Float, nullable=False, server_default="0"))
    op.create_table(
        "gold",
        sa.Column("id", sa.Integer, nullable=False),
        _part_of("gold", "topic"),
        _text("a"),
        sa.Column("b", sa.Text),
        *(_text(name) for name in ("answer", "note", "person")),
        sa.Column("created", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_gold"),
        sa.UniqueConstraint("topic", "a", "b", name="uq_gold_topic_a_b"),
    )
    op.create_table(
        "adjudication",
        sa.Column("id", sa.Integer, nullable=False),
        _part_of("adjudication", "topic"),
        *(_text(name) for name in ("a", "b", "verdict", "reason", "person")),
        sa.Column("time", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_adjudication"),
    )
    op.create_index("ix_adjudication_topic", "adjudication", ["topic"])
    op.create_table(
        "remark",
        sa.Column("id", sa.Integer, nullable=False),
        _part_of("remark", "labelling"),
        _text("a"),
        sa.Column("b", sa.Text),
        sa.Column("flagged", sa.Boolean, nullable=False),
        _text("text"),
        sa.Column("time", sa.Float, nullable=False),
        sa.Column("resolved", sa.Float),
        sa.Column("resolver", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_remark"),
    )
    op.create_index("ix_remark_labelling", "remark", ["labelling"])
    op.create_table(
        "picture",
        sa.Column("id", sa.Integer, nullable=False),
        _part_of("picture", "project"),
        *(_text(name) for name in ("name", "kind", "content")),
        sa.PrimaryKeyConstraint("id", name="pk_picture"),
        sa.UniqueConstraint("project", "name", name="uq_picture_project_name"),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("time", sa.Float, nullable=False),
        *(_text(name) for name in ("person", "action")),
        sa.Column("project", sa.Integer),
        _text("detail"),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_time", "audit", ["time"])
    op.create_index("ix_audit_project", "audit", ["project"])


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _part_of(table: str, name: str) -> sa.Column[int]:
    reference = sa.ForeignKey(f"{name}.id", name=f"fk_{table}_{name}", ondelete="CASCADE")
    return sa.Column(name, sa.Integer, reference, nullable=False)
