"""A plan for labelling: what to label first, and what to expect of the time, by simulation on graded data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from topkit.compute import Report, silent
from topkit.data import Dataset, InputError, split_queries
from topkit.loop import LabellingLoop, LoopSettings
from topkit.metrics import evaluate
from topkit.rankers import Learner
from topkit.reporting.progress import stepper
from topkit.reporting.tables import Table
from topkit.studies.assessors import AGREEMENT, asked_pairs, calibrated, relevance
from topkit.studies.loop_runs import Moment, RelevanceJudge, loop_moments, published_moments
from topkit.studies.results import mean_interval

TESTED = 1 / 3
"""The share of the queries that the simulation tests on."""
STEPS = 4
"""Measurements of a simulation, evenly spaced in the budget."""
PLACES = 10
"""The k of the published strategy."""


@dataclass(frozen=True)
class Plan:
    """What is planned: the data, the ranker, the minutes, and how often assessors err."""

    queries: Dataset
    template: Learner
    minutes: float
    error: float
    settings: LoopSettings
    seed: int = 0

    def loop(self) -> LabellingLoop:
        """The loop with its first decisions."""
        return LabellingLoop(self.queries, (), self.template, self.minutes, self.settings, self.seed)


def first_table(plan: Plan) -> Table:
    """The first queries to label, and why."""
    loop = plan.loop()
    rows = [
        (
            decision.query,
            decision.purpose,
            decision.k,
            len(decision.items),
            decision.why_query,
            decision.why_depth,
        )
        for decision in loop.decisions
    ]
    return Table(
        ("query", "purpose", "k", "candidates", "why this query", "why so deep"), rows, align="llrrll"
    )


def expected_table(plan: Plan, seeds: Sequence[int], metric: str, report: Report = silent) -> Table:
    """Quality after parts of the budget, by the loop and by the published strategy, over several seeds.

    A third of the queries is held out for testing; the others are labelled by a simulated assessor who knows
    the grades, with a random order within a grade. InputError if the data has no grades.
    """
    if plan.queries.truth.kind != "graded" or len(np.unique(plan.queries.y)) < 2:
        raise InputError(
            "the data has no grades, so what to expect cannot be simulated",
            "use graded data that is similar to yours",
        )
    done = stepper(report, len(seeds) * 2 * STEPS)
    values_at: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for seed in seeds:
        for name, step, queries, value in _simulated(plan, seed, metric):
            values_at.setdefault((name, step), []).append((queries, value))
            done()
    rows = []
    for (name, step), values in values_at.items():
        mean, low, high = mean_interval([value for _, value in values])
        rows.append((name, _minutes(plan, step), float(np.mean([q for q, _ in values])), mean, low, high))
    notes = (
        f"{metric} on held-out queries, mean of {len(seeds)} simulations and its 95 % interval; "
        f"{plan.error:.0%} errors, {plan.settings.seconds:g} s per answer; the published strategy puts the "
        f"top {PLACES} of all documents in order by a heap, queries in random order",
    )
    return Table(("", "minutes", "queries", metric, "low", "high"), rows, notes)


def _simulated(plan: Plan, seed: int, metric: str) -> Iterator[tuple[str, int, float, float]]:
    """(plan, step, labelled queries, value) of one simulation."""
    train, test = split_queries(plan.queries, (1 - TESTED, TESTED), seed=seed)
    values = relevance(train, train.as_order(seed=seed))
    agreement = (1 - plan.error) ** 2 + plan.error**2
    noise = calibrated(train, values, asked_pairs(train, values, PLACES), agreement, AGREEMENT["grades"])
    minutes = [_minutes(plan, step) for step in range(1, STEPS + 1)]
    judge = RelevanceJudge(train, values, noise.comparing, seed)
    loop = LabellingLoop(train, judge, plan.template, plan.minutes, plan.settings, seed)
    runs: dict[str, Iterator[Moment]] = {
        "loop": loop_moments(loop, minutes),
        "published": published_moments(train, values, noise, plan.template, PLACES, seed, minutes),
    }
    for name, moments in runs.items():
        for step, moment in enumerate(moments, 1):
            scores = np.zeros(len(test)) if moment.fitted is None else moment.fitted.ordering_scores(test)
            yield name, step, float(moment.queries), evaluate(test, scores, metric, "yahoo").mean[metric]


def _minutes(plan: Plan, step: int) -> float:
    return plan.minutes * step / STEPS
