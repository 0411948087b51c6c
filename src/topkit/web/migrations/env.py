"""Alembic's entry point. The open connection is passed in; no configuration file is read."""

from __future__ import annotations

from alembic import context

from topkit.web.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite can change a table only by copying it
)
context.run_migrations()
