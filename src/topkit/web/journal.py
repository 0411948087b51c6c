"""The one writer of judgments in a process: waiting entries are saved together, and only then acknowledged.

Every entry goes through one thread, which needs no locks, and one transaction saves all that wait (a sync to
the disk costs the same for one row and for a hundred). An answer is sent when its transaction is durable.
Several processes may share a store: the unique constraints on (labelling, sequence number) and (labelling,
key) decide, and whoever comes second looks again.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections import OrderedDict
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from topkit.data.errors import InputError
from topkit.web.store import Store
from topkit.web.store.work import Event, add_judgments, events_after, exists, get_task
from topkit.web.turns import Course, Entry, Reply

BATCH = 500
KEPT = 5_000
"""Labellings whose state is kept in memory; others are replayed when somebody comes back to them."""
TRIES = 5

Waiting = asyncio.Future[Reply]
log = logging.getLogger(__name__)


class _Request(NamedTuple):
    person: int
    labelling: int
    entry: Entry | None
    future: Waiting


class Journal:
    """Saves judgments in order and says what comes next."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._courses: OrderedDict[int, Course] = OrderedDict()
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    async def look(self, person: int, labelling: int) -> Reply:
        """Where the labelling stands now."""
        return await self._ask(person, labelling, None)

    async def enter(self, person: int, labelling: int, entry: Entry) -> Reply:
        """Save a judgment; the reply comes when it is durable."""
        return await self._ask(person, labelling, entry)

    def _ask(self, person: int, labelling: int, entry: Entry | None) -> Waiting:
        future: Waiting = asyncio.get_running_loop().create_future()
        self._requests.put(_Request(person, labelling, entry, future))
        return future

    def close(self) -> None:
        """Save what waits, then stop."""
        self._requests.put(None)
        self._thread.join()

    # -- the thread ----------------------------------------------------------------------------------------
    def _run(self) -> None:
        closing = False
        while not closing:
            first = self._requests.get()
            batch = [] if first is None else [first]
            closing = first is None
            while not closing and len(batch) < BATCH:
                try:
                    more = self._requests.get_nowait()
                except queue.Empty:
                    break
                closing = more is None
                batch += [] if more is None else [more]
            if batch:
                self._serve(batch)

    def _serve(self, batch: list[_Request]) -> None:
        """Save a batch in one transaction; if that fails, one by one, so that each gets its own answer."""
        try:
            replies: list[Reply | Exception] = list(self._saved(batch))
        except Exception as error:
            self._forget(batch)
            replies = []
            if not isinstance(error, sa.exc.IntegrityError):
                log.warning("a batch of %d judgments is saved one by one: %s", len(batch), error)
            for request in batch:
                try:
                    replies.append(self._alone(request))
                except Exception as problem:  # an answer of its own for each; the thread must live on
                    self._forget([request])
                    replies.append(problem)
        while len(self._courses) > KEPT:
            self._courses.popitem(last=False)
        loops = {request.future.get_loop() for request in batch}
        for loop in loops:
            pairs = [
                (request.future, reply)
                for request, reply in zip(batch, replies, strict=True)
                if request.future.get_loop() is loop
            ]
            try:
                loop.call_soon_threadsafe(_deliver, pairs)
            except RuntimeError:  # the loop is closed: nobody waits any more
                log.debug("the server stopped before %d answers went out", len(pairs))

    def _alone(self, request: _Request) -> Reply:
        for _ in range(TRIES):
            try:
                return self._saved([request])[0]
            except sa.exc.IntegrityError:  # another process was first: look at what it wrote
                self._forget([request])
        raise InputError("the judgment could not be saved", "try again")

    def _saved(self, batch: list[_Request]) -> list[Reply]:
        rows: list[tuple[int, Event]] = []
        now = time.time()
        with self._store.read() as connection:
            replies = [self._reply(connection, request, now, rows) for request in batch]
        if rows:
            with self._store.write() as connection:
                add_judgments(connection, rows)
        return replies

    def _reply(
        self, connection: Connection, request: _Request, now: float, rows: list[tuple[int, Event]]
    ) -> Reply:
        course = self._courses.get(request.labelling)
        fresh = course is None
        if course is None:
            task = get_task(connection, request.labelling)
            if task is None:
                return Reply("missing", "There is no such labelling.", None)
            course = Course.replayed(task, events_after(connection, request.labelling))
            self._courses[request.labelling] = course
        self._courses.move_to_end(request.labelling)
        if course.task.person != request.person:
            return Reply("missing", "There is no such labelling.", None)
        if request.entry is None:
            if not fresh:
                if not exists(connection, request.labelling):
                    del self._courses[request.labelling]
                    return Reply("missing", "There is no such labelling.", None)
                self._refresh(connection, course, rows)
            return Reply("now", "", course.turn())
        outcome, message, event = course.judge(request.entry, now)
        if outcome == "conflict" and not fresh:
            self._refresh(connection, course, rows)
            outcome, message, event = course.judge(request.entry, now)
        if event is not None:
            course.apply(event)
            rows.append((request.labelling, event))
        return Reply(outcome, message, course.turn())

    def _refresh(self, connection: Connection, course: Course, rows: list[tuple[int, Event]]) -> None:
        """Take what another process may have written; not where this batch has written itself."""
        if any(labelling == course.task.id for labelling, _ in rows):
            return
        for event in events_after(connection, course.task.id, course.seq):
            course.apply(event)

    def _forget(self, batch: list[_Request]) -> None:
        for request in batch:
            self._courses.pop(request.labelling, None)


def _deliver(pairs: list[tuple[Waiting, Reply | Exception]]) -> None:
    for future, reply in pairs:
        if future.done():  # the page has gone; its judgment is saved all the same
            continue
        if isinstance(reply, Exception):
            future.set_exception(reply)
        else:
            future.set_result(reply)
