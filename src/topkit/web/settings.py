"""The settings of the server. There is no default secret: it is created with the database."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import urlsplit

from topkit.data.errors import InputError

DEFAULT_DATABASE = "topkit-labels.db"


@dataclass(frozen=True)
class Settings:
    """The database and the limits of the server.

    - ``database``: the path of an SQLite file, or a URL ``postgresql://user:password@host/name``.
    - ``https``: the app is reached over HTTPS only, so cookies are marked as secure.
    - ``public``: the URL that people use if there is a proxy in front, such as ``https://example.org/label``.
      It decides what counts as the same origin, the links, the cookies and the paths, whatever the proxy does
      with the header Host and whether or not it removes ``/label``.
    - ``proxies``: addresses or networks of proxies whose header X-Forwarded-For is believed.
    """

    database: str = DEFAULT_DATABASE
    https: bool = False
    public: str | None = None
    proxies: tuple[str, ...] = ()
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
    session_cache_seconds: float = 10.0
    """How long a session is believed without a look at the database, if nobody's access changed."""

    def __post_init__(self) -> None:
        if self.public is not None:
            self._check_public(self.public)
        for proxy in self.proxies:
            try:
                ip_network(proxy, strict=False)
            except ValueError:
                remedy = "give an IP address or a network, such as 10.0.0.0/8"
                raise InputError(f"invalid address {proxy!r} of a proxy", remedy) from None

    def _check_public(self, url: str) -> None:
        parts = urlsplit(url)
        remedy = "write it as https://host or https://host/path"
        try:
            parts.port  # noqa: B018 - raises an error for an invalid port
        except ValueError:
            raise InputError(f"invalid public URL {url!r}", remedy) from None
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise InputError(f"invalid public URL {url!r}", remedy)
        if parts.query or parts.fragment or self.root.split("/")[-1] in (".", ".."):
            raise InputError(f"the public URL {url!r} is more than a host and a path", remedy)

    @property
    def secure(self) -> bool:
        """Whether people reach the app over HTTPS only."""
        return self.https or (self.public or "").startswith("https://")

    @property
    def root(self) -> str:
        """The path below which the app is reached, without a slash at its end.

        >>> Settings(public="https://example.org/label/").root, Settings(public="https://example.org").root
        ('/label', '')
        """
        return urlsplit(self.public or "").path.rstrip("/")

    @property
    def trusted(self) -> list[IPv4Network | IPv6Network]:
        """The networks of trusted proxies."""
        return [ip_network(proxy, strict=False) for proxy in self.proxies]

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
