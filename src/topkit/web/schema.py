"""The tables after the last migration; a test compares them with the result of the migrations.

State is never stored: the next question of a labelling is a fold over its rows in ``judgment``, and rows are
only ever added there. The unique constraints guarantee that no judgment is lost, doubled or misplaced.
"""

from __future__ import annotations

from typing import Any

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
from sqlalchemy.types import TypeEngine

NAMES = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
}
metadata = MetaData(naming_convention=NAMES)


def _required(kind: type[TypeEngine[Any]], *names: str) -> list[Column[Any]]:
    """Columns of one type that are not null."""
    return [Column(name, kind, nullable=False) for name in names]


meta = Table("meta", metadata, Column("name", Text, primary_key=True), *_required(Text, "value"))
"""The secret that signs invitation links, and a value that changes with anybody's access."""

person = Table(
    "person",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    *_required(Text, "role"),
    Column("password", Text),
    *_required(Boolean, "active"),
    *_required(Float, "created"),
)

session = Table(
    "session",
    metadata,
    Column(
        "token", Text, primary_key=True
    ),  # SHA-256 of the cookie: reading the table is not enough to sign in
    Column("person", ForeignKey("person.id"), nullable=False, index=True),
    *_required(Text, "csrf"),
    *_required(Float, "created", "expires"),
)

invitation = Table(
    "invitation",
    metadata,
    Column("id", Integer, primary_key=True),
    *_required(Text, "name", "role"),
    Column("person", ForeignKey("person.id")),  # set if the link is for a new password
    *_required(Float, "created", "expires"),
    Column("used", Float),
)

sign_in = Table(
    "sign_in",
    metadata,
    *_required(Text, "name", "address"),  # an empty name or address stands for all of them
    Column("failures", Integer, nullable=False),
    Column("last", Float, nullable=False),
    Column("succeeded", Float),
    PrimaryKeyConstraint("name", "address"),
)
"""Wrong passwords, which delay the next attempt."""

project = Table(
    "project",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    *_required(Integer, "k"),
    *_required(Text, "strategy", "tools"),
    *_required(Integer, "seed"),
    *_required(Float, "created"),
    Column("instructions", Text, nullable=False, server_default=""),
    Column("gold_rate", Float, nullable=False, server_default="0"),
    Column("state", Text, nullable=False, server_default="active"),  # or paused, archived
)


def _material(name: str, *texts: str) -> Table:
    """A table of texts that belong to a project and have a key there."""
    return Table(
        name,
        metadata,
        Column("id", Integer, primary_key=True),
        Column("project", ForeignKey("project.id"), nullable=False),
        *_required(Text, "key", *texts),
        UniqueConstraint("project", "key"),
    )


topic = _material("topic", "query", "description")
document = _material("document", "kind", "title", "body")

topic_version = Table(
    "topic_version",
    metadata,
    Column("topic", ForeignKey("topic.id"), nullable=False),
    *_required(Integer, "version"),
    *_required(Text, "query", "description"),
    *_required(Float, "until"),
    PrimaryKeyConstraint("topic", "version"),
)
"""Earlier texts of topics that were changed when they already had judgments."""

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
    *_required(Text, "tool", "strategy"),
    *_required(Integer, "k", "seed"),
    *_required(Float, "created"),
    Column("state", Text, nullable=False, server_default="open"),  # taken back: kept, or dropped
    UniqueConstraint("topic", "person"),  # nobody sees a query in both tools
    sqlite_autoincrement=True,  # ids are never reused: states in memory are kept by id
)

judgment = Table(
    "judgment",
    metadata,
    Column("labelling", ForeignKey("labelling.id"), nullable=False),
    *_required(Integer, "seq"),
    *_required(Text, "key", "a"),
    Column("b", Text),
    *_required(Text, "answer"),
    *_required(Float, "seconds", "time"),
    PrimaryKeyConstraint("labelling", "seq"),
    UniqueConstraint("labelling", "key"),
)
"""One row per answer; ``a`` was shown on the left. The answer "undo" withdraws the last one."""


# -- quality ------------------------------------------------------------------------------------------------
def _part_of(table: str, **options: Any) -> Column[Any]:
    """A reference to the row of a table; this row is deleted together with that one."""
    return Column(table, ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=False, **options)


gold = Table(
    "gold",
    metadata,
    Column("id", Integer, primary_key=True),
    _part_of("topic"),
    *_required(Text, "a"),
    Column("b", Text),
    *_required(Text, "answer", "note", "person"),
    *_required(Float, "created"),
    UniqueConstraint("topic", "a", "b"),
)
"""Questions with a known answer; without ``b``, the grade of a document."""

adjudication = Table(
    "adjudication",
    metadata,
    Column("id", Integer, primary_key=True),
    _part_of("topic", index=True),
    *_required(Text, "a", "b", "verdict", "reason", "person"),
    *_required(Float, "time"),
)
"""Who settled which pair and why. Rows are only added; the last decision about a pair counts."""

remark = Table(
    "remark",
    metadata,
    Column("id", Integer, primary_key=True),
    _part_of("labelling", index=True),
    *_required(Text, "a"),
    Column("b", Text),
    *_required(Boolean, "flagged"),
    *_required(Text, "text"),
    *_required(Float, "time"),
    Column("resolved", Float),
    Column("resolver", Text),
)
"""What assessors say about a question: a flag, a comment, or both."""

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("time", Float, nullable=False, index=True),
    *_required(Text, "person", "action"),
    Column("project", Integer, index=True),  # not a reference: the entry outlives its project
    *_required(Text, "detail"),
)
"""Every change except judgments, which are a log themselves."""

picture = Table(
    "picture",
    metadata,
    Column("id", Integer, primary_key=True),
    _part_of("project"),
    *_required(Text, "name", "kind", "content"),
    UniqueConstraint("project", "name"),
)
"""Uploaded pictures for documents, in base64."""

QUALITY = (gold, adjudication, remark, audit, picture)

# -- other programs -----------------------------------------------------------------------------------------
api_token = Table(
    "api_token",
    metadata,
    Column("id", Integer, primary_key=True),
    _part_of("person"),
    *_required(Text, "name", "scopes"),
    Column("hash", Text, nullable=False, unique=True),
    *_required(Float, "created"),
    Column("expires", Float),
    Column("used", Float),
)

identity = Table(
    "identity",
    metadata,
    *_required(Text, "issuer", "subject"),
    _part_of("person"),
    PrimaryKeyConstraint("issuer", "subject"),
)
"""Accounts at OpenID Connect providers."""

webhook = Table(
    "webhook",
    metadata,
    Column("id", Integer, primary_key=True),
    _part_of("project"),
    *_required(Text, "url", "secret", "events"),
    *_required(Float, "created"),
)

delivery = Table(
    "delivery",
    metadata,
    Column("id", Integer, primary_key=True),
    _part_of("webhook"),
    *_required(Text, "event", "body"),
    *_required(Float, "created", "next"),
    *_required(Integer, "attempts"),
    Column("status", Integer),
    Column("problem", Text),
    Column("done", Float, index=True),
)
"""Events for webhooks; ``done`` is set when the receiver has accepted one."""

export_schedule = Table(
    "export_schedule",
    metadata,
    Column("id", Integer, primary_key=True),
    _part_of("project"),
    *_required(Text, "export", "problem"),
    *_required(Float, "hours", "next"),
    Column("last", Float),
)

PROGRAMS = (api_token, identity, webhook, delivery, export_schedule)

# -- models beside people -----------------------------------------------------------------------------------
model = Table(
    "model",
    metadata,
    Column("id", Integer, primary_key=True),
    _part_of("project"),
    _part_of("person"),
    *_required(Text, "name", "url", "model", "key_variable", "problem"),
    *_required(Float, "sure", "check", "next"),
    *_required(Integer, "budget", "requests"),
    *_required(Boolean, "active", "suggest"),
    UniqueConstraint("project", "name"),
)
"""Chat models that judge in a project; ``person`` is their account, which cannot sign in."""

model_answer = Table(
    "model_answer",
    metadata,
    _part_of("labelling"),
    *_required(Integer, "seq"),
    Column("confidence", Float),
    PrimaryKeyConstraint("labelling", "seq"),
)
"""How sure a model was of an answer."""

MODELS = (model, model_answer)

# -- learning -----------------------------------------------------------------------------------------------
feature_file = Table(
    "feature_file",
    metadata,
    Column("project", ForeignKey("project.id", ondelete="CASCADE"), primary_key=True),
    *_required(Text, "content"),
)
"""Uploaded features of a project, as LETOR text."""

learned = Table(
    "learned",
    metadata,
    Column("project", ForeignKey("project.id", ondelete="CASCADE"), primary_key=True),
    *_required(Float, "time"),
    *_required(Text, "content", "problem"),
)
"""What was learned last from a project."""

LEARNING = (feature_file, learned)

TABLES = (
    meta,
    person,
    session,
    invitation,
    sign_in,
    project,
    topic,
    document,
    topic_version,
    candidate,
    labelling,
    judgment,
    *QUALITY,
    *PROGRAMS,
    *MODELS,
    *LEARNING,
)
"""Every table; a table comes after those that it references."""
