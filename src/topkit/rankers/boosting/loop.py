"""The loop that RankBoost, AdaRank and FocusedBoost share: weigh queries and pairs, select, add."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from topkit.compute import Floats, Ints, Trace
from topkit.data import Dataset
from topkit.losses import Objective
from topkit.metrics.compiled import Measured, worst_ties
from topkit.rankers.boosting.pools import Pool, list_values
from topkit.rankers.pieces import Pieces
from topkit.scorers import Job, Model
from topkit.scorers.linear import Matrix

SMALLEST_GAIN = 1e-9
"""A weak ranker with less correlation does not improve the sum."""
LARGEST_GAIN = 1 - 1e-9
"""Perfect correlation would have an infinite weight."""

MOST_TRIES = 50
"""Boosting stops after this many weak rankers in a row that do not raise the metric."""

Chosen = tuple[tuple[int, float], ...]
"""The weak rankers of a sum and their weights, in the order in which they were added."""
Sums = tuple[float, float, Floats, float, Floats]
"""Σ w·E, Σ w·exp(−E), Σ w·exp(−E)·E of each weak ranker, the loss of pairs, and Σ slope·f of each."""


@dataclass(frozen=True)
class Lists:
    """Lists with weights D(q) ∝ w_q·exp(−E_q), E_q the metric of the sum so far: AdaRank's part."""

    measured: Measured
    rows: Ints | None
    """The rows of the training data in the lists; None for all."""
    weights: Floats

    @classmethod
    def of(cls, job: Job, data: Dataset, rows: Ints | None, weights: Floats) -> Lists | None:
        """The lists of ``data`` whose labels differ; None if there are none."""
        low, high = np.minimum.reduceat(data.y, data.ptr[:-1]), np.maximum.reduceat(data.y, data.ptr[:-1])
        useful = np.where(high > low, weights, 0.0)
        if useful.sum() <= 0:
            return None
        return cls(Measured.of(data, job.metric, job.convention), rows, useful)


@dataclass
class BoostPiece:
    """The lists and the pairs of a piece, and what does not change from round to round."""

    ptr: Ints
    lists: Lists | None
    pairs: Objective | None
    """The exponential loss: pairs have the weights D'(u,v) ∝ exp(−(H(u) − H(v))), RankBoost's part."""
    largest: float = 1.0
    """The largest label."""
    active: Ints | None = field(default=None, repr=False)
    """The rows of the documents that have pairs; None for all."""
    bound: Any = field(default=None, repr=False)
    of_weak: Floats | None = field(default=None, repr=False)
    """The metric of every weak ranker, then of every reversed one, on each list."""
    known: list[tuple[Chosen, Floats]] = field(default_factory=list, repr=False)
    """The scores of the two latest sums."""

    def bind(self, pool: Pool, X: Matrix) -> None:
        """Compute what the weak rankers are on this piece, unless it is known."""
        if self.pairs is not None and self.bound is None:
            self.bound = pool.bind(X if self.active is None else X[self.active])
        if self.lists is not None and self.of_weak is None:
            rows = self.lists.rows
            self.of_weak = list_values(pool, X if rows is None else X[rows], self.lists.measured)

    def scores(self, pool: Pool, X: Matrix, chosen: Chosen) -> Floats:
        """The scores of a sum; usually one weak ranker is added to a sum that is known.

        A worker that replaces a lost one, or a state that did not fit into memory, adds them all again.
        """
        for earlier, scores in self.known:
            if earlier == chosen:
                return scores
        base = next((scores for earlier, scores in self.known if earlier == chosen[:-1]), None)
        documents = len(X) if self.active is None else len(self.active)
        scores, missing = (np.zeros(documents), chosen) if base is None else (base, chosen[-1:])
        for which, alpha in missing:
            scores = scores + alpha * pool.column(which, X, self.bound)
        self.known = [(chosen, scores)] if base is None else [(chosen[:-1], base), (chosen, scores)]
        return scores


def start_sums(piece: BoostPiece, X: Matrix) -> tuple[float, float]:
    """The weight of the lists of a piece, and the loss of its pairs at scores of 0: their number."""
    return (
        0.0 if piece.lists is None else float(piece.lists.weights.sum()),
        0.0 if piece.pairs is None else piece.pairs(np.zeros(len(piece.pairs)))[0],
    )


def round_sums(piece: BoostPiece, X: Matrix, pool: Pool, chosen: Chosen, scale: float) -> Sums:
    """What a piece adds to the sums that choose the next weak ranker."""
    piece.bind(pool, X)
    scores = piece.scores(pool, X, chosen)
    value, weight, of_lists = 0.0, 0.0, np.zeros(2 * pool.size)
    if piece.lists is not None and piece.of_weak is not None:
        values = piece.lists.measured.values(scores if piece.lists.rows is None else scores[piece.lists.rows])
        raw = piece.lists.weights * np.exp(-values)
        value, weight = float(piece.lists.weights @ values), float(raw.sum())
        of_lists = piece.of_weak @ raw
    loss, of_pairs = 0.0, np.zeros(pool.size)
    if piece.pairs is not None:
        loss, slope = piece.pairs(scale * scores)
        of_pairs = pool.sums(piece.bound, X, slope)
    return value, weight, of_lists, loss, of_pairs


@dataclass
class Boosting:
    """Weak rankers are added to H one by one, always the one with the largest correlation.

    The correlation is r = β Σ D(q)·E(f, q) + (1 − β) Σ D'(u,v)(f(u) − f(v)), and the weight of the weak
    ranker is α = ½ ln((1 + r)/(1 − r)); a reversed weak ranker is one with −α. The sum over pairs is
    −Σ_x f(x)·∂ log(loss)/∂s_x, so pairs are not listed.
    """

    pieces: Pieces
    pool: Pool
    beta: float
    scale: float = 1.0
    """Factor of H in the loss. 1 over the largest label gap keeps the correlation of label gaps within ±1."""

    def run(self, job: Job, rounds: int) -> tuple[Model, list[Trace]]:
        """The sum after ``rounds``, or earlier if no weak ranker can improve it, and the trace.

        With lists alone, a weak ranker that does not raise the metric of the sum is excluded until another
        one does, because the same weights would select it again and again; after 50 of them in a row,
        boosting stops. Validation data selects the number of rounds; the trace holds its metric, or without
        validation data β·E − (1 − β)·loss of training.
        """
        pool = self.pool
        start = self.pieces.total(start_sums)
        # ties count as ordered badly: in a file sorted by label, equal scores would look perfect
        valid = None if job.valid is None else worst_ties(job.valid)
        judge = None if valid is None else Measured.of(valid, job.metric, job.convention)
        valid_scores = np.zeros(0 if valid is None else len(valid))
        valid_bound = None if valid is None else pool.bind(valid.X)
        chosen: Chosen = ()
        excluded = np.zeros(2 * pool.size, np.bool_)
        trace = Trace(rounds, larger_is_better=True)
        reached, correlations = self.state(chosen, start)
        going = trace.go_on(reached if judge is None else judge.mean(valid_scores))
        while going:
            correlation = np.where(excluded, -np.inf, correlations) if excluded.any() else correlations
            best = int(np.argmax(correlation))
            r = min(float(correlation[best]), LARGEST_GAIN)
            if r < SMALLEST_GAIN or excluded.sum() >= MOST_TRIES:
                trace.reason = "settled"
                break
            which, sign = (best, 1.0) if best < pool.size else (best - pool.size, -1.0)
            alpha = sign * 0.5 * math.log((1 + r) / (1 - r))
            tried = (*chosen, (which, alpha))
            state = self.state(tried, start)
            if start[1] <= 0 and state[0] <= reached:
                excluded[best] = True
                continue
            excluded[:] = False
            chosen, (reached, correlations) = tried, state
            value = reached
            if judge is not None and valid is not None:
                valid_scores += alpha * pool.column(which, valid.X, valid_bound)
                value = judge.mean(valid_scores)
            going = trace.go_on(value)
            job.report("metric" if judge else "objective", trace.steps, rounds, value)
        kept = chosen if judge is None else chosen[: trace.best_step]
        numbers, alphas = [which for which, _ in kept], [alpha for _, alpha in kept]
        return pool.model(np.array(numbers, np.int64), np.array(alphas, np.float64)), [trace]

    def state(self, chosen: Chosen, start: tuple[float, float]) -> tuple[float, Floats]:
        """β·E − (1 − β)·loss of a sum on the training data, and r of every weak ranker, then reversed."""
        value, weight, of_lists, loss, of_pairs = self.pieces.total(round_sums, self.pool, chosen, self.scale)
        lists_weight, pairs_loss = start
        reached, correlation = 0.0, np.zeros(2 * self.pool.size)
        if lists_weight > 0:
            reached += self.beta * value / lists_weight
            correlation += self.beta / weight * of_lists
        if pairs_loss > 0:
            reached -= (1 - self.beta) * loss / pairs_loss
            sums = -(1 - self.beta) * self.scale / loss * of_pairs
            correlation += np.concatenate([sums, -sums])
        return reached, correlation
