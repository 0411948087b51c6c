"""The tables after the last migration; a test compares them with the result of the migrations.

State is never stored: the next question of a labelling is a fold over its rows in ``judgment``, and rows are
only ever added there. The unique constraints guarantee that no judgment is lost, doubled or misplaced.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

NAMES = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
}
metadata = MetaData(naming_convention=NAMES)

meta = Table(
    "meta",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
"""The secret that signs invitation links."""

person = Table(
    "person",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("password", Text),
    Column("active", Boolean, nullable=False),
    Column("created", Float, nullable=False),
)

session = Table(
    "session",
    metadata,
    Column(
        "token", Text, primary_key=True
    ),  # SHA-256 of the cookie: reading the table is not enough to sign in
    Column("person", ForeignKey("person.id"), nullable=False, index=True),
    Column("csrf", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
)

invitation = Table(
    "invitation",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("person", ForeignKey("person.id")),  # set if the link is for a new password
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("used", Float),
)

login_attempt = Table(
    "login_attempt",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("time", Float, nullable=False, index=True),
)

project = Table(
    "project",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("k", Integer, nullable=False),
    Column("strategy", Text, nullable=False),
    Column("tools", Text, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("created", Float, nullable=False),
    Column("instructions", Text, nullable=False, server_default=""),
)


def _material(name: str, *texts: str) -> Table:
    """A table of texts that belong to a project and have a key there."""
    return Table(
        name,
        metadata,
        Column("id", Integer, primary_key=True),
        Column("project", ForeignKey("project.id"), nullable=False),
        Column("key", Text, nullable=False),
        *(Column(text, Text, nullable=False) for text in texts),
        UniqueConstraint("project", "key"),
    )


topic = _material("topic", "query", "description")
document = _material("document", "kind", "title", "body")

candidate = Table(
    "candidate",
    metadata,
    Column("topic", ForeignKey("topic.id"), nullable=False),
    Column("document", ForeignKey("document.id"), nullable=False, index=True),
    Column("place", Integer, nullable=False),
    Column("prior", Integer),
    PrimaryKeyConstraint("topic", "document"),
)

labelling = Table(
    "labelling",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project", ForeignKey("project.id"), nullable=False, index=True),
    Column("topic", ForeignKey("topic.id"), nullable=False),
    Column("person", ForeignKey("person.id"), nullable=False, index=True),
    Column("tool", Text, nullable=False),
    Column("strategy", Text, nullable=False),
    Column("k", Integer, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("created", Float, nullable=False),
    UniqueConstraint("topic", "person"),  # nobody sees a query in both tools
    sqlite_autoincrement=True,  # ids are never reused: states in memory are kept by id
)

judgment = Table(
    "judgment",
    metadata,
    Column("labelling", ForeignKey("labelling.id"), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("a", Text, nullable=False),
    Column("b", Text),
    Column("answer", Text, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("time", Float, nullable=False),
    PrimaryKeyConstraint("labelling", "seq"),
    UniqueConstraint("labelling", "key"),
)
"""One row per answer; ``a`` was shown on the left. The answer "undo" withdraws the last one."""

TABLES = (
    meta,
    person,
    session,
    invitation,
    login_attempt,
    project,
    topic,
    document,
    candidate,
    labelling,
    judgment,
)
"""Every table; a table comes after those that it references."""
