"""Alembic's entry: the store hands over an open connection, and nothing is read from a file."""

from __future__ import annotations

from alembic import context

from topkit.web.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes a table by copying it
)
context.run_migrations()
