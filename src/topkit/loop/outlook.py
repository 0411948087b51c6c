"""When to stop: what another hour of labelling is expected to gain, with an interval.

The labelled queries are split at random. Rankers are fitted to a third, two thirds and all of one part, and
their agreement with the answers on the other part is measured. With n queries, the agreement is modelled as
a − b/√n, the usual rate of a statistical estimate; least squares gives b for each split. An hour that adds m
queries to n is then expected to gain b·(1/√n − 1/√(n + m)).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topkit.data import Dataset
from topkit.loop.events import Interval
from topkit.loop.training import Labelled, agreement, fit
from topkit.rankers import Learner

SPLITS = 8
"""Random splits; the interval is over them."""
TESTED = 0.25
"""The share of the queries that measures the fits of a split."""
SHARES = (1 / 3, 2 / 3, 1.0)
"""The shares of the other queries that are learned from."""
FEWEST = 12
"""With fewer labelled queries, no gain is expected or reported."""
STUDENT_T = 2.364624
"""The 97.5 % quantile of Student's t with SPLITS − 1 = 7 degrees of freedom."""


def expected_gain(
    template: Learner,
    queries: Dataset,
    done: Sequence[Labelled],
    minutes: float,
    seed: int,
    hour: float = 60.0,
) -> Interval | None:
    """The expected gain in agreement with the judges after another hour; None with fewer than 12 queries.

    ``minutes`` is the time that the labelled queries took. Splits overlap, so the interval is approximate.
    """
    numbers = np.array(sorted({part.query for part in done if len(part.better)}))
    if len(numbers) < FEWEST or minutes <= 0:
        return None
    chance = np.random.default_rng([seed, 1])
    slopes = [_slope(template, queries, done, chance.permutation(numbers)) for _ in range(SPLITS)]
    more = len(numbers) * (minutes + hour) / minutes
    gains = np.array(slopes) * (1 / np.sqrt(len(numbers)) - 1 / np.sqrt(more))
    half = STUDENT_T * gains.std(ddof=1) / np.sqrt(SPLITS)
    return Interval(float(gains.mean()), float(gains.mean() - half), float(gains.mean() + half))


def _slope(template: Learner, queries: Dataset, done: Sequence[Labelled], order: np.ndarray) -> float:
    """The b of one split: minus the slope of agreement against 1/√n."""
    tested = max(1, round(TESTED * len(order)))
    test, rest = set(order[:tested].tolist()), order[tested:]
    better = np.concatenate([part.better[part.asked] for part in done if part.query in test])
    worse = np.concatenate([part.worse[part.asked] for part in done if part.query in test])
    roots, values = [], []
    for share in SHARES:
        count = max(2, round(share * len(rest)))
        chosen = set(rest[:count].tolist())
        fitted = fit(template, queries, [part for part in done if part.query in chosen])
        if fitted is not None:
            roots.append(1 / np.sqrt(count))
            values.append(agreement(fitted.ordering_scores(queries), better, worse))
    return -slope(roots, values)


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """The slope of the least-squares line; 0 if all x are equal.

    >>> slope([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])
    2.0
    """
    from_mean = np.asarray(x) - np.mean(x)
    spread = float(from_mean @ from_mean)
    return float(from_mean @ np.asarray(y)) / spread if spread > 0 else 0.0
