"""All labellings of a project with their present state: the basis of the dashboard and the exports.

A project may have a million documents. What a page does not show is not loaded: the documents of a labelling
are read, and its judgments replayed, when somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from sqlalchemy.engine import Connection, Engine, RowMapping

from topkit.data.judgments import Answer, Grade, Judgments, Preference
from topkit.labelling import GRADES, Labelling, TopK, consensus, merge_labellings
from topkit.labelling.assessors import Decisions
from topkit.web.judging import Judgment, Task, Tool, counted_answers
from topkit.web.standings import LabellingCache, Standing, starting_point
from topkit.web.store.judgments import judgments_after, judgments_of_project
from topkit.web.store.labellings import Shape, labellings_of, shapes_of, tasks_of
from topkit.web.store.quality import decisions_of
from topkit.web.store.versions import DOCUMENTS, TOPICS, Changes, changes_of

TASKS_AT_ONCE = 100
"""Labellings whose documents are read together."""
MOST_TOPICS = 200
"""Topics that a statement may name one by one."""


class _Tasks:
    """The tasks of some labellings, which contain all their documents; read when they are needed."""

    def __init__(self, engine: Engine, rows: Sequence[RowMapping]) -> None:
        self._engine, self._rows = engine, rows
        self._places = {row["id"]: place for place, row in enumerate(rows)}
        self._tasks: dict[int, Task] = {}

    def task(self, labelling_id: int) -> Task:
        """The task of a labelling, without gold questions."""
        if labelling_id not in self._tasks:
            first = self._places[labelling_id]
            rows = self._rows[first : first + TASKS_AT_ONCE]
            needed = [row for row in rows if bool(row["seq"]) == bool(rows[0]["seq"])]
            with self._engine.connect() as connection, connection.begin():
                self._tasks |= tasks_of(connection, needed)
        return self._tasks[labelling_id]


@dataclass(frozen=True)
class Record:
    """One labelling with its judgments and its present state."""

    row: RowMapping
    log: list[Judgment]
    """Every judgment, including those that were withdrawn."""
    shape: Shape
    tasks: _Tasks = field(repr=False)
    cache: LabellingCache = field(repr=False)
    decisions: Decisions = field(default_factory=dict)
    """The settled pairs of the topic."""
    query_changes: tuple[float, ...] = ()
    """When the query was changed."""
    document_changes: Changes = field(default_factory=dict)
    """When documents were changed, by key."""

    @cached_property
    def task(self) -> Task:
        """The labelling as it was assigned, with its documents. Use ``row`` for everything else."""
        return self.tasks.task(self.row["id"])

    @cached_property
    def lab(self) -> Labelling:
        """The labelling after its judgments."""
        return self.cache.replay(self.task, self.log)

    @cached_property
    def standing(self) -> Standing:
        """How far the labelling is."""
        if not self.log:
            return starting_point(self.row["strategy"], self.row["k"], self.shape)
        return self.cache.standing(self.row["id"], len(self.log)) or Standing.of(self.lab)

    @property
    def tool(self) -> Tool:
        """The tool of the assessor."""
        return cast(Tool, self.row["tool"])

    @property
    def topic_id(self) -> int:
        """The id of the topic."""
        return int(self.row["topic"])

    @property
    def topic(self) -> str:
        """The key of the topic."""
        return str(self.row["topic_key"])

    @property
    def assessor(self) -> str:
        """The name of the assessor."""
        return str(self.row["assessor"])

    def query_version(self, judgment: Judgment) -> int:
        """Which text of the query the assessor saw: 2 if it was changed once before."""
        return _version_seen(self.query_changes, judgment)

    def document_version(self, judgment: Judgment, key: str) -> int:
        """Which text of a document the assessor saw."""
        return _version_seen(self.document_changes.get(key, ()), judgment)

    def judgments(self) -> Judgments:
        """The answers that count, in the order given."""
        grades: list[Grade] = []
        preferences: list[Preference] = []
        for judgment in counted_answers(self.log):
            origin = (self.assessor, judgment.seconds, judgment.time)
            if judgment.b is None:
                grades.append(Grade(self.topic, judgment.a, GRADES.index(judgment.answer), *origin))
            else:
                answer = cast(Answer, judgment.answer)
                preferences.append(Preference(self.topic, judgment.a, judgment.b, answer, *origin))
        return Judgments(tuple(grades), tuple(preferences))


def _version_seen(changes: Iterable[float], judgment: Judgment) -> int:
    """The version when the question was shown: a change while somebody reads does not reach their page."""
    shown = judgment.time - judgment.seconds
    return 1 + sum(change <= shown for change in changes)


def records_of(
    connection: Connection,
    project_id: int,
    cache: LabellingCache | None = None,
    *,
    dropped: bool = False,
    topic_id: int | None = None,
) -> list[Record]:
    """Every labelling of a project, or of one of its topics; dropped ones only if asked for."""
    cache = cache or LabellingCache()
    rows = [
        row
        for row in labellings_of(connection, project_id=project_id, topic_id=topic_id)
        if dropped or row["state"] != "dropped"
    ]
    logs = judgments_of_project(connection, project_id, topic_id)
    decisions = decisions_of(connection, project_id)
    queries = changes_of(connection, TOPICS, project_id)
    documents = changes_of(connection, DOCUMENTS, project_id)
    shapes = _shapes(connection, rows, cache)
    tasks = _Tasks(connection.engine, sorted(rows, key=lambda row: (not row["seq"], row["id"])))
    return [
        Record(
            row,
            logs.get(row["id"], []),
            shapes[row["id"]],
            tasks,
            cache,
            decisions.get(row["topic"], {}),
            queries.get(row["topic_key"], ()),
            documents,
        )
        for row in rows
    ]


def _shapes(connection: Connection, rows: Sequence[RowMapping], cache: LabellingCache) -> dict[int, Shape]:
    """The shapes of labellings. The documents of an assigned topic never change, so they are counted once."""
    unknown = {row["topic"] for row in rows if row["id"] not in cache.shapes}
    many = len(unknown) > MOST_TOPICS  # then the rows are those of one project
    by_topic = shapes_of(connection, unknown, rows[0]["project"] if many else None) if unknown else {}
    for row in rows:
        if row["topic"] in by_topic:
            cache.shapes[row["id"]] = by_topic[row["topic"]]
    return {row["id"]: cache.shapes.get(row["id"], Shape(0, False)) for row in rows}


def standings_of(connection: Connection, rows: Sequence[RowMapping], cache: LabellingCache) -> list[Standing]:
    """How far labellings are; the rows come from :func:`labellings_of`. Only what changed is replayed."""
    untouched, begun = [row for row in rows if not row["seq"]], [row for row in rows if row["seq"]]
    standings = {row["id"]: cache.standing(row["id"], row["seq"]) for row in begun}
    changed = [row for row in begun if standings[row["id"]] is None]
    for number, task in (tasks_of(connection, changed) if changed else {}).items():
        standings[number] = Standing.of(cache.replay(task, judgments_after(connection, number)))
    shapes = _shapes(connection, untouched, cache)
    for row in untouched:
        standings[row["id"]] = starting_point(row["strategy"], row["k"], shapes[row["id"]])
    return [standing for row in rows if (standing := standings[row["id"]]) is not None]


def judgments_of(records: list[Record]) -> Judgments:
    """All answers that count."""
    parts = [record.judgments() for record in records]
    return Judgments(
        tuple(grade for part in parts for grade in part.grades),
        tuple(preference for part in parts for preference in part.preferences),
    )


def top_of(records: list[Record]) -> TopK | None:
    """The top k of one topic: from preferences if a labelling in pairs is complete, else from grades.

    Labellings of several assessors are merged into the order that contradicts the fewest of their answers;
    settled pairs outweigh them.
    """
    complete = [record for record in records if record.standing.done]
    pairs = [record.lab for record in complete if record.tool == "pairs"]
    decisions = records[0].decisions if records else {}
    if len(pairs) == 1 and not decisions:
        return pairs[0].result
    if pairs:
        return merge_labellings(pairs, decisions)
    graded = [record.lab.result for record in complete if record.lab.result]
    if not graded or (len(graded) == 1 and not decisions):
        return graded[0] if graded else None
    return consensus(graded, records[0].row["k"], decisions)


def by_topic(records: list[Record]) -> dict[int, list[Record]]:
    """The labellings of each topic id, in the order of the topics."""
    groups: dict[int, list[Record]] = {}
    for record in sorted(records, key=lambda record: record.topic_id):
        groups.setdefault(record.topic_id, []).append(record)
    return groups
