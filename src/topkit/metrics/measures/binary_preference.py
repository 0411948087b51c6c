"""Measures for incomplete judgments: bpref and inferred average precision."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats
from topkit.metrics.block import Block
from topkit.metrics.conventions import Convention
from topkit.metrics.measure import Depths, Rel
from topkit.metrics.measures.relevant_found import least_relevant, over

_SMALL = 1e-5
"""Keeps the share of relevant documents defined if no document was judged; the value of trec_eval."""


def bpref(block: Block, depths: Depths, convention: Convention, rel: Rel = None) -> Floats:
    """bpref = (1/R) Σ over returned relevant documents of 1 − min(n, R)/min(N, R).

    n counts judged irrelevant documents ranked above, R and N all relevant and irrelevant ones that are
    known; unjudged documents are ignored. Buckley and Voorhees, SIGIR 2004, as in trec_eval.

    Use it if many returned documents are unjudged (`gm_bpref` gives more weight to hard queries). Not with
    complete judgments, where `map` is sharper.
    """
    least = least_relevant(convention, rel)
    relevant = block.labels >= least
    irrelevant = (block.labels >= 0) & ~relevant
    known = block.relevant_known(least)
    missed = np.count_nonzero((block.missed >= 0) & (block.missed < least), axis=1)
    bound = np.minimum(np.count_nonzero(irrelevant, axis=1) + missed, known)
    above = np.minimum(np.cumsum(irrelevant, axis=1), known[:, None])
    credit = 1.0 - above / np.maximum(bound, 1)[:, None]
    return over((credit * relevant).sum(axis=1)[None, :], known, convention)


def inferred_ap(block: Block, depths: Depths, convention: Convention, rel: Rel = None) -> Floats:
    """infAP: average precision estimated from a sample of the pool.

    A label of −2 means that the document was in the pool but not drawn for judging; other labels below 0 mean
    that it was not in the pool, which counts as irrelevant. Yilmaz and Aslam, CIKM 2006, as in trec_eval.

    Use it if the judged documents are a random sample of the pool. Not for judgments of the top of the pool.
    """
    least = least_relevant(convention, rel)
    relevant = block.labels >= least
    above = np.zeros((len(block), block.width + 1))
    pooled = np.zeros_like(above)
    judged = np.zeros_like(above)
    np.cumsum(relevant, axis=1, out=above[:, 1:])
    np.cumsum((block.labels >= 0) | (block.labels == -2), axis=1, out=pooled[:, 1:])
    np.cumsum(block.labels >= 0, axis=1, out=judged[:, 1:])
    before = np.arange(block.width, dtype=np.float64)
    share = (above + _SMALL) / (judged + 2 * _SMALL)  # of the judged documents so far, the relevant
    expected = (1.0 + pooled[:, :-1] * share[:, :-1]) / (before + 1.0)
    return over((expected * relevant).sum(axis=1)[None, :], block.relevant_known(least), convention)
