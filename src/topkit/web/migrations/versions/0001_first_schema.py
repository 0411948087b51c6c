"""The first schema. Do not change it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "meta",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_meta"),
    )
    op.create_table(
        "person",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("password", sa.Text),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_person"),
        sa.UniqueConstraint("name", name="uq_person_name"),
    )
    op.create_table(
        "session",
        sa.Column("token", sa.Text, nullable=False),
        sa.Column("person", sa.Integer, sa.ForeignKey("person.id", name="fk_session_person"), nullable=False),
        sa.Column("csrf", sa.Text, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("expires", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("token", name="pk_session"),
    )
    op.create_index("ix_session_person", "session", ["person"])
    op.create_table(
        "invitation",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("person", sa.Integer, sa.ForeignKey("person.id", name="fk_invitation_person")),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("expires", sa.Float, nullable=False),
        sa.Column("used", sa.Float),
        sa.PrimaryKeyConstraint("id", name="pk_invitation"),
    )
    op.create_table(
        "project",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("k", sa.Integer, nullable=False),
        sa.Column("strategy", sa.Text, nullable=False),
        sa.Column("tools", sa.Text, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_project"),
        sa.UniqueConstraint("name", name="uq_project_name"),
    )
    for name, columns in (
        ("topic", ("query", "description")),
        ("document", ("kind", "title", "body")),
    ):
        op.create_table(
            name,
            sa.Column("id", sa.Integer, nullable=False),
            sa.Column(
                "project", sa.Integer, sa.ForeignKey("project.id", name=f"fk_{name}_project"), nullable=False
            ),
            sa.Column("key", sa.Text, nullable=False),
            *(sa.Column(column, sa.Text, nullable=False) for column in columns),
            sa.PrimaryKeyConstraint("id", name=f"pk_{name}"),
            sa.UniqueConstraint("project", "key", name=f"uq_{name}_project_key"),
        )
    op.create_table(
        "candidate",
        sa.Column("topic", sa.Integer, sa.ForeignKey("topic.id", name="fk_candidate_topic"), nullable=False),
        sa.Column(
            "document", sa.Integer, sa.ForeignKey("document.id", name="fk_candidate_document"), nullable=False
        ),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("prior", sa.Integer),
        sa.PrimaryKeyConstraint("topic", "document", name="pk_candidate"),
    )
    op.create_index("ix_candidate_document", "candidate", ["document"])
    op.create_table(
        "labelling",
        sa.Column("id", sa.Integer, nullable=False),
        *(
            sa.Column(
                name, sa.Integer, sa.ForeignKey(f"{name}.id", name=f"fk_labelling_{name}"), nullable=False
            )
            for name in ("project", "topic", "person")
        ),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("strategy", sa.Text, nullable=False),
        sa.Column("k", sa.Integer, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_labelling"),
        sa.UniqueConstraint("topic", "person", name="uq_labelling_topic_person"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_labelling_project", "labelling", ["project"])
    op.create_index("ix_labelling_person", "labelling", ["person"])
    op.create_table(
        "judgment",
        sa.Column(
            "labelling",
            sa.Integer,
            sa.ForeignKey("labelling.id", name="fk_judgment_labelling"),
            nullable=False,
        ),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("a", sa.Text, nullable=False),
        sa.Column("b", sa.Text),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("time", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("labelling", "seq", name="pk_judgment"),
        sa.UniqueConstraint("labelling", "key", name="uq_judgment_labelling_key"),
    )
