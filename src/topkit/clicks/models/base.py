"""What a click model is: P(click) of every document of a page, fitted to a log, and able to simulate one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from topkit.clicks.log import ClickLog
from topkit.clicks.pairs import Pairs
from topkit.compute import Floats, Report, Trace, silent
from topkit.data.settings import Setting

FLOOR = 1e-6
"""Smallest probability of an event in a likelihood: one impossible event does not rule a model out."""

Steps = Annotated[int, Setting("Maximum number of steps of expectation–maximisation.", low=1)]
Tolerance = Annotated[
    float, Setting("Stop when a step raises the log-likelihood per impression by less than this.", low=0)
]
Smoothing = Annotated[
    float,
    Setting(
        "Impressions at the average click rate that are added to every document; 0 is maximum likelihood.",
        low=0,
    ),
]


@dataclass(frozen=True, eq=False, repr=False)
class ClickModel(ABC):
    """A fitted model; ``attraction`` is P(click | examined) of each pair."""

    name: ClassVar[str]
    pairs: Pairs
    attraction: Floats
    average: float
    """The attraction of documents that the model has not seen."""
    trace: Trace = field(default_factory=lambda: Trace(1))
    """The objective of every step of the fit: the log-likelihood per impression, with smoothing."""

    @abstractmethod
    def conditional(self, log: ClickLog) -> Floats:
        """P(click) of each row given the clicks above it on its page."""

    @abstractmethod
    def marginal(self, log: ClickLog) -> Floats:
        """P(click) of each row, before anything is known about the page."""

    @abstractmethod
    def draw(self, log: ClickLog, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Random clicks on the pages of a log; its own clicks are ignored."""

    def examination(self, positions: int) -> Floats | None:
        """P(examined) of each position if it does not depend on documents and clicks; None if it does."""
        return None

    def attractions(self, log: ClickLog) -> Floats:
        """The attraction of each row of a log; the average for documents that the model has not seen."""
        place = self.pairs.find(log.pairs)
        of_pairs = np.where(place >= 0, self.attraction[place], self.average)
        values: Floats = of_pairs[log.pair]
        return values

    def simulate(self, log: ClickLog, seed: int = 0) -> ClickLog:
        """The pages of a log with clicks drawn from the model."""
        return log.with_clicks(self.draw(log, np.random.default_rng(seed)))

    def __repr__(self) -> str:
        return f"<{self.name} click model of {len(self.pairs):,} documents, {self.trace.steps} steps>"


class IndependentClicks(ClickModel):
    """A model in which the clicks of a page are independent of each other."""

    def marginal(self, log: ClickLog) -> Floats:
        return self.conditional(log)

    def draw(self, log: ClickLog, rng: np.random.Generator) -> NDArray[np.bool_]:
        return rng.random(len(log.pair)) < self.conditional(log)


Params = tuple[Floats, ...]
Step = Callable[..., tuple[Params, float]]
"""Parameters → the next ones, and the objective at those given."""


def maximise(
    step: Step, start: Params, max_steps: int, tolerance: float, report: Report = silent
) -> tuple[Params, Trace]:
    """Expectation–maximisation of probabilities until the objective settles; it never falls.

    Two steps of it predict where they lead (SQUAREM, Varadhan & Roland, 2008); the prediction is taken only
    if its objective is higher, so each step of the trace has up to three passes over the data.
    """
    trace = Trace(max_steps, tolerance, larger_is_better=True)
    params = start
    first, value = step(*params)
    while trace.go_on(value):
        second, value = step(*first)
        following, ahead = _extrapolated(params, first, second), -np.inf
        if following is not None:
            third, ahead = step(*following)
        if following is None or not ahead >= value:
            following = second
            third, ahead = step(*second)
        params, first, value = following, third, ahead
        report("log-likelihood", trace.steps, max_steps, value)
    return params, trace


def _extrapolated(start: Params, first: Params, second: Params) -> Params | None:
    """Where the sequence of parameters leads; None if it does not move."""
    change = [b - a for a, b in zip(start, first, strict=True)]
    bend = [c - b - r for b, c, r in zip(first, second, change, strict=True)]
    curved = sum(float(v @ v) for v in bend)
    if curved <= 1e-24:
        return None
    length = max(np.sqrt(sum(float(r @ r) for r in change) / curved), 1.0)
    inside = 1e-9  # a probability of 0 or 1 would never change again
    return tuple(
        np.where(r == 0, a, np.clip(a + 2.0 * length * r + length * length * v, inside, 1.0 - inside))
        for a, r, v in zip(start, change, bend, strict=True)
    )


def smoothed(numerator: Floats, denominator: Floats, smoothing: float, average: float) -> Floats:
    """The ratio with ``smoothing`` more impressions at the average; the average where there are none."""
    below = denominator + smoothing
    values: Floats = np.divide(
        numerator + smoothing * average, below, out=np.full(len(below), average), where=below > 0
    )
    return values


def prior_value(attraction: Floats, smoothing: float, average: float) -> float:
    """The log-density of the smoothing, which makes it a maximum a posteriori estimate."""
    if smoothing == 0:
        return 0.0
    safe = np.clip(attraction, 1e-300, 1 - 1e-16)
    return float(smoothing * (average * np.log(safe) + (1 - average) * np.log1p(-safe)).sum())
