"""Models whose P(click) is attraction × examination: by position, or by position and last click."""

from __future__ import annotations

import numpy as np

from topkit.clicks.log import Cells
from topkit.clicks.models.em import EM, Params, maximise, prior_value, smoothed
from topkit.clicks.pairs import totals
from topkit.compute import Floats, Trace


def fit_product(
    cells: Cells,
    pairs: int,
    buckets: int,
    em: EM,
) -> tuple[Floats, Floats, float, Trace]:
    """Attraction of each pair, examination of each bucket, average attraction, and the trace.

    Expectation–maximisation with two latent variables, examined and attracted: a click means both, and a skip
    divides by Bayes. Only the products are identified, so the first bucket with data gets the examination 1;
    a bucket without data gets NaN.
    """
    from topkit.clicks import kernels

    shown_pair = totals(cells.pair, cells.impressions, pairs)
    shown_bucket = totals(cells.bucket, cells.impressions, buckets)
    clicks_bucket = totals(cells.bucket, cells.clicks, buckets)
    rows = float(cells.impressions.sum())
    known = shown_bucket > 0
    rate = np.divide(clicks_bucket, shown_bucket, out=np.zeros(buckets), where=known)
    average = float(np.clip(rate[known][0], 1e-6, 1 - 1e-6))
    # Clicks may show that a later position is examined more than the first one; leave room for that.
    g = np.clip(0.5 * rate / max(rate.max(), 1e-12), 1e-6, 1.0)
    a = np.full(pairs, min(2.0 * average, 0.9))
    prior = min(2.0 * average, 0.9)

    def step(a: Floats, g: Floats) -> tuple[Params, float]:
        new_a, new_g = np.zeros(pairs), np.zeros(buckets)
        value = kernels.product_pass(
            cells.pair, cells.bucket, cells.impressions, cells.clicks, a, g, new_a, new_g
        )
        objective = (value + prior_value(a, em.smoothing, prior)) / rows
        below = np.where(known, shown_bucket, 1.0)
        return (smoothed(new_a, shown_pair, em.smoothing, prior), new_g / below), objective

    (a, g), trace = maximise(step, (a, g), em)
    first = float(g[known][0])
    return np.minimum(a * first, 1.0), np.where(known, g / first, np.nan), average, trace
