"""Matches: the input of a feature, pairs of query term and candidate in one stream, as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints32
from topkit.data import InputError
from topkit.features.index import Index, Stream


class Queries(NamedTuple):
    """Analysed queries: query q has ``terms[ptr[q]:ptr[q+1]]``, each with its count in the query."""

    qids: tuple[str, ...]
    ptr: NDArray[np.int64]
    terms: NDArray[np.int32]
    counts: NDArray[np.int32]

    @classmethod
    def of(cls, qids: Sequence[str], parts: Sequence[tuple[Ints32, Ints32]]) -> Queries:
        """Queries from the terms and counts of each."""
        terms, counts = ([part[i] for part in parts] for i in (0, 1))
        return cls(tuple(qids), _ptr(terms), np.concatenate(terms), np.concatenate(counts))

    def terms_of(self, q: int) -> tuple[Ints32, Ints32]:
        """The terms and counts of query number q."""
        rows = slice(int(self.ptr[q]), int(self.ptr[q + 1]))
        return self.terms[rows], self.counts[rows]

    def select(self, numbers: NDArray[np.int64]) -> Queries:
        """Some of the queries, by number."""
        return Queries.of([self.qids[q] for q in numbers], [self.terms_of(int(q)) for q in numbers])


class Candidates(NamedTuple):
    """The documents to rank: query q has the document numbers ``docs[ptr[q]:ptr[q+1]]``, ascending."""

    qids: tuple[str, ...]
    ptr: NDArray[np.int64]
    docs: NDArray[np.int32]

    @classmethod
    def of(cls, qids: Sequence[str], docs: Sequence[Ints32]) -> Candidates:
        """Candidates from the document numbers of each query."""
        return cls(tuple(qids), _ptr(docs), np.concatenate([np.zeros(0, np.int32), *docs]))

    def select(self, numbers: NDArray[np.int64]) -> Candidates:
        """The candidates of some of the queries, by number."""
        docs = [self.docs[self.ptr[q] : self.ptr[q + 1]] for q in numbers]
        return Candidates.of([self.qids[q] for q in numbers], docs)


def _ptr(parts: Sequence[Ints32]) -> NDArray[np.int64]:
    """Where each part starts in their concatenation, and the end of the last."""
    ptr = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=ptr[1:])
    return ptr


def analyse_queries(index: Index, queries: dict[str, str]) -> Queries:
    """The terms of every query that occur in the corpus; other terms are left out."""
    if not queries:
        raise InputError("no queries to analyse", "give at least one query")
    return Queries.of(list(queries), [index.query(text) for text in queries.values()])


@dataclass(frozen=True, eq=False)
class Matches:
    """Pairs of a query term and a candidate, for one stream and a block of queries.

    A feature is a function from this to one number per candidate (``rows`` numbers). Arrays have one entry
    per pair unless stated otherwise; :meth:`sum` adds up the pairs of each candidate.

    >>> def my_feature(m):  # share of the document that consists of query terms, each counted once
    ...     return m.sum(m.tf > 0) / (m.row_length + 1)
    """

    row: NDArray[np.int64]
    """The candidate of the pair."""
    rows: int
    tf: Floats
    """c(w, d): how often the term occurs in the document."""
    qtf: Floats
    """How often the term occurs in the query."""
    df: Floats
    """Number of documents with the term in this stream."""
    cf: Floats
    """How often it occurs in all documents of this stream."""
    row_length: Floats
    """|d|: number of terms of the document (one entry per candidate)."""
    row_distinct: Floats
    """Number of distinct terms of the document (one entry per candidate)."""
    documents: int
    """|C|: number of documents in the corpus."""
    average_length: float
    total: int
    """Number of terms in all documents."""

    @cached_property
    def length(self) -> Floats:
        """|d| of each pair."""
        return self.row_length[self.row]

    @cached_property
    def distinct(self) -> Floats:
        """Number of distinct terms of the document, for each pair."""
        return self.row_distinct[self.row]

    @cached_property
    def share(self) -> Floats:
        """c(w, d)/|d|; 0 for an empty document."""
        return self.tf / np.maximum(self.length, 1.0)

    @cached_property
    def occurs(self) -> NDArray[np.bool_]:
        """Whether the term occurs in the document: q ∩ d."""
        return self.tf > 0

    @cached_property
    def inverse(self) -> Floats:
        """log(|C|/df); 0 for a term that does not occur in the stream."""
        return np.log(self.documents / np.maximum(self.df, 1.0)) * (self.df > 0)

    def sum(self, values: NDArray[np.generic]) -> Floats:
        """The sum over the query terms, for each candidate."""
        weights: Floats = values.astype(np.float64, copy=False)
        return np.asarray(np.bincount(self.row, weights=weights, minlength=self.rows), np.float64)

    def sum_occurring(self, values: Floats) -> Floats:
        """The sum over the query terms that occur in the document, for each candidate."""
        return self.sum(np.where(self.occurs, values, 0.0))


def match(index: Index, stream: Stream, queries: Queries, candidates: Candidates, block: range) -> Matches:
    """The matches of a block of queries; ``block`` are numbers of queries in both arguments."""
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
    starts = np.cumsum(widths) - widths
    query_starts = np.repeat(term_ptr[:-1], np.diff(row_ptr))
    term_of_pair = np.arange(len(row)) + np.repeat(query_starts - starts, widths)
    return Matches(
        row=row,
        rows=len(docs),
        tf=tf.astype(np.float64),
        qtf=counts.astype(np.float64)[term_of_pair],
        df=stream.frequency(terms).astype(np.float64)[term_of_pair],
        cf=np.asarray(stream.occurrences[terms]).astype(np.float64)[term_of_pair],
        row_length=np.asarray(stream.lengths[docs]).astype(np.float64),
        row_distinct=np.asarray(stream.distinct[docs]).astype(np.float64),
        documents=len(index),
        average_length=stream.average_length,
        total=stream.total,
    )
