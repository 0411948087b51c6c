"""The database: tables in SQLite or PostgreSQL, read and written by plain functions on a connection."""

from topkit.web.store.engine import Store, open_store

__all__ = ["Store", "open_store"]
