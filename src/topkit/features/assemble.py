"""build_dataset: index, queries and judgments become a data set and a card that says how."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, InputError
from topkit.data.files import FilePath, text_writer
from topkit.features.candidates import SAMPLING, sample
from topkit.features.extraction import Meta, extract
from topkit.features.index import Index
from topkit.features.links import LinkGraph
from topkit.features.matches import Candidates, Queries, analyse_queries
from topkit.features.propagation import link_features
from topkit.features.tables import LINK_FEATURES, feature_names


class NoCandidatesError(InputError):
    """None of the queries has a candidate document."""


@dataclass(frozen=True)
class Card:
    """What a data set was made of and how, kept beside it as ``NAME.card.json``."""

    corpus_documents: int
    streams: tuple[str, ...]
    analyser: str
    sampling: str
    sampling_means: str
    depth: int
    queries: int
    queries_left_out: tuple[str, ...]
    """Queries for which the sampling gave no document."""
    queries_without_relevant: int
    documents: int
    relevant_judged: int
    relevant_kept: int
    queries_beyond_the_cut: int
    """Queries with relevant documents that BM25 puts beyond the depth."""
    judged_unknown: int
    """Judged documents that the corpus does not have."""
    unjudged: int
    """Candidates without a judgment, which count as not relevant."""
    features: tuple[str, ...]

    def __str__(self) -> str:
        left_out = (
            f", {len(self.queries_left_out)} left out without candidates" if self.queries_left_out else ""
        )
        no_relevant = f"{self.queries_without_relevant:,} without relevant documents"
        lines = [
            f"corpus      {self.corpus_documents:,} documents; streams {', '.join(self.streams)}",
            f"analyser    {self.analyser}",
            f"sampling    {self.sampling} (depth {self.depth:,}): {self.sampling_means}",
            f"queries     {self.queries:,}{left_out}, {no_relevant}",
            f"documents   {self.documents:,}, {self.unjudged:,} of them unjudged and counted as not relevant",
            f"relevant    {self.relevant_kept:,} of {self.relevant_judged:,} kept; in "
            f"{self.queries_beyond_the_cut:,} queries some lie beyond the depth",
            f"features    {len(self.features)}",
        ]
        return "\n".join(lines)


def build_dataset(
    index: Index,
    queries: Mapping[str, str],
    grades: Mapping[str, Mapping[str, float]],
    *,
    features: str = "ohsumed",
    sampling: str = "p+top",
    depth: int = 1000,
    links: LinkGraph | None = None,
    topics: NDArray[np.int64] | None = None,
) -> tuple[Dataset, Card]:
    """A data set of the candidates of every query, with their features and grades, and its card.

    A candidate without a judgment gets grade 0; negative grades are raised to 0. Queries without candidates
    are left out and named in the card.

    features: ``ohsumed``, ``trec``, or names with commas. sampling: one of
    :data:`topkit.features.SAMPLING`. depth: its cut by BM25 on the whole document. links, topics: the link
    graph and the topic number of each document, for the features that need them.
    """
    names = feature_names(index, features, links=links is not None, topics=topics is not None)
    analysed = analyse_queries(index, dict(queries))
    drawn = sample(index, analysed, grades, sampling, depth)
    kept, candidates = _with_candidates(analysed, drawn.candidates)
    ids = index.doc_ids.take(candidates.docs)
    query_of_row = np.repeat(np.arange(len(kept.qids)), np.diff(candidates.ptr))
    own = [grades.get(qid, {}) for qid in kept.qids]
    found = [own[q].get(doc) for q, doc in zip(query_of_row.tolist(), ids, strict=True)]
    y = np.array([max(grade or 0.0, 0.0) for grade in found], np.float32)
    X = np.empty((len(y), len(names)), np.float32)
    linked = np.array([name in LINK_FEATURES for name in names], np.bool_)
    X[:, ~linked] = extract(index, kept, candidates, [name for name in names if name not in LINK_FEATURES])
    if linked.any():
        wanted = [name for name in names if name in LINK_FEATURES]
        X[:, linked] = link_features(index, kept, candidates, wanted, links, topics)
    data = Dataset(X, y, candidates.ptr, kept.qids, ids, tuple(names))
    card = Card(
        len(index),
        tuple(index.streams),
        f"stems {index.analyser.language or 'none'}, {len(index.analyser.stop_words)} stop words, "
        f"tokens {index.analyser.pattern}",
        sampling,
        (SAMPLING[sampling].__doc__ or "").split("\n")[0],
        depth,
        data.n_queries,
        tuple(qid for qid in analysed.qids if qid not in set(kept.qids)),
        int((np.maximum.reduceat(y, data.ptr[:-1]) <= 0).sum()),
        len(data),
        drawn.relevant,
        drawn.relevant_kept,
        drawn.queries_beyond,
        drawn.unknown,
        sum(grade is None for grade in found),
        tuple(names),
    )
    return data, card


def _with_candidates(queries: Queries, candidates: Candidates) -> tuple[Queries, Candidates]:
    """The queries that have candidates."""
    some = np.flatnonzero(np.diff(candidates.ptr))
    if not len(some):
        raise NoCandidatesError(
            "no query has a candidate", "check that queries, judgments and documents belong together"
        )
    parts = [queries.of(int(q)) for q in some]
    ptr = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(terms) for terms, _ in parts], out=ptr[1:])
    qids = tuple(queries.qids[q] for q in some)
    docs = [candidates.docs[candidates.ptr[q] : candidates.ptr[q + 1]] for q in some]
    terms, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Queries(qids, ptr, terms, counts), Candidates.of(qids, docs)


def write_card(card: Card, data_path: FilePath) -> Path:
    """Write the card beside its data set; returns its path."""
    path = Path(f"{data_path}.card.json")
    with text_writer(path) as stream:
        json.dump(asdict(card), stream, indent=1, ensure_ascii=False)
        stream.write("\n")
    return path


def write_meta(meta: Meta, data: Dataset, path: FilePath) -> None:
    """The meta features as a Parquet table, one row for each query term, document and stream."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def named(numbers: NDArray[np.int64], names: Sequence[str]) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), pa.array(names))

    docs, doc_of_row = np.unique(data.names_of_documents().tolist(), return_inverse=True)
    averages = np.array([meta.average_length[name] for name in meta.streams])
    table = pa.table(
        {
            "query": named(meta.query, data.qids),
            "document": named(doc_of_row[meta.row], docs.tolist()),
            "stream": named(meta.stream, meta.streams),
            "term": meta.term,
            "query_tf": meta.query_tf,
            "tf": meta.tf,
            "df": meta.df,
            "cf": meta.cf,
            "length": meta.length,
            "average_length": averages[meta.stream],
            "corpus_size": np.full(len(meta.tf), meta.documents),
        }
    )
    pq.write_table(table, str(path))
