"""The events of a labelling loop: decisions with their reasons, answers, fits, and the end.

The events are the whole state of a loop: they are written to a file as one JSON object per line, and reading
them gives the same loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

from topkit.data.errors import InputError


class Interval(NamedTuple):
    """A value and the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Decision:
    """A query was chosen, with the documents to compare, and why."""

    query: str
    purpose: str
    """``train``: the ranker learns from it; ``check``: only the unbiased estimate uses it."""
    items: tuple[str, ...]
    """The documents to compare."""
    k: int
    strategy: str
    seed: int
    prior: tuple[str, ...] | None
    """The documents by the scores of the ranker; None: the labelling starts without a prior."""
    why_query: str
    why_depth: str
    why_start: str


@dataclass(frozen=True)
class Answer:
    """A judge answered a question about the current query."""

    query: str
    a: str
    b: str
    answer: str
    assessor: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Fitted:
    """The ranker was fitted to all answers so far, before the next queries were chosen."""

    queries: int
    """Labelled queries."""
    minutes: float
    """Time of the judges so far."""
    gain: Interval | None
    """The expected gain of another hour; None if it was not needed, or too few queries are labelled."""
    estimate: Interval | None
    """The unbiased estimate; None before the first answer to a check."""


@dataclass(frozen=True)
class Stopped:
    """No more questions are asked, and why."""

    why: str


@dataclass(frozen=True)
class Extended:
    """The judges got more time; a loop that had stopped continues."""

    minutes: float


Event = Decision | Answer | Fitted | Stopped | Extended
KINDS: dict[str, type[Event]] = {
    "decision": Decision,
    "answer": Answer,
    "fitted": Fitted,
    "stopped": Stopped,
    "extended": Extended,
}
"""Name in files → type of event."""


def to_record(event: Event) -> dict[str, Any]:
    """The event as a JSON object.

    >>> to_record(Stopped("done"))
    {'event': 'stopped', 'why': 'done'}
    """
    name = next(name for name, kind in KINDS.items() if isinstance(event, kind))
    return {"event": name, **asdict(event)}


def of_record(record: Mapping[str, Any]) -> Event:
    """The event of a JSON object; InputError if it is not one.

    >>> of_record({"event": "stopped", "why": "done"})
    Stopped(why='done')
    """
    kind = KINDS.get(str(record.get("event")))
    values = {name: value for name, value in record.items() if name != "event"}
    if kind is None or set(values) != {field.name for field in fields(kind)}:
        raise InputError("this is not an event of a labelling loop", "use a file that a loop wrote")
    if kind is Decision:
        prior = values["prior"]
        values |= {"items": tuple(values["items"]), "prior": None if prior is None else tuple(prior)}
    if kind is Fitted:
        for name in ("gain", "estimate"):
            values[name] = None if values[name] is None else Interval(*values[name])
    return kind(**values)
