"""Results of a project: progress, pace, agreement, disagreements, the top k, and exports."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, StreamingResponse
from starlette.background import BackgroundTask

from topkit.web import bundle, dashboard, live
from topkit.web.exports import EXPORTS
from topkit.web.guard import Admin, Cached, Stored
from topkit.web.lookup import project_of, project_records, topic_of
from topkit.web.shapes import PROBLEMS, Id
from topkit.web.store import quality

router = APIRouter(prefix="/api/projects/{number}", tags=["results"], responses=PROBLEMS)
ExportName = Literal[
    "project", "top-k", "grades", "qrels", "triples", "preferences-csv", "grades-csv", "jsonl"
]


@router.get("/progress")
def progress(number: Id, _: Admin, store: Stored, cache: Cached) -> list[dashboard.LabellingProgress]:
    """The progress of every labelling."""
    return dashboard.progress(project_records(store, number, cache))


@router.get("/glance")
def glance(number: Id, _: Admin, store: Stored, cache: Cached) -> dashboard.Glance:
    """The state of the project at a glance, with a forecast."""
    return dashboard.glance(project_records(store, number, cache))


@router.get("/live", response_class=StreamingResponse)
async def live_state(number: Id, _: Admin, request: Request, store: Stored, cache: Cached) -> Response:
    """The state of the project as server-sent events ("glance"), whenever somebody has judged."""
    with store.read() as connection:
        project_of(connection, number)

    def stopping() -> bool:
        server = getattr(request.app.state, "server", None)
        return server is not None and bool(server.should_exit)

    stream = live.events(store, number, cache, stopping)
    return StreamingResponse(stream, media_type="text/event-stream", headers={"x-accel-buffering": "no"})


@router.get("/pace")
def pace(number: Id, _: Admin, store: Stored, cache: Cached) -> dashboard.Pace:
    """How long judgments take."""
    return dashboard.pace(project_records(store, number, cache))


@router.get("/agreement")
def agreement(number: Id, _: Admin, store: Stored, cache: Cached) -> dashboard.AgreementReport:
    """How far assessors agree."""
    return dashboard.agreement_report(project_records(store, number, cache))


@router.get("/disagreements")
def disagreements(number: Id, _: Admin, store: Stored, cache: Cached) -> list[dashboard.Disagreement]:
    """Pairs of documents on which assessors disagree."""
    records = project_records(store, number, cache)
    with store.read() as connection:
        decisions = quality.adjudications_of(connection, number)
    return dashboard.disagreements(records, decisions)


@router.get("/agreement/topics")
def agreement_by_topic(number: Id, _: Admin, store: Stored, cache: Cached) -> list[dashboard.GroupAgreement]:
    """How far assessors agree on each topic, the lowest agreement first."""
    return dashboard.agreement_by_topic(project_records(store, number, cache))


@router.get("/agreement/assessors")
def agreement_by_assessors(
    number: Id, _: Admin, store: Stored, cache: Cached
) -> list[dashboard.GroupAgreement]:
    """How far every two assessors agree, the lowest agreement first."""
    return dashboard.agreement_by_assessors(project_records(store, number, cache))


@router.get("/topics/{topic}/top")
def top(number: Id, topic: Id, _: Admin, store: Stored, cache: Cached) -> dashboard.Evidence:
    """The present top k of a topic with its evidence."""
    with store.read() as connection:
        topic_of(connection, number, topic)
    return dashboard.evidence(project_records(store, number, cache, topic_id=topic))


@router.get("/exports/{export}", response_class=FileResponse)
def export(number: Id, export: ExportName, _: Admin, store: Stored, cache: Cached) -> Response:
    """A file with the present judgments; ``project`` contains everything and can be imported."""
    folder = tempfile.TemporaryDirectory()
    try:
        if export == "project":
            name, path = "project.jsonl", Path(folder.name) / "project.jsonl"
            with store.read() as connection:
                project_of(connection, number)
                bundle.write_project(connection, number, path)
        else:
            export_format = EXPORTS[export]
            name, path = export_format.file, Path(folder.name) / export_format.file
            records = project_records(store, number, cache, dropped=export_format.dropped)
            export_format.write(records, path)
    except Exception:
        folder.cleanup()
        raise
    cleanup = BackgroundTask(folder.cleanup)
    return FileResponse(path, filename=name, media_type="application/octet-stream", background=cleanup)
