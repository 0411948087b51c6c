"""Projects can be paused and archived, work can be taken back, changed queries keep their old versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("project", sa.Column("state", sa.Text, nullable=False, server_default="active"))
    op.add_column("labelling", sa.Column("state", sa.Text, nullable=False, server_default="open"))
    op.create_table(
        "topic_version",
        sa.Column(
            "topic", sa.Integer, sa.ForeignKey("topic.id", name="fk_topic_version_topic"), nullable=False
        ),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("until", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("topic", "version", name="pk_topic_version"),
    )
