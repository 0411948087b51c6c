"""Dual learning: the examination of positions, given the relevance that a ranker predicts."""

from __future__ import annotations

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.pairs import Pairs, totals
from topkit.clicks.propensities import Propensities
from topkit.compute import Floats

STEPS = 200
"""Steps of expectation–maximisation per round."""
SMALLEST = 1e-3
"""Smallest examination: a position without clicks must not get infinite weights."""


def dual_propensities(log: ClickLog, pairs: Pairs, scores: Floats) -> Propensities:
    """Maximum-likelihood examination for P(click) = examination(position)·σ(a·score + b), with a and b.

    The dual learning of Ai, Bi, Luo, Guo & Croft (SIGIR 2018) divides clicks by the softmax of the scores,
    which is a relevance only for the softmax loss. The scores of any loss become one by a and b, which are
    fitted together with the examination, as in the regression EM of Wang et al. (WSDM 2018).
    """
    cells = log.cells()
    place = pairs.find(log.pairs)[cells.pair]
    known = place >= 0
    bucket, shown, clicks = cells.bucket[known], cells.impressions[known], cells.clicks[known]
    x = scores[place[known]]
    x = (x - x.mean()) / (x.std() + 1e-12)
    size = log.n_positions
    total = np.maximum(totals(bucket, shown, size), 1e-300)
    rate = totals(bucket, clicks, size) / total
    g, a, b = np.clip(0.5 * rate / max(float(rate.max()), 1e-300), SMALLEST, 1.0), 1.0, 0.0
    for _ in range(STEPS):
        r = _sigmoid(a * x + b)
        p = r * g[bucket]
        left = (shown - clicks) / np.maximum(1.0 - p, 1e-12)
        relevant = clicks + left * (r - p)
        g = totals(bucket, clicks + left * (g[bucket] - p), size) / total
        a, b = _logistic_step(x, relevant, shown, a, b)
        g = np.clip(g, SMALLEST, 1.0)
    return Propensities(np.maximum(g / g[0], SMALLEST), method="dual")


def _logistic_step(x: Floats, hits: Floats, shown: Floats, a: float, b: float) -> tuple[float, float]:
    """One Newton step of the logistic regression of hits among the shown on x."""
    r = _sigmoid(a * x + b)
    error, curve = hits - shown * r, shown * r * (1.0 - r) + 1e-9 * shown
    gradient = np.array([error @ x, error.sum()])
    cross = float(curve @ x)
    hessian = np.array([[float(curve @ (x * x)), cross], [cross, float(curve.sum())]])
    change = np.linalg.solve(hessian, gradient)
    return float(a + np.clip(change[0], -1, 1)), float(b + np.clip(change[1], -1, 1))


def _sigmoid(z: Floats) -> Floats:
    values: Floats = 1.0 / (1.0 + np.exp(-np.clip(z, -30, 30)))
    return values
