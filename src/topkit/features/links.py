"""Query-independent features of the link graph: PageRank, HITS, host rank, link counts, URLs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints
from topkit.data import InputError, Strings
from topkit.data.files import FilePath
from topkit.data.text_lines import text_lines
from topkit.features.index import Index

if TYPE_CHECKING:
    from scipy.sparse import csr_array


DAMPING = 0.85
"""Probability of following a link in PageRank, as published."""
TOLERANCE = 1e-10
"""Iterations end when a step changes the values by less (1-norm)."""
MOST_STEPS = 1000
"""Steps of an iteration; PageRank needs about 150 to the tolerance above."""


@dataclass(frozen=True, eq=False)
class LinkGraph:
    """Links between the documents of a corpus; several links from one page to another count once."""

    documents: int
    sources: Ints
    targets: Ints
    unknown: int = 0
    """Number of links that were ignored because one of their pages is not in the corpus."""
    topics: Ints | None = None
    """Number of the topic of each document, for topical features."""

    @classmethod
    def of(cls, documents: int, links: NDArray[np.int64], unknown: int = 0) -> LinkGraph:
        """A graph from pairs (source, target) of document numbers; links of a page to itself are ignored."""
        pairs = np.unique(links.reshape(-1, 2), axis=0)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        return cls(documents, pairs[:, 0].copy(), pairs[:, 1].copy(), unknown)

    def with_topics(self, topics: Ints) -> LinkGraph:
        """The graph with the number of the topic of each document."""
        if len(topics) != self.documents:
            raise InputError(f"expected one topic per document ({self.documents}), got {len(topics)}")
        return replace(self, topics=topics)

    @cached_property
    def matrix(self) -> csr_array:
        """The adjacency matrix: row i has a 1 for every page that i links to."""
        from scipy.sparse import csr_array

        shape = (self.documents, self.documents)
        return csr_array((np.ones(len(self.sources)), (self.sources, self.targets)), shape=shape)

    @cached_property
    def out_links(self) -> Floats:
        """Number of links from each page."""
        return np.bincount(self.sources, minlength=self.documents).astype(np.float64)

    @cached_property
    def in_links(self) -> Floats:
        """Number of links to each page."""
        return np.bincount(self.targets, minlength=self.documents).astype(np.float64)


def read_links(path: FilePath, index: Index) -> LinkGraph:
    """Read links from lines ``source target`` of document ids; links of unknown pages are ignored."""
    pairs: list[tuple[int, int]] = []
    unknown = 0
    for number, text in text_lines(path):
        fields = text.split()
        if not fields:
            continue
        if len(fields) != 2:
            raise InputError(
                f"expected 2 fields, got {len(fields)}", "write source and target", file=path, line=number
            )
        source, target = index.document.get(fields[0]), index.document.get(fields[1])
        if source is None or target is None:
            unknown += 1
        else:
            pairs.append((source, target))
    return LinkGraph.of(len(index), np.array(pairs, np.int64).reshape(-1, 2), unknown)


def iterate(step: Callable[[Floats], Floats], start: Floats, what: str) -> Floats:
    """Repeat ``step`` until a step changes the values by less than 1e-10; warn after 1,000 steps."""
    value = start
    for _ in range(MOST_STEPS):
        following = step(value)
        change = float(np.abs(following - value).sum())
        value = following
        if change < TOLERANCE:
            return value
    text = f"{what} did not converge in {MOST_STEPS} steps; the last step changed it by {change:.1e}"
    warnings.warn(text, RuntimeWarning, stacklevel=3)
    return value


def pagerank(graph: LinkGraph, damping: float = DAMPING, teleport: Floats | None = None) -> Floats:
    """PageRank: r = d (Aᵀ(r/out) + dangling·t) + (1 − d) t, where t is uniform or ``teleport``; it sums to 1.

    The rank of pages without links is distributed like the jumps. Page et al., 1999.
    """
    n = graph.documents
    jump = np.full(n, 1.0 / n) if teleport is None else teleport / teleport.sum()
    out = graph.out_links
    dangling = out == 0
    share = np.where(dangling, 0.0, 1.0 / np.maximum(out, 1.0))
    back = graph.matrix.T.tocsr()

    def step(rank: Floats) -> Floats:
        followed = back @ (rank * share) + rank[dangling].sum() * jump
        return np.asarray(damping * followed + (1 - damping) * jump)

    return iterate(step, jump, "PageRank")


def hits(graph: LinkGraph, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """HITS: authorities a = Aᵀh and hubs h = A a, both of length 1 (2-norm). Kleinberg, JACM 1999.

    weights: weight of each page as an authority (for the topical form); 0 excludes it.
    """
    forward = graph.matrix
    back = forward.T.tocsr()
    page_weights = np.ones(graph.documents) if weights is None else weights

    def unit(values: Floats) -> Floats:
        length = float(np.linalg.norm(values))
        return values / length if length > 0 else values

    def step(authority: Floats) -> Floats:
        return unit(page_weights * (back @ unit(forward @ authority)))

    authority = iterate(step, unit(page_weights.astype(np.float64)), "HITS")
    return authority, unit(forward @ authority)


def hosts(urls: Strings) -> Ints:
    """The number of the host of each URL."""
    names = [urlsplit(url if "//" in url else f"//{url}").netloc.lower() for url in urls]
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def host_rank(graph: LinkGraph, host: Ints) -> Floats:
    """HostRank: PageRank of the graph of hosts, divided equally among the pages of each host.

    Hosts are linked if any of their pages are. Xue et al., SIGIR 2005, without their page levels.
    """
    count = int(host.max()) + 1
    between = LinkGraph.of(count, np.stack([host[graph.sources], host[graph.targets]], axis=1))
    pages = np.bincount(host, minlength=count)
    return np.asarray((pagerank(between) / pages)[host])


def parents(urls: Strings) -> Ints:
    """The parent of each page in its site by URL (``a/b/c`` is below ``a/b``); −1 for none."""
    names = [url.split("://")[-1].rstrip("/") for url in urls]
    number = {name: i for i, name in enumerate(names)}
    parent = np.full(len(names), -1, np.int64)
    for i, name in enumerate(names):
        prefix = name
        while "/" in prefix:
            prefix = prefix.rpartition("/")[0]
            if prefix in number and number[prefix] != i:
                parent[i] = number[prefix]
                break
    return parent


def address_features(urls: Strings) -> dict[str, Floats]:
    """Number of slashes, length in characters, and number of direct children in the site."""
    paths = [url.split("://")[-1] for url in urls]
    parent = parents(urls)
    return {
        "url_slashes": np.array([path.count("/") for path in paths], np.float64),
        "url_length": np.array([len(url) for url in urls], np.float64),
        "url_children": np.bincount(parent[parent >= 0], minlength=len(paths)).astype(np.float64),
    }
