"""Sampling of candidates: which documents of a corpus are ranked for a query; one of five ways is biased."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from topkit.compute import Floats, Ints32, thread_map
from topkit.data import InputError
from topkit.data.settings import lookup
from topkit.features.index import WHOLE, Index, Stream
from topkit.features.matches import Candidates, Queries
from topkit.features.models import K1, B, bm25_idf


class Pool(NamedTuple):
    """The input of a sampling strategy for one query."""

    ranked: Ints32
    """Documents with at least one query term, by falling BM25, ties by document number."""
    judged: Ints32
    relevant: Ints32
    """Documents with a grade above 0."""


def judged_only(pool: Pool, depth: int) -> Ints32:
    """The judged documents, as in LETOR's OHSUMED."""
    return pool.judged


def top(pool: Pool, depth: int) -> Ints32:
    """The best by BM25, down to the depth: relevant documents below are lost, as in a real search."""
    return pool.ranked[:depth]


def top_and_relevant(pool: Pool, depth: int) -> Ints32:
    """The best by BM25, down to the depth, and all relevant documents: biased, as in LETOR 2's TREC sets.

    The relevant documents below the cut have the lowest BM25 of all, so a ranker can detect them by that.
    """
    return np.union1d(pool.ranked[:depth], pool.relevant).astype(np.int32)


def deep(pool: Pool, depth: int) -> Ints32:
    """p + depth: all down to the last relevant document, then the depth more; removes the bias."""
    places = np.flatnonzero(np.isin(pool.ranked, pool.relevant))
    return pool.ranked[: depth + (int(places[-1]) + 1 if len(places) else 0)]


def matching(pool: Pool, depth: int) -> Ints32:
    """Every document with at least one query term."""
    return pool.ranked


SAMPLING: dict[str, Callable[[Pool, int], Ints32]] = {
    "judged": judged_only,
    "top": top,
    "top+relevant": top_and_relevant,
    "p+top": deep,
    "matching": matching,
}
"""Name → sampling strategy. Qin et al., How to make LETOR more useful and reliable, LR4IR 2008."""


class Sample(NamedTuple):
    """The candidates, and counts that describe the sampling."""

    candidates: Candidates
    relevant: int
    """Number of relevant documents of all queries."""
    relevant_kept: int
    queries_beyond: int
    """Queries with relevant documents that BM25 ranks below the depth, or does not find at all."""
    unknown: int
    """Judged documents that are not in the corpus."""


def sample(
    index: Index,
    queries: Queries,
    grades: Mapping[str, Mapping[str, float]],
    strategy: str = "p+top",
    depth: int = 1000,
    stream: str = WHOLE,
) -> Sample:
    """Candidates of every query by a strategy of :data:`SAMPLING`, sorted by document number within a query.

    This order is independent of BM25 and relevance, so that ties in a ranking cannot benefit from it.
    grades: query → document → grade; above 0 is relevant. depth: the cut, if the strategy has one.
    """
    choose = lookup(SAMPLING, strategy, "sampling")
    if depth < 1:
        raise InputError(f"depth must be at least 1, got {depth}")
    postings = index.stream(stream)

    def sample_query(q: int) -> tuple[Ints32, int, int, bool, int]:
        judgments = grades.get(queries.qids[q], {})
        known = {index.document[name]: grade for name, grade in judgments.items() if name in index.document}
        judged = np.array(list(known), np.int32)
        relevant = np.array([doc for doc, grade in known.items() if grade > 0], np.int32)
        pool = Pool(ranked_by_bm25(postings, *queries.terms_of(q), len(index)), judged, relevant)
        chosen = np.sort(choose(pool, depth))
        beyond = not np.isin(relevant, pool.ranked[:depth]).all()
        kept = int(np.isin(relevant, chosen).sum())
        return chosen, len(relevant), kept, beyond, len(judgments) - len(known)

    parts = thread_map(sample_query, range(len(queries.qids)))
    chosen, relevant, kept, beyond, unknown = zip(*parts, strict=True)
    return Sample(Candidates.of(queries.qids, chosen), sum(relevant), sum(kept), sum(beyond), sum(unknown))


def bm25_scores(stream: Stream, terms: Ints32, counts: Ints32, documents: int) -> Floats:
    """BM25 of every document of the corpus for one query; 0 for documents without a match."""
    scores = np.zeros(documents)
    weights = counts * bm25_idf(documents, stream.frequency(terms))
    for term, weight in zip(terms.tolist(), weights.tolist(), strict=True):
        rows = slice(int(stream.ptr[term]), int(stream.ptr[term + 1]))
        docs, tf = stream.docs[rows], stream.counts[rows].astype(np.float64)
        norm = K1 * (1.0 - B + B * stream.lengths[docs] / stream.average_length)
        scores[docs] += weight * tf * (K1 + 1.0) / (tf + norm)
    return scores


def ranked_by_bm25(stream: Stream, terms: Ints32, counts: Ints32, documents: int) -> Ints32:
    """The documents with at least one of the terms, best first, ties by document number."""
    scores = bm25_scores(stream, terms, counts, documents)
    matching_docs = np.flatnonzero(scores > 0)
    order = np.argsort(-scores[matching_docs], kind="stable")
    return matching_docs[order].astype(np.int32)
