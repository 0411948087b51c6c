"""Meta features: the frequencies behind the features, for BM25 with other parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from topkit.compute import Floats, Ints
from topkit.data import Dataset
from topkit.data.files import FilePath
from topkit.features.extraction import blocks
from topkit.features.index import Index
from topkit.features.matches import Candidates, Queries, match
from topkit.features.models import K1, B, bm25_idf


class Meta(NamedTuple):
    """One row for each candidate, stream and query term; the first nine fields are columns."""

    query: Ints
    """Number of the query."""
    row: Ints
    """Number of the candidate over all queries: the row of the data set."""
    stream: Ints
    """Number of the stream in ``streams``."""
    term: Ints
    """Number of the term within its query."""
    query_tf: Ints
    tf: Ints
    df: Ints
    cf: Ints
    length: Ints
    streams: tuple[str, ...]
    average_length: dict[str, float]
    documents: int


COLUMNS = Meta._fields[:9]
"""The columns of the table; the other fields describe the corpus."""


def meta_features(index: Index, queries: Queries, candidates: Candidates, streams: Sequence[str]) -> Meta:
    """Frequencies of each query term in document and corpus, lengths and sizes (LETOR's Table 3)."""
    columns: dict[str, list[Ints]] = {name: [] for name in COLUMNS}
    query_of_row = np.repeat(np.arange(len(candidates.qids)), np.diff(candidates.ptr))
    for block in blocks(queries, candidates):
        first_row = int(candidates.ptr[block.start])
        for number, name in enumerate(streams):
            m = match(index, index.stream(name), queries, candidates, block)
            row = m.row + first_row
            starts = np.flatnonzero(np.diff(m.row, prepend=-1))
            widths = np.diff(np.append(starts, len(row)))
            term = np.arange(len(row)) - np.repeat(starts, widths)
            stream = np.full(len(row), number)
            values = (query_of_row[row], row, stream, term, m.qtf, m.tf, m.df, m.cf, m.length)
            for column, part in zip(columns.values(), values, strict=True):
                column.append(part.astype(np.int64))
    joined = {name: np.concatenate([np.zeros(0, np.int64), *parts]) for name, parts in columns.items()}
    averages = {name: index.stream(name).average_length for name in streams}
    return Meta(**joined, streams=tuple(streams), average_length=averages, documents=len(index))


def bm25_from_meta(meta: Meta, stream: str, rows: int, k1: float = K1, b: float = B) -> Floats:
    """BM25 of every candidate with parameters of your choice, from the meta features alone."""
    chosen = meta.stream == meta.streams.index(stream)
    tf = meta.tf[chosen].astype(np.float64)
    weight = bm25_idf(meta.documents, meta.df[chosen])
    norm = k1 * (1.0 - b + b * meta.length[chosen] / meta.average_length[stream])
    score = meta.query_tf[chosen] * weight * tf * (k1 + 1.0) / (tf + norm)
    return np.asarray(np.bincount(meta.row[chosen], weights=score, minlength=rows), np.float64)


def write_meta(meta: Meta, data: Dataset, path: FilePath) -> None:
    """Write the meta features as a Parquet table, one row for each query term, document and stream."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def named(numbers: Ints, names: Sequence[str]) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), pa.array(names))

    docs, doc_of_row = np.unique(data.names_of_documents().tolist(), return_inverse=True)
    averages = np.array([meta.average_length[name] for name in meta.streams])
    names = {
        "query": named(meta.query, data.qids),
        "document": named(doc_of_row[meta.row], docs.tolist()),
        "stream": named(meta.stream, meta.streams),
    }
    counts = {name: getattr(meta, name) for name in COLUMNS if name not in ("query", "row", "stream")}
    corpus = {
        "average_length": averages[meta.stream],
        "corpus_size": np.full(len(meta.tf), meta.documents),
    }
    pq.write_table(pa.table({**names, **counts, **corpus}), str(path))
