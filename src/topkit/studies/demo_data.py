"""The small collection that comes with the package: questions about Python's standard library.

Questions, descriptions and judgments are embedded. The documents are the docstrings of the running Python,
so nothing has to be copied; if a version lacks one, the document is its name. The same judgments with
features computed in advance are a data set for quick studies.
"""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.resources import files
from inspect import getdoc
from pathlib import Path
from typing import NamedTuple

import numpy as np

from topkit.data import Dataset, read_letor
from topkit.data.files import text_writer
from topkit.features import Document, Index, LinkGraph

FEATURES = (
    "bm25.name",
    "bm25.summary",
    "bm25.docstring",
    "bm25.module",
    "bm25.whole",
    "lm_dir.whole",
    "length.docstring",
    "in_links",
)
"""Few features, because there are few questions. A link is a docstring that mentions another document."""
SHORT_NAME = 4
"""Names of up to this many letters are ordinary words, so a docstring that contains one is not a link."""


class Topic(NamedTuple):
    """A question, its meaning, and the relevance of each candidate."""

    id: str
    query: str
    description: str
    relevance: dict[str, float]
    """Candidate → grade 0–3 plus a fraction for its position among the candidates of that grade."""


def demo_path() -> Path:
    """The path of a LETOR text: 120 questions with 14 candidates each, grades 0–3 and the FEATURES."""
    return Path(str(files("topkit.studies").joinpath("demo_data.txt")))


def demo_data() -> Dataset:
    """The data set that comes with topkit: 120 questions about Python's standard library, 14 docstrings each.

    Grades are 0–3 and there are eight features, among them BM25 of the name, of the first line and of the
    whole docstring. It is small and quick to learn from, for examples and tests.

    >>> data = demo_data()
    >>> data.n_queries, len(data), data.feature_names[2]
    (120, 1680, 'bm25.docstring')
    """
    return replace(read_letor(demo_path()), feature_names=FEATURES)


@cache
def topics() -> tuple[Topic, ...]:
    """All questions, in order.

    >>> first = topics()[0]
    >>> first.query, len(first.relevance), max(first.relevance, key=first.relevance.get)
    ('copy a file with its permissions', 14, 'shutil.copy')
    """
    text = files("topkit.studies").joinpath("demo_topics.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    data = read_letor(demo_path(), features=False)  # the reader of features takes seconds to compile
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
    """All candidates, each once."""
    return [document(name) for name in sorted({name for topic in topics() for name in topic.relevance})]


def document(name: str) -> Document:
    """A function or class: name in words, first line of the docstring, name and docstring, module.

    The field of the module is the beginning of the module's own docstring.
    """
    module, _, attribute = name.rpartition(".")
    text = _docstring(module, attribute) or spoken(name)
    about_module = _docstring(module) or spoken(module)
    fields = {
        "name": spoken(name),
        "summary": text.strip().split("\n")[0],
        "docstring": f"{spoken(name)}. {text}",
        "module": " ".join(about_module.split("\n\n")[:2]),
    }
    return Document(name, fields)


def mentions(collection: list[Document], index: Index) -> LinkGraph:
    """The links of the collection: a docstring that contains the last part of another document's name."""
    place = {name: number for number, name in enumerate(index.doc_ids.tolist())}
    by_word: dict[str, list[str]] = {}
    for name in place:
        word = name.rpartition(".")[2]
        if len(word) > SHORT_NAME:
            by_word.setdefault(word, []).append(name)
    pairs = [
        (place[source.id], place[target])
        for source in collection
        for word in sorted(set(re.findall(r"\w+", source.fields["docstring"])) & by_word.keys())
        for target in by_word[word]
        if target != source.id
    ]
    return LinkGraph.of(len(place), np.array(pairs, np.int64).reshape(-1, 2))


def spoken(name: str) -> str:
    """The words of a qualified name.

    >>> spoken("xml.etree.ElementTree.canonicalize")
    'xml etree Element Tree canonicalize'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace(".", " ").replace("_", " ")


def _docstring(module: str, attribute: str = "") -> str:
    """The docstring of a module or of one of its members; empty if this Python lacks it."""
    try:
        imported = import_module(module)
        return getdoc(getattr(imported, attribute) if attribute else imported) or ""
    except (ImportError, AttributeError):
        return ""


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
        writer.writerows((document.id, document.id, document.fields["docstring"]) for document in collection)
