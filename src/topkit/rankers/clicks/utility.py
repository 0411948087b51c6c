"""A learned utility: how likely a user is satisfied with a page, by its clicks and grades.

    p(satisfied | y) = σ(b + w_c·Σ_p d(p)·c_p + w_g·Σ_p d(p)·(2^{g_p} − 1)),   d(p) = 1/log2(1 + p)

Explicit satisfaction is rare, so it is learned from a few rated pages y. With U(satisfied) = 1, the utility
of a page is Ũ(y) = E[U] = p(satisfied | y), and pages are filled so that its expectation under the model of
clicks and grades is large: equations 2 and 1 of Zoeter et al., LR4IR 2008.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topkit.compute import Floats, Ints
from topkit.data import Dataset, InputError, Page
from topkit.rankers.clicks.diversity import PAGE, click_draws, page_scores
from topkit.rankers.clicks.grades import LARGEST

if TYPE_CHECKING:
    from topkit.rankers.clicks.model import ClickLabel

REPEATS = 8
"""Outcomes of earlier clicks that are drawn for each draw of the weights."""


@dataclass(frozen=True)
class LearnedUtility:
    """The probability that a user is satisfied, by the discounted clicks and gains of the page."""

    bias: float
    clicks: float
    """Weight of Σ d(p)·c_p."""
    gains: float
    """Weight of Σ d(p)·(2^g − 1)."""

    def __call__(self, clicks: Floats, gains: Floats) -> Floats:
        """P(satisfied) for sums of discounted clicks and gains."""
        from scipy.special import expit

        probability: Floats = expit(self.bias + self.clicks * clicks + self.gains * gains)
        return probability


def page_sums(page: Page) -> tuple[float, float]:
    """Σ d(p)·c_p and Σ d(p)·(2^g − 1) of a page; grades below 0 count as 0, and a page without grades as 0.

    >>> page_sums(Page("q", ("a", "b", "c"), (True, False, True), grades=(0.0, 0.0, 2.0)))
    (1.5, 1.5)
    """
    discounts = 1.0 / np.log2(1.0 + np.arange(1, len(page.docs) + 1))
    if max(page.grades, default=0.0) > LARGEST:
        raise InputError(f"the grade {max(page.grades):g} is too large", f"use grades of at most {LARGEST:g}")
    gains = np.exp2(np.maximum(page.grades, 0.0)) - 1.0 if page.grades else np.zeros(len(page.docs))
    return float(discounts @ np.array(page.clicks, np.float64)), float(discounts @ gains)


def learn_utility(rated: Iterable[tuple[Page, bool]]) -> LearnedUtility:
    """Learn p(satisfied | page) from pages whose users said whether they were satisfied.

    Logistic regression; the weights of the standardised sums have a standard normal prior.

    >>> shown = [Page("q", ("a", "b"), clicks) for clicks in ((True, False), (False, False))] * 20
    >>> utility = learn_utility((page, any(page.clicks)) for page in shown)
    >>> utility.clicks > 0 == utility.gains
    True
    """
    from scipy.optimize import minimize

    pages = [(*page_sums(page), satisfied) for page, satisfied in rated]
    if len({satisfied for *_, satisfied in pages}) < 2:
        raise InputError(
            "a utility is learned from satisfied and from dissatisfied users", "rate more pages of both kinds"
        )
    table = np.array(pages, np.float64)
    sums, satisfied = table[:, :2], table[:, 2]
    mean, deviation = sums.mean(axis=0), sums.std(axis=0)
    known = deviation > 0
    deviation = np.where(known, deviation, 1.0)
    inputs = np.hstack([np.ones((len(sums), 1)), np.where(known, (sums - mean) / deviation, 0.0)])

    def objective(weights: Floats) -> tuple[float, Floats]:
        scores = inputs @ weights
        prior = np.array([0.0, *weights[1:]])
        value = float(np.sum(np.logaddexp(0.0, scores) - satisfied * scores) + 0.5 * prior @ prior)
        gradient: Floats = inputs.T @ (1.0 / (1.0 + np.exp(-scores)) - satisfied) + prior
        return value, gradient

    solution = minimize(objective, np.zeros(3), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    slopes = solution[1:] / deviation
    return LearnedUtility(float(solution[0] - slopes @ mean), float(slopes[0]), float(slopes[1]))


def useful_places(
    model: ClickLabel, data: Dataset, gain: Floats, click: Floats, utility: LearnedUtility
) -> Floats:
    """A score per document that falls with its rank on the page of its query."""
    drawn = click_draws(model, data)
    alone = utility.gains * gain + utility.clicks * click
    return page_scores(data, lambda rows: fill_useful_page(drawn[:, rows], gain[rows], alone[rows], utility))


def fill_useful_page(drawn: Floats, gain: Floats, alone: Floats, utility: LearnedUtility) -> Ints:
    """Documents in greedy order: each adds most to the expected utility of the page so far.

    ``drawn`` is P(click | w) for draws of the weights × documents. The click of a candidate is integrated
    out; the clicks of earlier documents are drawn. A grade enters by its expected gain. After 20 documents,
    the others follow by ``alone``, what they would add to a page without others.
    """
    drawn = np.repeat(drawn, REPEATS, axis=0)
    rng = np.random.default_rng(0)  # the same draws for every page, so that pages do not depend on each other
    n = drawn.shape[1]
    left = np.ones(n, np.bool_)
    clicks, gains = np.zeros((len(drawn), 1)), 0.0
    order = []
    for place in range(1, min(n, PAGE) + 1):
        discount = 1.0 / np.log2(1.0 + place)
        after = gains + discount * gain
        skipped, clicked = utility(clicks, after), utility(clicks + discount, after)
        expected = (skipped + drawn * (clicked - skipped)).mean(axis=0)
        best = int(np.argmax(np.where(left, expected, -np.inf)))
        order.append(best)
        left[best] = False
        chance = (rng.permutation(len(drawn)) + 0.5) / len(drawn)  # spread evenly, which lowers the variance
        clicks = clicks + discount * (chance < drawn[:, best])[:, None]
        gains += discount * float(gain[best])
    rest = np.flatnonzero(left)
    order += rest[np.argsort(-alone[rest], kind="stable")].tolist()
    return np.array(order, np.int64)
