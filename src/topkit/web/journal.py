"""The only writer of judgments in a process: waiting judgments are saved together and then acknowledged.

Every judgment goes through one thread, which needs no locks. One transaction saves all judgments that wait: a
sync to disk costs the same for one row as for a hundred. A reply is sent after its transaction is durable.
Several processes may share a database: the unique constraints on (labelling, sequence number) and (labelling,
key) decide which judgment is first, and the other process reads the log again.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from topkit.data.errors import InputError
from topkit.web.judging import (
    ClosedLabellingError,
    InvalidAnswerError,
    Judgment,
    LabellingState,
    MissingLabellingError,
    Reply,
    Turn,
)
from topkit.web.store import Store
from topkit.web.store.judgments import append_judgments, judgments_after
from topkit.web.store.labellings import get_task, labelling_exists, with_gold
from topkit.web.store.lifecycle import closed_labellings
from topkit.web.webhooks import enqueue_completed

BATCH = 500
"""Judgments per transaction at most, so that the first ones do not wait too long for their reply."""
CACHED_STATES = 5_000
"""Labellings whose state is kept in memory; the others are replayed when their assessor returns."""
ATTEMPTS = 5
"""How often to try again when another process wrote to the same labelling first."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Request:
    person: int
    labelling: int
    judgment: Judgment | None
    """None asks for the current turn."""
    future: asyncio.Future[Any]


class Journal:
    """Saves judgments in order and returns the turn that follows."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._states: OrderedDict[int, LabellingState] = OrderedDict()
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    async def current_turn(self, person: int, labelling: int) -> Turn:
        """The current turn of a labelling."""
        turn: Turn = await self._submit(person, labelling, None)
        return turn

    async def save(self, person: int, labelling: int, judgment: Judgment) -> Reply:
        """Save a judgment; returns when it is durable."""
        reply: Reply = await self._submit(person, labelling, judgment)
        return reply

    def _submit(self, person: int, labelling: int, judgment: Judgment | None) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._requests.put(_Request(person, labelling, judgment, future))
        return future

    def close(self) -> None:
        """Save all waiting judgments, then stop."""
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
                    request = self._requests.get_nowait()
                except queue.Empty:
                    break
                closing = request is None
                batch += [] if request is None else [request]
            if batch:
                self._serve(batch)

    def _serve(self, batch: list[_Request]) -> None:
        """Save a batch in one transaction; if that fails, one by one, so that each gets its own reply."""
        try:
            replies = self._save(batch)
        except Exception as error:
            self._forget(batch)
            if not isinstance(error, sa.exc.IntegrityError):
                log.warning("saving %d judgments one by one: %s", len(batch), error)
            replies = [self._save_alone(request) for request in batch]
        while len(self._states) > CACHED_STATES:
            self._states.popitem(last=False)
        for loop in {request.future.get_loop() for request in batch}:
            deliveries = [
                (request.future, reply)
                for request, reply in zip(batch, replies, strict=True)
                if request.future.get_loop() is loop
            ]
            try:
                loop.call_soon_threadsafe(_deliver, deliveries)
            except RuntimeError:  # the loop is closed: nobody waits any more
                log.debug("the server stopped before %d replies were sent", len(deliveries))

    def _save_alone(self, request: _Request) -> Turn | Reply | Exception:
        try:
            for _ in range(ATTEMPTS):
                try:
                    return self._save([request])[0]
                except sa.exc.IntegrityError:  # another process was first: read what it wrote
                    self._forget([request])
        except Exception as error:  # this request gets the error; the thread must continue
            self._forget([request])
            return error
        return InputError("the judgment could not be saved", "try again")

    def _save(self, batch: list[_Request]) -> list[Turn | Reply | Exception]:
        rows: list[tuple[int, Judgment]] = []
        replies: list[Turn | Reply | Exception] = []
        now = time.time()
        with self._store.read() as connection:
            closed = closed_labellings(connection, {request.labelling for request in batch})
            for request in batch:
                try:
                    if request.judgment is not None and request.labelling in closed:
                        raise ClosedLabellingError(closed[request.labelling])
                    replies.append(self._reply(connection, request, now, rows))
                except (MissingLabellingError, InvalidAnswerError, ClosedLabellingError) as error:
                    replies.append(error)
        if rows:
            with self._store.write() as connection:
                append_judgments(connection, rows)
                enqueue_completed(connection, _completed(replies))
        return replies

    def _reply(
        self, connection: Connection, request: _Request, now: float, rows: list[tuple[int, Judgment]]
    ) -> Turn | Reply:
        state, cached = self._state(connection, request)
        if request.judgment is None:
            if cached:
                self._refresh(connection, state, rows)
            return state.turn()
        decision = state.check(request.judgment, now)
        if decision.outcome == "conflict" and cached:
            self._refresh(connection, state, rows)
            decision = state.check(request.judgment, now)
        if decision.judgment is not None:
            state.apply(decision.judgment)
            rows.append((request.labelling, decision.judgment))
        return Reply(decision.outcome, decision.message, state.turn())

    def _state(self, connection: Connection, request: _Request) -> tuple[LabellingState, bool]:
        """The state of the request's labelling, and whether it was in memory (and may be behind)."""
        state = self._states.get(request.labelling)
        cached = state is not None
        if state is None:
            task = get_task(connection, request.labelling)
            if task is None:
                raise MissingLabellingError
            state = LabellingState.replay(task, judgments_after(connection, request.labelling))
            self._states[request.labelling] = state
        self._states.move_to_end(request.labelling)
        if state.task.person != request.person:
            raise MissingLabellingError
        if cached and request.judgment is None and not labelling_exists(connection, request.labelling):
            del self._states[request.labelling]
            raise MissingLabellingError
        return state, cached

    def _refresh(
        self, connection: Connection, state: LabellingState, rows: list[tuple[int, Judgment]]
    ) -> None:
        """Apply what another process may have written, unless this batch has judgments of the labelling."""
        if any(labelling == state.task.id for labelling, _ in rows):
            return
        for judgment in judgments_after(connection, state.task.id, state.seq):
            state.apply(judgment)
        state.task = with_gold(connection, state.task)

    def _forget(self, batch: list[_Request]) -> None:
        for request in batch:
            self._states.pop(request.labelling, None)


def _completed(replies: list[Turn | Reply | Exception]) -> list[int]:
    """The labellings whose last judgment is among these replies."""
    saved = [reply.turn for reply in replies if isinstance(reply, Reply) and reply.outcome == "saved"]
    return [turn.labelling for turn in saved if turn.question is None]


def _deliver(deliveries: list[tuple[asyncio.Future[Any], Turn | Reply | Exception]]) -> None:
    for future, reply in deliveries:
        if future.done():  # the browser disconnected; its judgment is saved nevertheless
            continue
        if isinstance(reply, Exception):
            future.set_exception(reply)
        else:
            future.set_result(reply)
