"""Link features that depend on the query: topical PageRank and HITS, propagation over links and sites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import thread_map
from topkit.data import InputError
from topkit.features.candidates import bm25_scores
from topkit.features.index import WHOLE, Index, Stream
from topkit.features.links import (
    Floats,
    LinkGraph,
    Longs,
    address_features,
    hits,
    host_rank,
    hosts,
    pagerank,
    parents,
)
from topkit.features.matches import Candidates, Queries
from topkit.features.models import K1, B, bm25_idf

if TYPE_CHECKING:
    from scipy.sparse import csr_array

KEEP = 0.85
"""Share of a page's own score in each step over links; the rest comes from its neighbours."""
SITE_KEEP = 0.9
"""Share of a page's own score against the mean of the pages below it."""
LINK_STEPS = 10


def static_features(index: Index, graph: LinkGraph | None) -> dict[str, Floats]:
    """The link features that need no query, for every document."""
    made: dict[str, Floats] = {} if index.urls is None else address_features(index.urls)
    if graph is not None:
        made["hits_authority"], made["hits_hub"] = hits(graph)
        made["pagerank"] = pagerank(graph)
        made["in_links"], made["out_links"] = graph.in_links, graph.out_links
        if index.urls is not None:
            made["host_rank"] = host_rank(graph, hosts(index.urls))
    return made


def link_features(
    index: Index,
    queries: Queries,
    candidates: Candidates,
    names: Sequence[str],
    graph: LinkGraph | None = None,
    topics: Longs | None = None,
) -> NDArray[np.float32]:
    """The link features of every candidate, in the order of ``names`` (see ``LINK_FEATURES``).

    topics: the number of each document's topic. The topical forms are topic-sensitive PageRank and HITS,
    mixed by how much of the query's BM25 lies in each topic: Σ_t p(t|q) score_t(d). Haveliwala, WWW 2002.
    Propagation is over the documents that match the query; see :func:`spread_links` and :func:`spread_site`.
    """
    static = static_features(index, graph)
    above = None if index.urls is None else parents(index.urls)
    topical = {} if graph is None or topics is None else _topical(graph, topics)
    stream = index.stream(WHOLE)
    frequencies = any("_feature" in name for name in names)
    spreading = any(name.startswith("link_") for name in names)
    X = np.zeros((len(candidates.docs), len(names)), np.float32)

    def fill(q: int) -> None:
        rows = slice(int(candidates.ptr[q]), int(candidates.ptr[q + 1]))
        docs = candidates.docs[rows]
        terms, counts = queries.of(q)
        scores = bm25_scores(stream, terms, counts, len(index))
        tf = _tf(stream, terms, len(index)) if frequencies else np.zeros((0, 0))
        part = matching_part(graph, scores) if spreading and graph is not None else None
        for column, name in enumerate(names):
            values = tf if "_feature" in name else scores[:, None]
            if name in static:
                X[rows, column] = static[name][docs]
                continue
            if name in topical and topics is not None:
                share = np.bincount(topics, weights=scores, minlength=len(topical[name]))
                X[rows, column] = (share / max(share.sum(), 1e-300)) @ topical[name][:, docs]
                continue
            if name.startswith("sitemap") and above is not None:
                spread = spread_site(values, above)
            elif name.startswith("link_") and part is not None:
                spread = spread_links(part, scores, name.rpartition("_")[2], values)
            else:
                raise InputError(f"the feature {name!r} needs links, topics or addresses that were not given")
            by_term = values is tf
            X[rows, column] = _bm25(stream, terms, counts, spread, docs) if by_term else spread[docs, 0]

    thread_map(fill, range(len(queries.qids)))
    return X


def spread_site(values: Floats, above: Longs) -> Floats:
    """v'(d) = s v(d) + (1 − s) · mean of v over the pages right below d, s = 0.9.

    A page without any keeps its value. Qin et al., A study of relevance propagation, SIGIR 2005.
    """
    below = np.flatnonzero(above >= 0)
    count = np.bincount(above[below], minlength=len(values))
    total = np.zeros_like(values)
    np.add.at(total, above[below], values[below])
    some = count > 0
    result = values.copy()
    result[some] = SITE_KEEP * values[some] + (1 - SITE_KEEP) * total[some] / count[some, None]
    return result


class MatchingPart(NamedTuple):
    """The documents that match a query, and the links among them."""

    docs: Longs
    links: csr_array


def matching_part(graph: LinkGraph, scores: Floats) -> MatchingPart:
    """The part of the graph where scores are above 0."""
    found = np.flatnonzero(scores > 0)
    return MatchingPart(found, graph.matrix[found][:, found])


def spread_links(part: MatchingPart, scores: Floats, kind: str, values: Floats) -> Floats:
    """v ← s v₀ + (1 − s) W v, ten steps, s = 0.85, over the documents that match the query.

    W(d, u) for ``in``: u links to d, weighted by the score of d among all that u links to; ``out``: d links
    to u, weighted by the score of d among all that link to u; ``uniform``: d links to u, all such d alike.
    values: one column a quantity (the scores, or a term frequency each). Shakery and Zhai, TREC 2003.
    """
    found, inner = part
    result = values.copy()
    if not len(found):
        return result
    own = scores[found]
    linked = inner.T.tocsr() if kind == "in" else inner  # row d, column u
    weighted = linked if kind == "uniform" else linked.multiply(own[:, None]).tocsr()
    sums = np.asarray(weighted.sum(axis=0)).ravel()
    into = weighted.multiply(1.0 / np.maximum(sums, 1e-300)[None, :]).tocsr()
    start = values[found]
    moving = start
    for _ in range(LINK_STEPS):
        moving = KEEP * start + (1 - KEEP) * (into @ moving)
    result[found] = moving
    return result


def _topical(graph: LinkGraph, topics: Longs) -> dict[str, Floats]:
    """Score of every document in every topic, (topics, documents)."""
    if len(topics) != graph.documents:
        raise InputError(f"{len(topics)} topics for {graph.documents} documents", "give one topic a document")
    within = [(topics == topic).astype(np.float64) for topic in range(int(topics.max()) + 1)]
    both = [hits(graph, own) for own in within]
    return {
        "topical_pagerank": np.stack([pagerank(graph, teleport=own) for own in within]),
        "topical_authority": np.stack([authority for authority, _ in both]),
        "topical_hub": np.stack([hub for _, hub in both]),
    }


def _tf(stream: Stream, terms: NDArray[np.int32], documents: int) -> Floats:
    """Frequencies of the terms in every document, (documents, terms)."""
    tf = np.zeros((documents, len(terms)))
    for column, term in enumerate(terms.tolist()):
        rows = slice(int(stream.ptr[term]), int(stream.ptr[term + 1]))
        tf[stream.docs[rows], column] = stream.counts[rows]
    return tf


def _bm25(
    stream: Stream, terms: NDArray[np.int32], counts: NDArray[np.int32], tf: Floats, docs: NDArray[np.int32]
) -> Floats:
    """BM25 of documents from given term frequencies."""
    weights = counts * bm25_idf(len(stream.lengths), stream.frequency(terms))
    norm = K1 * (1.0 - B + B * stream.lengths[docs] / stream.average_length)
    own = tf[docs]
    return np.asarray((own * (K1 + 1.0) / (own + norm[:, None])) @ weights)
