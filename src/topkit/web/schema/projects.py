"""Projects and their material: topics, documents, earlier versions of both, pictures."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, PrimaryKeyConstraint, Table, Text, UniqueConstraint

from topkit.web.columns import floats, integers, metadata, numbered, part_of, reference, texts

project = Table(
    "project",
    metadata,
    *numbered(),
    *texts("name", "strategy", "tools"),
    *integers("k", "seed"),
    *floats("created"),
    Column("instructions", Text, nullable=False, server_default=""),
    Column("gold_rate", Float, nullable=False, server_default="0"),
    Column("state", Text, nullable=False, server_default="active"),  # or paused, archived
    UniqueConstraint("name"),
)


def _material(name: str, *names: str) -> Table:
    """A table of texts that belong to a project and have a key there."""
    columns = (*numbered(), reference("project"), *texts("key", *names))
    return Table(name, metadata, *columns, UniqueConstraint("project", "key"))


def _versions(name: str, *names: str) -> Table:
    """A table of earlier texts of ``name``, numbered from 1, with the time until which each was shown."""
    columns = (reference(name), *integers("version"), *texts(*names), *floats("until"))
    return Table(f"{name}_version", metadata, *columns, PrimaryKeyConstraint(name, "version"))


TOPIC_TEXTS = ("query", "description")
DOCUMENT_TEXTS = ("kind", "title", "body")
topic = _material("topic", *TOPIC_TEXTS)
document = _material("document", *DOCUMENT_TEXTS)
topic_version = _versions("topic", *TOPIC_TEXTS)
document_version = _versions("document", *DOCUMENT_TEXTS)
"""Earlier texts of topics and documents that were changed when they already had judgments."""

candidate = Table(
    "candidate",
    metadata,
    reference("topic"),
    reference("document", index=True),
    *integers("place"),
    Column("prior", Integer),
    PrimaryKeyConstraint("topic", "document"),
)
"""Which documents are judged for a topic, in which order, and their places in a prior ranking."""

picture = Table(
    "picture",
    metadata,
    *numbered(),
    part_of("project"),
    *texts("name", "kind", "content"),
    UniqueConstraint("project", "name"),
)
"""Uploaded pictures for documents, in base64."""
