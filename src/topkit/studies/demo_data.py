"""The small collection that comes with the package: questions about Python's standard library.

Questions, descriptions and judgments are embedded. The documents are the docstrings of the running Python,
so nothing has to be copied; if a version lacks one, the document is its name. The same judgments with
features computed in advance are a data set for quick studies.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from importlib import import_module
from importlib.resources import files
from inspect import getdoc
from pathlib import Path
from typing import NamedTuple

from topkit.data import Dataset, read_letor
from topkit.data.files import text_writer
from topkit.features import Document


class Topic(NamedTuple):
    """A question, its meaning, and the relevance of each candidate."""

    id: str
    query: str
    description: str
    relevance: dict[str, float]
    """Candidate → grade 0–3 plus a fraction for its position among the candidates of that grade."""


def demo_path() -> Path:
    """The path of a LETOR text: 29 questions with 14 candidates each, grades 0–3 and 15 features."""
    return Path(str(files("topkit.studies").joinpath("demo_data.txt")))


def demo_data() -> Dataset:
    """The embedded data set."""
    return read_letor(demo_path())


@cache
def topics() -> tuple[Topic, ...]:
    """All questions, in order.

    >>> first = topics()[0]
    >>> first.query, len(first.relevance), max(first.relevance, key=first.relevance.get)
    ('copy a file with its permissions', 14, 'shutil.copy')
    """
    text = files("topkit.studies").joinpath("demo_topics.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    data = demo_data()
    names = data.names_of_documents()
    topics = []
    for line, (qid, rows) in zip(lines, data, strict=True):
        query, description, judgments = (part.strip() for part in line.split("|"))
        relevance = dict.fromkeys(names[rows].tolist(), 0.0)
        for grade, group in zip((3, 2, 1), judgments.split(";"), strict=True):
            listed = [name for name in group.split() if name in relevance]
            for place, name in enumerate(listed):
                relevance[name] = grade + (len(listed) - place - 0.5) / len(listed)
        topics.append(Topic(qid, query, description, relevance))
    return tuple(topics)


def documents() -> list[Document]:
    """All candidates, each once: the name split into words, and the docstring."""
    names = sorted({name for topic in topics() for name in topic.relevance})
    return [Document(name, {"title": spoken(name), "abstract": _docstring(name)}) for name in names]


def spoken(name: str) -> str:
    """The words of a qualified name.

    >>> spoken("xml.etree.ElementTree.canonicalize")
    'xml etree Element Tree canonicalize'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace(".", " ").replace("_", " ")


def _docstring(name: str) -> str:
    module, _, attribute = name.rpartition(".")
    try:
        return getdoc(getattr(import_module(module), attribute)) or spoken(name)
    except (ImportError, AttributeError):
        return spoken(name)


def write_topics(path: Path) -> None:
    """Write the questions as CSV: id, query, description."""
    with text_writer(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("id", "query", "description"))
        writer.writerows((topic.id, topic.query, topic.description) for topic in topics())


def write_documents(collection: list[Document], path: Path) -> None:
    """Write the documents as CSV: id, title, text."""
    with text_writer(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("id", "title", "text"))
        writer.writerows((document.id, document.id, document.fields["abstract"]) for document in collection)
