"""Measures with approximate ranks: ApproxNDCG, ApproxMRR, and ApproxNDCG of randomly perturbed scores."""

from __future__ import annotations

import zlib
from itertools import pairwise
from typing import Annotated, NamedTuple

import numpy as np

from topkit.compute import Floats, Ints
from topkit.data.settings import Setting
from topkit.losses.base import Block, Column, weighted
from topkit.losses.ndcg import Relevance, gains_and_ideal

Temperature = Annotated[
    float,
    Setting("Difference of scores over which a rank changes; smaller is closer to the measure.", above=0.0),
]


def approxndcg(
    scores: Floats, relevance: Relevance, ptr: Ints, *, curved: bool, temperature: Temperature = 1.0
) -> Block:
    """ApproxNDCG: 1 − NDCG with approximate ranks r_i = 1 + Σ_{j≠i} σ((s_j − s_i)/T).

    1 − Σ_i (2^y_i − 1)/log2(1 + r_i) / DCG*. T → 0 gives 1 − NDCG. The loss of a query without a relevant
    document is 0. Not convex; the curvature is a positive substitute. O(n) for each relevant document. Equal
    to 1 + ``rax.approx_t12n(rax.ndcg_metric)``. Qin et al., Information Retrieval 2010; Bruch et al., SIGIR
    2019.

    Use it for networks on grades if NDCG of the whole list counts. Not for linear models on few queries,
    where convex losses are safer: its gradient vanishes for scores far apart.
    """
    from topkit.losses.approx import kernels

    block: Block = kernels.approx_ndcg(scores, *relevance, ptr, temperature, curved)
    return block


def approxmrr(
    scores: Floats, relevant: Floats, ptr: Ints, *, curved: bool, temperature: Temperature = 1.0
) -> Block:
    """ApproxMRR: 1 − the reciprocal of the best approximate rank of a relevant document.

    1 − max_i 1/r_i over documents with a label above 0; r_i as in `approxndcg`. If several documents share
    the best rank, the gradient is their mean. With document weights, 1 − max_i w_i/r_i. The loss of a query
    without a relevant document is 0. The curvature is a positive substitute. O(n) for each relevant document.
    For whole labels equal to 1 + ``rax.approx_t12n(rax.mrr_metric)``.

    Use it if one right answer is enough, as in question answering. Not if several relevant documents per
    query should be found: it learns only from the best of them.
    """
    from topkit.losses.approx import kernels

    block: Block = kernels.approx_mrr(scores, relevant, ptr, temperature, curved)
    return block


class NoisyRelevance(NamedTuple):
    """The relevance of each document, and Gumbel noise on its score: one row per sample."""

    relevance: Relevance
    noise: Floats


def gumbel_approxndcg(
    scores: Floats,
    noisy: NoisyRelevance,
    ptr: Ints,
    *,
    curved: bool,
    temperature: Temperature = 1.0,
    beta: Annotated[float, Setting("Scale of the Gumbel noise on the scores.", above=0.0)] = 1.0,
) -> Block:
    """GumbelApproxNDCG: the mean of ApproxNDCG over scores with Gumbel noise, s_i + β·g_i.

    The order of scores with Gumbel noise of scale 1 has the Plackett–Luce distribution, so this is the
    expected loss of a random ranking. The paper draws new noise for each step; here the noise of a query is
    drawn once, from ``noise_seed`` and its labels, so that the loss is a function that every optimiser can
    minimise. Because each row has its own noise, the value depends on the order of rows. ``samples`` times
    the cost of `approxndcg`. Bruch et al., WSDM 2020.

    Use it in place of `approxndcg` if that stops early: noise smooths the steps of the ranks. Not if runs
    must not depend on a seed.
    """
    parts = [
        approxndcg(scores + beta * noise, noisy.relevance, ptr, curved=curved, temperature=temperature)
        for noise in noisy.noise
    ]
    values, gradient, curvature = (
        np.asarray(sum(part), np.float64) / len(parts) for part in zip(*parts, strict=True)
    )
    return values, gradient, curvature


def weighted_gains(labels: Floats, ptr: Ints, *, document_weights: Column = None) -> Relevance:
    """The gain 2^y − 1 of each document, times its weight, and the ideal DCG of each query."""
    return gains_and_ideal(labels, ptr, document_weights=document_weights)


def weighted_relevance(labels: Floats, ptr: Ints, *, document_weights: Column = None) -> Floats:
    """The weight of each relevant document, 1 by default, and 0 for all others."""
    return weighted((labels > 0).astype(np.float64), document_weights)


def noisy_gains(
    labels: Floats,
    ptr: Ints,
    *,
    samples: Annotated[int, Setting("Random rankings per query.", low=1)] = 8,
    noise_seed: Annotated[int, Setting("Seed of the noise on the scores.", low=0)] = 0,
    document_weights: Column = None,
) -> NoisyRelevance:
    """The gains, and noise that depends on the seed and the labels of the query alone.

    So a query has the same noise in every batch and in every part of a data set.
    """
    noise = np.empty((samples, len(labels)))
    for a, b in pairwise(ptr):
        seeds = (noise_seed, b - a, zlib.crc32(labels[a:b].tobytes()))
        noise[:, a:b] = np.random.default_rng(seeds).gumbel(size=(samples, b - a))
    return NoisyRelevance(weighted_gains(labels, ptr, document_weights=document_weights), noise)
