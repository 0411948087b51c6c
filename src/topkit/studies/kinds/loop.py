"""loop: how many minutes does a loop need to reach what the published strategy reaches in four hours?

Training queries are labelled by simulated assessors (see :mod:`topkit.studies.assessors`), by the published
strategy and by loops that learn while they label. The rankers are tested on the test part, which no decision
has seen. The unbiased estimate of each loop is compared with its true value on the validation and test parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from topkit.compute import Floats
from topkit.loop import LabellingLoop, LoopSettings
from topkit.rankers import Learner, ranker
from topkit.studies.assessors import AGREEMENT, Noise, calibrated, relevance
from topkit.studies.cell import Cell, Outcome
from topkit.studies.fits import fit_cell, turns
from topkit.studies.full_orders import check_full_orders, training_relevance
from topkit.studies.kind import Code, Kind
from topkit.studies.kinds.loop_settings import LOOP, PLANS, PUBLISHED, Settings
from topkit.studies.kinds.loop_show import show
from topkit.studies.loop_runs import Moment, RelevanceJudge, loop_moments, published_moments, true_agreement
from topkit.studies.minutes import MinutesFit, mean_measures, minute_columns
from topkit.studies.sources import FoldData, load
from topkit.studies.spec import Study

HOUR = 60
"""The minutes for which the loop expects a gain."""


@dataclass(frozen=True)
class LoopFit(MinutesFit):
    """A labelling by one plan."""

    plan: str
    error: float
    """Share of wrong answers."""


def cells(study: Study[Settings]) -> Iterator[Cell[LoopFit]]:
    """One labelling per data set, ranker, plan, error rate, fold and seed."""
    settings = study.settings
    check_full_orders(study.data)
    ends = {PUBLISHED: settings.published_minutes} | dict.fromkeys(settings.plans, settings.minutes)
    steps = {PUBLISHED: 2 * settings.every} | dict.fromkeys(settings.plans, settings.every)
    for turn, contestant in product(turns(study), study.rankers):
        for error, (plan, end) in product(settings.errors, ends.items()):
            factors = {"ranker": contestant.name, "plan": plan, "error": error}
            minutes = tuple(range(steps[plan], end + 1, steps[plan]))
            more = {"plan": plan, "error": error, "minutes": minutes, "k": settings.k}
            yield fit_cell(study, turn, contestant, factors, LoopFit, **more)


def compute(cell: Cell[LoopFit]) -> Outcome:
    """Label by the plan and measure the ranker on the test part every few minutes."""
    work = cell.work
    data = load(work.data, cell.files)
    files = tuple(sorted(cell.files.items()))
    values, pairs = training_relevance(work.data, files, work.k)
    agreement = (1 - work.error) ** 2 + work.error**2
    noise = calibrated(data.labelled.train, values, pairs, agreement, AGREEMENT["grades"])
    template = ranker(work.ranker, **{"seed": work.seed, **work.settings})
    measurements = []
    facts: dict[str, Any] = {}
    for moment in _moments(work, data, values, noise, template):
        means = {"queries": float(moment.queries), **_test(work, data, moment.fitted)}
        measurements.append((int(moment.minutes), means))
        facts |= _facts(work, data, noise.comparing, moment)
    return Outcome(minute_columns(measurements), facts)


def _moments(
    work: LoopFit, data: FoldData, values: Floats, noise: Noise, template: Learner
) -> Iterator[Moment]:
    train = data.labelled.train
    if work.plan == PUBLISHED:
        return published_moments(train, values, noise, template, work.k, work.seed, work.minutes)
    judge = RelevanceJudge(train, values, noise.comparing, work.seed)
    settings = LoopSettings(**PLANS[work.plan])
    loop = LabellingLoop(train, judge, template, float(work.minutes[-1]), settings, work.seed)
    return loop_moments(loop, work.minutes)


def _test(work: LoopFit, data: FoldData, fitted: Learner | None) -> dict[str, float]:
    """Metric → its mean over the test queries; without a ranker, that of the order of the files."""
    test = data.labelled.test
    scores = np.zeros(len(test)) if fitted is None else fitted.ordering_scores(test)
    return mean_measures(work, data, scores)


def _facts(work: LoopFit, data: FoldData, noise: float, moment: Moment) -> dict[str, Any]:
    """An hour before the end, the gain that the loop expects; at the end, its estimate; and true values."""
    if moment.loop is None or moment.fitted is None:
        return {}
    if work.plan == LOOP and moment.minutes == work.minutes[-1] - HOUR:
        gain = moment.loop.gain
        truth = _fresh_agreement(data, noise, moment.fitted)
        return {} if gain is None else {"gain": list(gain), "before": truth}
    if moment.minutes != work.minutes[-1] or moment.loop.estimate is None:
        return {}
    return {
        "estimate": list(moment.loop.estimate),
        "truth": _fresh_agreement(data, noise, moment.fitted),
        "checks": sum(decision.purpose == "check" for decision in moment.loop.decisions),
    }


def _fresh_agreement(data: FoldData, noise: float, fitted: Learner) -> float:
    """The agreement with the judges on the validation and test parts, which the loop never saw."""
    values = [
        true_agreement(graded, relevance(graded, ordered), noise, fitted.ordering_scores(graded))
        for graded, ordered in zip(data.labelled[1:], data.learn[1:], strict=True)
    ]
    return float(np.average(values, weights=[part.n_queries for part in data.labelled[1:]]))


LOOP_KIND = Kind(
    summary="minutes that a labelling loop needs to reach what the published strategy reaches",
    code=Code(Settings, LoopFit, cells, compute, show),
    metrics=("ndcg@10", "kndcg@10"),
    rankers=("ranksvm",),
    truth="teacher",
)
