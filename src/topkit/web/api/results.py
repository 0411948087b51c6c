"""Results of a project: progress, pace, agreement, disagreements, the top k, and exports."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from topkit.web import bundle, dashboard
from topkit.web.exports import EXPORTS
from topkit.web.guard import Admin, Cached, Stored
from topkit.web.lookup import project_of, project_records, topic_of
from topkit.web.shapes import PROBLEMS, Id

router = APIRouter(prefix="/api/projects/{number}", tags=["results"], responses=PROBLEMS)
ExportName = Literal[
    "project", "top-k", "grades", "qrels", "triples", "preferences-csv", "grades-csv", "jsonl"
]


@router.get("/progress")
def progress(number: Id, _: Admin, store: Stored, cache: Cached) -> list[dashboard.LabellingProgress]:
    """The progress of every labelling."""
    return dashboard.progress(project_records(store, number, cache))


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
    return dashboard.disagreements(project_records(store, number, cache))


@router.get("/topics/{topic}/top")
def top(number: Id, topic: Id, _: Admin, store: Stored, cache: Cached) -> dashboard.Evidence:
    """The present top k of a topic with its evidence."""
    with store.read() as connection:
        topic_of(connection, number, topic)
    records = project_records(store, number, cache)
    return dashboard.evidence([record for record in records if record.task.topic == topic])


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
