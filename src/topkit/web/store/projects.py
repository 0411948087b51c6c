"""Projects and their material: topics, documents, and the candidate documents of each topic."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from topkit.data.errors import InputError
from topkit.labelling.strategies import PAIRWISE
from topkit.web.schema import candidate, document, labelling, project, topic
from topkit.web.store.engine import insert_one
from topkit.web.store.versions import DOCUMENTS, TOPICS, keep_versions, parts_of

TOOLS = ("pairs", "grades", "both")
"""Two documents side by side, one document with five grades, or both."""
LIMIT_OF_DOCUMENTS = 1_000_000
"""Per project; the pages and exports keep all keys in memory."""


class Topic(NamedTuple):
    """A query with a description of the information need."""

    key: str
    query: str
    description: str = ""


class Document(NamedTuple):
    """A document to show: a text, an HTML page, or the URL of a page."""

    key: str
    kind: str
    title: str
    body: str
    topic: str | None = None
    """If given, the document is a candidate of this topic only."""


def all_projects(connection: Connection) -> list[RowMapping]:
    """All projects, sorted by name; archived ones last."""
    order = sa.case((project.c.state == "archived", 1), else_=0)
    return list(connection.execute(sa.select(project).order_by(order, project.c.name)).mappings())


def get_project(connection: Connection, number: int) -> RowMapping | None:
    """The project with this id."""
    return connection.execute(sa.select(project).where(project.c.id == number)).mappings().first()


def add_project(connection: Connection, name: str, **values: Any) -> int:
    """Add a project with its settings: k, strategy, tools, seed, instructions."""
    check_name_is_free(connection, name)
    check_project(values)
    return insert_one(connection, project, {"name": name, "created": time.time(), **values})


def check_name_is_free(connection: Connection, name: str, number: int | None = None) -> None:
    """Raise an error if another project than ``number`` has the name."""
    owner = connection.scalar(sa.select(project.c.id).where(project.c.name == name))
    if owner not in (None, number):
        raise InputError(f"a project with the name {name!r} already exists", "choose another name")


def check_project(values: Mapping[str, Any]) -> None:
    """Raise an error for settings that a labelling does not accept."""
    if values["strategy"] not in pair_strategies():
        raise InputError(
            f"unknown strategy {values['strategy']!r}", f"choose from {', '.join(pair_strategies())}"
        )
    if values["tools"] not in TOOLS:
        raise InputError(f"unknown tools {values['tools']!r}", f"choose from {', '.join(TOOLS)}")


def pair_strategies() -> list[str]:
    """The names of the strategies that compare two documents."""
    return list(PAIRWISE)


# -- topics ------------------------------------------------------------------------------------------------
def topics_of(connection: Connection, number: int) -> list[RowMapping]:
    """The topics of a project in import order, with their numbers of candidates and labellings."""
    candidates = sa.select(sa.func.count()).where(candidate.c.topic == topic.c.id).scalar_subquery()
    labellings = sa.select(sa.func.count()).where(labelling.c.topic == topic.c.id).scalar_subquery()
    query = sa.select(topic, candidates.label("candidates"), labellings.label("labellings"))
    return list(connection.execute(query.where(topic.c.project == number).order_by(topic.c.id)).mappings())


def get_topic(connection: Connection, number: int) -> RowMapping | None:
    """The topic with this id."""
    return connection.execute(sa.select(topic).where(topic.c.id == number)).mappings().first()


def add_topics(connection: Connection, number: int, topics: Iterable[Topic]) -> int:
    """Add topics; one that exists (same key) gets the new texts. Returns how many are new."""
    rows = connection.execute(sa.select(topic).where(topic.c.project == number))
    existing = {row.key: row for row in rows}
    new, changed = [], []
    for key, query, description in topics:
        row = existing.get(key)
        if row is None:
            new.append({"project": number, "key": key, "query": query, "description": description})
        elif (row.query, row.description) != (query, description):
            changed.append({"topic_id": row.id, "query": query, "description": description})
    if changed:
        keep_versions(connection, TOPICS, number, [row["topic_id"] for row in changed])
        connection.execute(topic.update().where(topic.c.id == sa.bindparam("topic_id")), changed)
    if new:
        connection.execute(topic.insert(), new)
    return len(new)


# -- documents ---------------------------------------------------------------------------------------------
def documents_of(connection: Connection, number: int, first: int, count: int) -> tuple[int, list[RowMapping]]:
    """The total number of documents, and ``count`` of them (without their bodies)."""
    columns = (document.c.id, document.c.key, document.c.kind, document.c.title)
    query = sa.select(*columns).where(document.c.project == number).order_by(document.c.id)
    rows = list(connection.execute(query.offset(first).limit(count)).mappings())
    return count_documents(connection, number), rows


def count_documents(connection: Connection, number: int) -> int:
    """How many documents a project has."""
    return connection.scalar(sa.select(sa.func.count()).where(document.c.project == number)) or 0


def get_document(connection: Connection, number: int) -> RowMapping | None:
    """The document with this id."""
    return connection.execute(sa.select(document).where(document.c.id == number)).mappings().first()


class Added(NamedTuple):
    """What an import of documents did."""

    new: int
    changed: int
    versions: int
    """How many of the changed ones have judgments, so that their old text is kept as a version."""


def add_documents(connection: Connection, number: int, documents: Sequence[Document]) -> Added:
    """Add documents; one that exists (same key) gets the new text."""
    existing = ids_by_key(connection, document, number)
    total = len(existing) + len(documents)
    if total > LIMIT_OF_DOCUMENTS:
        raise InputError(
            f"{total:,} documents exceed the limit of {LIMIT_OF_DOCUMENTS:,} per project",
            "make several projects",
        )
    new: dict[str, dict[str, Any]] = {}
    again: dict[int, dict[str, Any]] = {}
    for key, kind, title, body, _ in documents:
        values = {"kind": kind, "title": title, "body": body}
        if key in existing:
            again[existing[key]] = values
        elif key not in new:
            new[key] = {"project": number, "key": key, **values}
        elif (kind, body) != (new[key]["kind"], new[key]["body"]):  # a page may be listed for two topics
            raise InputError(f"document {key!r} appears twice with different texts", "use each id once")
    changed = _changed_documents(connection, again)
    versions = keep_versions(connection, DOCUMENTS, number, list(changed))
    if changed:
        rows = [{"document_id": doc, **values} for doc, values in changed.items()]
        connection.execute(document.update().where(document.c.id == sa.bindparam("document_id")), rows)
    if new:
        connection.execute(document.insert(), list(new.values()))
    by_topic: dict[str, dict[str, None]] = {}
    for doc in documents:
        if doc.topic is not None:
            by_topic.setdefault(doc.topic, {})[doc.key] = None
    if by_topic:
        add_candidates(connection, number, {key: list(keys) for key, keys in by_topic.items()})
    return Added(len(new), len(changed), versions)


def _changed_documents(
    connection: Connection, texts: Mapping[int, dict[str, Any]]
) -> dict[int, dict[str, Any]]:
    """Those of the texts, by the id of their document, that differ from what is stored."""
    changed = {}
    for part in parts_of(list(texts)):
        for row in connection.execute(sa.select(document).where(document.c.id.in_(part))).mappings():
            values = texts[row["id"]]
            if any(row[name] != value for name, value in values.items()):
                changed[row["id"]] = values
    return changed


# -- candidates --------------------------------------------------------------------------------------------
def add_candidates(
    connection: Connection, number: int, by_topic: Mapping[str, Sequence[str]], *, prior: bool = False
) -> int:
    """Set which documents are judged for each topic. ``prior``: they are in the order of a prior ranking.

    With a prior, earlier candidates that it does not contain are kept after it. A topic with labellings
    cannot change: its questions depend on its documents. Returns how many candidates are new.
    """
    topics, documents = ids_by_key(connection, topic, number), ids_by_key(connection, document, number)
    labelled = set(connection.scalars(sa.select(labelling.c.topic).where(labelling.c.project == number)))
    added = 0
    for topic_key, keys in by_topic.items():
        topic_id = topics.get(topic_key)
        if topic_id is None:
            raise InputError(f"there is no topic {topic_key!r}", "import the topics first")
        if topic_id in labelled:
            raise InputError(
                f"topic {topic_key!r} has labellings, so its documents cannot change", "leave it out"
            )
        unknown = next((key for key in keys if key not in documents), None)
        if unknown is not None:
            problem = f"there is no document {unknown!r}, a candidate of topic {topic_key!r}"
            raise InputError(problem, "import the documents first")
        added += _set_candidates(connection, topic_id, [documents[key] for key in keys], prior=prior)
    return added


def _set_candidates(connection: Connection, topic_id: int, new: list[int], *, prior: bool) -> int:
    query = sa.select(candidate.c.document).where(candidate.c.topic == topic_id).order_by(candidate.c.place)
    old = list(connection.scalars(query))
    order = dict.fromkeys((*new, *old) if prior else (*old, *new))
    ranks = {doc: rank for rank, doc in enumerate(new)} if prior else {}
    connection.execute(candidate.delete().where(candidate.c.topic == topic_id))
    rows = [
        {"topic": topic_id, "document": doc, "place": place, "prior": ranks.get(doc)}
        for place, doc in enumerate(order)
    ]
    if rows:
        connection.execute(candidate.insert(), rows)
    return len(order) - len(old)


def documents_never_judged(connection: Connection, number: int) -> int:
    """How many documents came too late: every topic has its documents, and these are not among them."""
    of_project = sa.select(topic.c.id).where(topic.c.project == number)
    open_topics = of_project.where(~sa.exists().where(candidate.c.topic == topic.c.id))
    if connection.scalar(of_project.limit(1)) is None or connection.scalar(open_topics.limit(1)) is not None:
        return 0
    unused = ~sa.exists().where(candidate.c.document == document.c.id)
    return connection.scalar(sa.select(sa.func.count()).where(document.c.project == number, unused)) or 0


def settle_candidates(connection: Connection, number: int, topics: Iterable[int]) -> None:
    """Make all documents of the project the candidates of each of these topics that has none."""
    all_documents: list[int] | None = None
    for topic_id in topics:
        if connection.scalar(sa.select(sa.func.count()).where(candidate.c.topic == topic_id)):
            continue
        if all_documents is None:
            query = sa.select(document.c.id).where(document.c.project == number).order_by(document.c.id)
            all_documents = list(connection.scalars(query))
        if not all_documents:
            raise InputError("the project has no documents", "import documents first")
        _set_candidates(connection, topic_id, all_documents, prior=False)


def ids_by_key(connection: Connection, table: sa.Table, number: int) -> dict[str, int]:
    """The ids of a project's topics or documents, by key."""
    rows = connection.execute(sa.select(table.c.key, table.c.id).where(table.c.project == number))
    return {row.key: row.id for row in rows}
