"""Matches: what a feature sees of one stream: query terms beside candidates, as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError
from topkit.features.index import Index, Stream

Floats = NDArray[np.float64]


class Queries(NamedTuple):
    """Analysed queries: those of query q are ``terms[ptr[q]:ptr[q+1]]``, each with its count in the query."""

    qids: tuple[str, ...]
    ptr: NDArray[np.int64]
    terms: NDArray[np.int32]
    counts: NDArray[np.int32]

    def of(self, q: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The terms and counts of query number q."""
        rows = slice(int(self.ptr[q]), int(self.ptr[q + 1]))
        return self.terms[rows], self.counts[rows]


class Candidates(NamedTuple):
    """The documents to rank: those of query q are numbers ``docs[ptr[q]:ptr[q+1]]``, ascending."""

    qids: tuple[str, ...]
    ptr: NDArray[np.int64]
    docs: NDArray[np.int32]

    @classmethod
    def of(cls, qids: Sequence[str], docs: Sequence[NDArray[np.int32]]) -> Candidates:
        ptr = np.zeros(len(docs) + 1, np.int64)
        np.cumsum([len(part) for part in docs], out=ptr[1:])
        return cls(tuple(qids), ptr, np.concatenate([np.zeros(0, np.int32), *docs]))


def analyse_queries(index: Index, queries: dict[str, str]) -> Queries:
    """The terms of every query that occur in the corpus; terms that do not are left out."""
    if not queries:
        raise InputError("there are no queries")
    parts = [index.query(text) for text in queries.values()]
    ptr = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(terms) for terms, _ in parts], out=ptr[1:])
    terms = np.concatenate([terms for terms, _ in parts])
    return Queries(tuple(queries), ptr, terms, np.concatenate([counts for _, counts in parts]))


@dataclass(frozen=True, eq=False)
class Matches:
    """Pairs of a query term and a candidate, for one stream and a block of queries.

    A feature is a function of this to one number a candidate (``rows`` of them); all arrays below have one
    entry a pair unless said otherwise, and :meth:`sum` adds up the pairs of each candidate.

    >>> def my_feature(m):  # how much of the document the query's terms make up, once each
    ...     return m.sum(m.tf > 0) / (m.row_length + 1)
    """

    row: NDArray[np.int64]
    """The candidate of the pair."""
    rows: int
    tf: Floats
    """c(w, d): how often the term occurs in the document."""
    qtf: Floats
    """How often it occurs in the query."""
    df: Floats
    """In how many documents it occurs, in this stream."""
    cf: Floats
    """How often it occurs in all documents, in this stream."""
    row_doc: NDArray[np.int32]
    """The document's number (one entry a candidate)."""
    row_length: Floats
    """|d|: terms of the document (one entry a candidate)."""
    row_distinct: Floats
    """Different terms of the document (one entry a candidate)."""
    documents: int
    """|C|: documents of the corpus."""
    average_length: float
    total: int
    """Terms of all documents."""

    @cached_property
    def length(self) -> Floats:
        """|d| for each pair."""
        return self.row_length[self.row]

    @cached_property
    def distinct(self) -> Floats:
        """Different terms of the document, for each pair."""
        return self.row_distinct[self.row]

    @cached_property
    def share(self) -> Floats:
        """c(w, d)/|d|, 0 for an empty document."""
        return self.tf / np.maximum(self.length, 1.0)

    @cached_property
    def found(self) -> NDArray[np.bool_]:
        """Whether the term occurs in the document: q ∩ d."""
        return self.tf > 0

    @cached_property
    def inverse(self) -> Floats:
        """log(|C|/df), 0 for a term that the stream does not have."""
        return np.log(self.documents / np.maximum(self.df, 1.0)) * (self.df > 0)

    def sum(self, values: NDArray[np.generic]) -> Floats:
        """The sum over the terms of the query, for each candidate."""
        weights: Floats = values.astype(np.float64, copy=False)
        return np.asarray(np.bincount(self.row, weights=weights, minlength=self.rows), np.float64)

    def sum_found(self, values: Floats) -> Floats:
        """The sum over the terms of the query that the document has, for each candidate."""
        return self.sum(np.where(self.found, values, 0.0))


def match(index: Index, stream: Stream, queries: Queries, candidates: Candidates, block: range) -> Matches:
    """The matches of the queries of a block (positions in ``queries`` and ``candidates``, which agree)."""
    from topkit.features.kernels import look_up

    first, last = block.start, block.stop
    row_ptr = candidates.ptr[first : last + 1] - candidates.ptr[first]
    docs = candidates.docs[candidates.ptr[first] : candidates.ptr[last]]
    term_ptr = queries.ptr[first : last + 1] - queries.ptr[first]
    terms = queries.terms[queries.ptr[first] : queries.ptr[last]]
    counts = queries.counts[queries.ptr[first] : queries.ptr[last]]
    tf = look_up(stream.ptr, stream.docs, stream.counts, terms, term_ptr, docs, row_ptr)
    widths = np.repeat(np.diff(term_ptr), np.diff(row_ptr))
    row = np.repeat(np.arange(len(docs)), widths)
    begins = np.cumsum(widths) - widths
    query_begin = np.repeat(term_ptr[:-1], np.diff(row_ptr))
    which = np.arange(len(row)) + np.repeat(query_begin - begins, widths)
    return Matches(
        row,
        len(docs),
        tf.astype(np.float64),
        counts.astype(np.float64)[which],
        stream.frequency(terms).astype(np.float64)[which],
        np.asarray(stream.occurrences[terms]).astype(np.float64)[which],
        docs,
        np.asarray(stream.lengths[docs]).astype(np.float64),
        np.asarray(stream.distinct[docs]).astype(np.float64),
        len(index),
        stream.average_length,
        stream.total,
    )
