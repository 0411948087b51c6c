"""Failed sign-ins delay the next attempt. Nobody is locked out, and an attempt counts before it is checked.

Three counts decide: wrong passwords for a name from an address, for the name from anywhere, and from the
address for any name. The first one protects a password against somebody who guesses it, and leaves the owner
alone, who signs in from another address. The other two are for guesses from many addresses, or of many names;
they do not apply where the same person has signed in from the same address before.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from topkit.web.schema import sign_in

ANY = ""
"""In place of a name or an address: all of them."""
FORGIVEN_AFTER = 600.0
"""Seconds after which one failure is forgotten."""
UNUSED_DAYS = 180


@dataclass(frozen=True)
class Limit:
    """The first failures are free; then the delay doubles with each failure, up to the longest."""

    free: int
    longest: float

    def delay(self, failures: int) -> float:
        """Seconds to wait after this many failures.

        >>> [Limit(3, 60.0).delay(failures) for failures in (0, 3, 4, 5, 9, 10, 99)]
        [0.0, 0.0, 1.0, 2.0, 32.0, 60.0, 60.0]
        """
        return 0.0 if failures <= self.free else min(self.longest, 2.0 ** min(failures - self.free - 1, 30))

    @property
    def most(self) -> int:
        """More failures than this change nothing and would only take longer to be forgotten."""
        return self.free + 1 + math.ceil(math.log2(self.longest))


BOTH = Limit(free=3, longest=300.0)
NAME = Limit(free=30, longest=30.0)
ADDRESS = Limit(free=50, longest=30.0)


def _limits(name: str, address: str) -> dict[tuple[str, str], Limit]:
    return {(name, address): BOTH, (name, ANY): NAME, (ANY, address): ADDRESS}


def begin_attempt(connection: Connection, name: str, address: str) -> float:
    """Count an attempt as failed before its password is checked, so that parallel attempts count too.

    Returns 0 if the password may be checked now, else the seconds to wait; then nothing is counted.
    """
    now = time.time()
    limits = _limits(name, address)
    rows = _locked(connection, sorted(limits), now)
    known = rows[name, address]["succeeded"] is not None
    wait = 0.0
    for key, limit in limits.items():
        row = rows[key]
        row["failures"] -= min(row["failures"], int((now - row["last"]) / FORGIVEN_AFTER))
        if limit is BOTH or not known:
            wait = max(wait, row["last"] + limit.delay(row["failures"]) - now)
    for key, limit in limits.items():
        values = {"last": rows[key]["last"]}  # differs from the stored one if the clock was set back
        if wait <= 0.0:
            values = {"failures": min(rows[key]["failures"] + 1, limit.most), "last": now}
        connection.execute(sign_in.update().where(*_is(key)).values(values))
    return max(wait, 0.0)


def _locked(
    connection: Connection, keys: list[tuple[str, str]], now: float
) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of these keys, which no other transaction can change now; new ones are added.

    A time in the future comes from a clock that was set back since: it counts as now, or the delay would
    last until the clock reaches it.
    """
    insert = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(sign_in)
    new = [{"name": name, "address": address, "failures": 0, "last": now} for name, address in keys]
    connection.execute(insert.on_conflict_do_nothing(), new)
    query = (
        sa.select(sign_in)
        .where(sa.or_(*(sa.and_(*_is(key)) for key in keys)))
        .order_by(sign_in.c.name, sign_in.c.address)
        .with_for_update()
    )
    rows = {(row["name"], row["address"]): dict(row) for row in connection.execute(query).mappings()}
    for row in rows.values():
        row["last"] = min(row["last"], now)
    return rows


def _is(key: tuple[str, str]) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return sign_in.c.name == key[0], sign_in.c.address == key[1]


def attempt_succeeded(connection: Connection, name: str, address: str) -> None:
    """Take back what :func:`begin_attempt` counted; this name and address are known from now on."""
    rows = _locked(connection, sorted(_limits(name, address)), time.time())
    for key, row in rows.items():
        known = key == (name, address)
        failures = 0 if known else max(0, row["failures"] - 1)
        values = {"failures": failures, **({"succeeded": time.time()} if known else {})}
        connection.execute(sign_in.update().where(*_is(key)).values(values))


def forget_old_attempts(connection: Connection) -> None:
    """Delete rows that no longer matter."""
    now = time.time()
    over = sa.and_(sign_in.c.succeeded.is_(None), sign_in.c.last < now - 86_400)
    unused = sign_in.c.last < now - UNUSED_DAYS * 86_400
    connection.execute(sign_in.delete().where(sa.or_(over, unused)))
