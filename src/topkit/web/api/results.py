"""What came out: progress, pace, agreement, disagreements, the top k, and files."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel
from starlette.background import BackgroundTask

from topkit.web import bundle, dashboard
from topkit.web.api.labellings import DocumentOut
from topkit.web.api.projects import found
from topkit.web.exports import EXPORTS
from topkit.web.guard import Admin, Stored
from topkit.web.records import Folds, Record, records_of
from topkit.web.shapes import PROBLEMS, Id
from topkit.web.store import Store, projects

router = APIRouter(prefix="/api/projects/{number}", tags=["results"], responses=PROBLEMS)
ExportName = Literal[
    "project", "top-k", "grades", "qrels", "triples", "preferences-csv", "grades-csv", "jsonl"
]


async def folds_of(request: Request) -> Folds:
    """Labellings that were folded before."""
    folds: Folds = request.app.state.folds
    return folds


Folded = Annotated[Folds, Depends(folds_of)]


class ProgressOut(BaseModel):
    """One labelling: judgments given, about how many are left, active minutes."""

    labelling: int
    topic: int
    topic_key: str
    query: str
    assessor: str
    tool: Literal["pairs", "grades"]
    asked: int
    likely: float
    share: float
    done: bool
    minutes: float


class View(BaseModel):
    """What an assessor's answers say or imply of a pair; ``prefers`` is None for a tie."""

    assessor: str
    prefers: str | None
    asked: bool


class DisagreementOut(BaseModel):
    """Two documents that assessors see differently."""

    topic_key: str
    documents: list[DocumentOut]
    opposed: int
    views: list[View]


class TableOut(BaseModel):
    """Counts and shares of "another assessor said … given one said …", for A≻B, A∼B and A≺B."""

    counts: list[list[int]]
    rows: list[list[float | None]]
    compared: int
    overall: float | None
    without_ties: float | None
    fleiss: float | None
    krippendorff: float | None


class AgreementOut(BaseModel):
    """Agreement on the pairs asked, on all that answers imply, and on preferences inferred from grades."""

    asked: TableOut
    implied: TableOut
    grades: TableOut
    chi_square: dict[str, float] | None
    assessors: list[dict[str, Any]]


class EvidenceOut(BaseModel):
    """The top k of a topic; ``complete``: how many labellings it rests on."""

    complete: int
    top: list[dict[str, Any]]
    tied_out: list[str]
    bad: list[str]


def load(store: Store, number: int, folds: Folds) -> list[Record]:
    """The project's labellings, or 404."""
    with store.read() as connection:
        found(connection, number)
        return records_of(connection, number, folds)


@router.get("/progress")
def progress(number: Id, _: Admin, store: Stored, folds: Folded) -> list[ProgressOut]:
    """How far every labelling is."""
    return [ProgressOut(**row) for row in dashboard.progress(load(store, number, folds))]


@router.get("/pace")
def pace(number: Id, _: Admin, store: Stored, folds: Folded) -> dict[str, Any]:
    """How long judgments take."""
    return dashboard.pace(load(store, number, folds))


@router.get("/agreement")
def agreement(number: Id, _: Admin, store: Stored, folds: Folded) -> AgreementOut:
    """How far assessors agree."""
    return AgreementOut.model_validate(dashboard.agreement_tables(load(store, number, folds)))


@router.get("/disagreements")
def disagreements(number: Id, _: Admin, store: Stored, folds: Folded) -> list[DisagreementOut]:
    """Pairs to look at again."""
    rows = dashboard.disagreements(load(store, number, folds))
    return [DisagreementOut.model_validate(row) for row in rows]


@router.get("/topics/{topic}/top")
def top(number: Id, topic: Id, _: Admin, store: Stored, folds: Folded) -> EvidenceOut:
    """The present top k of a topic with its evidence."""
    with store.read() as connection:
        row = projects.get_topic(connection, topic)
    if row is None or row["project"] != number:
        raise HTTPException(404, "There is no such topic.")
    records = [record for record in load(store, number, folds) if record.task.topic == topic]
    return EvidenceOut.model_validate(dashboard.evidence(records))


@router.get("/exports/{export}", response_class=FileResponse)
def export(number: Id, export: ExportName, _: Admin, store: Stored, folds: Folded) -> Response:
    """A file of the judgments as they are now; ``project`` holds everything and can be imported."""
    folder = tempfile.TemporaryDirectory()
    try:
        if export == "project":
            name, path = "project.jsonl", Path(folder.name) / "project.jsonl"
            with store.read() as connection:
                found(connection, number)
                bundle.write_project(connection, number, path)
        else:
            kind = EXPORTS[export]
            name, path = kind.file, Path(folder.name) / kind.file
            kind.write(load(store, number, folds), path)
    except Exception:
        folder.cleanup()
        raise
    gone = BackgroundTask(folder.cleanup)
    return FileResponse(path, filename=name, media_type="application/octet-stream", background=gone)
