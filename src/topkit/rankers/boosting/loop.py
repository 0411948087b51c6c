"""The loop that RankBoost, AdaRank and FocusedBoost share: weigh queries and pairs, choose, add."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Trace
from topkit.data import Dataset
from topkit.losses import Objective
from topkit.metrics.compiled import Measured, worst_ties
from topkit.rankers.boosting.pools import Pool, list_values
from topkit.rankers.contract import Job
from topkit.scorers import Floats, Model

SMALLEST_GAIN = 1e-9
"""A weak ranker with less correlation has nothing to add."""
LARGEST_GAIN = 1 - 1e-9
"""Perfect correlation would have an infinite weight."""

MOST_TRIES = 50
"""So many weak rankers in a row that do not raise the measure are taken as a sign that none does."""


@dataclass(frozen=True)
class Lists:
    """Lists with weights D(q) ∝ w_q·exp(−E_q), E_q the measure of the sum so far: AdaRank's part."""

    measured: Measured
    rows: NDArray[np.int64] | None
    """The rows of the training data that the lists consist of; None for all."""
    weights: Floats
    """w_q; they sum to 1."""
    of_weak: Floats = field(repr=False)
    """E of every weak ranker, then of every reversed one, on each list."""

    @classmethod
    def of(
        cls, job: Job, data: Dataset, rows: NDArray[np.int64] | None, weights: Floats, pool: Pool
    ) -> Lists | None:
        """The lists of ``data`` whose labels differ; None if there are none."""
        low, high = np.minimum.reduceat(data.y, data.ptr[:-1]), np.maximum.reduceat(data.y, data.ptr[:-1])
        useful = np.where(high > low, weights, 0.0)
        if useful.sum() <= 0:
            return None
        measured = Measured.of(data, job.metric, job.convention)
        return cls(measured, rows, useful / useful.sum(), list_values(pool, data, measured))

    def look(self, scores: Floats) -> tuple[float, Floats]:
        """The weighted mean of the measure, and D."""
        values = self.measured.values(scores if self.rows is None else scores[self.rows])
        raw = self.weights * np.exp(-values)
        return float(self.weights @ values), raw / raw.sum()


@dataclass(frozen=True)
class Pairs:
    """Pairs with weights D'(u,v) ∝ exp(−(H(u) − H(v))) for the sum H so far: RankBoost's part."""

    loss: Objective
    start: float
    """The exponential loss at H = 0: the number of pairs."""

    @classmethod
    def of(cls, loss: Objective) -> Pairs | None:
        """Pairs under the exponential loss; None if there are none."""
        start = loss(np.zeros(len(loss)))[0]
        return cls(loss, start) if start > 0 else None

    def look(self, scores: Floats) -> tuple[float, Floats]:
        """The mean loss, and π with Σ_{u,v} D'(u,v)(f(u) − f(v)) = Σ_x f(x)·π(x) for every f.

        π is the downward slope of the logarithm of the loss, so pairs need not be listed.
        """
        value, slope = self.loss(scores)
        return value / self.start, slope / -value


def boost(
    job: Job, train: Dataset, pool: Pool, lists: Lists | None, pairs: Pairs | None, beta: float, rounds: int
) -> tuple[Model, list[Trace]]:
    """Round by round, add the weak ranker with the largest correlation.

    It is r = β Σ D(q)·E(f, q) + (1 − β) Σ D'(u,v)(f(u) − f(v)), and its weight is α = ½ ln((1 + r)/(1 − r));
    a reversed weak ranker counts as one with −α. With lists alone, a weak ranker that does not raise the
    measure of the sum is set aside until another one does, because the weights would choose it again for
    ever. Boosting ends when none has anything to add (or 50 in a row have not), or after ``rounds``.
    Validation data decides how many rounds are kept; the trace holds its measure, or without any β·E − (1 −
    β)·loss of training.
    """
    scores = np.zeros(len(train))
    # a file that is sorted by label would make nothing learnt, all scores equal, look best
    valid = None if job.valid is None else worst_ties(job.valid)
    judge = None if valid is None else Measured.of(valid, job.metric, job.convention)
    valid_scores = np.zeros(0 if valid is None else len(valid))
    chosen: list[int] = []
    alphas: list[float] = []
    aside = np.zeros(2 * pool.size, np.bool_)
    trace = Trace(rounds, larger_is_better=True)

    def look(scores: Floats) -> tuple[float, Floats, Floats]:
        """What training has reached, D and π."""
        measure, share = (0.0, np.zeros(0)) if lists is None else lists.look(scores)
        loss, potential = (0.0, np.zeros(0)) if pairs is None else pairs.look(scores)
        return beta * measure - (1 - beta) * loss, share, potential

    def gains(share: Floats, potential: Floats) -> Floats:
        """r of every weak ranker, then of every reversed one."""
        found = np.zeros(2 * pool.size)
        if lists is not None:
            found += beta * (lists.of_weak @ share)
        if pairs is not None:
            sums = (1 - beta) * pool.sums(potential)
            found[: pool.size] += sums
            found[pool.size :] -= sums
        found[aside] = -np.inf
        return found

    reached, share, potential = look(scores)
    going = trace.go_on(reached if judge is None else judge.mean(valid_scores))
    while going:
        correlation = gains(share, potential)
        best = int(np.argmax(correlation))
        r = min(float(correlation[best]), LARGEST_GAIN)
        if r < SMALLEST_GAIN:
            trace.reason = "settled"
            break
        which, sign = (best, 1.0) if best < pool.size else (best - pool.size, -1.0)
        alpha = sign * 0.5 * math.log((1 + r) / (1 - r))
        tried = scores + alpha * pool.column(which, train)
        now, new_share, new_potential = look(tried)
        if pairs is None and now <= reached:
            aside[best] = True
            if aside.sum() < MOST_TRIES:
                continue
            trace.reason = "settled"
            break
        aside[:] = False
        scores, reached, share, potential = tried, now, new_share, new_potential
        chosen.append(which)
        alphas.append(alpha)
        value = reached
        if judge is not None and valid is not None:
            valid_scores += alpha * pool.column(which, valid)
            value = judge.mean(valid_scores)
        going = trace.go_on(value)
        job.report("measure" if judge else "objective", trace.steps, rounds, value)
    kept = len(chosen) if judge is None else trace.best_step
    return pool.model(np.array(chosen[:kept], np.int64), np.array(alphas[:kept], np.float64)), [trace]
