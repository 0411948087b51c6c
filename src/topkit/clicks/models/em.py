"""Expectation–maximisation: its settings, declared once for all click models, and its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from topkit.compute import Floats, Report, Trace, silent
from topkit.data.settings import Setting

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


@dataclass(frozen=True)
class EM:
    """How a model is fitted by expectation–maximisation; the settings of all models that are."""

    smoothing: Smoothing = 1.0
    max_steps: Steps = 200
    tolerance: Tolerance = 1e-8
    report: Report = silent


Params = tuple[Floats, ...]
Step = Callable[..., tuple[Params, float]]
"""Parameters → the next ones, and the objective at those given."""


def maximise(step: Step, start: Params, em: EM) -> tuple[Params, Trace]:
    """Expectation–maximisation of probabilities until the objective settles; it never falls.

    Two steps of it predict where they lead (SQUAREM, Varadhan & Roland, 2008); the prediction is taken only
    if its objective is higher, so each step of the trace has up to three passes over the data.
    """
    trace = Trace(em.max_steps, em.tolerance, larger_is_better=True)
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
        em.report("log-likelihood", trace.steps, em.max_steps, value)
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
