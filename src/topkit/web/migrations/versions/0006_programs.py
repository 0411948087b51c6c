"""API tokens, OpenID Connect, webhooks and exports on a schedule."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "api_token",
        sa.Column("id", sa.Integer, nullable=False),
        _part_of("api_token", "person"),
        *_columns(sa.Text, "name", "scopes", "hash"),
        *_columns(sa.Float, "created"),
        sa.Column("expires", sa.Float),
        sa.Column("used", sa.Float),
        sa.PrimaryKeyConstraint("id", name="pk_api_token"),
        sa.UniqueConstraint("hash", name="uq_api_token_hash"),
    )
    op.create_table(
        "identity",
        *_columns(sa.Text, "issuer", "subject"),
        _part_of("identity", "person"),
        sa.PrimaryKeyConstraint("issuer", "subject", name="pk_identity"),
    )
    op.create_table(
        "webhook",
        sa.Column("id", sa.Integer, nullable=False),
        _part_of("webhook", "project"),
        *_columns(sa.Text, "url", "secret", "events"),
        *_columns(sa.Float, "created"),
        sa.PrimaryKeyConstraint("id", name="pk_webhook"),
    )
    op.create_table(
        "delivery",
        sa.Column("id", sa.Integer, nullable=False),
        _part_of("delivery", "webhook"),
        *_columns(sa.Text, "event", "body"),
        *_columns(sa.Float, "created", "next"),
        *_columns(sa.Integer, "attempts"),
        sa.Column("status", sa.Integer),
        sa.Column("problem", sa.Text),
        sa.Column("done", sa.Float),
        sa.PrimaryKeyConstraint("id", name="pk_delivery"),
    )
    op.create_index("ix_delivery_done", "delivery", ["done"])
    op.create_table(
        "export_schedule",
        sa.Column("id", sa.Integer, nullable=False),
        _part_of("export_schedule", "project"),
        *_columns(sa.Text, "export", "problem"),
        *_columns(sa.Float, "hours", "next"),
        sa.Column("last", sa.Float),
        sa.PrimaryKeyConstraint("id", name="pk_export_schedule"),
    )


def _columns(kind: type[sa.types.TypeEngine[Any]], *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False) for name in names]


def _part_of(table: str, name: str) -> sa.Column[int]:
    reference = sa.ForeignKey(f"{name}.id", name=f"fk_{table}_{name}", ondelete="CASCADE")
    return sa.Column(name, sa.Integer, reference, nullable=False)
