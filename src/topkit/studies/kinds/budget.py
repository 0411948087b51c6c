"""budget: is an hour of an assessor better spent on top-k preferences, by each strategy, or on five grades?

Training queries are labelled one after the other, in random order, by simulated assessors (see
:mod:`topkit.studies.assessors`) until the minutes are spent. A ranker learns from the queries labelled by
then and is tested on the true grades and on the true top ten. Because only the labelled queries are used,
there is no validation data, and the ranker's settings are not tuned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.data import Dataset
from topkit.data.truth import GRADED, Truth
from topkit.rankers import ranker
from topkit.studies.assessors import Noise, calibrated, labels_of
from topkit.studies.cell import Cell, Outcome
from topkit.studies.fits import fit_cell, turns
from topkit.studies.full_orders import check_full_orders, training_relevance
from topkit.studies.kind import Code, Kind
from topkit.studies.kinds.budget_settings import GRADES, Settings
from topkit.studies.kinds.budget_show import show
from topkit.studies.minutes import MinutesFit, mean_measures, minute_columns
from topkit.studies.sources import FoldData, load
from topkit.studies.spec import Study


@dataclass(frozen=True)
class BudgetFit(MinutesFit):
    """A labelling by one strategy, and a fit for each budget."""

    strategy: str
    """The labelling strategy, or ``grades`` for five grades."""
    agreement: float
    """The share of pairs on which two assessors agree when they compare documents."""
    agreement_of_grades: float
    """The same when they give grades."""


def cells(study: Study[Settings]) -> Iterator[Cell[BudgetFit]]:
    """One labelling per data set, ranker, strategy, agreement, fold and seed, with a fit per budget."""
    settings = study.settings
    check_full_orders(study.data)
    plan = [(strategy, settings.agreement) for strategy in (*settings.strategies, GRADES)]
    plan += [(strategy, lower) for lower in settings.sweep for strategy in settings.sweep_strategies]
    for turn, contestant in product(turns(study), study.rankers):
        for strategy, agreement in dict.fromkeys(plan):
            factors = {"ranker": contestant.name, "strategy": strategy, "agreement": agreement}
            more = {
                "strategy": strategy,
                "agreement": agreement,
                "agreement_of_grades": settings.agreement_of_grades,
                "minutes": tuple(sorted(settings.minutes)),
                "k": settings.k,
            }
            yield fit_cell(study, turn, contestant, factors, BudgetFit, **more)


def compute(cell: Cell[BudgetFit]) -> Outcome:
    """Label until the largest budget is spent; fit on the queries that each budget pays for."""
    work = cell.work
    data = load(work.data, cell.files)
    train = data.labelled.train
    values, pairs = training_relevance(work.data, tuple(sorted(cell.files.items())), work.k)
    noise = calibrated(train, values, pairs, work.agreement, work.agreement_of_grades)
    labelled = _label(work, train, values, noise)
    measurements = []
    for minutes in work.minutes:
        queries = int(np.searchsorted(labelled.spent, minutes, side="right"))
        means = _test(work, labelled.first(queries, train, work), data) if queries else {}
        measurements.append((minutes, {"queries": float(queries), **means}))
    spent = labelled.spent
    facts = {
        "minutes per query": spent[-1] / len(spent),
        "noise": [noise.comparing, noise.grading],
        "all labelled after": spent[-1] if len(spent) == train.n_queries else None,
    }
    return Outcome(minute_columns(measurements), facts)


@dataclass(frozen=True)
class _Labelled:
    """Queries in the order in which they were labelled, and the minutes spent after each."""

    order: NDArray[np.int64]
    labels: Mapping[int, NDArray[np.float32]]
    spent: list[float]

    def first(self, queries: int, train: Dataset, work: BudgetFit) -> Dataset:
        """The first labelled queries as training data."""
        chosen = self.order[:queries]
        labels = np.concatenate([self.labels[query] for query in chosen.tolist()])
        truth = GRADED if work.strategy == GRADES else Truth("top-k", work.k)
        return train.select(chosen).with_labels(labels, truth)


def _label(work: BudgetFit, train: Dataset, values: Floats, noise: Noise) -> _Labelled:
    """Label queries in random order until the largest budget is spent."""
    order = np.random.default_rng(work.seed).permutation(train.n_queries)
    labels: dict[int, NDArray[np.float32]] = {}
    spent: list[float] = []
    names = train.names_of_documents()
    for query in order.tolist():
        rows = slice(int(train.ptr[query]), int(train.ptr[query + 1]))
        seed = work.seed * 100_000 + query
        labels[query], minutes = labels_of(
            names[rows].tolist(), values[rows].tolist(), work.strategy, work.k, noise, seed
        )
        spent.append(minutes + (spent[-1] if spent else 0.0))
        if spent[-1] > work.minutes[-1]:
            break
    return _Labelled(order, labels, spent)


def _test(work: BudgetFit, train: Dataset, data: FoldData) -> dict[str, float]:
    """Metric → its mean over the test queries, for a ranker fitted on these queries."""
    fitted = ranker(work.ranker, **{"seed": work.seed, **work.settings}).fit(train)
    return mean_measures(work, data, fitted.ordering_scores(data.labelled.test), work.seed)


BUDGET = Kind(
    summary="test quality against assessor minutes: top-k preferences and five grades",
    code=Code(Settings, BudgetFit, cells, compute, show),
    metrics=("kndcg@10", "ndcg@10"),
    rankers=("ranksvm",),
    truth="teacher",
)
