"""build_dataset: from an index, queries and judgments to a data set and its card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, InputError
from topkit.features.candidates import SAMPLING, sample
from topkit.features.card import Card
from topkit.features.extraction import extract
from topkit.features.index import Index
from topkit.features.links import LinkGraph
from topkit.features.matches import Candidates, Queries, analyse_queries
from topkit.features.propagation import link_features
from topkit.features.tables import LINK_FEATURES, feature_names


class NoCandidatesError(InputError):
    """The sampling returned no document for any query."""


def build_dataset(
    index: Index,
    queries: Mapping[str, str],
    grades: Mapping[str, Mapping[str, float]],
    *,
    features: str = "ohsumed",
    sampling: str = "p+top",
    depth: int = 1000,
    links: LinkGraph | None = None,
) -> tuple[Dataset, Card]:
    """A data set with the candidates of every query, their features and grades, and its card.

    A candidate without a judgment gets grade 0; negative grades become 0. A query that ``grades`` does not
    contain was not judged: it is left out and counted in the card; an empty entry keeps it, with grade 0 for
    all its documents. Without any grades all queries are kept, for example to score them. Queries without
    candidates are left out and listed in the card; if no query has any, NoCandidatesError is raised.

    features: ``ohsumed``, ``trec``, or comma-separated names. sampling: one of
    :data:`topkit.features.SAMPLING`. depth: the BM25 rank on whole documents where the sampling cuts. links:
    the link graph, for the features that need it.
    """
    names = feature_names(index, features, links)
    judged_queries = judged_among(queries, grades)
    analysed = analyse_queries(index, judged_queries)
    sampled = sample(index, analysed, grades, sampling, depth)
    nonempty = np.flatnonzero(np.diff(sampled.candidates.ptr))
    if not len(nonempty):
        raise NoCandidatesError(
            "no query has a candidate document",
            "check that queries, judgments and documents belong to the same collection",
        )
    kept, candidates = analysed.select(nonempty), sampled.candidates.select(nonempty)
    ids = index.doc_ids.take(candidates.docs)
    judged = _judgments(candidates, ids.tolist(), grades)
    y = np.array([max(grade or 0.0, 0.0) for grade in judged], np.float32)
    X = _features(index, kept, candidates, names, links)
    data = Dataset(X, y, candidates.ptr, kept.qids, ids, tuple(names))
    card = Card(
        corpus_documents=len(index),
        streams=tuple(index.streams),
        analyser=str(index.analyser),
        sampling=sampling,
        sampling_means=(SAMPLING[sampling].__doc__ or "").split("\n")[0],
        depth=depth,
        queries=data.n_queries,
        queries_left_out=tuple(qid for qid in analysed.qids if qid not in set(kept.qids)),
        queries_unjudged=len(queries) - len(judged_queries),
        queries_without_relevant=int((np.maximum.reduceat(y, data.ptr[:-1]) <= 0).sum()),
        documents=len(data),
        relevant_judged=sampled.relevant,
        relevant_kept=sampled.relevant_kept,
        queries_beyond_the_cut=sampled.queries_beyond,
        judged_unknown=sampled.unknown,
        unjudged=sum(grade is None for grade in judged),
        features=tuple(names),
    )
    return data, card


def judged_among(queries: Mapping[str, str], grades: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    """The queries that ``grades`` contains; all of them if there are no grades at all."""
    judged = {qid: text for qid, text in queries.items() if qid in grades or not grades}
    if not judged:
        raise NoCandidatesError(
            "no query has a judgment", "check that queries and judgments have the same query ids"
        )
    return judged


def _judgments(
    candidates: Candidates, ids: Sequence[str], grades: Mapping[str, Mapping[str, float]]
) -> list[float | None]:
    """The grade of each candidate, None if it has no judgment."""
    by_query = [grades.get(qid, {}) for qid in candidates.qids]
    query_of_row = np.repeat(np.arange(len(by_query)), np.diff(candidates.ptr)).tolist()
    return [by_query[q].get(doc) for q, doc in zip(query_of_row, ids, strict=True)]


def _features(
    index: Index, queries: Queries, candidates: Candidates, names: Sequence[str], links: LinkGraph | None
) -> NDArray[np.float32]:
    """Stream features and link features in the order of ``names``."""
    X = np.empty((len(candidates.docs), len(names)), np.float32)
    linked = np.array([name in LINK_FEATURES for name in names], np.bool_)
    stream_names = [name for name in names if name not in LINK_FEATURES]
    X[:, ~linked] = extract(index, queries, candidates, stream_names)
    if linked.any():
        link_names = [name for name in names if name in LINK_FEATURES]
        X[:, linked] = link_features(index, queries, candidates, link_names, links)
    return X
