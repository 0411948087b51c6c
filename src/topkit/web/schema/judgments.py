"""The work of assessors: who judges which topic, and every answer."""

from __future__ import annotations

from sqlalchemy import Column, PrimaryKeyConstraint, Table, Text, UniqueConstraint

from topkit.web.columns import floats, integers, metadata, numbered, reference, texts

labelling = Table(
    "labelling",
    metadata,
    *numbered(),
    reference("project", index=True),
    reference("topic"),
    reference("person", index=True),
    *texts("tool", "strategy"),
    *integers("k", "seed"),
    *floats("created"),
    Column("state", Text, nullable=False, server_default="open"),  # taken back: kept, or dropped
    UniqueConstraint("topic", "person"),  # nobody sees a query in both tools
    sqlite_autoincrement=True,  # ids are never reused: states in memory are kept by id
)

judgment = Table(
    "judgment",
    metadata,
    reference("labelling"),
    *integers("seq"),
    *texts("key", "a"),
    Column("b", Text),
    *texts("answer"),
    *floats("seconds", "time"),
    PrimaryKeyConstraint("labelling", "seq"),
    UniqueConstraint("labelling", "key"),
)
"""One row per answer; ``a`` was shown on the left. The answer "undo" withdraws the last one."""
