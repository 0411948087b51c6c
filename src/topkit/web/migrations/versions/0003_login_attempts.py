"""Failed sign-ins are counted in the database, so that restarts and other processes see them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from topkit.web.columns import numbered, texts

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    time = sa.Column("time", sa.Float, nullable=False, index=True)
    op.create_table("login_attempt", *numbered(), *texts("name", "address"), time)
