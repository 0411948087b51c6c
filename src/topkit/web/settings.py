"""How a server is set up. There is no default secret: it is made with the store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from topkit.data.errors import InputError

DEFAULT_DATABASE = "topkit-labels.db"


@dataclass(frozen=True)
class Settings:
    """Where the store is and what the server allows.

    - ``database``: the path of an SQLite file, or an address ``postgresql://user:password@host/name``.
    - ``https``: the app is reached by HTTPS, so that cookies are sent over nothing else.
    """

    database: str = DEFAULT_DATABASE
    https: bool = False
    upload_bytes: int = 64 << 20
    """The largest file that may be imported."""
    body_bytes: int = 1 << 20
    """The largest body of any other request."""
    session_hours: float = 24 * 14
    invitation_hours: float = 24 * 7
    attempts: int = 5
    """Wrong passwords of one name before it has to wait; an address may have four times as many."""
    attempt_minutes: float = 15
    session_cache_seconds: float = 10.0
    """For how long another process may not notice that a session has ended."""

    @property
    def url(self) -> str:
        """The address that SQLAlchemy opens.

        >>> Settings("labels.db").url, Settings("postgresql://me@host/labels").url
        ('sqlite:///labels.db', 'postgresql+psycopg://me@host/labels')
        """
        for name in ("postgresql://", "postgres://"):
            if self.database.startswith(name):
                return "postgresql+psycopg://" + self.database.removeprefix(name)
        if self.database.startswith("sqlite:///"):
            return self.database
        if "://" in self.database:
            remedy = "give the path of an SQLite file, or postgresql://user:password@host/name"
            raise InputError(f"{self.database.split(':')[0]!r} is no database that is known here", remedy)
        return f"sqlite:///{self.database}"

    @property
    def file(self) -> Path | None:
        """The SQLite file, or None for a database server."""
        return Path(self.url.removeprefix("sqlite:///")) if self.url.startswith("sqlite") else None
