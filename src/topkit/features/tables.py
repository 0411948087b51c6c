"""The features by name, and the two sets of the LETOR papers.

Your own feature is a function of :class:`topkit.features.Matches` and one line in :data:`FEATURES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from topkit.data import InputError
from topkit.features.index import WHOLE, Index
from topkit.features.matches import Floats, Matches
from topkit.features.models import bm25, lm_absolute, lm_dirichlet, lm_jelinek_mercer, log_bm25


def tf(m: Matches) -> Floats:
    """Σ c(w,d) over q ∩ d."""
    return m.sum(m.tf)


def log_tf(m: Matches) -> Floats:
    """Σ log(c(w,d) + 1)."""
    return m.sum(np.log1p(m.tf))


def share_tf(m: Matches) -> Floats:
    """Σ c(w,d)/|d|."""
    return m.sum(m.share)


def log_share_tf(m: Matches) -> Floats:
    """Σ log(c(w,d)/|d| + 1)."""
    return m.sum(np.log1p(m.share))


def idf(m: Matches) -> Floats:
    """Σ log(|C|/df(w)) over q ∩ d."""
    return m.sum_found(m.inverse)


def log_idf(m: Matches) -> Floats:
    """Σ log(log(|C|/df(w))) over q ∩ d; a term that every document has adds 0."""
    some = m.inverse > 0
    return m.sum_found(np.where(some, np.log(np.where(some, m.inverse, 1.0)), 0.0))


def icf(m: Matches) -> Floats:
    """Σ log(|C|/c(w,C) + 1) over q ∩ d."""
    return m.sum_found(np.log1p(m.documents / np.maximum(m.cf, 1.0)))


def log_share_tf_idf(m: Matches) -> Floats:
    """Σ log(c(w,d)/|d| · log(|C|/df(w)) + 1)."""
    return m.sum(np.log1p(m.share * m.inverse))


def tf_idf(m: Matches) -> Floats:
    """Σ c(w,d) · log(|C|/df(w))."""
    return m.sum(m.tf * m.inverse)


def log_share_tf_icf(m: Matches) -> Floats:
    """Σ log(c(w,d)/|d| · |C|/c(w,C) + 1)."""
    return m.sum(np.log1p(m.share * m.documents / np.maximum(m.cf, 1.0)))


def query_idf(m: Matches) -> Floats:
    """Σ log(|C|/df(w)) over all of q: the same for every document of a query, as in LETOR's TREC sets."""
    return m.sum(m.inverse)


def length(m: Matches) -> Floats:
    """|d|, the number of terms."""
    return m.row_length


FEATURES: dict[str, Callable[[Matches], Floats]] = {
    "tf": tf,
    "log_tf": log_tf,
    "share_tf": share_tf,
    "log_share_tf": log_share_tf,
    "idf": idf,
    "log_idf": log_idf,
    "icf": icf,
    "log_share_tf_idf": log_share_tf_idf,
    "tf_idf": tf_idf,
    "log_share_tf_icf": log_share_tf_icf,
    "bm25": bm25,
    "log_bm25": log_bm25,
    "lm_dir": lm_dirichlet,
    "lm_jm": lm_jelinek_mercer,
    "lm_abs": lm_absolute,
    "query_idf": query_idf,
    "length": length,
}
"""Features of a stream by name; ``bm25.title`` is the function ``bm25`` on the stream ``title``."""

OHSUMED_FUNCTIONS = tuple(list(FEATURES)[:15])
TREC_FUNCTIONS = ("tf", "query_idf", "tf_idf", "length", "bm25", "lm_abs", "lm_dir", "lm_jm")
TREC_STREAMS = ("body", "anchor", "title", "url", WHOLE)
EXTRACTED_TITLE = ("bm25", "lm_abs", "lm_dir", "lm_jm")
LINK_FEATURES = (
    "sitemap_feature",
    "sitemap_score",
    "link_score_in",
    "link_score_out",
    "link_score_uniform",
    "link_feature_in",
    "link_feature_out",
    "link_feature_uniform",
    "hits_authority",
    "hits_hub",
    "pagerank",
    "host_rank",
    "topical_pagerank",
    "topical_authority",
    "topical_hub",
    "in_links",
    "out_links",
    "url_slashes",
    "url_length",
    "url_children",
)
"""Features 41 to 60 of the TREC table, which need a link graph or addresses: :mod:`topkit.features.links`."""


def ohsumed_45(streams: Sequence[str]) -> list[str]:
    """The 45 features of the OHSUMED table when given its three streams; 15 a stream."""
    return [f"{name}.{stream}" for stream in streams for name in OHSUMED_FUNCTIONS]


def trec_64(streams: Sequence[str]) -> list[str]:
    """The 64 features of the TREC table, less those of streams that are not there.

    In the order of the table: 8 features by 5 streams, 20 of links and addresses, 4 of the extracted
    title (the stream ``extracted``).
    """
    there = [stream for stream in TREC_STREAMS if stream in streams]
    names = [f"{name}.{stream}" for name in TREC_FUNCTIONS for stream in there]
    names += LINK_FEATURES
    return names + ([f"{name}.extracted" for name in EXTRACTED_TITLE] if "extracted" in streams else [])


SETS: dict[str, Callable[[Sequence[str]], list[str]]] = {"ohsumed": ohsumed_45, "trec": trec_64}
"""The two sets by name: a function of the streams to feature names."""


def available_links(*, graph: bool, topics: bool, urls: bool) -> set[str]:
    """The link features that can be had from a graph, from topics of documents, from addresses."""
    return {
        name
        for name in LINK_FEATURES
        if (graph or name.startswith(("sitemap", "url_")))
        and (urls or not name.startswith(("sitemap", "url_", "host_")))
        and (topics or not name.startswith("topical"))
    }


def feature_names(
    index: Index, which: str = "ohsumed", *, links: bool = False, topics: bool = False
) -> list[str]:
    """The features of a set (``ohsumed``, ``trec``) that this index can give, or those of a list.

    which: the name of a set, or names with commas, such as ``bm25.title,tf.whole``.

    links, topics: whether a link graph and topics of the documents are at hand; features that need what
    is not there are left out.
    """
    streams = list(index.streams)
    if which in SETS:
        names = SETS[which](streams)
        there = available_links(graph=links, topics=topics, urls=index.urls is not None)
        return [name for name in names if name not in LINK_FEATURES or name in there]
    names = [name.strip() for name in which.split(",") if name.strip()]
    for name in names:
        check_name(index, name)
    return names


def check_name(index: Index, name: str) -> None:
    """Raise unless the name is one of a link feature, or function and stream."""
    function, dot, stream = name.partition(".")
    if name in LINK_FEATURES:
        return
    if not dot or function not in FEATURES:
        raise InputError(
            f"unknown feature {name!r}", f"write function.stream with one of {', '.join(FEATURES)}"
        )
    index.stream(stream)
