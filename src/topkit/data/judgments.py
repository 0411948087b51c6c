"""Judgments of assessors and users: grades, preferences with ties and "bad" marks, clicks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, nan
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args, overload

from topkit.data.columns import changes
from topkit.data.errors import InputError
from topkit.data.words import counted

Answer = Literal["a", "b", "tie", "bad-a", "bad-b"]
"""A is better, B is better, about the same, A is clearly irrelevant, B is clearly irrelevant."""

ANSWERS: tuple[Answer, ...] = get_args(Answer)


class Grade(NamedTuple):
    """The grade of a document for a query.

    ``seconds``: how long the judgment took; ``time``: when it was made, in seconds since 1970.
    """

    query: str
    doc: str
    grade: float
    assessor: str = ""
    seconds: float = nan
    time: float = nan


class Preference(NamedTuple):
    """The answer to "which of a and b is better for the query?"; ``seconds`` and ``time`` as in Grade."""

    query: str
    a: str
    b: str
    answer: Answer
    assessor: str = ""
    seconds: float = nan
    time: float = nan

    @property
    def winner(self) -> str | None:
        """The better document, or None for a tie. A "bad" mark on a document is a win of the other."""
        if self.answer in ("a", "bad-b"):
            return self.a
        return self.b if self.answer in ("b", "bad-a") else None


class Page(NamedTuple):
    """A result page as it was shown to a user, with the clicks."""

    query: str
    docs: tuple[str, ...]
    clicks: tuple[bool, ...]
    session: str = ""
    time: float = nan
    grades: tuple[float, ...] = ()
    """Grades of the documents by assessors, if they were judged too."""


class GradeTable(Sequence[Grade]):
    """The grades of a large file: a sequence whose :class:`Grade` records are created on access."""

    def __init__(self, queries: list[str], docs: list[str], grades: list[float]) -> None:
        self._columns = queries, docs, grades
        self.by_query = by_query(queries, docs, grades)

    def __len__(self) -> int:
        return len(self._columns[0])

    @overload
    def __getitem__(self, index: int) -> Grade: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Grade, ...]: ...
    def __getitem__(self, index: int | slice) -> Grade | tuple[Grade, ...]:
        queries, docs, grades = self._columns
        if isinstance(index, slice):
            return tuple(map(Grade, queries[index], docs[index], grades[index]))
        return Grade(queries[index], docs[index], grades[index])

    def __iter__(self) -> Iterator[Grade]:
        return map(Grade, *self._columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"GradeTable({counted(len(self.by_query), 'query')}, {counted(len(self), 'grade')})"


def by_query(
    queries: Sequence[str], docs: Sequence[str], grades: Sequence[float]
) -> dict[str, dict[str, float]]:
    """Query → document → grade; if a document occurs more than once, the last grade counts."""
    table: dict[str, dict[str, float]] = {}
    # Records of a query are mostly contiguous, so whole blocks are added at once.
    for start, stop in pairwise([*changes(queries), len(queries)]):
        row = table.setdefault(queries[start], {})
        row.update(zip(docs[start:stop], grades[start:stop], strict=True))
    return table


@dataclass(frozen=True, repr=False)
class Judgments:
    """Judgments of documents, before they become the labels of a Dataset.

    >>> j = Judgments(preferences=(Preference("q", "d1", "d2", "tie", "ann", 4.5),))
    >>> j.queries
    ('q',)
    """

    grades: Sequence[Grade] = ()
    preferences: tuple[Preference, ...] = ()
    pages: tuple[Page, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.grades, Mapping):  # the form of ranx and pytrec_eval
            object.__setattr__(self, "grades", _grades_of(self.grades))

    @classmethod
    def of(cls, grades: Mapping[str, Mapping[str, float]]) -> Judgments:
        """Grades from query → {document: grade}; the constructor takes this form too.

        >>> Judgments.of({"q1": {"d1": 2, "d2": 0}}).grades[0].doc
        'd1'
        """
        return cls(_grades_of(grades))

    @classmethod
    def from_frame(
        cls, frame: Any, *, qid: str | None = None, doc_id: str | None = None, label: str | None = None
    ) -> Judgments:
        """Grades from a pandas or polars data frame or an Arrow table, one row per query and document.

        The columns are named, or found under the names of PyTerrier (qid, docno, label), ranx (q_id, doc_id,
        score), ir_measures (query_id, doc_id, relevance) and BEIR (query-id, corpus-id, score). A frame with
        two documents per row and the winner (``query``, ``a``, ``b``, ``winner``), or with ``winner`` and
        ``loser``, gives preferences; :func:`topkit.read_preferences` lists the names of columns.
        """
        from topkit.data.frames import judgments_from_frame

        return judgments_from_frame(frame, qid, doc_id, label)

    @property
    def queries(self) -> tuple[str, ...]:
        """Every query, in the order of its first judgment."""
        records: Iterable[Grade | Preference | Page] = (*self.grades, *self.preferences, *self.pages)
        return tuple(dict.fromkeys(record.query for record in records))

    def grades_by_query(self) -> dict[str, dict[str, float]]:
        """Query → document → grade; if a document was graded more than once, the last grade counts."""
        if isinstance(self.grades, GradeTable):
            return self.grades.by_query
        records = self.grades
        return by_query([g.query for g in records], [g.doc for g in records], [g.grade for g in records])

    def preferences_by_query(self) -> dict[str, list[Preference]]:
        """Query → its preferences, in the order given."""
        table: dict[str, list[Preference]] = {}
        for preference in self.preferences:
            table.setdefault(preference.query, []).append(preference)
        return table

    def __add__(self, other: Judgments) -> Judgments:
        return joined_judgments((self, other))

    def __repr__(self) -> str:
        """One line, whatever the size: ``Judgments(2 queries, 5 grades)``."""
        kinds = {"grade": self.grades, "preference": self.preferences, "page": self.pages}
        parts = [counted(len(records), kind) for kind, records in kinds.items() if records]
        return f"Judgments({', '.join([counted(len(self.queries), 'query'), *parts])})"


def _grades_of(table: Mapping[str, Any]) -> GradeTable:
    remedy = "give {query: {document: grade}}"
    queries: list[str] = []
    docs: list[str] = []
    grades: list[float] = []
    for query, row in table.items():
        if not isinstance(row, Mapping):
            problem = f"expected the grades of query {query!r} as a dictionary, got {type(row).__name__}"
            raise InputError(problem, remedy)
        for doc, grade in row.items():
            if not isinstance(grade, Real) or not isfinite(grade):
                problem = f"expected a finite grade of document {doc!r} for query {query!r}, got {grade!r}"
                raise InputError(problem, remedy)
            queries.append(str(query))
            docs.append(str(doc))
            grades.append(float(grade))
    return GradeTable(queries, docs, grades)


def joined_judgments(parts: Iterable[Judgments]) -> Judgments:
    """The judgments of all parts, in order."""
    parts = list(parts)
    return Judgments(
        tuple(grade for part in parts for grade in part.grades),
        tuple(preference for part in parts for preference in part.preferences),
        tuple(page for part in parts for page in part.pages),
    )
