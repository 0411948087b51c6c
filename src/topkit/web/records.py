"""All labellings of a project with their present state: the basis of the dashboard and the exports."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import cast

from sqlalchemy.engine import Connection, RowMapping

from topkit.data.judgments import Answer, Grade, Judgments, Preference
from topkit.labelling import GRADES, Labelling, TopK, consensus, merge_labellings
from topkit.labelling.assessors import Decisions
from topkit.web.judging import Judgment, LabellingState, Task, counted_answers
from topkit.web.store.judgments import judgments_of_project
from topkit.web.store.labellings import labellings_of, tasks_of_project
from topkit.web.store.quality import decisions_of
from topkit.web.store.versions import DOCUMENTS, TOPICS, Changes, changes_of

CACHED_LABELLINGS = 5_000


@dataclass(frozen=True)
class Record:
    """One labelling with its judgments and its present state."""

    row: RowMapping
    task: Task
    log: list[Judgment]
    """Every judgment, including those that were withdrawn."""
    lab: Labelling
    decisions: Decisions = field(default_factory=dict)
    """The settled pairs of the topic."""
    query_changes: tuple[float, ...] = ()
    """When the query was changed."""
    document_changes: Changes = field(default_factory=dict)
    """When documents were changed, by key."""

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


class LabellingCache:
    """Labellings by (id, last sequence number), which determine them completely."""

    def __init__(self) -> None:
        self._labellings: OrderedDict[tuple[int, int], Labelling] = OrderedDict()
        self._lock = Lock()

    def find(self, labelling_id: int, seq: int) -> Labelling | None:
        """The labelling after this many judgments, if it was replayed before."""
        with self._lock:
            return self._labellings.get((labelling_id, seq))

    def replay(self, task: Task, judgments: list[Judgment]) -> Labelling:
        """The labelling after these judgments."""
        key = task.id, judgments[-1].seq if judgments else 0
        labelling = self.find(*key)
        if labelling is None:
            labelling = LabellingState.replay(task, judgments).lab
            with self._lock:
                self._labellings[key] = labelling
                while len(self._labellings) > CACHED_LABELLINGS:
                    self._labellings.popitem(last=False)
        return labelling


def records_of(
    connection: Connection, project_id: int, cache: LabellingCache | None = None, *, dropped: bool = False
) -> list[Record]:
    """Every labelling of a project; those whose judgments were dropped only if asked for."""
    cache = cache or LabellingCache()
    tasks, logs = tasks_of_project(connection, project_id), judgments_of_project(connection, project_id)
    decisions = decisions_of(connection, project_id)
    queries = changes_of(connection, TOPICS, project_id)
    documents = changes_of(connection, DOCUMENTS, project_id)
    records = []
    for row in labellings_of(connection, project_id=project_id):
        if row["state"] == "dropped" and not dropped:
            continue
        task, log = tasks[row["id"]], logs.get(row["id"], [])
        topic = decisions.get(task.topic, {}), queries.get(row["topic_key"], ()), documents
        records.append(Record(row, task, log, cache.replay(task, log), *topic))
    return records


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
    pairs = [record.lab for record in records if record.task.tool == "pairs" and record.lab.result]
    decisions = records[0].decisions if records else {}
    if len(pairs) == 1 and not decisions:
        return pairs[0].result
    if pairs:
        return merge_labellings(pairs, decisions)
    graded = [record.lab.result for record in records if record.lab.result]
    if not graded or (len(graded) == 1 and not decisions):
        return graded[0] if graded else None
    return consensus(graded, records[0].task.k, decisions)


def by_topic(records: list[Record]) -> dict[int, list[Record]]:
    """The labellings of each topic id, in the order of the topics."""
    groups: dict[int, list[Record]] = {}
    for record in sorted(records, key=lambda record: record.task.topic):
        groups.setdefault(record.task.topic, []).append(record)
    return groups
