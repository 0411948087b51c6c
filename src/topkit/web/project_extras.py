"""What a project has besides its material and its judgments, as records of its file.

These are gold questions, decisions, remarks, pictures, models with the confidence of their answers, uploaded
features, and what was learned last. Webhooks and scheduled exports are connections of a server and contain
secrets, so they stay on the server.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple, Protocol

import sqlalchemy as sa
from pydantic import Field, TypeAdapter
from sqlalchemy.engine import Connection, RowMapping

from topkit.data.errors import InputError
from topkit.labelling import Endpoint
from topkit.web.gold import choices
from topkit.web.learning import Learned
from topkit.web.names import MODEL_MARK
from topkit.web.schema import (
    adjudication,
    feature_file,
    gold,
    labelling,
    learned,
    model,
    model_answer,
    picture,
    remark,
)
from topkit.web.shapes import Body, Key, LongText, ModelSettings, Name, Number, checked
from topkit.web.store.models import check_key_variable, models_of
from topkit.web.store.pictures import checked_kind
from topkit.web.store.quality import adjudications_of, gold_of

FEATURES_PART = 1_000_000
"""Characters of the features in a record; the file of features may be larger than a line can be."""
Moment = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


class Extra(NamedTuple):
    """A row of a table. It belongs to a topic, to a topic of an assessor, or to the whole project."""

    table: sa.Table
    values: dict[str, Any]
    topic: str = ""
    assessor: str = ""


class Known(Protocol):
    """What the lines above have named."""

    def topic(self, key: str) -> str:
        """The topic, or an error."""
        ...

    def check_document(self, key: str) -> None:
        """Raise an error unless there is such a document."""
        ...

    def count_judgments(self, topic: str, assessor: str) -> int:
        """The judgments of an assessor on a topic; an error if the topic is not assigned to them."""
        ...


class GoldRecord(Body):
    """A gold question."""

    gold: Key
    a: Key
    b: Key | None
    answer: Key
    note: LongText
    person: Name
    created: Moment


class DecisionRecord(Body):
    """A settled pair."""

    decision: Key
    a: Key
    b: Key
    verdict: Literal["a", "b", "tie", "open"]
    reason: LongText
    person: Name
    time: Moment


class RemarkRecord(Body):
    """A flag or comment of an assessor."""

    remark: Key
    assessor: Name
    a: Key
    b: Key | None
    flagged: bool
    text: LongText
    time: Moment
    resolved: Moment | None
    resolver: Name | None


class ConfidenceRecord(Body):
    """How sure a model was of its answers: pairs of sequence number and confidence."""

    confidences: Key
    assessor: Name
    values: list[tuple[Number, Share | None]]


class JudgeRecord(ModelSettings):
    """A model. It is stopped after the import: it would send documents to its URL and cost money."""

    judge: Name
    requests: Annotated[int, Field(ge=0, le=10_000_000)]


def _pair(row: GoldRecord | DecisionRecord | RemarkRecord, known: Known) -> None:
    for key in (row.a, row.b):
        if key is not None:
            known.check_document(key)
    if row.a == row.b:
        raise InputError(f"document {row.a!r} is compared with itself")


def _read_gold(record: dict[str, Any], known: Known) -> Iterator[Extra]:
    row = checked(GoldRecord, record)
    _pair(row, known)
    if row.answer not in choices(row.b):
        raise InputError(f"invalid answer {row.answer!r}", f"choose from {', '.join(choices(row.b))}")
    yield Extra(gold, row.model_dump(exclude={"gold"}), known.topic(row.gold))


def _read_decision(record: dict[str, Any], known: Known) -> Iterator[Extra]:
    row = checked(DecisionRecord, record)
    _pair(row, known)
    if row.a > row.b:
        raise InputError("the documents of a decision are not in the order of their ids")
    yield Extra(adjudication, row.model_dump(exclude={"decision"}), known.topic(row.decision))


def _read_remark(record: dict[str, Any], known: Known) -> Iterator[Extra]:
    row = checked(RemarkRecord, record)
    _pair(row, known)
    known.count_judgments(row.remark, row.assessor)
    yield Extra(remark, row.model_dump(exclude={"remark", "assessor"}), row.remark, row.assessor)


def _read_confidences(record: dict[str, Any], known: Known) -> Iterator[Extra]:
    row = checked(ConfidenceRecord, record)
    judgments = known.count_judgments(row.confidences, row.assessor)
    for seq, confidence in row.values:
        if seq > judgments:
            raise InputError(f"there is no judgment {seq} of {row.assessor!r}")
        values = {"seq": seq, "confidence": confidence}
        yield Extra(model_answer, values, row.confidences, row.assessor)


def _read_picture(record: dict[str, Any], known: Known) -> Iterator[Extra]:
    name = checked(Key, record["picture"], "picture")
    try:
        content = base64.b64decode(record["content"], validate=True)
    except binascii.Error:
        raise InputError(f"the picture {name!r} is not valid base64") from None
    yield Extra(picture, {"name": name, "kind": checked_kind(name, content), "content": record["content"]})


def _read_judge(record: dict[str, Any], known: Known) -> Iterator[Extra]:
    row = checked(JudgeRecord, {**record, "name": record["judge"]})
    if not row.judge.startswith(MODEL_MARK):
        raise InputError(f"invalid name {row.judge!r} of a model", f"start it with {MODEL_MARK!r}")
    Endpoint(row.url, row.model)  # raises an error for an invalid URL
    check_key_variable(row.key_variable)
    values = {**row.model_dump(exclude={"judge"}), "active": False, "problem": "", "next": 0.0}
    yield Extra(model, values, assessor=row.judge)


def _read_learned(record: dict[str, Any], known: Known) -> Iterator[Extra]:
    content, problem = dict(record["learned"]), checked(LongText, record["problem"], "problem")
    if content or not problem:
        ranked = {"ranked": checked(int, content.pop("ranked"), "ranked")} if "ranked" in content else {}
        content = TypeAdapter(Learned).dump_python(checked(Learned, content)) | ranked
    values = {"time": checked(Moment, record["time"], "time"), "problem": problem}
    yield Extra(learned, {**values, "content": json.dumps(content)})


READERS: dict[str, Callable[[dict[str, Any], Known], Iterator[Extra]]] = {
    "gold": _read_gold,
    "decision": _read_decision,
    "remark": _read_remark,
    "confidences": _read_confidences,
    "picture": _read_picture,
    "judge": _read_judge,
    "learned": _read_learned,
}
"""Readers of records, by the field that only this kind of record has."""


def write_extras(
    connection: Connection, project_id: int, work: Mapping[int, tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    """The records of a project; ``work`` gives the topic and the assessor of each labelling."""
    for row in gold_of(connection, project_id):
        yield {"gold": row["topic_key"], **_values(gold, row)}
    for row in adjudications_of(connection, project_id):
        yield {"decision": row["topic_key"], **_values(adjudication, row)}
    for row in _of_work(connection, remark, project_id, remark.c.id):
        topic, assessor = work[row["labelling"]]
        yield {"remark": topic, "assessor": assessor, **_values(remark, row)}
    confidences: dict[int, list[tuple[int, float | None]]] = {}
    for row in _of_work(connection, model_answer, project_id, model_answer.c.labelling, model_answer.c.seq):
        confidences.setdefault(row["labelling"], []).append((row["seq"], row["confidence"]))
    for labelling_id, values in confidences.items():
        topic, assessor = work[labelling_id]
        yield {"confidences": topic, "assessor": assessor, "values": values}
    pictures = sa.select(picture.c.name, picture.c.content).where(picture.c.project == project_id)
    for name, content in connection.execute(pictures.order_by(picture.c.name)):
        yield {"picture": name, "content": content}
    for row in models_of(connection, project_id):
        fields = [name for name in JudgeRecord.model_fields if name not in ("judge", "name")]
        yield {"judge": row["name"], **{name: row[name] for name in fields}}
    for text in connection.scalars(
        sa.select(feature_file.c.content).where(feature_file.c.project == project_id)
    ):
        for start in range(0, len(text), FEATURES_PART):
            yield {"features": text[start : start + FEATURES_PART]}
    for result in connection.execute(sa.select(learned).where(learned.c.project == project_id)):
        yield {"learned": json.loads(result.content), "time": result.time, "problem": result.problem}


def _values(table: sa.Table, row: RowMapping) -> dict[str, Any]:
    """The columns of a row except ids."""
    return {
        column.name: row[column.name]
        for column in table.columns
        if column.name != "id" and not column.foreign_keys
    }


def _of_work(
    connection: Connection, table: sa.Table, project_id: int, *order: sa.Column[Any]
) -> Iterator[RowMapping]:
    """The rows of a table that belong to labellings of a project."""
    query = sa.select(table).join(labelling, labelling.c.id == table.c.labelling)
    query = query.where(labelling.c.project == project_id).order_by(*order)
    yield from connection.execute(query).mappings()
