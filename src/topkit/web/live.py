"""The live dashboard: the state of a project as server-sent events, whenever somebody has judged.

The stream asks the database, not this process, so that it is right with several processes on one database.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict

import sqlalchemy as sa
from starlette.concurrency import run_in_threadpool

from topkit.web.dashboard.glance import glance
from topkit.web.lookup import project_records
from topkit.web.schema import adjudication, judgment, labelling, topic
from topkit.web.standings import LabellingCache
from topkit.web.store import Store

INTERVAL = 2.0
"""Seconds between two looks at the database."""
LONGEST = 300.0
"""Seconds after which the stream ends; the browser opens a new one, which checks the session again."""
HEARTBEAT = 15.0
"""Seconds; a proxy closes a connection on which nothing happens for long."""


def version_of(store: Store, project_id: int) -> tuple[object, ...]:
    """Changes when the state of the project changes: judgments, labellings, decisions."""
    with store.read() as connection:
        judged = (
            sa.select(sa.func.count(judgment.c.seq), sa.func.max(judgment.c.time))
            .select_from(labelling)
            .outerjoin(judgment, judgment.c.labelling == labelling.c.id)
            .where(labelling.c.project == project_id)
        )
        count, last = connection.execute(judged).one()
        labellings = connection.scalar(sa.select(sa.func.count()).where(labelling.c.project == project_id))
        settled = connection.scalar(
            sa.select(sa.func.count(adjudication.c.id))
            .join(topic, topic.c.id == adjudication.c.topic)
            .where(topic.c.project == project_id)
        )
    return count, last, labellings, settled


async def events(
    store: Store, project_id: int, cache: LabellingCache, stopping: Callable[[], bool]
) -> AsyncIterator[str]:
    """The state now, and again after each change, as text of a stream of server-sent events."""
    seen: tuple[object, ...] | None = None
    quiet = passed = 0.0
    yield f"retry: {int(1000 * INTERVAL)}\n\n"
    while True:
        version = await run_in_threadpool(version_of, store, project_id)
        if version != seen:
            records = await run_in_threadpool(project_records, store, project_id, cache)
            state = await run_in_threadpool(glance, records)
            yield f"event: glance\ndata: {json.dumps(asdict(state))}\n\n"
            seen, quiet = version, 0.0
        elif quiet >= HEARTBEAT:
            yield ": still here\n\n"
            quiet = 0.0
        for _ in range(4):  # short sleeps, so that a stopping server does not wait for this
            if not stopping():
                await asyncio.sleep(INTERVAL / 4)
        quiet, passed = quiet + INTERVAL, passed + INTERVAL
        if passed >= LONGEST or stopping():
            return
