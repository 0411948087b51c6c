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
from topkit.web.lookup import topic_of
from topkit.web.managed import Managed
from topkit.web.shapes import PROBLEMS, Id
from topkit.web.store import quality

router = APIRouter(prefix="/api/projects/{number}", tags=["results"], responses=PROBLEMS)
ExportName = Literal[
    "project", "top-k", "grades", "qrels", "triples", "preferences-csv", "grades-csv", "jsonl"
]


@router.get("/progress")
def progress(project: Managed) -> list[dashboard.LabellingProgress]:
    """The progress of every labelling."""
    return dashboard.progress(project.records())


@router.get("/glance")
def glance(project: Managed) -> dashboard.Glance:
    """The state of the project at a glance, with a forecast."""
    return dashboard.glance(project.records())


@router.get("/live", response_class=StreamingResponse)
async def live_state(project: Managed, request: Request) -> Response:
    """The state of the project as server-sent events ("glance"), whenever somebody has judged."""
    project.check()

    def stopping() -> bool:
        server = getattr(request.app.state, "server", None)
        return server is not None and bool(server.should_exit)

    stream = live.events(project.store, project.number, project.cache, stopping)
    return StreamingResponse(stream, media_type="text/event-stream", headers={"x-accel-buffering": "no"})


@router.get("/pace")
def pace(project: Managed) -> dashboard.Pace:
    """How long judgments take."""
    return dashboard.pace(project.records())


@router.get("/agreement")
def agreement(project: Managed) -> dashboard.AgreementReport:
    """How far assessors agree."""
    return dashboard.agreement_report(project.records())


@router.get("/disagreements")
def disagreements(project: Managed) -> list[dashboard.Disagreement]:
    """Pairs of documents on which assessors disagree."""
    return dashboard.disagreements(project.records(), project.load(quality.adjudications_of))


@router.get("/agreement/topics")
def agreement_by_topic(project: Managed) -> list[dashboard.GroupAgreement]:
    """How far assessors agree on each topic, the lowest agreement first."""
    return dashboard.agreement_by_topic(project.records())


@router.get("/agreement/assessors")
def agreement_by_assessors(project: Managed) -> list[dashboard.GroupAgreement]:
    """How far every two assessors agree, the lowest agreement first."""
    return dashboard.agreement_by_assessors(project.records())


@router.get("/topics/{topic}/top")
def top(project: Managed, topic: Id) -> dashboard.Evidence:
    """The present top k of a topic with its evidence."""
    with project.read() as connection:
        topic_of(connection, project.number, topic)
    return dashboard.evidence(project.records(topic_id=topic))


@router.get("/exports/{export}", response_class=FileResponse)
def export(project: Managed, export: ExportName) -> Response:
    """A file with the present judgments; ``project`` contains everything and can be imported."""
    folder = tempfile.TemporaryDirectory()
    try:
        if export == "project":
            name, path = "project.jsonl", Path(folder.name) / "project.jsonl"
            with project.read() as connection:
                bundle.write_project(connection, project.number, path)
        else:
            export_format = EXPORTS[export]
            name, path = export_format.file, Path(folder.name) / export_format.file
            records = project.records(dropped=export_format.dropped)
            export_format.write(records, path)
    except Exception:
        folder.cleanup()
        raise
    cleanup = BackgroundTask(folder.cleanup)
    return FileResponse(path, filename=name, media_type="application/octet-stream", background=cleanup)
