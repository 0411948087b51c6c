"""Coordinate Ascent: a linear ranker that climbs any measure, one weight at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from topkit.compute import Trace, one_blas_thread, thread_map
from topkit.metrics.compiled import Measured, worst_ties
from topkit.rankers.contract import Job
from topkit.rankers.labels import labels_only
from topkit.rankers.linear.climb import Climb, climb_on
from topkit.scorers import Floats, Linear, Space, check
from topkit.scorers.network import filled

FIRST_STEP = 0.05
"""The first step of a weight, as a share of it."""


@dataclass(frozen=True)
class CoordinateAscent:
    """Coordinate Ascent: each weight in turn goes where the training mean of the measure is best.

    A weight is tried at w ± δ with δ = 0.05·|w| (or 0.05/features at 0), then 3δ, 7δ, 15δ … (the step
    doubles, ``steps`` times at most, or until it re-ranks nothing more), and at 0; the best place is kept if
    it is better. Sweeps over all weights, in random order, go on until one gains less than ``tolerance``. The
    first start is equal weights, the others are random; of all ``restarts`` the one with the best measure on
    the validation data (or else on the training data) is kept. Any measure works; a step re-ranks only the
    lists that it changes. Equal scores count as ordered badly in training. Metzler & Croft, Information
    Retrieval 2007.

    >>> import topkit as tk
    >>> data = tk.Dataset.build([[0.9, 0.5], [0.1, 0.4], [0.4, 0.9]], [2, 0, 1], ["q", "q", "q"])
    >>> tk.ranker("coordinate-ascent").fit(data).rank(data)["q"][0][0]
    'q:1'
    """

    normalisation: ClassVar[str] = "min-max"
    summary: ClassVar[str] = "Coordinate Ascent: linear, climbs any measure"
    space: ClassVar[Space] = {}

    restarts: int = 30
    steps: int = 25
    """Steps of a weight in each direction."""
    sweeps: int = 25
    """Sweeps over all weights at most."""
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        for name in ("restarts", "steps", "sweeps"):
            check(getattr(self, name) >= 1, name, getattr(self, name), "at least 1")
        check(self.tolerance >= 0, "tolerance", self.tolerance, "0 or more")

    @one_blas_thread()
    def train(self, job: Job) -> tuple[Linear, list[Trace]]:
        """The best of all restarts, and the trace of the training measure of each, sweep by sweep."""
        labels_only(job, "coordinate-ascent")
        data = worst_ties(job.train)
        X = filled(data.X)
        measured = Measured.of(data, job.metric, job.convention)
        heavy = job.query_weights / job.query_weights.sum()
        start_on = climb_on(measured, X, heavy)
        valid = job.valid
        done = 0

        def run(restart: int) -> tuple[Floats, Trace, float]:
            nonlocal done
            rng = np.random.default_rng([job.seed, restart])
            features = X.shape[1]
            start = np.full(features, 1.0) if restart == 0 else rng.uniform(-1.0, 1.0, features)
            w, trace = self.ascend(start_on, start / np.abs(start).sum(), rng)
            reached = trace.values[-1] if valid is None else job.judge(Linear(w).score(valid))
            done += 1
            job.report("restart", done, self.restarts, reached)
            return w, trace, reached

        runs = thread_map(run, range(self.restarts))
        best = max(range(len(runs)), key=lambda i: (runs[i][2], -i))
        return Linear(runs[best][0]), [trace for _, trace, _ in runs]

    def ascend(
        self, start_on: Callable[[Floats], Climb], w: Floats, rng: np.random.Generator
    ) -> tuple[Floats, Trace]:
        """Climb from one start until a sweep gains less than the tolerance."""
        w = w.copy()
        climb = start_on(w)
        trace = Trace(self.sweeps, larger_is_better=True)
        going = trace.go_on(climb.value)
        while going:
            for f in rng.permutation(len(w)):
                step = self._best_step(climb, int(f), float(w[f]), len(w))
                if step != 0.0:
                    w[f] += step
                    climb.move(int(f), step)
            size = float(np.abs(w).sum())
            if size > 0:  # the order is the same; steps keep their meaning
                w /= size
                climb = start_on(w)
            going = trace.go_on(climb.value)
            if trace.values[-1] - trace.values[-2] < self.tolerance:
                trace.reason, going = "settled", False
        return w, trace

    def _best_step(self, climb: Climb, f: int, weight: float, features: int) -> float:
        """The change of one weight that raises the measure most, or 0."""
        best, best_gain = 0.0, 1e-12
        if weight != 0.0:
            gain, _ = climb.gain(f, -weight)
            if gain > best_gain:
                best, best_gain = -weight, gain
        for sign in (1.0, -1.0):
            step = FIRST_STEP * (abs(weight) or 1.0 / features)
            total, last = step, None
            for _ in range(self.steps):
                found = climb.gain(f, sign * total)
                if found[0] > best_gain:
                    best, best_gain = sign * total, found[0]
                if found == last and found[1] > 0:
                    break
                last = found
                step *= 2.0
                total += step
        return best
