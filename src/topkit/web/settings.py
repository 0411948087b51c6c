"""The settings of the server. There is no default secret: it is created with the database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from topkit.data.errors import InputError

DEFAULT_DATABASE = "topkit-labels.db"


@dataclass(frozen=True)
class Settings:
    """The database and the limits of the server.

    - ``database``: the path of an SQLite file, or a URL ``postgresql://user:password@host/name``.
    - ``https``: the app is reached over HTTPS only, so cookies are marked as secure.
    """

    database: str = DEFAULT_DATABASE
    https: bool = False
    upload_bytes: int = 64 << 20
    """The largest file that may be imported."""
    models: bool = False
    """Whether chat models may judge as assessors."""
    exports: Path | None = None
    """The folder for exports on a schedule; None turns them off."""
    body_bytes: int = 1 << 20
    """The largest body of any other request."""
    session_hours: float = 24 * 14
    invitation_hours: float = 24 * 7
    attempts: int = 5
    """Wrong passwords allowed per name within ``attempt_minutes``; four times as many per address."""
    attempt_minutes: float = 15
    session_cache_seconds: float = 10.0
    """Another server process may accept an ended session for this long."""

    @property
    def url(self) -> str:
        """The URL for SQLAlchemy.

        >>> Settings("labels.db").url, Settings("postgresql://me@host/labels").url
        ('sqlite:///labels.db', 'postgresql+psycopg://me@host/labels')
        """
        for scheme in ("postgresql://", "postgres://"):
            if self.database.startswith(scheme):
                return "postgresql+psycopg://" + self.database.removeprefix(scheme)
        if self.database.startswith("sqlite:///"):
            return self.database
        if "://" in self.database:
            remedy = "give the path of an SQLite file, or postgresql://user:password@host/name"
            raise InputError(f"unsupported database {self.database.split(':')[0]!r}", remedy)
        return f"sqlite:///{self.database}"

    @property
    def file(self) -> Path | None:
        """The SQLite file, or None for a database server."""
        return Path(self.url.removeprefix("sqlite:///")) if self.url.startswith("sqlite") else None
