"""Models beside people, and what was learned from the judgments."""

from __future__ import annotations

from sqlalchemy import Column, Float, PrimaryKeyConstraint, Table, UniqueConstraint

from topkit.web.columns import flags, floats, integers, metadata, numbered, part_of, texts

model = Table(
    "model",
    metadata,
    *numbered(),
    part_of("project"),
    part_of("person"),
    *texts("name", "url", "model", "key_variable", "problem"),
    *floats("sure", "check", "next"),
    *integers("budget", "requests"),
    *flags("active", "suggest"),
    UniqueConstraint("project", "name"),
)
"""Chat models that judge in a project; ``person`` is their account, which cannot sign in."""

model_answer = Table(
    "model_answer",
    metadata,
    part_of("labelling"),
    *integers("seq"),
    Column("confidence", Float),
    PrimaryKeyConstraint("labelling", "seq"),
)
"""How sure a model was of an answer."""

feature_file = Table(
    "feature_file", metadata, part_of("project"), *texts("content"), PrimaryKeyConstraint("project")
)
"""Uploaded features of a project, as LETOR text."""

learned = Table(
    "learned",
    metadata,
    part_of("project"),
    *floats("time"),
    *texts("content", "problem"),
    PrimaryKeyConstraint("project"),
)
"""What was learned last from a project."""
