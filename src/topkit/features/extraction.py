"""extract: the features of all candidates of all queries at once; and the meta features behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import thread_map
from topkit.features.index import Index
from topkit.features.matches import Candidates, Floats, Matches, Queries, match
from topkit.features.tables import FEATURES, check_name

BLOCK_PAIRS = 1 << 17


def extract(
    index: Index,
    queries: Queries,
    candidates: Candidates,
    names: Sequence[str],
    *,
    own: Mapping[str, Callable[[Matches], Floats]] | None = None,
) -> NDArray[np.float32]:
    """The stream features of every candidate: (candidates, features) in the order given.

    Queries are taken in blocks on all threads; the time grows with candidates × query terms × features.

    names: ``function.stream`` as in ``bm25.title``. own: more functions by name, beside :data:`FEATURES`.
    """
    functions = {**FEATURES, **(own or {})}
    wanted: dict[str, list[tuple[int, Callable[[Matches], Floats]]]] = {}
    for column, name in enumerate(names):
        function, _, stream = name.partition(".")
        if function not in functions:
            check_name(index, name)
        wanted.setdefault(stream, []).append((column, functions[function]))
    X = np.empty((len(candidates.docs), len(names)), np.float32)

    def fill(block: range) -> None:
        rows = slice(int(candidates.ptr[block.start]), int(candidates.ptr[block.stop]))
        for stream, columns in wanted.items():
            matches = match(index, index.stream(stream), queries, candidates, block)
            for column, function in columns:
                X[rows, column] = function(matches)

    thread_map(fill, blocks(queries, candidates))
    return X


def blocks(queries: Queries, candidates: Candidates) -> Iterator[range]:
    """Runs of queries with about as many pairs of term and candidate."""
    if queries.qids != candidates.qids:
        raise ValueError("queries and candidates must be of the same queries in the same order")
    pairs = np.cumsum(np.diff(queries.ptr) * np.diff(candidates.ptr))
    start = 0
    while start < len(pairs):
        before = pairs[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(pairs, before + BLOCK_PAIRS, "right")))
        yield range(start, stop)
        start = stop


class Meta(NamedTuple):
    """The meta features: one row for each candidate, stream and query term, so that BM25 can be recomputed.

    All columns have one entry a row, apart from the dictionaries by stream.
    """

    query: NDArray[np.int64]
    """Number of the query."""
    row: NDArray[np.int64]
    """Number of the candidate, counted over all queries: the row of the data set."""
    stream: NDArray[np.int64]
    """Number of the stream in ``streams``."""
    term: NDArray[np.int64]
    """Number of the term within its query."""
    query_tf: NDArray[np.int64]
    tf: NDArray[np.int64]
    df: NDArray[np.int64]
    cf: NDArray[np.int64]
    length: NDArray[np.int64]
    streams: tuple[str, ...]
    average_length: dict[str, float]
    documents: int


def meta_features(index: Index, queries: Queries, candidates: Candidates, streams: Sequence[str]) -> Meta:
    """Frequencies of each query term in document and corpus, lengths and sizes (LETOR's Table 3)."""
    columns: dict[str, list[NDArray[np.int64]]] = {name: [] for name in Meta._fields[:9]}
    query_of_row = np.repeat(np.arange(len(candidates.qids)), np.diff(candidates.ptr))
    for block in blocks(queries, candidates):
        first_row = int(candidates.ptr[block.start])
        for number, name in enumerate(streams):
            m = match(index, index.stream(name), queries, candidates, block)
            row = m.row + first_row
            begins = np.flatnonzero(np.diff(m.row, prepend=-1))
            widths = np.diff(np.append(begins, len(row)))
            term = np.arange(len(row)) - np.repeat(begins, widths)
            parts = [
                query_of_row[row],
                row,
                np.full(len(row), number),
                term,
                m.qtf,
                m.tf,
                m.df,
                m.cf,
                m.length,
            ]
            for column, part in zip(columns.values(), parts, strict=True):
                column.append(part.astype(np.int64))
    joined = {name: np.concatenate([np.zeros(0, np.int64), *parts]) for name, parts in columns.items()}
    averages = {name: index.stream(name).average_length for name in streams}
    return Meta(**joined, streams=tuple(streams), average_length=averages, documents=len(index))


def bm25_from_meta(meta: Meta, stream: str, rows: int, k1: float = 1.2, b: float = 0.75) -> Floats:
    """BM25 of every candidate with parameters of your own, from the meta features alone."""
    own = meta.stream == meta.streams.index(stream)
    tf, df = meta.tf[own].astype(np.float64), meta.df[own].astype(np.float64)
    weight = np.log(1.0 + (meta.documents - df + 0.5) / (df + 0.5))
    norm = k1 * (1.0 - b + b * meta.length[own] / meta.average_length[stream])
    score = meta.query_tf[own] * weight * tf * (k1 + 1.0) / (tf + norm)
    return np.asarray(np.bincount(meta.row[own], weights=score, minlength=rows), np.float64)
