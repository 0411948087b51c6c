"""Reads the file of a whole project and checks it, without a database.

Everything that takes time happens here: parsing, and the replay of every labelling. So an import holds the
write lock of the database only while it inserts the rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from topkit.data.errors import InputError
from topkit.data.files import FilePath
from topkit.web.document_kinds import KINDS
from topkit.web.json_lines import read_records
from topkit.web.judging import Judgment, LabellingState, ShownDocument, Task
from topkit.web.material import check_document, check_topic
from topkit.web.shapes import LARGEST_NUMBER, checked_name, checked_project
from topkit.web.store.labellings import LABELLING_STATES, LABELLING_TOOLS
from topkit.web.store.projects import LIMIT_OF_DOCUMENTS, Document, Topic, check_project

REMEDY = "give a file that 'topkit label export --format project' has written"
PROJECT_FIELDS = ("name", "k", "strategy", "tools", "seed", "instructions")
LABELLING_FIELDS = ("tool", "strategy", "k", "seed", "created")


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
    versions: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Earlier texts of topics."""
    _labelled: set[tuple[str, str]] = field(default_factory=set)

    def add(self, record: dict[str, Any]) -> None:
        """Add one line of the file; it may name only topics and documents of earlier lines."""
        if "topic" in record:
            key = _text(record, "topic")
            self._check_new(key, self.topics, "topic")
            topic = Topic(key, _text(record, "query"), _text(record, "description"))
            check_topic(topic)
            self.topics[key] = topic
            for number, (query, description, until) in enumerate(record.get("versions", []), 1):
                texts = {"query": query, "description": description}
                old = Topic(key, _text(texts, "query"), _text(texts, "description"))
                check_topic(old)
                self.versions.append((key, {"version": number, **texts, "until": _number(until)}))
        elif "document" in record:
            self._add_document(record)
        elif "candidates" in record:
            self._add_candidates(record)
        elif "labelling" in record:
            self._add_labelling(record)
        else:
            raise InputError(f"unknown kind of record (fields {', '.join(record) or 'none'})", REMEDY)

    @staticmethod
    def _check_new(key: str, known: Mapping[str, object], what: str) -> None:
        if key in known:
            raise InputError(f"{what} {key!r} appears twice", REMEDY)

    def _add_document(self, record: dict[str, Any]) -> None:
        key = _text(record, "document")
        self._check_new(key, self.documents, "document")
        kind = _text(record, "kind")
        if kind not in KINDS:
            raise InputError(f"unknown kind of document {kind!r}", REMEDY)
        if len(self.documents) == LIMIT_OF_DOCUMENTS:
            raise InputError(f"more than {LIMIT_OF_DOCUMENTS:,} documents", "make several projects")
        document = Document(key, kind, _text(record, "title"), _text(record, "body"))
        check_document(document)
        self.documents[key] = document

    def _add_candidates(self, record: dict[str, Any]) -> None:
        topic = self._known_topic(record, "candidates")
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
        topic, assessor = self._known_topic(record, "labelling"), checked_name(record["assessor"])
        if (topic, assessor) in self._labelled:
            raise InputError(f"{assessor!r} has two labellings of topic {topic!r}", REMEDY)
        self._labelled.add((topic, assessor))
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

    def _known_topic(self, record: dict[str, Any], name: str) -> str:
        key = _text(record, name)
        if key not in self.topics:
            raise InputError(f"there is no topic {key!r} above this line", REMEDY)
        return key


def read_project(path: FilePath) -> ProjectFile:
    """The project in a file; every labelling is replayed before it is accepted."""
    file: ProjectFile | None = None
    for line, record in read_records(path, REMEDY):
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
    if record.get("version") != 1:
        raise InputError("the file is not a project of version 1", REMEDY)
    values = checked_project({name: record["project"][name] for name in PROJECT_FIELDS})
    check_project(values)
    return values


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
