"""The project that a request names. Every route about a project depends on it: admins only, or status 403;
the project exists, or status 404."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Request
from sqlalchemy.engine import Connection

from topkit.web.guard import admin_visit
from topkit.web.lookup import existing, project_of, project_records
from topkit.web.records import Record
from topkit.web.shapes import Id, Message
from topkit.web.standings import LabellingCache
from topkit.web.store import Store
from topkit.web.store.people import Visit

T = TypeVar("T")


@dataclass(frozen=True)
class ManagedProject:
    """A project, and the admin who asks for it."""

    number: int
    visit: Visit
    store: Store
    cache: LabellingCache

    @property
    def admin(self) -> str:
        """The name of the admin."""
        return self.visit.person.name

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that reads; status 404 if the project does not exist."""
        with self.store.read() as connection:
            project_of(connection, self.number)
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that writes; status 404 if the project does not exist."""
        with self.store.write() as connection:
            project_of(connection, self.number)
            yield connection

    def load(self, read: Callable[[Connection, int], T]) -> T:
        """What a function of the store reads about this project; status 404 if it does not exist."""
        with self.read() as connection:
            return read(connection, self.number)

    def remove(self, remove: Callable[[Connection, int, int], bool], number: int, what: str) -> Message:
        """Remove something that belongs to this project; status 404 if it does not exist."""
        with self.write() as connection:
            existing(remove(connection, self.number, number), what)
        return Message(message=f"The {what} was removed.")

    def check(self) -> None:
        """Status 404 if the project does not exist."""
        with self.read():
            pass

    def records(self, *, dropped: bool = False, topic_id: int | None = None) -> list[Record]:
        """All labellings of the project, or of one of its topics; status 404 if there is no such project."""
        return project_records(self.store, self.number, self.cache, dropped=dropped, topic_id=topic_id)


async def managed_project(request: Request, number: Id) -> ManagedProject:
    """The project of the path, for admins."""
    visit = await admin_visit(request)
    return ManagedProject(number, visit, request.app.state.store, request.app.state.cache)


Managed = Annotated[ManagedProject, Depends(managed_project)]
