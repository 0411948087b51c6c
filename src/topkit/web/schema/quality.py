"""Quality: gold questions, settled disagreements, remarks of assessors, and the audit log."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, Table, Text, UniqueConstraint

from topkit.web.columns import flags, floats, metadata, numbered, part_of, texts

gold = Table(
    "gold",
    metadata,
    *numbered(),
    part_of("topic"),
    *texts("a", "answer", "note", "person"),
    Column("b", Text),
    *floats("created"),
    UniqueConstraint("topic", "a", "b"),
)
"""Questions with a known answer; without ``b``, the grade of a document."""

adjudication = Table(
    "adjudication",
    metadata,
    *numbered(),
    part_of("topic", index=True),
    *texts("a", "b", "verdict", "reason", "person"),
    *floats("time"),
)
"""Who settled which pair and why. Rows are only added; the last decision about a pair counts."""

remark = Table(
    "remark",
    metadata,
    *numbered(),
    part_of("labelling", index=True),
    *texts("a", "text"),
    Column("b", Text),
    *flags("flagged"),
    *floats("time"),
    Column("resolved", Float),
    Column("resolver", Text),
)
"""What assessors say about a question: a flag, a comment, or both."""

audit = Table(
    "audit",
    metadata,
    *numbered(),
    Column("time", Float, nullable=False, index=True),
    *texts("person", "action", "detail"),
    Column("project", Integer, index=True),  # not a reference: the entry outlives its project
)
"""Every change except judgments, which are a log themselves."""
