"""Chat models as assessors, and learning from the judgments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from topkit.web.columns import flags, floats, integers, numbered, part_of, texts

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    endpoint = texts("name", "url", "model", "key_variable", "problem")
    numbers = (*floats("sure", "check", "next"), *integers("budget", "requests"))
    rest = (*flags("active", "suggest"), sa.UniqueConstraint("project", "name"))
    op.create_table("model", *numbered(), part_of("project"), part_of("person"), *endpoint, *numbers, *rest)
    answer = (part_of("labelling"), *integers("seq"), sa.Column("confidence", sa.Float))
    op.create_table("model_answer", *answer, sa.PrimaryKeyConstraint("labelling", "seq"))
    for name, columns in (
        ("feature_file", texts("content")),
        ("learned", (*floats("time"), *texts("content", "problem"))),
    ):
        op.create_table(name, part_of("project"), *columns, sa.PrimaryKeyConstraint("project"))
