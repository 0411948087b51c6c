"""One ranker fitted on one fold and measured on its test part: the cell that most kinds of study share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, TypeVar

import numpy as np

from topkit.compute import Floats
from topkit.data import Dataset
from topkit.metrics import evaluate, metric
from topkit.rankers import Learner, ranker
from topkit.rankers.importance import permutation_importances
from topkit.rankers.tuning import tune
from topkit.studies.cell import Cell, Factors, Outcome
from topkit.studies.sources import FoldData, FoldSpec, describe, load
from topkit.studies.spec import Contestant, Source, Study

TOP = 10
"""The k of top-k measures if the truth is a full order."""


@dataclass(frozen=True)
class Fit:
    """The description of a cell that fits a ranker; kinds that need more derive from it."""

    data: FoldSpec
    ranker: str
    settings: Mapping[str, Any]
    choices: Mapping[str, tuple[Any, ...]]
    """Setting → values to try on validation data."""
    trials: int
    metrics: tuple[str, ...]
    convention: str
    choose: str
    """The measure by which settings are chosen on validation data."""
    seed: int


F = TypeVar("F", bound=Fit)


class Turn(NamedTuple):
    """One fold of one data set with one seed."""

    source: Source
    fold: int
    seed: int


def turns(study: Study[Any]) -> Iterator[Turn]:
    """Every fold of every data set with every seed, fold by fold, so that its data is loaded once."""
    for source in study.data:
        for fold in source.folds:
            for seed in study.seeds:
                yield Turn(source, fold, seed)


def fit_cell(
    study: Study[Any], turn: Turn, contestant: Contestant, factors: Factors, work: type[F], **more: Any
) -> Cell[F]:
    """The cell that fits a contestant in a turn; ``more`` are the fields that ``work`` adds to Fit."""
    data, files = describe(turn.source, turn.fold, study.folder, turn.seed)
    return Cell(
        study.kind,
        {"data": turn.source.name, **factors, "fold": turn.fold, "seed": turn.seed},
        work(
            data=data,
            ranker=contestant.ranker,
            settings=dict(contestant.settings),
            choices=dict(contestant.choices),
            trials=contestant.trials,
            metrics=study.metrics,
            convention=turn.source.convention,
            choose=study.choose,
            seed=turn.seed,
            **more,
        ),
        files,
    )


def compute_fit(cell: Cell[Fit]) -> Outcome:
    """Fit on the training part, choose settings on the validation part, measure on the test part."""
    data = load(cell.work.data, cell.files)
    fitted, facts = fit(cell.work, data.learn.train, data.learn.valid)
    return measured(cell.work, data, fitted, facts)


def fit(work: Fit, train: Dataset, valid: Dataset, **more: Any) -> tuple[Learner, dict[str, Any]]:
    """The fitted ranker, with the settings that are best on validation data; and those settings as facts."""
    settings = {
        "metric": work.choose,
        "convention": work.convention,
        "seed": work.seed,
        **work.settings,
        **more,
    }
    if work.trials > 1:
        best, trials = tune(work.ranker, train, valid, trials=work.trials, **settings)
        return best, {"chosen": max(trials, key=lambda trial: trial.measure).settings}
    combinations = [
        dict(zip(work.choices, values, strict=True)) for values in product(*work.choices.values())
    ]
    candidates = [ranker(work.ranker, **{**settings, **choice}).fit(train, valid) for choice in combinations]
    if len(candidates) == 1:
        return candidates[0], {}
    measures = [candidate.measure_on(valid) for candidate in candidates]
    place = int(np.argmax(measures))
    return candidates[place], {"chosen": combinations[place]}


def measured(work: Fit, data: FoldData, fitted: Learner, facts: Mapping[str, Any]) -> Outcome:
    """All measures of a fitted ranker on the test part, for each query."""
    test = data.labelled.test
    scores = fitted.ordering_scores(data.learn.test)
    values = measure_test(data.learn.test, test, scores, work.metrics, work.convention, work.seed)
    return as_rows(test.qids, values, facts)


def measure_test(
    learnt: Dataset, labelled: Dataset, scores: Floats, metrics: Sequence[str], convention: str, seed: int = 0
) -> dict[str, Floats]:
    """Metric → its value for each query.

    Measures of top-k truth (κ-NDCG, κ-ERR) use the truth that was learnt from. Full orders are cut at 10, and
    so are grades, after a random order that agrees with them, drawn by the seed. Other measures use the
    labels of the files.
    """
    by_order = [name for name in metrics if needs_order(name)]
    by_label = [name for name in metrics if name not in by_order]
    values: dict[str, Floats] = {}
    if by_order:
        top = learnt if learnt.truth.kind == "top-k" else learnt.top_k(TOP, seed)
        values |= evaluate(top, scores, by_order, convention).per_query
    if by_label:
        values |= evaluate(labelled, scores, by_label, convention).per_query
    return {name: values[name] for name in metrics}


def needs_order(name: str) -> bool:
    """Whether a measure is defined on an order of documents instead of on grades."""
    return metric(name).measure.needs in ("top-k", "order")


def as_rows(qids: Sequence[str], values: Mapping[str, Floats], facts: Mapping[str, Any]) -> Outcome:
    """Values by metric as rows of query, metric and value."""
    return Outcome(
        {
            "query": [qid for _ in values for qid in qids],
            "metric": [name for name in values for _ in qids],
            "value": [float(value) for column in values.values() for value in column],
        },
        facts,
    )


def importances(fitted: Learner, data: Dataset, seed: int = 0) -> dict[str, float]:
    """Feature → how much the chosen measure falls when its values are shuffled within each query."""
    return dict(zip(data.names_of_features(), permutation_importances(fitted, data, seed), strict=True))
