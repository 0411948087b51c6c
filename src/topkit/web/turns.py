"""A labelling that somebody works on: its state after every event, and the answer to each request."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from topkit.data.errors import InputError
from topkit.labelling import Labelling
from topkit.web.store.work import UNDO, Event, Task, standing


class Entry(NamedTuple):
    """What a page sends: the answer (or "undo") to the question it showed, with the next sequence number.

    ``key`` is made by the page for this one judgment; sending it twice changes nothing.
    """

    seq: int
    key: str
    a: str
    b: str | None
    answer: str
    seconds: float


Outcome = Literal["saved", "already", "conflict", "invalid", "missing", "now"]
"""Saved; saved before; the labelling has moved on; no such answer; no such labelling; only asked."""


class Reply(NamedTuple):
    """What the server says: what became of the entry, in words, and where the labelling stands."""

    outcome: Outcome
    message: str
    turn: dict[str, Any] | None


class Course:
    """The state of one labelling, moved on by events. It belongs to one thread."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.lab: Labelling = task.start()
        self.seq = 0
        self.seconds = 0.0
        self.seen: dict[str, Event] = {}

    @classmethod
    def replayed(cls, task: Task, events: list[Event]) -> Course:
        """The course after all these events, without playing answers that were taken back."""
        course = cls(task)
        for event in standing(events):
            course._play(event)
        course.seen = {event.key: event for event in events}
        course.seq = events[-1].seq if events else 0
        return course

    def apply(self, event: Event) -> None:
        """Move on by one event."""
        if event.answer == UNDO:
            taken_back = self.lab.answers[-1]
            self.seconds -= taken_back.seconds or 0.0
            self.lab = self.lab.undo()
        else:
            self._play(event)
        self.seq = event.seq
        self.seen[event.key] = event

    def _play(self, event: Event) -> None:
        if self.lab.question != (event.a, event.b):
            problem = f"judgment {event.seq} of labelling {self.task.id} is not to the question asked there"
            raise InputError(problem, "the documents of the topic were changed behind the app's back")
        self.lab = self.lab.answer(event.answer, seconds=event.seconds)
        self.seconds += event.seconds

    def judge(self, entry: Entry, time: float) -> tuple[Outcome, str, Event | None]:
        """What becomes of an entry; the event is to be stored and applied."""
        before = self.seen.get(entry.key)
        if before is not None:
            same = (before.seq, before.answer) == (entry.seq, entry.answer)
            if same and (entry.answer == UNDO or (before.a, before.b) == (entry.a, entry.b)):
                return "already", "This judgment was saved before; it counts once.", None
            return "conflict", "This judgment has the key of another one.", None
        if entry.seq != self.seq + 1:
            return (
                "conflict",
                "You have gone on elsewhere, perhaps in another tab. Here is where you are.",
                None,
            )
        event = Event(*entry, time)
        if entry.answer == UNDO:
            if not self.lab.answers:
                return "conflict", "There is nothing to take back.", None
            last = self.lab.answers[-1]
            return "saved", "The last answer is taken back.", event._replace(a=last.a, b=last.b)
        question = self.lab.question
        if question is None:
            return "conflict", "This topic is done already.", None
        if question != (entry.a, entry.b):
            return "conflict", "This answer is to another question than the one that is open.", None
        if entry.answer not in question.choices:
            return "invalid", f"Answer one of {', '.join(question.choices)}.", None
        return "saved", "Saved.", event

    def turn(self) -> dict[str, Any]:
        """Where the labelling stands, as the page gets it."""
        question, progress, task = self.lab.question, self.lab.progress, self.task
        asked = progress.asked
        turn: dict[str, Any] = {
            "labelling": task.id,
            "tool": task.tool,
            "seq": self.seq,
            "question": None,
            "asked": asked,
            "least": progress.least,
            "most": progress.most,
            "likely": round(progress.likely, 1),
            "seconds": round(self.seconds / asked, 2) if asked else None,
            "result": None,
        }
        if question is not None:
            a, b = question
            shown = task.documents[a]
            other = None if b is None else task.documents[b]
            turn["question"] = {"a": shown._asdict(), "b": None if other is None else other._asdict()}
        else:
            result = self.lab.result
            assert result is not None  # noqa: S101 - the kernel: no question means a result
            turn["result"] = [
                {"place": place, **task.documents[item]._asdict()}
                for place, item in zip(result.places, result.order, strict=True)
            ]
        return turn
