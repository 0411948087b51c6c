"""One ranker fitted on one fold and measured on its test part: the cell that most kinds of study share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset
from topkit.metrics import evaluate, metric
from topkit.rankers import Learner, ranker
from topkit.rankers.tuning import tune
from topkit.studies.kind import Cell, Factors, Outcome
from topkit.studies.sources import Round, describe, load
from topkit.studies.spec import Contestant, Source, Study

Floats = NDArray[np.float64]
TOP = 10
"""The k of top-k measures where the truth is a full order."""


class Turn(NamedTuple):
    """One fold of one data set with one seed."""

    source: Source
    fold: int
    seed: int


def turns(study: Study) -> Iterator[Turn]:
    """Every fold of every data set with every seed; work on one fold stands together, to load it once."""
    for source in study.data:
        for fold in source.folds:
            for seed in study.seeds:
                yield Turn(source, fold, seed)


def fit_cell(study: Study, turn: Turn, one: Contestant, factors: Factors, **more: Any) -> Cell:
    """The cell that fits a contestant in a turn; ``more`` is what else its kind needs to know."""
    what, where = describe(turn.source, turn.fold, study.folder)
    return Cell(
        study.kind,
        {"data": turn.source.name, **factors, "fold": turn.fold, "seed": turn.seed},
        {
            "data": what,
            "ranker": one.ranker,
            "set": dict(one.settings),
            "try": {key: list(values) for key, values in one.choices.items()},
            "trials": one.trials,
            "metrics": list(study.metrics),
            "convention": turn.source.convention,
            "choose": study.choose,
            "seed": turn.seed,
            **more,
        },
        where,
    )


def compute_fit(cell: Cell) -> Outcome:
    """Fit on the training part, choose on the validation part, measure on the test part."""
    data = load(cell.what["data"], cell.where)
    fitted, facts = fit(cell.what, data.learn.train, data.learn.valid)
    return measured(cell.what, data, scores_of(fitted, data.learn.test), facts)


def fit(
    what: Mapping[str, Any], train: Dataset, valid: Dataset, **settings: Any
) -> tuple[Learner, dict[str, Any]]:
    """The contestant fitted, its settings chosen on validation data; and what was chosen."""
    name = what["ranker"]
    given = {
        "metric": what["choose"],
        "convention": what["convention"],
        "seed": what["seed"],
        **what["set"],
        **what.get("fixed", {}),
        **settings,
    }
    if what["trials"] > 1:
        best, tried = tune(name, train, valid, trials=what["trials"], **given)
        chosen = max(tried, key=lambda trial: trial.measure).settings
        return best, {"chosen": chosen}
    combinations = [dict(zip(what["try"], values, strict=True)) for values in product(*what["try"].values())]
    candidates = [ranker(name, **{**given, **choice}).fit(train, valid) for choice in combinations]
    if len(candidates) == 1:
        return candidates[0], {}
    measures = [candidate.measure_on(valid) for candidate in candidates]
    place = int(np.argmax(measures))
    return candidates[place], {"chosen": combinations[place]}


def scores_of(fitted: Learner, data: Dataset) -> Floats:
    """Scores of documents, or n, n−1, … down the order of a ranker that has no scores."""
    return fitted.ordering_scores(data)


def measured(what: Mapping[str, Any], data: Round, scores: Floats, facts: Mapping[str, Any]) -> Outcome:
    """Every measure of the test part: those of top-k truth by what was learnt from, others by the labels."""
    values = measure_test(data.learn.test, data.labelled.test, scores, what["metrics"], what["convention"])
    return as_rows(data.labelled.test.qids, values, facts)


def measure_test(
    learnt: Dataset, labelled: Dataset, scores: Floats, metrics: Sequence[str], convention: str
) -> dict[str, Floats]:
    """Metric → its value for each query.

    Measures of top-k truth (κ-NDCG, κ-ERR) go by the truth that was learnt from; grades and full orders are
    cut at 10, grades after a random order that agrees with them (seed 0). Other measures go by the labels of
    the files.
    """
    by_order = [name for name in metrics if metric(name).measure.needs in ("top-k", "order")]
    top = learnt if learnt.truth.kind == "top-k" or not by_order else learnt.top_k(TOP, seed=0)
    return {
        name: evaluate(top if name in by_order else labelled, scores, name, convention).per_query[name]
        for name in metrics
    }


def as_rows(qids: Sequence[str], values: Mapping[str, Floats], facts: Mapping[str, Any]) -> Outcome:
    """Rows of query, metric and value."""
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
    rng = np.random.default_rng(seed)
    whole = fitted.measure_on(data)
    shuffled = np.lexsort((rng.random(len(data)), data.query_index))
    found: dict[str, float] = {}
    for column, name in enumerate(data.names_of_features()):
        X = data.X.copy()
        X[:, column] = X[shuffled, column]
        found[name] = whole - fitted.measure_on(data.with_features(X, data.feature_names))
    return found
