"""Who may do what: people, their sessions and tokens, invitations, attempts to sign in."""

from __future__ import annotations

from sqlalchemy import Column, Float, PrimaryKeyConstraint, Table, Text, UniqueConstraint

from topkit.web.columns import flags, floats, integers, metadata, numbered, part_of, reference, texts

meta = Table("meta", metadata, *texts("name", "value"), PrimaryKeyConstraint("name"))
"""The secret that signs invitation links, and a value that changes with anybody's access."""

person = Table(
    "person",
    metadata,
    *numbered(),
    *texts("name", "role"),
    Column("password", Text),
    *flags("active"),
    *floats("created"),
    UniqueConstraint("name"),
)
"""Accounts. A person without a password cannot sign in with one; models have none."""

session = Table(
    "session",
    metadata,
    *texts("token"),
    reference("person", index=True),
    *texts("csrf"),
    *floats("created", "expires"),
    PrimaryKeyConstraint("token"),
)
"""Who is signed in. The token is the SHA-256 of the cookie: reading the table is not enough to sign in."""

invitation = Table(
    "invitation",
    metadata,
    *numbered(),
    *texts("name", "role"),
    reference("person", nullable=True),
    *floats("created", "expires"),
    Column("used", Float),
)
"""Links to join; with ``person``, a link for a new password."""

sign_in = Table(
    "sign_in",
    metadata,
    *texts("name", "address"),
    *integers("failures"),
    *floats("last"),
    Column("succeeded", Float),
    PrimaryKeyConstraint("name", "address"),
)
"""Wrong passwords, which delay the next attempt. An empty name or address stands for all of them."""

api_token = Table(
    "api_token",
    metadata,
    *numbered(),
    part_of("person"),
    *texts("name", "scopes", "hash"),
    *floats("created"),
    Column("expires", Float),
    Column("used", Float),
    UniqueConstraint("hash"),
)
"""Tokens of programs that act for a person."""

identity = Table(
    "identity",
    metadata,
    *texts("issuer", "subject"),
    part_of("person"),
    PrimaryKeyConstraint("issuer", "subject"),
)
"""Accounts at OpenID Connect providers."""
