"""Test collections: documents, queries and judgments, from the files and objects of the field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from os import fspath
from pathlib import Path
from typing import Any

from topkit.compute import require
from topkit.data import InputError, Judgments, read_qrels
from topkit.data.compression import ENDINGS, without_compression
from topkit.data.files import FilePath
from topkit.data.foreign import judgments_of
from topkit.data.words import counted
from topkit.features.corpus import Document, read_documents
from topkit.features.queries import read_queries

TEXT_FIELDS = ("text", "title", "query", "question")
"""Fields of a query that may hold its text; the first that exists is used."""


@dataclass(frozen=True)
class Documents:
    """Documents that can be iterated over more than once; nothing is read before."""

    read: Callable[[], Iterator[Document]] = field(repr=False)
    source: str

    def __iter__(self) -> Iterator[Document]:
        return self.read()


@dataclass(frozen=True, repr=False)
class Collection:
    """A corpus, queries and judgments.

    >>> documents = Documents(lambda: iter([Document("d1", {"text": "a red wing"})]), "example")
    >>> Collection(documents, {"q1": "wing"}, Judgments.of({"q1": {"d1": 1}}))
    Collection(documents of example, 1 query, Judgments(1 query, 1 grade))
    """

    documents: Documents
    queries: Mapping[str, str]
    judgments: Judgments

    @classmethod
    def from_files(
        cls,
        documents: FilePath | Iterable[FilePath],
        queries: FilePath,
        judgments: FilePath,
        *,
        query_field: str | None = None,
        judgments_format: str | None = None,
    ) -> Collection:
        """A collection in files of any supported format, compressed or not.

        The formats are those of :func:`topkit.read_documents` (JSON Lines, CSV, TSV, MS MARCO, TREC, SMART),
        :func:`topkit.read_queries` (tab-separated, JSON Lines, TREC topics, SMART) and
        :func:`topkit.read_qrels`, where ``judgments_format`` names one that cannot be recognised.
        ``query_field`` chooses the field of topics, such as ``desc``.
        """
        paths = [documents] if isinstance(documents, str | Path) else list(documents)  # type: ignore[arg-type]

        def read() -> Iterator[Document]:
            for path in paths:
                yield from read_documents(path)

        source = ", ".join(fspath(path) for path in paths)
        texts = read_queries(queries, field=query_field)
        return cls(Documents(read, source), texts, read_qrels(judgments, judgments_format))

    @classmethod
    def from_beir(cls, folder: FilePath, split: str = "test") -> Collection:
        """A folder of BEIR: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/SPLIT.tsv``, compressed or not.

        Only the queries that the split judges are kept, as BEIR itself does.
        """
        place = Path(folder)
        judged = _file(place / "qrels", f"{split}.tsv", f"choose another split: {_splits(place)}")
        collection = cls.from_files(_file(place, "corpus.jsonl"), _file(place, "queries.jsonl"), judged)
        grades = collection.judgments.grades_by_query()
        queries = {qid: text for qid, text in collection.queries.items() if qid in grades}
        return cls(collection.documents, queries, collection.judgments)

    @classmethod
    def from_smart(cls, folder: FilePath, *, judgments_format: str | None = None) -> Collection:
        """A folder of a SMART collection: ``CISI.ALL``, ``CISI.QRY`` and ``CISI.REL``, or other names.

        Judgments with three columns need ``judgments_format``: ``cranfield`` for the Cranfield collection.
        """
        place = Path(folder)
        documents = _matching(place, "*.all*", "documents")
        queries = _matching(place, "*.q[ru][ye]*", "queries")
        judged = _matching(place, "*rel", "judgments")
        return cls.from_files(documents, queries, judged, judgments_format=judgments_format)

    @classmethod
    def from_ir_datasets(cls, dataset: Any) -> Collection:
        """A data set of ir_datasets, or its name: ``Collection.from_ir_datasets("vaswani")``."""
        if isinstance(dataset, str):
            dataset = require("ir_datasets", "collections").load(dataset)
        missing = [name for name in ("docs_iter", "queries_iter", "qrels_iter") if not hasattr(dataset, name)]
        if missing:
            problem = f"expected a data set with documents, queries and judgments, got no {missing[0]}"
            raise InputError(problem, "choose a data set with judgments, such as beir/scifact/test")
        queries = {str(query.query_id): _query_text(query) for query in dataset.queries_iter()}
        name = getattr(dataset, "dataset_id", lambda: "ir_datasets")
        documents = Documents(lambda: map(_document, dataset.docs_iter()), str(name()))
        return cls(documents, queries, judgments_of(dataset))

    @classmethod
    def from_datasets(cls, corpus: Any, queries: Any, judgments: Any) -> Collection:
        """Three data sets of Hugging Face's ``datasets`` with the columns of BEIR.

        ``corpus`` and ``queries`` have an ``_id`` (or ``id``) and texts; ``judgments`` has ``query-id``,
        ``corpus-id`` and ``score``, or any columns that :meth:`topkit.Judgments.from_frame` finds. Lists of
        dictionaries work too.
        """
        texts = {str(_id_of(row)): _row_text(row) for row in queries}
        name = str(getattr(getattr(corpus, "info", None), "dataset_name", None) or "datasets")
        documents = Documents(lambda: map(_row_document, corpus), name)
        return cls(documents, texts, judgments_of(judgments))

    def __repr__(self) -> str:
        queries = counted(len(self.queries), "query")
        return f"Collection(documents of {self.documents.source}, {queries}, {self.judgments})"


# -- files -------------------------------------------------------------------------------------------------
def _file(folder: Path, name: str, remedy: str = "give the folder of a BEIR data set") -> Path:
    """A file of a folder, which may be compressed."""
    for ending in ("", *ENDINGS):
        if (path := folder / f"{name}{ending}").is_file():
            return path
    raise InputError("no such file", remedy, file=folder / name)


def _splits(folder: Path) -> str:
    names = {Path(without_compression(path)).stem for path in (folder / "qrels").glob("*.tsv*")}
    return ", ".join(sorted(names)) or "none found"


def _matching(folder: Path, pattern: str, what: str) -> Path:
    paths = [path for path in sorted(folder.glob("*")) if fnmatch(path.name.lower(), pattern)]
    if len(paths) != 1:
        problem = f"expected one file {pattern} with the {what}, found {len(paths)}"
        raise InputError(problem, "name the files: Collection.from_files(…)", file=folder)
    return paths[0]


# -- objects -----------------------------------------------------------------------------------------------
def _document(record: Any) -> Document:
    """A document of ir_datasets: a named tuple with a ``doc_id`` and fields."""
    names = [name for name in record._fields if name != "doc_id"]
    texts = {name: getattr(record, name) for name in names}
    return Document(str(record.doc_id), {name: text for name, text in texts.items() if isinstance(text, str)})


def _query_text(query: Any) -> str:
    for name in TEXT_FIELDS:
        if isinstance(text := getattr(query, name, None), str):
            return text
    raise InputError(
        f"query {query.query_id!r} has no text", f"expected one of the fields {', '.join(TEXT_FIELDS)}"
    )


def _id_of(row: Mapping[str, Any]) -> object:
    for name in ("_id", "id", "qid", "query_id", "query-id", "doc_id", "docid", "docno"):
        if name in row:
            return row[name]
    raise InputError(
        f"expected a column _id or id, got {', '.join(map(str, row))}", "rename the column of ids"
    )


def _row_text(row: Mapping[str, Any]) -> str:
    for name in TEXT_FIELDS:
        if isinstance(row.get(name), str):
            return str(row[name])
    raise InputError(
        f"expected a column of texts, got {', '.join(map(str, row))}",
        f"name it {' or '.join(TEXT_FIELDS)}",
    )


def _row_document(row: Mapping[str, Any]) -> Document:
    name = _id_of(row)
    texts = {key: value for key, value in row.items() if isinstance(value, str) and value is not name}
    return Document(str(name), texts)
