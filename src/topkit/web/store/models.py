"""Language models as assessors: where they are, and how sure they were of each answer."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from topkit.data.errors import InputError
from topkit.web.names import MODEL_MARK
from topkit.web.schema import candidate, document, labelling, model, model_answer, person, topic
from topkit.web.store import people
from topkit.web.store.engine import insert_one

KEY_PREFIX = "TOPKIT_MODEL_KEY"
"""Only such environment variables may hold keys: otherwise an admin could send any secret of the server."""


class ModelIn(NamedTuple):
    """A model behind an OpenAI-compatible endpoint."""

    name: str
    url: str
    model: str
    key_variable: str = ""
    sure: float = 0.9
    check: float = 0.05
    budget: int = 1000
    suggest: bool = False


def check_key_variable(name: str) -> None:
    """Raise an error unless the environment variable is one for keys of models."""
    if name and not name.startswith(KEY_PREFIX):
        raise InputError(f"invalid key variable {name!r}", f"use a name like {KEY_PREFIX}_1")


def add_model(connection: Connection, project_id: int, settings: ModelIn) -> int:
    """Add a model to a project as an assessor without a password; returns the id of its person."""
    check_key_variable(settings.key_variable)
    name = MODEL_MARK + settings.name
    account = people.model_account(connection, name)
    values = {**settings._asdict(), "name": name, "project": project_id, "person": account.id}
    insert_one(connection, model, {**values, "active": True, "requests": 0, "problem": "", "next": 0.0})
    return account.id


def models_of(connection: Connection, project_id: int | None = None) -> list[RowMapping]:
    """The models of a project, or of all projects."""
    query = sa.select(model).order_by(model.c.id)
    if project_id is not None:
        query = query.where(model.c.project == project_id)
    return list(connection.execute(query).mappings())


def change_model(connection: Connection, project_id: int, number: int, **values: Any) -> bool:
    """Change a model of a project; False if there is none."""
    update = model.update().where(model.c.id == number, model.c.project == project_id)
    return connection.execute(update.values(values)).rowcount == 1


def claim_model(connection: Connection, row: RowMapping, lease: float) -> bool:
    """True if this process may work for the model now; no other process will for ``lease`` seconds."""
    now = time.time()
    update = model.update().where(model.c.id == row["id"], model.c.next == row["next"])
    return row["next"] <= now and connection.execute(update.values(next=now + lease)).rowcount == 1


def note_answer(connection: Connection, labelling_id: int, seq: int, confidence: float | None) -> None:
    """Store how sure the model was of its answer."""
    values = {"labelling": labelling_id, "seq": seq, "confidence": confidence}
    connection.execute(model_answer.insert().values(values))


def confidences(connection: Connection, project_id: int) -> dict[tuple[int, int], float | None]:
    """How sure models were, by labelling and sequence number."""
    query = (
        sa.select(model_answer)
        .join(labelling, labelling.c.id == model_answer.c.labelling)
        .where(labelling.c.project == project_id)
    )
    return {(row.labelling, row.seq): row.confidence for row in connection.execute(query)}


def texts_of_topic(connection: Connection, topic_id: int) -> tuple[str, dict[str, RowMapping]]:
    """The query with its description, and the candidate documents of the topic by key."""
    row = connection.execute(sa.select(topic).where(topic.c.id == topic_id)).mappings().one()
    query = f"{row['query']}\n{row['description']}".strip()
    documents = sa.select(document).join(candidate, candidate.c.document == document.c.id)
    documents = documents.where(candidate.c.topic == topic_id)
    return query, {document["key"]: document for document in connection.execute(documents).mappings()}


def model_names(connection: Connection, project_id: int) -> set[str]:
    """The names of the models that judge in a project."""
    query = sa.select(person.c.name).join(model, model.c.person == person.c.id)
    return set(connection.scalars(query.where(model.c.project == project_id)))
