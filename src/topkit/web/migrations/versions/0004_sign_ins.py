"""Failed sign-ins are counted per name and address; they delay the next attempt instead of locking a name."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from topkit.web.columns import floats, integers, texts

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.drop_table("login_attempt")
    columns = (*texts("name", "address"), *integers("failures"), *floats("last"))
    key = sa.PrimaryKeyConstraint("name", "address")
    op.create_table("sign_in", *columns, sa.Column("succeeded", sa.Float), key)
