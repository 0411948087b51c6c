"""Projects can be paused and archived, work can be taken back, changed queries keep their old versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from topkit.web.columns import floats, integers, reference, texts

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("project", sa.Column("state", sa.Text, nullable=False, server_default="active"))
    op.add_column("labelling", sa.Column("state", sa.Text, nullable=False, server_default="open"))
    columns = (reference("topic"), *integers("version"), *texts("query", "description"), *floats("until"))
    op.create_table("topic_version", *columns, sa.PrimaryKeyConstraint("topic", "version"))
