"""Run: the documents that a system returned for each query, in the order given. An immutable value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.data.arrays import read_only
from topkit.data.dataset import Dataset
from topkit.data.errors import InputError
from topkit.data.strings import Strings
from topkit.data.words import counted

RESULTS = "give {query: {document: score}} or {query: [(document, score), …]}"


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """Documents with scores for each query; query q is rows ``ptr[q]:ptr[q+1]``.

    The order given is kept; a measure sorts by score under the rules of its convention. Any array-like is
    accepted and converted; the caller's arrays stay writable.

    >>> run = Run.of({"q1": [("d2", 1.5), ("d1", 0.5)]}, name="bm25")
    >>> run["q1"]
    [('d2', 1.5), ('d1', 0.5)]
    """

    qids: tuple[str, ...]
    ptr: NDArray[np.int64]
    docs: Strings
    scores: NDArray[np.float64]
    name: str = "run"
    frame_backend: str = ""
    """The library of the frame it came from, so that ``to_frame`` returns a frame of the same library."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "qids", tuple(map(str, self.qids)))
        object.__setattr__(self, "ptr", read_only(self.ptr, np.int64, "ptr"))
        object.__setattr__(self, "docs", Strings.of(self.docs))
        object.__setattr__(self, "scores", read_only(self.scores, np.float64, "scores"))
        n = self.scores.size
        if self.scores.shape != (n,) or len(self.docs) != n:
            raise InputError(f"a run needs one score per document: {len(self.docs)} documents, {n} scores")
        if self.ptr.shape != (len(self.qids) + 1,) or self.ptr[0] != 0 or self.ptr[-1] != n:
            raise InputError(f"ptr must have {len(self.qids) + 1} entries from 0 to {n}")
        if np.isnan(self.scores).any():
            raise InputError("the scores of a run must not be NaN")
        if len(set(self.qids)) != len(self.qids):
            raise InputError("query ids must be unique")

    @classmethod
    def of(
        cls, results: Mapping[str, Mapping[str, float] | Sequence[tuple[str, float]]], name: str = "run"
    ) -> Run:
        """A run from {query: {document: score}}, as in pytrec_eval, or {query: [(document, score), …]}.

        >>> Run.of({"q1": {"d2": 1.5, "d1": 0.5}})["q1"]
        [('d2', 1.5), ('d1', 0.5)]
        """
        if not isinstance(results, Mapping):
            raise InputError(f"expected query → results, got {type(results).__name__}", RESULTS)
        rows = [pair for query, documents in results.items() for pair in _pairs(query, documents)]
        ptr = np.zeros(len(results) + 1, np.int64)
        np.cumsum([len(documents) for documents in results.values()], out=ptr[1:])
        try:
            scores = np.array([score for _, score in rows], np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError("expected numbers as the scores of a run", RESULTS) from None
        return cls(tuple(results), ptr, Strings.of([doc for doc, _ in rows]), scores, name)

    @classmethod
    def from_scores(cls, data: Dataset, scores: ArrayLike, name: str = "run") -> Run:
        """The documents of a data set in descending order of score; equal scores keep their input order."""
        values = np.asarray(scores, np.float64)
        if values.shape != (len(data),):
            raise InputError(f"expected {len(data)} scores, one per document, got shape {values.shape}")
        order = np.lexsort((-values, data.query_index))
        return cls(
            data.qids,
            data.ptr,
            data.names_of_documents().take(order),
            values[order],
            name,
            data.frame_backend,
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        qid: str | None = None,
        doc_id: str | None = None,
        score: str | None = None,
        name: str = "run",
    ) -> Run:
        """A run from a pandas or polars data frame or an Arrow table, with rows in any order.

        The columns are named, or found under the names of PyTerrier (qid, docno, score), ranx (q_id, doc_id,
        score) and ir_measures (query_id, doc_id, score). Without a score, −rank is the score.
        """
        from topkit.data.frames import run_from_frame

        return run_from_frame(frame, qid, doc_id, score, name)

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with PyTerrier's columns qid, docno, score and rank (from 0), best first.

        backend: see :meth:`topkit.Dataset.to_frame`.
        """
        from topkit.data.frames_out import frame_of, run_columns

        return frame_of(run_columns(self), backend or self.frame_backend)

    def __len__(self) -> int:
        return len(self.qids)

    def __iter__(self) -> Iterator[str]:
        return iter(self.qids)

    @cached_property
    def position(self) -> dict[str, int]:
        """Query id → its position in ``qids``."""
        return {qid: q for q, qid in enumerate(self.qids)}

    def __contains__(self, qid: object) -> bool:
        return qid in self.position

    def rows(self, qid: str) -> slice:
        """The rows of a query in ``docs`` and ``scores``."""
        q = self.position[qid]
        return slice(int(self.ptr[q]), int(self.ptr[q + 1]))

    def __getitem__(self, qid: str) -> list[tuple[str, float]]:
        rows = self.rows(qid)
        return list(zip(self.docs[rows].tolist(), self.scores[rows].tolist(), strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        return (
            self.qids == other.qids
            and np.array_equal(self.ptr, other.ptr)
            and np.array_equal(self.scores, other.scores)
            and self.docs == other.docs
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sizes = f"{counted(len(self), 'query')}, {counted(len(self.scores), 'document')}"
        return f"Run({self.name!r}, {sizes})"


def _pairs(query: str, results: Any) -> list[tuple[str, float]]:
    """The documents and scores of a query, from either form."""
    listed = isinstance(results, Sequence) and not isinstance(results, str | bytes)
    pairs = list(results.items() if isinstance(results, Mapping) else results if listed else [None])
    # A text of two characters would unpack into a document and a score.
    if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
        raise InputError(f"expected documents with scores for query {query!r}", RESULTS)
    documents = [doc for doc, _ in pairs]
    if len(set(documents)) != len(documents):
        repeated = next(doc for doc, count in Counter(documents).items() if count > 1)
        raise InputError(
            f"document {repeated!r} is given twice for query {query!r}", "give each document once"
        )
    return pairs
