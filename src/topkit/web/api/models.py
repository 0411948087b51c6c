"""Models beside people: chat models as assessors, their routing, and suggestions after an answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import BaseModel

from topkit.data.errors import InputError
from topkit.labelling import Endpoint
from topkit.web import models as work
from topkit.web.guard import Cached, Someone, Stored, settings_of
from topkit.web.judging import standing_answers
from topkit.web.lookup import existing
from topkit.web.managed import Managed
from topkit.web.names import MODEL_MARK
from topkit.web.records import records_of
from topkit.web.shapes import PROBLEMS, Body, Id, Message, ModelSettings
from topkit.web.store import labellings, models
from topkit.web.store.judgments import judgments_after
from topkit.web.store.models import ModelIn

router = APIRouter(prefix="/api", tags=["models"], responses=PROBLEMS)


class ModelOut(BaseModel):
    """A model of a project."""

    id: int
    person: int
    name: str
    url: str
    model: str
    key_variable: str
    sure: float
    check: float
    budget: int
    suggest: bool
    active: bool
    requests: int
    problem: str


class Activity(Body):
    """Whether a model works, and whether its opinion is shown after a person has answered."""

    active: bool
    suggest: bool = False


@router.get("/projects/{number}/models")
def all_models(project: Managed) -> list[ModelOut]:
    """The models of a project."""
    rows = project.load(models.models_of)
    return [ModelOut(**{name: row[name] for name in ModelOut.model_fields}) for row in rows]


@router.post("/projects/{number}/models", status_code=201)
def add_model(project: Managed, body: ModelSettings, request: Request) -> Message:
    """Add a model as an assessor of the project. Assign topics to it like to a person."""
    if not settings_of(request).models:
        raise InputError("models are turned off", "start the server with --models")
    Endpoint(body.url, body.model)  # raises an error for an invalid URL
    with project.write() as connection:
        models.add_model(connection, project.number, ModelIn(**body.model_dump()))
    return Message(message=f"{MODEL_MARK}{body.name} was added. Assign topics to it.")


@router.patch("/projects/{number}/models/{model}")
def change_model(project: Managed, model: Id, body: Activity) -> Message:
    """Start or stop a model, or its suggestions."""
    with project.write() as connection:
        values = {"active": body.active, "suggest": body.suggest, "problem": ""}
        existing(models.change_model(connection, project.number, model, **values), "model")
    return Message(message="The model works." if body.active else "The model is stopped.")


@router.get("/projects/{number}/routing")
def routing(project: Managed) -> work.Routing:
    """What waits for people because a model is unsure, and what the model's share costs in quality."""
    return work.routing(project.records(), project.load(models.models_of), project.load(models.confidences))


@router.get("/labellings/{number}/suggestion")
def suggestion(
    number: Id,
    me: Someone,
    store: Stored,
    cache: Cached,
    a: Annotated[str, Query(max_length=1000)],
    b: Annotated[str, Query(max_length=1000)],
) -> work.Suggestion | None:
    """What a model says about two documents; null until you have answered this question yourself."""
    with store.read() as connection:
        task = labellings.get_task(connection, number)
        if task is None or task.person != me.id:
            raise HTTPException(404, "There is no such labelling in your work.")
        answers = standing_answers(judgments_after(connection, number))
        if not any({answer.a, answer.b} == {a, b} for answer in answers):
            return None
        if not any(row["suggest"] for row in models.models_of(connection, task.project)):
            return None
        records = records_of(connection, task.project, cache, topic_id=task.topic)
    return work.suggestion(records, task.topic, a, b)
