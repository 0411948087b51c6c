"""What a proxy in front changes: the client's address, the host, the scheme and the path of a request."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from topkit.data.errors import InputError
from topkit.web.settings import Settings

Networks = Sequence[IPv4Network | IPv6Network]


def client_address(peer: str, forwarded: str, proxies: Networks) -> str:
    """The address of the client, as far as trusted proxies vouch for it.

    Each proxy appends the address of its own peer to X-Forwarded-For, so the list is read from its end, as
    long as the one who wrote the entry is trusted. Whatever a client puts there itself is never reached.

    >>> trusted = [ip_network("10.0.0.0/8")]
    >>> client_address("10.0.0.1", "1.1.1.1, 203.0.113.9, 10.0.0.2", trusted)
    '203.0.113.9'
    >>> client_address("203.0.113.9", "1.1.1.1", trusted)
    '203.0.113.9'
    """
    address = peer
    for hop in reversed(forwarded.split(",")):
        if not _is_trusted(address, proxies):
            break
        try:
            address = str(ip_address(hop.strip()))
        except ValueError:
            break
    return address


def _is_trusted(address: str, proxies: Networks) -> bool:
    try:
        known = ip_address(address)
    except ValueError:
        return False
    return any(known.version == network.version and known in network for network in proxies)


def neighbourhood(address: str) -> str:
    """The address that failed sign-ins are counted for: an IPv6 client has a whole /64 of its own.

    >>> neighbourhood("2001:db8::1"), neighbourhood("203.0.113.9")
    ('2001:db8::/64', '203.0.113.9')
    """
    try:
        known = ip_address(address)
    except ValueError:
        return address or "unknown"
    return str(ip_network(f"{known}/64", strict=False)) if known.version == 6 else str(known)


class Front:
    """Rewrites requests as if they had come to the public URL directly."""

    def __init__(self, settings: Settings, paths: frozenset[str]) -> None:
        self._trusted = settings.trusted
        self._root = settings.root
        self._first_parts = {path.split("/")[1] for path in paths}
        self._check_root(paths)
        parts = urlsplit(settings.public or "")
        port = (
            f":{parts.port}" if parts.port not in (None, {"http": 80, "https": 443}.get(parts.scheme)) else ""
        )
        host = parts.hostname or ""
        self._scheme, self._host = parts.scheme, f"[{host}]{port}" if ":" in host else host + port
        self.origin = f"{self._scheme}://{self._host}" if settings.public else None

    def _check_root(self, paths: frozenset[str]) -> None:
        """A path of the app that starts with the root and goes on like another path of the app would be
        ambiguous."""
        starts = [f"{self._root}/{part}" for part in self._first_parts if part]
        if self._root and any(path == self._root or path.startswith(tuple(starts)) for path in paths):
            problem = f"the app has pages at {self._root}, so it cannot be reached below this path"
            raise InputError(problem, "choose another path for --public")

    def apply(self, scope: Scope) -> None:
        """Change the scope of a request in place."""
        if self._trusted and scope.get("client"):
            forwarded = ",".join(Headers(scope=scope).getlist("x-forwarded-for"))
            host, port = scope["client"]
            scope["client"] = client_address(host, forwarded, self._trusted), port
        if not self._host:
            return
        others = [header for header in scope["headers"] if header[0] != b"host"]
        scope["headers"] = [(b"host", self._host.encode()), *others]
        scope["scheme"] = self._scheme
        scope["root_path"] = self._root
        scope["path"] = self._root + self._inner_path(scope["path"])

    def _inner_path(self, path: str) -> str:
        """The path within the app. A proxy may have removed the root or not: it is removed once, if what
        remains is a path of the app."""
        rest = path.removeprefix(self._root)
        if self._root and rest != path and rest[:1] in ("", "/"):
            first = rest.split("/")[1] if rest else ""
            if first in self._first_parts:
                return rest or "/"
        return path
