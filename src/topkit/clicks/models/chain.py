"""Models of users who look from the top until they leave: cascade, dependent click and dynamic Bayesian."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.models.base import ClickModel
from topkit.clicks.models.em import EM, Params, maximise, prior_value, smoothed
from topkit.clicks.pairs import totals
from topkit.compute import Bools, Floats, Ints32, Trace


@dataclass(frozen=True, eq=False, repr=False)
class Chain(ClickModel):
    """A user examines the first document, clicks it or not, and then continues with the next or leaves."""

    onward: float = 1.0
    """P(continue) of a user who is not satisfied."""

    @abstractmethod
    def unsatisfied(self, log: ClickLog) -> Floats:
        """P(not satisfied | click) of each row."""

    def conditional(self, log: ClickLog) -> Floats:
        return self._forward(log, observed=True)

    def marginal(self, log: ClickLog) -> Floats:
        return self._forward(log, observed=False)

    def _forward(self, log: ClickLog, observed: bool) -> Floats:
        a, t = self.attractions(log), self.unsatisfied(log)
        values = np.zeros(len(log.pair))
        looking = np.ones(len(log))  # P(examined), given the clicks above if they are observed
        for pages, rows in log.by_place():
            values[rows] = p = looking[pages] * a[rows]
            if observed:
                skipped = np.where(p < 1, (looking[pages] - p) / np.where(p < 1, 1 - p, 1.0), 0.0)
                looking[pages] = self.onward * np.where(log.clicks[rows], t[rows], skipped)
            else:
                looking[pages] = self.onward * (looking[pages] - p + p * t[rows])
        return values

    def draw(self, log: ClickLog, rng: np.random.Generator) -> Bools:
        a, t = self.attractions(log), self.unsatisfied(log)
        clicks = np.zeros(len(log.pair), np.bool_)
        looking = np.ones(len(log), np.bool_)
        for pages, rows in log.by_place():
            clicks[rows] = looking[pages] & (rng.random(len(rows)) < a[rows])
            stays = self.onward * np.where(clicks[rows], t[rows], 1.0)
            looking[pages] &= rng.random(len(rows)) < stays
        return clicks


@dataclass(frozen=True)
class ChainPlan:
    """What a chain learns besides attractions: P(not satisfied | click) by ``key``, and P(continue)."""

    key: Ints32
    """For each row, the number of its P(not satisfied | click): of its document, or of its position."""
    keys: int
    learns_onward: bool
    smoothing_of_keys: float


@dataclass(frozen=True)
class ChainFit:
    """The parameters of a fitted chain."""

    attraction: Floats
    unsatisfied: Floats
    onward: float
    average: float
    trace: Trace


def fit_chain(
    log: ClickLog,
    plan: ChainPlan,
    em: EM,
) -> ChainFit:
    """Expectation–maximisation: everything down to the last click was examined, the rest perhaps."""
    from topkit.clicks import kernels

    pairs = len(log.pairs)
    clicks = totals(log.pair, log.clicks, pairs)
    average = float(np.clip(log.clicks.mean(), 1e-6, 1 - 1e-6))
    tail = np.empty(int(np.diff(log.bounds).max()) + 1)

    def step(a: Floats, t: Floats, onward: Floats) -> tuple[Params, float]:
        examined, unsatisfied, clicked = np.zeros(pairs), np.zeros(plan.keys), np.zeros(plan.keys)
        steps = np.zeros(2)
        value = kernels.chain_pass(
            log.bounds, log.pair, plan.key, log.clicks, a, t, float(onward[0]), examined, unsatisfied,
            clicked, steps, tail,
        )  # fmt: skip
        value += prior_value(a, em.smoothing, average) + prior_value(t, plan.smoothing_of_keys, 0.5)
        following = np.array([steps[0] / steps[1]]) if plan.learns_onward and steps[1] > 0 else onward
        new_t = smoothed(unsatisfied, clicked, plan.smoothing_of_keys, 0.5)
        return (smoothed(clicks, examined, em.smoothing, average), new_t, following), value / len(log.pair)

    start = (np.full(pairs, average), np.full(plan.keys, 0.5), np.array([0.9 if plan.learns_onward else 1.0]))
    (a, t, onward), trace = maximise(step, start, em)
    return ChainFit(a, t, float(onward[0]), average, trace)
