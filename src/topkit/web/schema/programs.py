"""Other programs: webhooks, the events sent to them, and exports on a schedule."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, Table, Text

from topkit.web.columns import floats, integers, metadata, numbered, part_of, texts

webhook = Table(
    "webhook",
    metadata,
    *numbered(),
    part_of("project"),
    *texts("url", "secret", "events"),
    *floats("created"),
)

delivery = Table(
    "delivery",
    metadata,
    *numbered(),
    part_of("webhook"),
    *texts("event", "body"),
    *floats("created", "next"),
    *integers("attempts"),
    Column("status", Integer),
    Column("problem", Text),
    Column("done", Float, index=True),
)
"""Events for webhooks; ``done`` is set when the receiver has accepted one."""

export_schedule = Table(
    "export_schedule",
    metadata,
    *numbered(),
    part_of("project"),
    *texts("export", "problem"),
    *floats("hours", "next"),
    Column("last", Float),
)
