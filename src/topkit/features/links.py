"""Features of the link graph that need no query: PageRank, HITS, host rank, counts, addresses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError, Strings
from topkit.data.files import FilePath
from topkit.features.corpus import lines
from topkit.features.index import Index

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

DAMPING = 0.85
TOLERANCE = 1e-10
MOST_STEPS = 1000


@dataclass(frozen=True, eq=False)
class LinkGraph:
    """Links between the documents of a corpus; several links from one page to another count once."""

    documents: int
    sources: Longs
    targets: Longs
    unknown: int = 0
    """Links that were left out because a page of theirs is not in the corpus."""

    @classmethod
    def of(cls, documents: int, links: NDArray[np.int64], unknown: int = 0) -> LinkGraph:
        """A graph from pairs (source, target) of document numbers, without links of a page to itself."""
        pairs = np.unique(links.reshape(-1, 2), axis=0)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        return cls(documents, pairs[:, 0].copy(), pairs[:, 1].copy(), unknown)

    @cached_property
    def matrix(self) -> csr_array:
        """Row i has a 1 for every page that i links to."""
        from scipy.sparse import csr_array

        shape = (self.documents, self.documents)
        return csr_array((np.ones(len(self.sources)), (self.sources, self.targets)), shape=shape)

    @cached_property
    def out_links(self) -> Floats:
        return np.bincount(self.sources, minlength=self.documents).astype(np.float64)

    @cached_property
    def in_links(self) -> Floats:
        return np.bincount(self.targets, minlength=self.documents).astype(np.float64)


def read_links(path: FilePath, index: Index) -> LinkGraph:
    """Links from lines ``source target`` of document ids; those of pages outside the corpus are left out."""
    pairs: list[tuple[int, int]] = []
    unknown = 0
    for number, text in lines(path):
        fields = text.split()
        if not fields:
            continue
        if len(fields) != 2:
            raise InputError("this is not a link", "lines are: source target", file=path, line=number)
        a, b = index.document.get(fields[0]), index.document.get(fields[1])
        if a is None or b is None:
            unknown += 1
        else:
            pairs.append((a, b))
    return LinkGraph.of(len(index), np.array(pairs, np.int64).reshape(-1, 2), unknown)


def iterate(step: Callable[[Floats], Floats], start: Floats, what: str) -> Floats:
    """Repeat ``step`` until it moves by less than 1e-10 (1-norm); warns if 1,000 steps are not enough."""
    value = start
    for _ in range(MOST_STEPS):
        new = step(value)
        moved = float(np.abs(new - value).sum())
        value = new
        if moved < TOLERANCE:
            return value
    import warnings

    text = f"{what} still moved by {moved:.1e} in its last step of {MOST_STEPS}"
    warnings.warn(text, RuntimeWarning, stacklevel=3)
    return value


def pagerank(graph: LinkGraph, damping: float = DAMPING, teleport: Floats | None = None) -> Floats:
    """PageRank: r = d (Aᵀ(r/out) + dangling·t) + (1 − d) t, where t is uniform or ``teleport``; it sums to 1.

    A page without links sends its rank to where jumps go. Page et al., 1999.
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
    """HITS: authorities a = Aᵀh and hubs h = A a, each of length 1 (2-norm). Kleinberg, JACM 1999.

    weights: of each page as an authority (for the topical form); 0 takes it out.
    """
    forward = graph.matrix
    back = forward.T.tocsr()
    heavy = np.ones(graph.documents) if weights is None else weights

    def unit(values: Floats) -> Floats:
        length = float(np.linalg.norm(values))
        return values / length if length > 0 else values

    def step(authority: Floats) -> Floats:
        return unit(heavy * (back @ unit(forward @ authority)))

    authority = iterate(step, unit(heavy.astype(np.float64)), "HITS")
    return authority, unit(forward @ authority)


def hosts(urls: Strings) -> Longs:
    """The number of the host of each address."""
    names = [urlsplit(url if "//" in url else f"//{url}").netloc.lower() for url in urls]
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def host_rank(graph: LinkGraph, host: Longs) -> Floats:
    """HostRank: PageRank of the graph of hosts, given to each of their pages in equal shares.

    Hosts are linked when any of their pages are. Xue et al., SIGIR 2005, without their page levels.
    """
    count = int(host.max()) + 1
    between = LinkGraph.of(count, np.stack([host[graph.sources], host[graph.targets]], axis=1))
    pages = np.bincount(host, minlength=count)
    return np.asarray((pagerank(between) / pages)[host])


def parents(urls: Strings) -> Longs:
    """The page above each one in its site by the address (``a/b/c`` is below ``a/b``), −1 for none."""
    names = [url.split("://")[-1].rstrip("/") for url in urls]
    number = {name: i for i, name in enumerate(names)}
    above = np.full(len(names), -1, np.int64)
    for i, name in enumerate(names):
        place = name
        while "/" in place:
            place = place.rpartition("/")[0]
            if place in number and number[place] != i:
                above[i] = number[place]
                break
    return above


def address_features(urls: Strings) -> dict[str, Floats]:
    """Slashes after the host, length in characters, and how many pages lie right below in the site."""
    paths = [url.split("://")[-1] for url in urls]
    above = parents(urls)
    return {
        "url_slashes": np.array([path.count("/") for path in paths], np.float64),
        "url_length": np.array([len(url) for url in urls], np.float64),
        "url_children": np.bincount(above[above >= 0], minlength=len(paths)).astype(np.float64),
    }
