"""Chat models as assessors, and learning from the judgments."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "model",
        sa.Column("id", sa.Integer, nullable=False),
        _part_of("model", "project"),
        _part_of("model", "person"),
        *_columns(sa.Text, "name", "url", "model", "key_variable", "problem"),
        *_columns(sa.Float, "sure", "check", "next"),
        *_columns(sa.Integer, "budget", "requests"),
        *_columns(sa.Boolean, "active", "suggest"),
        sa.PrimaryKeyConstraint("id", name="pk_model"),
        sa.UniqueConstraint("project", "name", name="uq_model_project_name"),
    )
    op.create_table(
        "model_answer",
        _part_of("model_answer", "labelling"),
        *_columns(sa.Integer, "seq"),
        sa.Column("confidence", sa.Float),
        sa.PrimaryKeyConstraint("labelling", "seq", name="pk_model_answer"),
    )
    for name, columns in (("feature_file", []), ("learned", _columns(sa.Float, "time"))):
        texts = ("content",) if name == "feature_file" else ("content", "problem")
        op.create_table(
            name,
            _part_of(name, "project"),
            *columns,
            *_columns(sa.Text, *texts),
            sa.PrimaryKeyConstraint("project", name=f"pk_{name}"),
        )


def _columns(kind: type[sa.types.TypeEngine[Any]], *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False) for name in names]


def _part_of(table: str, name: str) -> sa.Column[int]:
    reference = sa.ForeignKey(f"{name}.id", name=f"fk_{table}_{name}", ondelete="CASCADE")
    return sa.Column(name, sa.Integer, reference, nullable=False)
