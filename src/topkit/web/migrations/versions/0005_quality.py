"""Gold questions, adjudications, remarks of assessors, pictures, and the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from topkit.web.columns import flags, floats, numbered, part_of, texts

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("project", sa.Column("gold_rate", sa.Float, nullable=False, server_default="0"))
    known = (*texts("a"), sa.Column("b", sa.Text), *texts("answer", "note", "person"), *floats("created"))
    op.create_table("gold", *numbered(), part_of("topic"), *known, sa.UniqueConstraint("topic", "a", "b"))
    decision = (*texts("a", "b", "verdict", "reason", "person"), *floats("time"))
    op.create_table("adjudication", *numbered(), part_of("topic", index=True), *decision)
    said = (*texts("a"), sa.Column("b", sa.Text), *flags("flagged"), *texts("text"), *floats("time"))
    end = (sa.Column("resolved", sa.Float), sa.Column("resolver", sa.Text))
    op.create_table("remark", *numbered(), part_of("labelling", index=True), *said, *end)
    image = (*texts("name", "kind", "content"), sa.UniqueConstraint("project", "name"))
    op.create_table("picture", *numbered(), part_of("project"), *image)
    time = sa.Column("time", sa.Float, nullable=False, index=True)
    where = sa.Column("project", sa.Integer, index=True)
    op.create_table("audit", *numbered(), time, *texts("person", "action"), where, *texts("detail"))
