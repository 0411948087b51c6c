"""budget: what an hour of an assessor is worth: top-k preferences, by each strategy, beside five grades.

Training queries are labelled one after the other, in random order, by simulated assessors (see
:mod:`topkit.studies.assessors`) until the minutes are spent; a ranker learns from what is labelled by then
and is tested on the true grades and on the true top ten. Nothing but the labelled queries is learnt from, so
there is no validation data: the ranker's settings stay as they are given.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, InputError
from topkit.data.truth import GRADED, Truth
from topkit.labelling import STRATEGIES
from topkit.rankers import ranker
from topkit.studies.assessors import AGREEMENT, Floats, asked_pairs, calibrated, labels_of, relevance
from topkit.studies.fits import fit_cell, measure_test, scores_of, turns
from topkit.studies.kind import Cell, Kind, Outcome, Setting
from topkit.studies.kinds.budget_show import show
from topkit.studies.sources import load
from topkit.studies.spec import Study

GRADES = "graded"
SETTINGS = {
    "strategies": Setting([name for name in STRATEGIES if name != GRADES], "ways to ask", tuple(STRATEGIES)),
    "minutes": Setting([30, 60, 120, 240, 480, 960], "assessor time"),
    "k": Setting(10, "how many documents of a list are put in order"),
    "agreement": Setting(AGREEMENT["preferences"], "share of pairs that two assessors who compare agree on"),
    "agreement_of_grades": Setting(AGREEMENT["grades"], "the same, for preferences that their grades imply"),
    "sweep": Setting([0.85, 0.8, 0.75, 0.7, 0.65], "lower agreements, to see where the answer turns"),
    "sweep_strategies": Setting(["adaptive"], "strategies that are tried at them", tuple(STRATEGIES)),
}


def cells(study: Study) -> Iterator[Cell]:
    """A labelling, and a fit for each budget, for every data set, strategy, agreement, fold and seed."""
    settings = study.settings
    published = float(settings["agreement"])
    if not all(0.5 < agreement < 1 for agreement in (published, *settings["sweep"])):
        raise InputError("agreements must be above 0.5 and below 1")
    plan = [(strategy, published) for strategy in (*settings["strategies"], GRADES)]
    plan += [(strategy, lower) for lower in settings["sweep"] for strategy in settings["sweep_strategies"]]
    for source in study.data:
        if not source.truth.startswith("teacher"):
            raise InputError(f"the data set {source.name!r} has no full order", 'set its truth = "teacher"')
    more = {
        "minutes": sorted(settings["minutes"]),
        "k": settings["k"],
        "of_grades": settings["agreement_of_grades"],
    }
    for turn in turns(study):
        for one in study.rankers:
            for strategy, agreement in dict.fromkeys(plan):
                factors = {"ranker": one.name, "strategy": strategy, "agreement": agreement}
                yield fit_cell(study, turn, one, factors, **more)


def compute(cell: Cell) -> Outcome:
    """Label until the largest budget is spent; fit on what each budget has paid for."""
    what, factors = cell.what, cell.factors
    data = load(what["data"], cell.where)
    strategy, k = str(factors["strategy"]), int(what["k"])
    train = data.labelled.train
    values, pairs = _known(json.dumps(what["data"]), json.dumps(dict(cell.where)), k)
    noise = calibrated(train, values, pairs, factors["agreement"], what["of_grades"])
    order = np.random.default_rng(what["seed"]).permutation(train.n_queries)
    labels: dict[int, NDArray[np.float32]] = {}
    spent: list[float] = []
    names = train.names_of_documents()
    for number in order.tolist():
        rows = slice(int(train.ptr[number]), int(train.ptr[number + 1]))
        seed = what["seed"] * 100_000 + number
        labels[number], cost = labels_of(
            names[rows].tolist(), values[rows].tolist(), strategy, k, noise, seed
        )
        spent.append(cost + (spent[-1] if spent else 0.0))
        if spent[-1] > what["minutes"][-1]:
            break
    truth = GRADED if strategy == GRADES else Truth("top-k", k)
    columns: dict[str, list[object]] = {"minutes": [], "metric": [], "value": []}
    for minutes in what["minutes"]:
        many = int(np.searchsorted(spent, minutes, side="right"))
        found = {"queries": float(many)}
        if many:
            chosen = order[:many]
            answers = np.concatenate([labels[number] for number in chosen.tolist()])
            paid = train.select(chosen).with_labels(answers, truth)
            found |= _tested(cell, paid, data.learn.test, data.labelled.test)
        for name, value in found.items():
            columns["minutes"].append(minutes)
            columns["metric"].append(name)
            columns["value"].append(value)
    facts = {
        "minutes a query": spent[-1] / len(spent),
        "noise": [noise.comparing, noise.grading],
        "all labelled after": spent[-1] if len(spent) == train.n_queries else None,
    }
    return Outcome(columns, facts)


@lru_cache(maxsize=2)
def _known(what: str, where: str, k: int) -> tuple[Floats, NDArray[np.int64]]:
    """Of a fold's training documents, the relevance and the pairs that a labelling asks."""
    data = load(json.loads(what), json.loads(where))
    values = relevance(data.labelled.train, data.learn.train)
    return values, asked_pairs(data.labelled.train, values, k)


def _tested(cell: Cell, train: Dataset, ordered: Dataset, graded: Dataset) -> dict[str, float]:
    what = cell.what
    fitted = ranker(what["ranker"], **{"seed": what["seed"], **what["set"]}).fit(train)
    scores = scores_of(fitted, graded)
    found = measure_test(ordered, graded, scores, what["metrics"], what["convention"])
    return {name: float(values.mean()) for name, values in found.items()}


BUDGET = Kind(
    "test quality against assessor minutes: top-k preferences beside five grades",
    SETTINGS,
    cells,
    compute,
    show,
    metrics=("kndcg@10", "ndcg@10"),
    rankers=("ranksvm",),
    truth="teacher",
)
