"""What happens to projects, topics and work after they were made: changed, taken back, reassigned, deleted.

Judgments are never changed. Work that is taken back is closed: its judgments are kept, or dropped from every
result, and an admin can reopen it. Only deleting a whole project deletes judgments.
"""

from __future__ import annotations

from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from topkit.data.errors import InputError
from topkit.web.schema import judgment, labelling, metadata, person, project, topic
from topkit.web.store.labellings import Assignment, assign
from topkit.web.store.people import change_person
from topkit.web.store.projects import check_name_is_free
from topkit.web.store.versions import TOPICS, keep_versions

PROJECT_STATES = ("active", "paused", "archived")
Fate = Literal["keep", "drop"]
"""What becomes of the judgments of work that is taken back."""
CLOSED = {"keep": "kept", "drop": "dropped"}


# -- projects ----------------------------------------------------------------------------------------------
def change_project(connection: Connection, project_id: int, values: dict[str, Any]) -> None:
    """Change the name, the instructions or the state of a project."""
    if values.get("name") is not None:
        check_name_is_free(connection, values["name"], project_id)
    if values:
        connection.execute(project.update().where(project.c.id == project_id).values(values))


def delete_project(connection: Connection, project_id: int, name: str) -> None:
    """Delete a project with everything that belongs to it, if ``name`` is its name."""
    present = connection.scalar(sa.select(project.c.name).where(project.c.id == project_id))
    if present != name:
        raise InputError(f"the project is called {present!r}, got {name!r}", "type its name to delete it")
    _delete(connection, project, project.c.id == project_id)


def _delete(connection: Connection, table: sa.Table, condition: sa.ColumnElement[bool]) -> None:
    """Delete rows, and before them all rows of other tables that belong to them."""
    for other in metadata.sorted_tables:
        for key in other.foreign_keys:
            if key.column.table is table:
                _delete(connection, other, key.parent.in_(sa.select(key.column).where(condition)))
    connection.execute(table.delete().where(condition))


# -- topics ------------------------------------------------------------------------------------------------
def change_topic(connection: Connection, topic_id: int, key: str, query: str, description: str) -> None:
    """Change a topic. If it has judgments, the old text is kept as a version of the topic."""
    row = connection.execute(sa.select(topic).where(topic.c.id == topic_id)).one()
    other = sa.select(topic.c.id).where(topic.c.project == row.project, topic.c.key == key)
    if connection.scalar(other) not in (None, topic_id):
        raise InputError(f"topic {key!r} already exists", "choose another id")
    if (query, description) != (row.query, row.description):
        keep_versions(connection, TOPICS, row.project, [topic_id])
    values = {"key": key, "query": query, "description": description}
    connection.execute(topic.update().where(topic.c.id == topic_id).values(values))


def delete_topic(connection: Connection, topic_id: int) -> None:
    """Delete a topic without judgments, and its assignments."""
    judged = sa.select(sa.func.count()).where(
        judgment.c.labelling == labelling.c.id, labelling.c.topic == topic_id
    )
    count = connection.scalar(judged) or 0
    if count:
        raise InputError(
            f"the topic has {count} judgments, which are never deleted", "take its work back and drop it"
        )
    _delete(connection, topic, topic.c.id == topic_id)


# -- work --------------------------------------------------------------------------------------------------
def take_back(connection: Connection, labelling_id: int, fate: Fate) -> bool:
    """Close a labelling; without judgments it is deleted. False if there is no such labelling."""
    if connection.scalar(sa.select(sa.func.count()).where(judgment.c.labelling == labelling_id)):
        update = labelling.update().where(labelling.c.id == labelling_id).values(state=CLOSED[fate])
        return connection.execute(update).rowcount == 1
    return connection.execute(labelling.delete().where(labelling.c.id == labelling_id)).rowcount == 1


def reopen(connection: Connection, labelling_id: int) -> bool:
    """Let the assessor continue. False if there is no such labelling."""
    update = labelling.update().where(labelling.c.id == labelling_id).values(state="open")
    return connection.execute(update).rowcount == 1


def reassign(connection: Connection, labelling_id: int, person_id: int, fate: Fate) -> None:
    """Take a labelling back and assign its topic to somebody else, who starts from the first question."""
    row = connection.execute(sa.select(labelling).where(labelling.c.id == labelling_id)).one()
    if row.person == person_id:
        raise InputError("the topic is already assigned to this person", "choose somebody else")
    if not connection.scalar(sa.select(person.c.active).where(person.c.id == person_id)):
        raise InputError("the person does not exist or is not active", "choose somebody else")
    taken = sa.select(labelling.c.id).where(labelling.c.topic == row.topic, labelling.c.person == person_id)
    if connection.scalar(taken) is not None:
        raise InputError("this person already has the topic", "choose somebody else")
    take_back(connection, labelling_id, fate)
    assign(connection, row.project, [Assignment(row.topic, person_id, row.tool)])


def remove_assessor(connection: Connection, person_id: int, fate: Fate, project_id: int | None) -> int:
    """Take back the work of a person in a project; in all projects if None, and then block the account.

    Work that is complete stays complete; ``drop`` drops it too. Returns the number of labellings taken back.
    """
    query = sa.select(labelling.c.id).where(labelling.c.person == person_id)
    if project_id is not None:
        query = query.where(labelling.c.project == project_id)
    ids = list(connection.scalars(query))
    for labelling_id in ids:
        take_back(connection, labelling_id, fate)
    if project_id is None:
        role = connection.scalar(sa.select(person.c.role).where(person.c.id == person_id))
        change_person(connection, person_id, role=str(role), active=False)
    return len(ids)


def closed_labellings(connection: Connection, labelling_ids: set[int]) -> dict[int, str]:
    """Why no judgments are accepted, for those labellings that are closed."""
    query = (
        sa.select(labelling.c.id, labelling.c.state, project.c.state.label("project_state"))
        .join(project, project.c.id == labelling.c.project)
        .where(
            labelling.c.id.in_(labelling_ids),
            sa.or_(labelling.c.state != "open", project.c.state != "active"),
        )
    )
    return {
        row.id: "Your work on this topic was taken back."
        if row.state != "open"
        else f"The project is {row.project_state}. This judgment was not saved."
        for row in connection.execute(query)
    }
