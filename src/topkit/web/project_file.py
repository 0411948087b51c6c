"""Reads the file of a whole project and checks it, without a database.

Everything that takes time happens here: parsing, and the replay of every labelling. So an import holds the
write lock of the database only while it inserts the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import Field

from topkit.data.errors import InputError
from topkit.data.files import FilePath
from topkit.web.document_kinds import KINDS
from topkit.web.json_lines import read_records
from topkit.web.judging import Judgment, LabellingState, ShownDocument, Task
from topkit.web.material import check_document, check_topic
from topkit.web.project_extras import READERS, Extra
from topkit.web.shapes import LARGEST_NUMBER, Body, ProjectState, checked, checked_name, checked_project
from topkit.web.store.labellings import LABELLING_STATES, LABELLING_TOOLS
from topkit.web.store.projects import LIMIT_OF_DOCUMENTS, Document, Topic, check_project

REMEDY = "give a file that 'topkit label export --format project' has written"
PROJECT_FIELDS = ("name", "k", "strategy", "tools", "seed", "instructions")
LATER_FIELDS = ("created", "gold_rate", "state")
LONGEST_LINE = 32 << 20
"""Bytes; a line may contain a picture of 4 MB, or a document of two million characters."""
VERSIONS = (1, 2)
"""Version 2 adds these settings, versions of documents, and everything in ``project_extras``."""
LABELLING_FIELDS = ("tool", "strategy", "k", "seed", "created")


class LaterSettings(Body):
    """Settings that files of version 2 contain."""

    created: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    gold_rate: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    state: ProjectState = "active"


@dataclass(frozen=True)
class Candidates:
    """The documents of a topic in their order, and those with a prior rank, best first."""

    documents: Mapping[str, ShownDocument]
    prior: tuple[str, ...]


@dataclass(frozen=True)
class LabellingEntry:
    """A labelling of a topic by an assessor, with all its judgments."""

    topic: str
    assessor: str
    values: dict[str, Any]
    judgments: list[Judgment]


@dataclass
class ProjectFile:
    """A project: settings, material and labellings, by the keys in the file."""

    settings: dict[str, Any]
    topics: dict[str, Topic] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)
    candidates: dict[str, Candidates] = field(default_factory=dict)
    labellings: list[LabellingEntry] = field(default_factory=list)
    topic_versions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Earlier texts of topics, the oldest first."""
    document_versions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Earlier texts of documents, the oldest first."""
    extras: list[Extra] = field(default_factory=list)
    """Gold questions, decisions, remarks, pictures, models, and what was learned."""
    features: list[str] = field(default_factory=list)
    """The uploaded features, in parts."""
    _counts: dict[tuple[str, str], int] = field(default_factory=dict)
    """The number of judgments by topic and assessor."""

    def add(self, record: dict[str, Any]) -> None:
        """Add one line of the file; it may name only topics and documents of earlier lines."""
        add: dict[str, Callable[[dict[str, Any]], None]] = {
            "topic": self._add_topic,
            "document": self._add_document,
            "candidates": self._add_candidates,
            "labelling": self._add_labelling,
            "topic_version": self._add_topic_version,
            "document_version": self._add_document_version,
            "features": lambda record: self.features.append(_text(record, "features")),
        }
        kinds = [kind for kind in (*add, *READERS) if kind in record]
        if len(kinds) != 1:
            raise InputError(f"unknown kind of record (fields {', '.join(record) or 'none'})", REMEDY)
        if kinds[0] in add:
            add[kinds[0]](record)
        else:
            self.extras += READERS[kinds[0]](record, self)

    def topic(self, key: str) -> str:
        """A topic that a line above has named."""
        if key not in self.topics:
            raise InputError(f"there is no topic {key!r} above this line", REMEDY)
        return key

    def check_document(self, key: str) -> None:
        """Raise an error unless a line above has named this document."""
        if key not in self.documents:
            raise InputError(f"there is no document {key!r} above this line", REMEDY)

    def count_judgments(self, topic: str, assessor: str) -> int:
        """The judgments of an assessor on a topic that a line above has assigned to them."""
        if (topic, assessor) not in self._counts:
            raise InputError(f"{assessor!r} has no labelling of topic {topic!r} above this line", REMEDY)
        return self._counts[topic, assessor]

    @staticmethod
    def _check_new(key: str, known: Mapping[str, object], what: str) -> None:
        if key in known:
            raise InputError(f"{what} {key!r} appears twice", REMEDY)

    def _add_topic(self, record: dict[str, Any]) -> None:
        key = _text(record, "topic")
        self._check_new(key, self.topics, "topic")
        topic = Topic(key, _text(record, "query"), _text(record, "description"))
        check_topic(topic)
        self.topics[key] = topic
        for query, description, until in record.get("versions", []):  # in files of version 1
            self._add_topic_version(
                {"topic_version": key, "query": query, "description": description, "until": until}
            )

    def _add_topic_version(self, record: dict[str, Any]) -> None:
        key = self.topic(_text(record, "topic_version"))
        old = Topic(key, _text(record, "query"), _text(record, "description"))
        check_topic(old)
        texts = {"query": old.query, "description": old.description}
        self.topic_versions.setdefault(key, []).append({**texts, "until": _number(record["until"])})

    def _add_document(self, record: dict[str, Any]) -> None:
        key = _text(record, "document")
        self._check_new(key, self.documents, "document")
        if len(self.documents) == LIMIT_OF_DOCUMENTS:
            raise InputError(f"more than {LIMIT_OF_DOCUMENTS:,} documents", "make several projects")
        self.documents[key] = _document(key, record)

    def _add_document_version(self, record: dict[str, Any]) -> None:
        key = _text(record, "document_version")
        self.check_document(key)
        old = _document(key, record)
        texts = {"kind": old.kind, "title": old.title, "body": old.body}
        self.document_versions.setdefault(key, []).append({**texts, "until": _number(record["until"])})

    def _add_candidates(self, record: dict[str, Any]) -> None:
        topic = self.topic(_text(record, "candidates"))
        self._check_new(topic, self.candidates, "the candidates of topic")
        shown: dict[str, ShownDocument] = {}
        for key in record["documents"]:
            doc = self.documents.get(key)
            if doc is None or key in shown:
                raise InputError(f"{key!r} is a candidate twice, or not a document of the file", REMEDY)
            shown[key] = ShownDocument(0, key, doc.title, doc.kind)  # type: ignore[arg-type]
        prior = tuple(dict.fromkeys(record["prior"]))
        if len(prior) != len(record["prior"]) or not shown.keys() >= set(prior):
            raise InputError("the prior ranking contains a document twice, or one that is not a candidate")
        self.candidates[topic] = Candidates(shown, prior)

    def _add_labelling(self, record: dict[str, Any]) -> None:
        topic, assessor = self.topic(_text(record, "labelling")), checked_name(record["assessor"])
        if (topic, assessor) in self._counts:
            raise InputError(f"{assessor!r} has two labellings of topic {topic!r}", REMEDY)
        self._counts[topic, assessor] = len(record["judgments"])
        values = {name: record[name] for name in LABELLING_FIELDS}
        values["state"] = record.get("state", "open")
        if values["state"] not in LABELLING_STATES:
            raise InputError(f"unknown state {values['state']!r} of a labelling", REMEDY)
        if values["tool"] not in LABELLING_TOOLS:
            raise InputError(f"unknown tool {values['tool']!r}", REMEDY)
        candidates = self.candidates.get(topic)
        if candidates is None or not candidates.documents:
            raise InputError("the labelling has no documents", REMEDY)
        judgments = [_judgment(row) for row in record["judgments"]]
        if len({judgment.key for judgment in judgments}) < len(judgments):
            raise InputError("two judgments have the same key", REMEDY)
        task = Task(
            id=len(self.labellings) + 1,
            project=0,
            topic=0,
            person=0,
            tool=values["tool"],
            k=_whole(record, "k", 1),
            strategy=_text(record, "strategy"),
            seed=_whole(record, "seed", 0),
            documents=candidates.documents,
            prior=candidates.prior or None,
        )
        values["created"] = _number(values["created"])
        LabellingState.replay(task, judgments)
        self.labellings.append(LabellingEntry(topic, assessor, values, judgments))


def read_project(path: FilePath) -> ProjectFile:
    """The project in a file; every labelling is replayed before it is accepted."""
    file: ProjectFile | None = None
    for line, record in read_records(path, REMEDY, LONGEST_LINE):
        try:
            if file is None:
                file = ProjectFile(_settings(record))
            else:
                file.add(record)
        except InputError as error:
            raise InputError(error.problem, error.remedy or REMEDY, file=path, line=line) from None
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            kind = type(error).__name__
            raise InputError(f"the record is invalid ({kind})", REMEDY, file=path, line=line) from None
    if file is None:
        raise InputError("the file is empty", REMEDY, file=path)
    return file


def _settings(record: dict[str, Any]) -> dict[str, Any]:
    """The settings of the project. Files of version 1 do not contain the later ones."""
    if record.get("version") not in VERSIONS:
        raise InputError(f"the file is not a project of version {' or '.join(map(str, VERSIONS))}", REMEDY)
    values = checked_project({name: record["project"][name] for name in PROJECT_FIELDS})
    check_project(values)
    later = {name: record["project"][name] for name in LATER_FIELDS if name in record["project"]}
    return {**values, **checked(LaterSettings, later).model_dump(exclude_unset=True)}


def _document(key: str, record: Mapping[str, Any]) -> Document:
    kind = _text(record, "kind")
    if kind not in KINDS:
        raise InputError(f"unknown kind of document {kind!r}", REMEDY)
    document = Document(key, kind, _text(record, "title"), _text(record, "body"))
    check_document(document)
    return document


def _judgment(values: Any) -> Judgment:
    judgment = Judgment(*values)
    _whole({"seq": judgment.seq}, "seq", 1)
    for name in ("key", "a", "answer"):
        _text({name: getattr(judgment, name)}, name)
    if judgment.b is not None:
        _text({"b": judgment.b}, "b")
    return replace(judgment, seconds=_number(judgment.seconds), time=_number(judgment.time))


def _text(record: Mapping[str, Any], name: str) -> str:
    """A field that every database can store as text."""
    value = record[name]
    if not isinstance(value, str) or "\0" in value:
        raise InputError(f"{name}: expected a text, got {str(value)[:40]!r}", REMEDY)
    value.encode()  # a lone surrogate is a ValueError
    return value


def _whole(record: Mapping[str, Any], name: str, least: int) -> int:
    value = record[name]
    if type(value) is not int or not least <= value <= LARGEST_NUMBER:
        raise InputError(f"{name}: expected an integer from {least}, got {str(value)[:40]!r}", REMEDY)
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise InputError(f"expected a number, got {str(value)[:40]!r}", REMEDY)
    return float(value)
