"""Diverse pages: the utility of a page is a concave function of its clicks, which favours diversity.

    U = E[f(Σ_p d(p)·c_p)],   f(u) = (1 − e^{−κu})/κ,   d(p) = 1/log2(1 + p)

Given the weights w, clicks are independent and E[e^{−κ Σ d c}] = Π_p (1 − P(click|w)·(1 − e^{−κ d(p)})).
Drawing w from the beliefs keeps the correlation between documents: if the clicks of two documents depend on
the same uncertain weight, a page with both has a smaller utility than the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from topkit.compute import Floats, Ints
from topkit.data import Dataset

if TYPE_CHECKING:
    from topkit.rankers.clicks.model import ClickLabel

DRAWS = 64
"""Draws of the weights; their sampling error is small against the differences between pages."""
PAGE = 20
"""Ranks that are filled one by one; users rarely look further, so the rest is sorted by its own utility."""


def diverse_places(model: ClickLabel, data: Dataset, gain: Floats, utility: Floats) -> Floats:
    """A score per document that falls with its rank on the page of its query."""
    drawn = click_draws(model, data)
    return page_scores(
        data, lambda rows: fill_page(drawn[:, rows], gain[rows], utility[rows], model.mix, model.diversity)
    )


def page_scores(data: Dataset, fill: Callable[[slice], Ints]) -> Floats:
    """Scores n, n − 1, … 1 down the page of each query; ``fill`` gives the order of its rows."""
    scores = np.empty(len(data))
    for _, rows in data:
        order = fill(rows)
        scores[rows][order] = np.arange(len(order), 0, -1)
    return scores


def click_draws(model: ClickLabel, data: Dataset) -> Floats:
    """P(click at the first position | w) for draws of the shared weights: draws × documents.

    Memory weights that belong to one document only are integrated out together with the noise.
    """
    layout, beliefs = model.layout, model.clicks
    rng = np.random.default_rng(0)  # the same draws for every page, so that pages do not depend on each other
    shared = layout.features + 3
    z = rng.standard_normal((DRAWS, shared))
    X = np.where(np.isnan(data.X), 0.0, data.X).astype(np.float64)
    names = data.names_of_documents()
    ends = [layout.bias, layout.position(1)]
    sums = np.empty((DRAWS, len(data)))
    private_variance = np.empty(len(data))
    for qid, rows in data:
        slots = np.array(layout.memories(qid, names[rows].tolist()), np.int64)
        common = np.array([*range(layout.features), *ends, slots[0, 0]], np.int64)
        w = beliefs.mean[common] + z * np.sqrt(beliefs.variance[common])
        inputs = np.hstack([X[rows], np.ones((len(slots), 3))])
        # Row by row, so that a document's result does not depend on the other rows.
        sums[:, rows] = np.array([(w * x).sum(axis=1) for x in inputs]).T + beliefs.mean[slots[:, 1:]].sum(
            axis=1
        )
        private_variance[rows] = beliefs.variance[slots[:, 1:]].sum(axis=1)
    return beliefs.above(sums, private_variance)


def fill_page(drawn: Floats, gain: Floats, utility: Floats, mix: float, steepness: float) -> Ints:
    """Documents in greedy order: each adds most to (1 − λ)·DCG + λ·U."""
    n = drawn.shape[1]
    left = np.ones(n, np.bool_)
    unmet = np.ones(len(drawn))  # E[e^{−κ Σ d c}] of the page so far, for each draw
    order = []
    for place in range(1, min(n, PAGE) + 1):
        discount = 1.0 / np.log2(1.0 + place)
        saved = -np.expm1(-steepness * discount)
        added = (1 - mix) * discount * gain + mix * (unmet @ drawn) / len(drawn) * saved / steepness
        best = int(np.argmax(np.where(left, added, -np.inf)))
        order.append(best)
        left[best] = False
        unmet = unmet * (1.0 - drawn[:, best] * saved)
    rest = np.flatnonzero(left)
    order += rest[np.argsort(-utility[rest], kind="stable")].tolist()
    return np.array(order, np.int64)
