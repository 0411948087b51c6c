"""The labelling web app: two tools, real assessors, nothing lost. Needs the extra ``web``."""

from __future__ import annotations

from importlib.util import find_spec

from topkit.data.errors import InputError

NEEDED = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "jinja2", "argon2", "python_multipart")


def check_installed() -> None:
    """Raise an error that names the extra where a library of the web app is missing."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise InputError(f"the labelling app needs {', '.join(missing)}", "pip install 'topkit[web]'")
