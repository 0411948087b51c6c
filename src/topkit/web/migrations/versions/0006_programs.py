"""API tokens, OpenID Connect, webhooks and exports on a schedule."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from topkit.web.columns import floats, integers, numbered, part_of, texts

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    token = (*texts("name", "scopes", "hash"), *floats("created"))
    times = (sa.Column("expires", sa.Float), sa.Column("used", sa.Float))
    op.create_table("api_token", *numbered(), part_of("person"), *token, *times, sa.UniqueConstraint("hash"))
    account = (*texts("issuer", "subject"), part_of("person"))
    op.create_table("identity", *account, sa.PrimaryKeyConstraint("issuer", "subject"))
    address = (*texts("url", "secret", "events"), *floats("created"))
    op.create_table("webhook", *numbered(), part_of("project"), *address)
    event = (*texts("event", "body"), *floats("created", "next"), *integers("attempts"))
    end = (sa.Column("status", sa.Integer), sa.Column("problem", sa.Text))
    done = sa.Column("done", sa.Float, index=True)
    op.create_table("delivery", *numbered(), part_of("webhook"), *event, *end, done)
    plan = (*texts("export", "problem"), *floats("hours", "next"), sa.Column("last", sa.Float))
    op.create_table("export_schedule", *numbered(), part_of("project"), *plan)
