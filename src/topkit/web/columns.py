"""Columns that many tables have, for the schema and for its migrations.

Names of keys and constraints follow the naming convention of the metadata, in migrations too. Databases exist
that were made with these functions, so what one of them means must not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Boolean, Column, Float, ForeignKey, Integer, MetaData, PrimaryKeyConstraint, Text
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

NAMES = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
}
metadata = MetaData(naming_convention=NAMES)
Items = Sequence[SchemaItem]


def numbered() -> Items:
    """The column ``id``, which is the key of its table."""
    return [Column("id", Integer, nullable=False), PrimaryKeyConstraint("id")]


def texts(*names: str) -> Items:
    """Texts that are not null."""
    return _required(Text, names)


def integers(*names: str) -> Items:
    """Integers that are not null."""
    return _required(Integer, names)


def floats(*names: str) -> Items:
    """Numbers that are not null; points in time are seconds since 1970."""
    return _required(Float, names)


def flags(*names: str) -> Items:
    """True or false."""
    return _required(Boolean, names)


def _required(kind: type[TypeEngine[Any]], names: Sequence[str]) -> Items:
    return [Column(name, kind, nullable=False) for name in names]


def reference(table: str, **options: Any) -> Column[Any]:
    """The id of a row of a table, in a column with the name of that table."""
    return Column(table, Integer, ForeignKey(f"{table}.id"), **{"nullable": False, **options})


def part_of(table: str, **options: Any) -> Column[Any]:
    """A reference to the row of a table; this row is deleted together with that one."""
    key = ForeignKey(f"{table}.id", ondelete="CASCADE")
    return Column(table, Integer, key, **{"nullable": False, **options})
