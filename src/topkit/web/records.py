"""All labellings of a project, folded: what the dashboard looks at and the exports write."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import cast

from sqlalchemy.engine import Connection, RowMapping

from topkit.data.judgments import Answer, Grade, Judgments, Preference
from topkit.labelling import GRADES, Labelling, TopK, consensus, merge_labellings
from topkit.web.store.work import Event, Task, events_of_project, labellings_of, standing, tasks_of_project
from topkit.web.turns import Course

KEPT = 5_000


@dataclass(frozen=True)
class Record:
    """One labelling with its events and where it stands."""

    row: RowMapping
    task: Task
    events: list[Event]
    lab: Labelling

    @property
    def topic(self) -> str:
        """The topic's key."""
        return str(self.row["topic_key"])

    @property
    def assessor(self) -> str:
        """The assessor's name."""
        return str(self.row["assessor"])

    def judgments(self) -> Judgments:
        """The answers that stand, in the order given."""
        grades: list[Grade] = []
        preferences: list[Preference] = []
        for event in standing(self.events):
            who = (self.assessor, event.seconds, event.time)
            if event.b is None:
                grades.append(Grade(self.topic, event.a, GRADES.index(event.answer), *who))
            else:
                answer = cast(Answer, event.answer)
                preferences.append(Preference(self.topic, event.a, event.b, answer, *who))
        return Judgments(tuple(grades), tuple(preferences))


class Folds:
    """Labellings by (id, last sequence number): a labelling is a function of these, so it may be kept."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], Labelling] = OrderedDict()
        self._lock = Lock()

    def at(self, task: Task, events: list[Event]) -> Labelling:
        """The labelling after these events."""
        key = task.id, events[-1].seq if events else 0
        with self._lock:
            found = self._kept.get(key)
        if found is None:
            found = Course.replayed(task, events).lab
            with self._lock:
                self._kept[key] = found
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
        return found


def records_of(connection: Connection, number: int, folds: Folds | None = None) -> list[Record]:
    """Every labelling of a project."""
    folds = folds or Folds()
    tasks, events = tasks_of_project(connection, number), events_of_project(connection, number)
    found = []
    for row in labellings_of(connection, project_id=number):
        given = events.get(row["id"], [])
        found.append(Record(row, tasks[row["id"]], given, folds.at(tasks[row["id"]], given)))
    return found


def judgments_of(records: list[Record]) -> Judgments:
    """All answers that stand."""
    whole = [record.judgments() for record in records]
    return Judgments(
        tuple(grade for one in whole for grade in one.grades),
        tuple(preference for one in whole for preference in one.preferences),
    )


def top_of(records: list[Record]) -> TopK | None:
    """The top k of one topic's labellings: by preferences where one is complete, else by grades.

    Several assessors are merged into the order that goes against the fewest of their answers.
    """
    pairs = [record.lab for record in records if record.task.tool == "pairs" and record.lab.result]
    if len(pairs) == 1:
        return pairs[0].result
    if pairs:
        return merge_labellings(pairs)
    graded = [record.lab.result for record in records if record.lab.result]
    if len(graded) < 2:
        return graded[0] if graded else None
    return consensus(graded, records[0].task.k)


def by_topic(records: list[Record]) -> dict[int, list[Record]]:
    """Topic id → its labellings, in the order of the topics."""
    found: dict[int, list[Record]] = {}
    for record in sorted(records, key=lambda record: record.task.topic):
        found.setdefault(record.task.topic, []).append(record)
    return found
