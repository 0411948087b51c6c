"""The loop that RankBoost, AdaRank and FocusedBoost share: weigh queries and pairs, select, add."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Trace
from topkit.data import Dataset
from topkit.losses import Objective
from topkit.metrics.compiled import Measured, worst_ties
from topkit.rankers.boosting.pools import Pool, list_values
from topkit.scorers import Job, Model

SMALLEST_GAIN = 1e-9
"""A weak ranker with less correlation does not improve the sum."""
LARGEST_GAIN = 1 - 1e-9
"""Perfect correlation would have an infinite weight."""

MOST_TRIES = 50
"""Boosting stops after this many weak rankers in a row that do not raise the metric."""


@dataclass(frozen=True)
class Lists:
    """Lists with weights D(q) ∝ w_q·exp(−E_q), E_q the metric of the sum so far: AdaRank's part."""

    measured: Measured
    rows: NDArray[np.int64] | None
    """The rows of the training data in the lists; None for all."""
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

    def state(self, scores: Floats) -> tuple[float, Floats]:
        """The weighted mean of the metric, and D."""
        values = self.measured.values(scores if self.rows is None else scores[self.rows])
        raw = self.weights * np.exp(-values)
        return float(self.weights @ values), raw / raw.sum()


@dataclass(frozen=True)
class Pairs:
    """Pairs with weights D'(u,v) ∝ exp(−(H(u) − H(v))) for the sum H so far: RankBoost's part."""

    loss: Objective
    start: float
    """The exponential loss at H = 0: the number of pairs."""
    scale: float = 1.0
    """Factor of H in the loss. 1 over the largest label gap keeps the correlation of label gaps within ±1."""

    @classmethod
    def of(cls, loss: Objective, scale: float = 1.0) -> Pairs | None:
        """Pairs under the exponential loss; None if there are none."""
        start = loss(np.zeros(len(loss)))[0]
        return cls(loss, start, scale) if start > 0 else None

    def state(self, scores: Floats) -> tuple[float, Floats]:
        """The mean loss, and π with Σ_{u,v} D'(u,v)(f(u) − f(v)) = Σ_x f(x)·π(x) for every f.

        π is the negative gradient of the logarithm of the loss, so pairs are not listed.
        """
        value, slope = self.loss(self.scale * scores)
        return value / self.start, slope * (-self.scale / value)


@dataclass
class Boosting:
    """Weak rankers are added to H one by one, always the one with the largest correlation.

    The correlation is r = β Σ D(q)·E(f, q) + (1 − β) Σ D'(u,v)(f(u) − f(v)), and the weight of the weak
    ranker is α = ½ ln((1 + r)/(1 − r)); a reversed weak ranker is one with −α.
    """

    train: Dataset
    pool: Pool
    lists: Lists | None
    pairs: Pairs | None
    beta: float

    def run(self, job: Job, rounds: int) -> tuple[Model, list[Trace]]:
        """The sum after ``rounds``, or earlier if no weak ranker can improve it, and the trace.

        With lists alone, a weak ranker that does not raise the metric of the sum is excluded until another
        one does, because the same weights would select it again and again; after 50 of them in a row,
        boosting stops. Validation data selects the number of rounds; the trace holds its metric, or without
        validation data β·E − (1 − β)·loss of training.
        """
        pool, train = self.pool, self.train
        # ties count as ordered badly: in a file sorted by label, equal scores would look perfect
        valid = None if job.valid is None else worst_ties(job.valid)
        judge = None if valid is None else Measured.of(valid, job.metric, job.convention)
        valid_scores = np.zeros(0 if valid is None else len(valid))
        scores = np.zeros(len(train))
        chosen: list[int] = []
        alphas: list[float] = []
        excluded = np.zeros(2 * pool.size, np.bool_)
        trace = Trace(rounds, larger_is_better=True)
        reached, list_weights, potential = self.state(scores)
        going = trace.go_on(reached if judge is None else judge.mean(valid_scores))
        while going:
            correlation = np.where(excluded, -np.inf, self.correlations(list_weights, potential))
            best = int(np.argmax(correlation))
            r = min(float(correlation[best]), LARGEST_GAIN)
            if r < SMALLEST_GAIN or excluded.sum() >= MOST_TRIES:
                trace.reason = "settled"
                break
            which, sign = (best, 1.0) if best < pool.size else (best - pool.size, -1.0)
            alpha = sign * 0.5 * math.log((1 + r) / (1 - r))
            tried = scores + alpha * pool.column(which, train)
            state = self.state(tried)
            if self.pairs is None and state[0] <= reached:
                excluded[best] = True
                continue
            excluded[:] = False
            scores, (reached, list_weights, potential) = tried, state
            chosen.append(which)
            alphas.append(alpha)
            value = reached
            if judge is not None and valid is not None:
                valid_scores += alpha * pool.column(which, valid)
                value = judge.mean(valid_scores)
            going = trace.go_on(value)
            job.report("metric" if judge else "objective", trace.steps, rounds, value)
        kept = len(chosen) if judge is None else trace.best_step
        return pool.model(np.array(chosen[:kept], np.int64), np.array(alphas[:kept], np.float64)), [trace]

    def state(self, scores: Floats) -> tuple[float, Floats, Floats]:
        """β·E − (1 − β)·loss of the training data, D and π at these scores."""
        value, weights = (0.0, np.zeros(0)) if self.lists is None else self.lists.state(scores)
        loss, potential = (0.0, np.zeros(0)) if self.pairs is None else self.pairs.state(scores)
        return self.beta * value - (1 - self.beta) * loss, weights, potential

    def correlations(self, list_weights: Floats, potential: Floats) -> Floats:
        """r of every weak ranker, then of every reversed one."""
        size = self.pool.size
        correlation = np.zeros(2 * size)
        if self.lists is not None:
            correlation += self.beta * (self.lists.of_weak @ list_weights)
        if self.pairs is not None:
            sums = (1 - self.beta) * self.pool.sums(potential)
            correlation[:size] += sums
            correlation[size:] -= sums
        return correlation
