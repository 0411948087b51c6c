"""The tables as they are after the last migration; a test compares them with what the migrations make.

State is never stored: what a labelling asks next is a fold over its rows in ``judgment``, which are only ever
added. The unique constraints there carry the promise that no judgment is lost, doubled or misplaced.
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
"""The secret that signs links, and the id of the store."""

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
    Column("token", Text, primary_key=True),  # SHA-256 of the cookie: who reads the table cannot sign in
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
    Column("person", ForeignKey("person.id")),  # a new password for someone who is there already
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

topic = Table(
    "topic",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project", ForeignKey("project.id"), nullable=False),
    Column("key", Text, nullable=False),
    Column("query", Text, nullable=False),
    Column("description", Text, nullable=False),
    UniqueConstraint("project", "key"),
)

document = Table(
    "document",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project", ForeignKey("project.id"), nullable=False),
    Column("key", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False),
    UniqueConstraint("project", "key"),
)

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
    UniqueConstraint("topic", "person"),  # nobody sees one query in both tools
    sqlite_autoincrement=True,  # an id is never used again: states are kept in memory under it
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
"""One row an answer; ``a`` was shown on the left. ``answer`` is "undo" where the last was withdrawn."""

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
"""Every table, those that others point to first."""
