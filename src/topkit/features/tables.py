"""The features by name, and the two sets of the LETOR papers.

To add a feature, write a function of :class:`topkit.features.Matches` and one line in :data:`FEATURES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from topkit.compute import Floats
from topkit.data import InputError
from topkit.features.index import WHOLE, Index
from topkit.features.links import LinkGraph
from topkit.features.matches import Matches
from topkit.features.models import bm25, lm_absolute, lm_dirichlet, lm_jelinek_mercer, log_bm25
from topkit.features.term_features import (
    icf,
    idf,
    length,
    log_idf,
    log_share_tf,
    log_share_tf_icf,
    log_share_tf_idf,
    log_tf,
    query_idf,
    share_tf,
    tf,
    tf_idf,
)

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
"""Name → feature of a stream; ``bm25.title`` is the function ``bm25`` on the stream ``title``."""

OHSUMED_FUNCTIONS = tuple(list(FEATURES)[:15])
"""The functions of the OHSUMED table, in its order."""
TREC_FUNCTIONS = ("tf", "query_idf", "tf_idf", "length", "bm25", "lm_abs", "lm_dir", "lm_jm")
"""The functions of the TREC table, in its order."""
TREC_STREAMS = ("body", "anchor", "title", "url", WHOLE)
"""The streams of the TREC table, in its order."""
EXTRACTED_TITLE = ("bm25", "lm_abs", "lm_dir", "lm_jm")
"""The functions that the TREC table has for the extracted title."""
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
"""Features 41 to 60 of the TREC table, which need a link graph or URLs: :mod:`topkit.features.links`."""


def ohsumed_45(streams: Sequence[str]) -> list[str]:
    """The 15 features of the OHSUMED table for each stream; 45 for its three streams."""
    return [f"{name}.{stream}" for stream in streams for name in OHSUMED_FUNCTIONS]


def trec_64(streams: Sequence[str]) -> list[str]:
    """The 64 features of the TREC table, without those of missing streams.

    In the order of the table: 8 features of 5 streams, 20 of links and URLs, 4 of the extracted title (the
    stream ``extracted``).
    """
    present = [stream for stream in TREC_STREAMS if stream in streams]
    names = [f"{name}.{stream}" for name in TREC_FUNCTIONS for stream in present]
    names += LINK_FEATURES
    return names + ([f"{name}.extracted" for name in EXTRACTED_TITLE] if "extracted" in streams else [])


SETS: dict[str, Callable[[Sequence[str]], list[str]]] = {"ohsumed": ohsumed_45, "trec": trec_64}
"""Name → function from the streams of an index to the feature names of the set."""


def available_links(index: Index, graph: LinkGraph | None) -> set[str]:
    """The link features that can be computed from this index and this graph."""
    has_urls, has_topics = index.urls is not None, graph is not None and graph.topics is not None
    return {
        name
        for name in LINK_FEATURES
        if (graph is not None or name.startswith(("sitemap", "url_")))
        and (has_urls or not name.startswith(("sitemap", "url_", "host_")))
        and (has_topics or not name.startswith("topical"))
    }


def feature_names(index: Index, which: str = "ohsumed", graph: LinkGraph | None = None) -> list[str]:
    """The names of the features to compute.

    which: a set (``ohsumed``, ``trec``), reduced to what this index and graph provide; or comma-separated
    names, such as ``bm25.title,tf.whole``.
    """
    if which in SETS:
        available = available_links(index, graph)
        names = SETS[which](list(index.streams))
        return [name for name in names if name not in LINK_FEATURES or name in available]
    names = [name.strip() for name in which.split(",") if name.strip()]
    for name in names:
        check_name(index, name)
    return names


def check_name(index: Index, name: str) -> None:
    """Raise InputError unless the name is a link feature, or a function and a stream of the index."""
    function, dot, stream = name.partition(".")
    if name in LINK_FEATURES:
        return
    if not dot or function not in FEATURES:
        raise InputError(
            f"unknown feature {name!r}", f"write function.stream, with a function from {', '.join(FEATURES)}"
        )
    index.stream(stream)
