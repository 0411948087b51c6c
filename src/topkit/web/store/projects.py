"""Projects and their material: topics, documents, and which documents are judged for which topic."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from topkit.data.errors import InputError
from topkit.labelling.strategies import STRATEGIES
from topkit.web.schema import candidate, document, labelling, project, topic
from topkit.web.store.engine import insert_one

TOOLS = ("pairs", "grades", "both")
"""T1 (two documents side by side), T2 (one document, five grades), or both."""
KINDS = ("text", "html", "url")
LIMIT_OF_DOCUMENTS = 1_000_000


class Topic(NamedTuple):
    """A query with what is meant by it."""

    key: str
    query: str
    description: str = ""


class Document(NamedTuple):
    """A document to show: a text, a page in HTML, or the address of a page."""

    key: str
    kind: str
    title: str
    body: str
    topic: str | None = None
    """The only topic that it is judged for, where the file says so."""


def all_projects(connection: Connection) -> list[RowMapping]:
    """Every project, by name."""
    return list(connection.execute(sa.select(project).order_by(project.c.name)).mappings())


def get_project(connection: Connection, number: int) -> RowMapping | None:
    """The project of an id."""
    return connection.execute(sa.select(project).where(project.c.id == number)).mappings().first()


def add_project(connection: Connection, name: str, **values: Any) -> int:
    """A new project: k, strategy, tools, seed, instructions."""
    if connection.scalar(sa.select(project.c.id).where(project.c.name == name)) is not None:
        raise InputError(f"there is a project called {name!r} already", "choose another name")
    check_project(values)
    return insert_one(connection, project, {"name": name, "created": time.time(), **values})


def set_instructions(connection: Connection, number: int, text: str) -> None:
    """Change what assessors are told."""
    connection.execute(project.update().where(project.c.id == number).values(instructions=text))


def check_project(values: Mapping[str, Any]) -> None:
    """Raise for settings that no labelling could be made with."""
    preferring = [name for name in STRATEGIES if name != "graded"]
    if values["strategy"] not in preferring:
        raise InputError(f"unknown strategy {values['strategy']!r}", f"choose of {', '.join(preferring)}")
    if values["tools"] not in TOOLS:
        raise InputError(f"unknown tools {values['tools']!r}", f"choose of {', '.join(TOOLS)}")


# -- topics ------------------------------------------------------------------------------------------------
def topics_of(connection: Connection, number: int) -> list[RowMapping]:
    """The topics of a project in the order of import, with the number of candidates and of labellings."""
    candidates = sa.select(sa.func.count()).where(candidate.c.topic == topic.c.id).scalar_subquery()
    labellings = sa.select(sa.func.count()).where(labelling.c.topic == topic.c.id).scalar_subquery()
    query = sa.select(topic, candidates.label("candidates"), labellings.label("labellings"))
    return list(connection.execute(query.where(topic.c.project == number).order_by(topic.c.id)).mappings())


def get_topic(connection: Connection, number: int) -> RowMapping | None:
    """The topic of an id."""
    return connection.execute(sa.select(topic).where(topic.c.id == number)).mappings().first()


def add_topics(connection: Connection, number: int, topics: Iterable[Topic]) -> int:
    """Add topics; one that is there already (by its key) keeps its labellings and gets the new words."""
    there = _keys(connection, topic, number)
    new = []
    for key, query, description in topics:
        if key in there:
            changed = {"query": query, "description": description}
            connection.execute(topic.update().where(topic.c.id == there[key]).values(changed))
        else:
            new.append({"project": number, "key": key, "query": query, "description": description})
    if new:
        connection.execute(topic.insert(), new)
    return len(new)


# -- documents ---------------------------------------------------------------------------------------------
def documents_of(connection: Connection, number: int, first: int, count: int) -> tuple[int, list[RowMapping]]:
    """How many documents there are, and some of them without their bodies."""
    total = connection.scalar(sa.select(sa.func.count()).where(document.c.project == number)) or 0
    columns = (document.c.id, document.c.key, document.c.kind, document.c.title)
    query = sa.select(*columns).where(document.c.project == number).order_by(document.c.id)
    return total, list(connection.execute(query.offset(first).limit(count)).mappings())


def get_document(connection: Connection, number: int) -> RowMapping | None:
    """The document of an id."""
    return connection.execute(sa.select(document).where(document.c.id == number)).mappings().first()


def add_documents(connection: Connection, number: int, documents: Sequence[Document]) -> int:
    """Add documents; one that is there already (by its key) is shown with its new text from now on."""
    there = _keys(connection, document, number)
    total = len(there) + len(documents)
    if total > LIMIT_OF_DOCUMENTS:
        raise InputError(f"{total:,} documents in one project", f"at most {LIMIT_OF_DOCUMENTS:,} fit in")
    new: dict[str, dict[str, Any]] = {}
    for key, kind, title, body, _ in documents:
        values = {"kind": kind, "title": title, "body": body}
        if key in there:
            connection.execute(document.update().where(document.c.id == there[key]).values(values))
        elif key not in new:
            new[key] = {"project": number, "key": key, **values}
        elif (kind, body) != (new[key]["kind"], new[key]["body"]):  # the same page for two topics is fine
            raise InputError(f"document {key!r} comes twice with different texts", "give each id one text")
    if new:
        connection.execute(document.insert(), list(new.values()))
    by_topic: dict[str, dict[str, None]] = {}
    for one in documents:
        if one.topic is not None:
            by_topic.setdefault(one.topic, {})[one.key] = None
    if by_topic:
        add_candidates(connection, number, {key: list(keys) for key, keys in by_topic.items()})
    return len(new)


# -- candidates --------------------------------------------------------------------------------------------
def add_candidates(
    connection: Connection, number: int, by_topic: Mapping[str, Sequence[str]], *, prior: bool = False
) -> int:
    """Say which documents are judged for each topic; ``prior``: they are in the order of a prior ranking.

    With a prior, documents named before that it leaves out stay and come after it. Topics that somebody
    labels already cannot change: their labellings are functions of their documents.
    """
    topics, documents = _keys(connection, topic, number), _keys(connection, document, number)
    busy = set(connection.scalars(sa.select(labelling.c.topic).where(labelling.c.project == number)))
    added = 0
    for topic_key, keys in by_topic.items():
        place = topics.get(topic_key)
        if place is None:
            raise InputError(f"there is no topic {topic_key!r}", "import topics first, then the rest")
        if place in busy:
            raise InputError(
                f"topic {topic_key!r} is being labelled, so its documents are settled", "leave it out"
            )
        unknown = next((key for key in keys if key not in documents), None)
        if unknown is not None:
            problem = f"there is no document {unknown!r}, which topic {topic_key!r} names"
            raise InputError(problem, "import documents first")
        query = sa.select(candidate.c.document).where(candidate.c.topic == place).order_by(candidate.c.place)
        before = list(connection.scalars(query))
        named = [documents[key] for key in keys]
        order = dict.fromkeys((*named, *before) if prior else (*before, *named))
        ranked = {one: i for i, one in enumerate(named)} if prior else {}
        connection.execute(candidate.delete().where(candidate.c.topic == place))
        rows = [
            {"topic": place, "document": one, "place": i, "prior": ranked.get(one)}
            for i, one in enumerate(order)
        ]
        if rows:
            connection.execute(candidate.insert(), rows)
        added += len(order) - len(before)
    return added


def settle_candidates(connection: Connection, number: int, topics: Iterable[int]) -> None:
    """Topics for which no documents were named are judged on all documents of the project."""
    everything: list[int] | None = None
    for one in topics:
        if connection.scalar(sa.select(sa.func.count()).where(candidate.c.topic == one)):
            continue
        if everything is None:
            query = sa.select(document.c.id).where(document.c.project == number).order_by(document.c.id)
            everything = list(connection.scalars(query))
        if not everything:
            raise InputError("the project has no documents", "import documents first")
        rows = [{"topic": one, "document": doc, "place": i} for i, doc in enumerate(everything)]
        connection.execute(candidate.insert(), rows)


def _keys(connection: Connection, table: sa.Table, number: int) -> dict[str, int]:
    rows = connection.execute(sa.select(table.c.key, table.c.id).where(table.c.project == number))
    return {row.key: row.id for row in rows}
