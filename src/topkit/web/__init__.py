"""The labelling web app: two tools for assessors, a dashboard for admins. Needs the extra ``web``."""

from __future__ import annotations

from topkit.compute.extras import check_extra

NEEDED = (
    "fastapi",
    "uvicorn",
    "sqlalchemy",
    "alembic",
    "jinja2",
    "argon2",
    "itsdangerous",
    "python_multipart",
    "zxcvbn",
    "Stemmer",
)
"""The packages of the extra ``web``; ``Stemmer`` highlights query terms in documents."""


def check_installed() -> None:
    """Raise an error that names the extra if a package of the web app is missing."""
    check_extra("web", NEEDED)


check_installed()
