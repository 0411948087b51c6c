"""Instructions for assessors, one text per project."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("project", sa.Column("instructions", sa.Text, nullable=False, server_default=""))
