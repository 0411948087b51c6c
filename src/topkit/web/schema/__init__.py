"""The tables after the last migration; a test compares them with the result of the migrations.

State is never stored: the next question of a labelling is a fold over its rows in ``judgment``, and rows are
only ever added there. The unique constraints guarantee that no judgment is lost, doubled or misplaced.
"""

from topkit.web.columns import metadata
from topkit.web.schema.judgments import judgment, labelling
from topkit.web.schema.models import feature_file, learned, model, model_answer
from topkit.web.schema.people import api_token, identity, invitation, meta, person, session, sign_in
from topkit.web.schema.programs import delivery, export_schedule, webhook
from topkit.web.schema.projects import (
    candidate,
    document,
    document_version,
    picture,
    project,
    topic,
    topic_version,
)
from topkit.web.schema.quality import adjudication, audit, gold, remark

TABLES = (
    meta,
    person,
    session,
    invitation,
    sign_in,
    api_token,
    identity,
    project,
    topic,
    document,
    topic_version,
    document_version,
    candidate,
    picture,
    labelling,
    judgment,
    gold,
    adjudication,
    remark,
    audit,
    webhook,
    delivery,
    export_schedule,
    model,
    model_answer,
    feature_file,
    learned,
)
"""Every table; a table comes after those that it references."""

__all__ = [
    "TABLES",
    "adjudication",
    "api_token",
    "audit",
    "candidate",
    "delivery",
    "document",
    "document_version",
    "export_schedule",
    "feature_file",
    "gold",
    "identity",
    "invitation",
    "judgment",
    "labelling",
    "learned",
    "meta",
    "metadata",
    "model",
    "model_answer",
    "person",
    "picture",
    "project",
    "remark",
    "session",
    "sign_in",
    "topic",
    "topic_version",
    "webhook",
]
