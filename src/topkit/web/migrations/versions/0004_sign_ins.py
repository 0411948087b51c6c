"""Failed sign-ins are counted per name and address; they delay the next attempt instead of locking a name."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.drop_table("login_attempt")
    op.create_table(
        "sign_in",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("last", sa.Float, nullable=False),
        sa.Column("succeeded", sa.Float),
        sa.PrimaryKeyConstraint("name", "address", name="pk_sign_in"),
    )
