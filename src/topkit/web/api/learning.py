"""Learning from the judgments of a project."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, UploadFile
from pydantic import BaseModel, Field

from topkit.data.errors import InputError
from topkit.data.letor import read_letor
from topkit.data.words import counted
from topkit.web.api.material import uploaded
from topkit.web.learning import Learning, last_result
from topkit.web.managed import Managed
from topkit.web.shapes import PROBLEMS, Body, Message
from topkit.web.store import projects
from topkit.web.store.features import store_features

router = APIRouter(prefix="/api/projects/{number}", tags=["learning"], responses=PROBLEMS)


class LearnIn(Body):
    """What to do."""

    prior: bool = Field(False, description="Rank the candidates of topics that nobody judges yet.")


class LearningOut(BaseModel):
    """The last result (null if there is none), and whether a ranker is being trained."""

    running: bool
    result: dict[str, Any] | None


def learning_of(request: Request) -> Learning:
    """The trainer of the app."""
    trainer: Learning = request.app.state.learning
    return trainer


@router.get("/learning")
def result(project: Managed, request: Request) -> LearningOut:
    """What a ranker learned from the project: its curve on held-out topics, and what another hour brings."""
    project.check()
    running = learning_of(request).running(project.number)
    return LearningOut(running=running, result=last_result(project.store, project.number))


@router.post("/learning", status_code=202)
def start(project: Managed, request: Request, body: LearnIn | None = None) -> Message:
    """Train a ranker on the judgments so far. The result appears at GET …/learning."""
    project.check()
    started = learning_of(request).start(project.number, body is not None and body.prior)
    return Message(message="Training has started." if started else "Training is already under way.")


@router.post("/features", status_code=201)
def upload_features(project: Managed, file: UploadFile) -> Message:
    """Upload the features of the documents: LETOR lines with the topic as qid and ``# docid = ID``."""
    with uploaded(file) as path:
        data = read_letor(path, regroup=True)
        text = path.read_text(encoding="utf-8")
    with project.write() as connection:
        known = {row["key"] for row in projects.topics_of(connection, project.number)}
        matching = sum(str(qid) in known for qid in data.qids)
        if not matching or data.doc_ids is None:
            raise InputError(
                "the file contains none of the topics, or no document ids", "write qid:TOPIC and # docid = ID"
            )
        store_features(connection, project.number, text)
    return Message(message=f"Features of {counted(matching, 'topic')} stored.")


@router.delete("/features")
def remove_features(project: Managed) -> Message:
    """Remove uploaded features; features of the texts are used again."""
    with project.write() as connection:
        store_features(connection, project.number, "")
    return Message(message="The uploaded features were removed.")
