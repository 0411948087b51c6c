"""Coordinate Ascent: a linear ranker that climbs any metric, one weight at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from topkit.compute import Floats, Trace, one_blas_thread, thread_map
from topkit.data.settings import Setting, check_fields
from topkit.metrics.compiled import Measured
from topkit.rankers.linear.climb import MOST_CROSSINGS, ClimbPiece, Path, TotalClimb, room_of
from topkit.rankers.pieces import MetricInPieces, Pieces
from topkit.scorers import Job, Linear

FIRST_STEP = 0.05
"""The first step of a weight, relative to its size; as in RankLib."""
SMALLEST_GAIN = 1e-12
"""A step must raise the metric by more than rounding errors."""


@dataclass(frozen=True)
class CoordinateAscent(MetricInPieces):
    """Coordinate Ascent: moves each weight in turn to where the training mean of the metric is best.

    The metric is constant between the values of a weight at which two documents swap. For DCG and NDCG all
    of these are visited, so a weight moves to the middle of the best interval (the widest of equals). For
    other metrics, a weight is tried at w ± δ with δ = 0.05·|w| (or 0.05/features at 0), then 3δ, 7δ, 15δ …
    (the step doubles up to ``steps`` times, or until it re-ranks nothing more), and at 0; the best value is
    kept if it improves the metric. Sweeps over all weights in random order continue until one gains less than
    ``tolerance``. The first start has equal weights, the others are random; of all ``restarts`` the one with
    the best metric on the validation data (or on the training data without any) is kept. A step re-ranks only
    the lists that it changes. In training, ties count as ordered badly. Metzler & Croft, Information
    Retrieval 2007.

    Use it to optimise any metric directly with few features. Not for hundreds of features or very large
    data: each step re-ranks lists.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9, 0.5], [0.1, 0.4], [0.4, 0.9]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("coordinate-ascent").fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "min-max"
    learns_from: ClassVar[tuple[str, ...]] = ("labels",)
    summary: ClassVar[str] = "Coordinate Ascent: linear, climbs any metric"

    restarts: Annotated[int, Setting("Number of starts; 5 as in RankLib.", low=1)] = 5
    steps: Annotated[int, Setting("Maximum steps of a weight in each direction.", low=1)] = 25
    sweeps: Annotated[int, Setting("Maximum sweeps over all weights.", low=1)] = 25
    tolerance: Annotated[float, Setting("Stop when a sweep gains less than this.", low=0)] = 1e-3

    def __post_init__(self) -> None:
        check_fields(self)

    def piece(self, job: Job) -> ClimbPiece:
        """The metric on a piece."""
        return ClimbPiece.of(Measured.of(job.train, job.metric, job.convention), job.query_weights)

    @one_blas_thread()
    def train_on(self, pieces: Pieces, job: Job) -> tuple[Linear, list[Trace]]:
        """The best of all restarts, and the trace of the training metric of each, sweep by sweep."""
        weight, crossings, unlisted = pieces.total(room_of)
        exact = not unlisted and crossings <= MOST_CROSSINGS
        features, valid = job.train.n_features, job.valid
        done = 0

        def run(restart: int) -> tuple[Floats, Trace, float]:
            nonlocal done
            rng = np.random.default_rng([job.seed, restart])
            start = np.full(features, 1.0) if restart == 0 else rng.uniform(-1.0, 1.0, features)

            def start_at(w: Floats) -> TotalClimb:
                return TotalClimb(pieces, Path(restart, w.copy()), weight, exact)

            w, trace = self.ascend(start_at, start / np.abs(start).sum(), rng)
            value = trace.values[-1] if valid is None else job.judge(Linear(w).score(valid))
            done += 1
            job.report("restart", done, self.restarts, value)
            return w, trace, value

        runs = thread_map(run, range(self.restarts))
        best = max(range(len(runs)), key=lambda i: (runs[i][2], -i))
        return Linear(runs[best][0]), [trace for _, trace, _ in runs]

    def ascend(
        self, start_at: Callable[[Floats], TotalClimb], w: Floats, rng: np.random.Generator
    ) -> tuple[Floats, Trace]:
        """Climb from one start until a sweep gains less than the tolerance."""
        w = w.copy()
        climb = start_at(w)
        trace = Trace(self.sweeps, larger_is_better=True)
        going = trace.go_on(climb.value)
        while going:
            for f in rng.permutation(len(w)):
                step = self._best_step(climb, int(f), float(w[f]), len(w))
                if step != 0.0:
                    w[f] += step
                    climb.move(int(f), step)
            size = float(np.abs(w).sum())
            if size > 0:  # the order stays the same, and step sizes keep their meaning
                w /= size
                climb = start_at(w)
            going = trace.go_on(climb.value)
            if trace.values[-1] - trace.values[-2] < self.tolerance:
                trace.reason, going = "settled", False
        return w, trace

    def _best_step(self, climb: TotalClimb, f: int, weight: float, features: int) -> float:
        """The change of one weight that raises the metric most, or 0."""
        exact = climb.best_step(f)
        if exact is not None:
            return exact
        best, best_gain = 0.0, SMALLEST_GAIN
        if weight != 0.0:
            gain, _ = climb.gain(f, -weight)
            if gain > best_gain:
                best, best_gain = -weight, gain
        for sign in (1.0, -1.0):
            step = FIRST_STEP * (abs(weight) or 1.0 / features)
            total, last = step, None
            for _ in range(self.steps):
                outcome = climb.gain(f, sign * total)
                gain, reranked = outcome
                if gain > best_gain:
                    best, best_gain = sign * total, gain
                if outcome == last and reranked > 0:
                    break
                last = outcome
                step *= 2.0
                total += step
        return best
