"""Query-dependent link features: topical PageRank and HITS, propagation over links and sites."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints, Ints32, thread_map
from topkit.data import InputError
from topkit.features.candidates import bm25_scores
from topkit.features.index import WHOLE, Index, Stream
from topkit.features.links import (
    LinkGraph,
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
"""Share of a page's own score in each step over links; the rest comes from its neighbours. As published."""
SITE_KEEP = 0.9
"""Share of a page's own score; the rest is the mean of its children. As published."""
LINK_STEPS = 10
"""Steps of propagation over links; later ones change scores by less than 1e-8 of their size."""


def static_features(index: Index, graph: LinkGraph | None) -> dict[str, Floats]:
    """The query-independent link features of every document."""
    features: dict[str, Floats] = {} if index.urls is None else address_features(index.urls)
    if graph is not None:
        features["hits_authority"], features["hits_hub"] = hits(graph)
        features["pagerank"] = pagerank(graph)
        features["in_links"], features["out_links"] = graph.in_links, graph.out_links
        if index.urls is not None:
            features["host_rank"] = host_rank(graph, hosts(index.urls))
    return features


def link_features(
    index: Index,
    queries: Queries,
    candidates: Candidates,
    names: Sequence[str],
    graph: LinkGraph | None = None,
) -> NDArray[np.float32]:
    """The link features of every candidate, in the order of ``names`` (see ``LINK_FEATURES``).

    Topical features need the topics of the graph: topic-sensitive PageRank and HITS are mixed by the share of
    the query's BM25 in each topic, Σ_t p(t|q) score_t(d). Haveliwala, WWW 2002. Propagation is over the
    documents that match the query; see :func:`spread_links` and :func:`spread_site`.
    """
    site = _Site(index, graph)
    for name in names:
        site.check(name)
    X = np.zeros((len(candidates.docs), len(names)), np.float32)

    def fill(q: int) -> None:
        rows = slice(int(candidates.ptr[q]), int(candidates.ptr[q + 1]))
        query = _LinkQuery(site, *queries.terms_of(q))
        for column, name in enumerate(names):
            X[rows, column] = query.feature(name, candidates.docs[rows])

    thread_map(fill, range(len(queries.qids)))
    return X


class _Site:
    """What all queries share: static features, parents of pages, scores of topics."""

    def __init__(self, index: Index, graph: LinkGraph | None) -> None:
        self.stream, self.documents, self.graph = index.stream(WHOLE), len(index), graph
        self.static = static_features(index, graph)
        self.parents = None if index.urls is None else parents(index.urls)
        self.topical = {} if graph is None or graph.topics is None else _topical(graph, graph.topics)

    def check(self, name: str) -> None:
        """Raise InputError if the feature needs links, topics or URLs that are missing."""
        if name in self.static or name in self.topical:
            return
        if name.startswith("sitemap"):
            available = self.parents is not None
        else:
            available = name.startswith("link_") and self.graph is not None
        if not available:
            raise InputError(
                f"the feature {name!r} needs links, topics or URLs", "give them, or leave the feature out"
            )


class _LinkQuery:
    """The link features of one query."""

    def __init__(self, site: _Site, terms: Ints32, counts: Ints32) -> None:
        self.site, self.terms, self.counts = site, terms, counts
        self.scores = bm25_scores(site.stream, terms, counts, site.documents)

    @cached_property
    def frequencies(self) -> Floats:
        """Frequencies of the query terms in every document."""
        return _term_frequencies(self.site.stream, self.terms, self.site.documents)

    @cached_property
    def part(self) -> MatchingPart:
        """The links among the documents that match the query."""
        if self.site.graph is None:
            raise ValueError("propagation over links needs a link graph")
        return matching_part(self.site.graph, self.scores)

    def feature(self, name: str, docs: Ints32) -> Floats:
        """One feature of these documents."""
        site = self.site
        if name in site.static:
            return site.static[name][docs]
        if name in site.topical:
            scores = site.topical[name]
            topics = None if site.graph is None else site.graph.topics
            share = np.bincount(np.asarray(topics), weights=self.scores, minlength=len(scores))
            return np.asarray((share / max(share.sum(), 1e-300)) @ scores[:, docs])
        by_term = "_feature" in name
        values = self.frequencies if by_term else self.scores[:, None]
        if name.startswith("sitemap") and site.parents is not None:
            spread = spread_site(values, site.parents)
        else:
            spread = spread_links(self.part, self.scores, name.rpartition("_")[2], values)
        return self._bm25(spread, docs) if by_term else spread[docs, 0]

    def _bm25(self, tf: Floats, docs: Ints32) -> Floats:
        """BM25 of documents from given term frequencies."""
        stream = self.site.stream
        weights = self.counts * bm25_idf(len(stream.lengths), stream.frequency(self.terms))
        norm = K1 * (1.0 - B + B * stream.lengths[docs] / stream.average_length)
        chosen = tf[docs]
        return np.asarray((chosen * (K1 + 1.0) / (chosen + norm[:, None])) @ weights)


def spread_site(values: Floats, parent: Ints) -> Floats:
    """v'(d) = s v(d) + (1 − s) · mean of v over the children of d, s = 0.9.

    A page without children keeps its value. Qin et al., A study of relevance propagation, SIGIR 2005.
    """
    children = np.flatnonzero(parent >= 0)
    count = np.bincount(parent[children], minlength=len(values))
    total = np.zeros_like(values)
    np.add.at(total, parent[children], values[children])
    has_children = count > 0
    mean = total[has_children] / count[has_children, None]
    result = values.copy()
    result[has_children] = SITE_KEEP * values[has_children] + (1 - SITE_KEEP) * mean
    return result


class MatchingPart(NamedTuple):
    """The documents that match a query, and the links among them."""

    docs: Ints
    links: csr_array


def matching_part(graph: LinkGraph, scores: Floats) -> MatchingPart:
    """The part of the graph where scores are above 0."""
    docs = np.flatnonzero(scores > 0)
    return MatchingPart(docs, graph.matrix[docs][:, docs])


def spread_links(part: MatchingPart, scores: Floats, kind: str, values: Floats) -> Floats:
    """v ← s v₀ + (1 − s) W v, ten steps, s = 0.85, over the documents that match the query.

    W(d, u) for ``in``: u links to d, weighted by the score of d among all targets of u; ``out``: d links to
    u, weighted by the score of d among all sources of u; ``uniform``: d links to u, all sources of u equally.
    values: one column per quantity (the scores, or one column per term frequency). Shakery and Zhai, TREC
    2003.
    """
    docs, links = part
    result = values.copy()
    if not len(docs):
        return result
    linked = links.T.tocsr() if kind == "in" else links  # row d, column u
    weighted = linked if kind == "uniform" else linked.multiply(scores[docs][:, None]).tocsr()
    sums = np.asarray(weighted.sum(axis=0)).ravel()
    into = weighted.multiply(1.0 / np.maximum(sums, 1e-300)[None, :]).tocsr()
    start = values[docs]
    spread = start
    for _ in range(LINK_STEPS):
        spread = KEEP * start + (1 - KEEP) * (into @ spread)
    result[docs] = spread
    return result


def _topical(graph: LinkGraph, topics: Ints) -> dict[str, Floats]:
    """Scores of every document in every topic, (topics, documents)."""
    members = [(topics == topic).astype(np.float64) for topic in range(int(topics.max()) + 1)]
    pairs = [hits(graph, member) for member in members]
    return {
        "topical_pagerank": np.stack([pagerank(graph, teleport=member) for member in members]),
        "topical_authority": np.stack([authority for authority, _ in pairs]),
        "topical_hub": np.stack([hub for _, hub in pairs]),
    }


def _term_frequencies(stream: Stream, terms: Ints32, documents: int) -> Floats:
    """Frequencies of the terms in every document, (documents, terms)."""
    tf = np.zeros((documents, len(terms)))
    for column, term in enumerate(terms.tolist()):
        rows = slice(int(stream.ptr[term]), int(stream.ptr[term + 1]))
        tf[stream.docs[rows], column] = stream.counts[rows]
    return tf
