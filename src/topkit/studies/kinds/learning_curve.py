"""learning-curve: test quality against the number of training queries, added in three orders."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset
from topkit.metrics import evaluate
from topkit.rankers import ranker
from topkit.studies.fits import fit, fit_cell, measured, scores_of, turns
from topkit.studies.kind import Cell, Heading, Kind, Outcome, Part, Plot, Setting, Table
from topkit.studies.plots import curves
from topkit.studies.results import Results
from topkit.studies.sources import load
from topkit.studies.spec import Study
from topkit.studies.tables import ResultTable

ORDERS = ("random", "best-first", "worst-first")
SETTINGS = {
    "shares": Setting([0.05, 0.1, 0.2, 0.4, 0.7, 1.0], "shares of the training queries"),
    "orders": Setting(list(ORDERS), "how queries are added: at random, easy or hard ones first", ORDERS),
    "judge": Setting("listnet", "the ranker, fitted on all training queries, that says which are easy"),
}


def cells(study: Study) -> Iterator[Cell]:
    """A fit for each data set, ranker, order, share, fold and seed."""
    settings = study.settings
    for turn in turns(study):
        for one in study.rankers:
            for order in settings["orders"]:
                for share in settings["shares"]:
                    factors = {"ranker": one.name, "order": order, "share": share}
                    more = {"order": order, "share": share, "judge": settings["judge"]}
                    yield fit_cell(study, turn, one, factors, **more)


def compute(cell: Cell) -> Outcome:
    """Fit on the first queries of an order; the validation part stays whole."""
    data = load(cell.what["data"], cell.where)
    what = cell.what
    order = query_order(
        data.learn.train, what["order"], what["judge"], what["choose"], what["convention"], what["seed"]
    )
    many = max(1, round(what["share"] * len(order)))
    train = data.learn.train.select(np.sort(order[:many]))
    fitted, facts = fit(what, train, data.learn.valid)
    return measured(what, data, scores_of(fitted, data.learn.test), {**facts, "queries": many})


def query_order(
    train: Dataset, order: str, judge: str, which: str, convention: str, seed: int
) -> NDArray[np.int64]:
    """Places of the training queries, in the order they are added."""
    chance = np.random.default_rng(seed).permutation(train.n_queries)
    if order == "random":
        return chance
    fitted = ranker(judge, metric=which, convention=convention).fit(train)
    quality = evaluate(train, scores_of(fitted, train), which, convention).per_query[which][chance]
    sign = -1.0 if order == "best-first" else 1.0
    return chance[np.argsort(sign * quality, kind="stable")]


def show(study: Study, results: Results) -> Iterator[Part]:
    """For each ranker, the headline measure against the share of queries, a line for each order."""
    which = study.metrics[0]
    shares, orders = study.settings["shares"], study.settings["orders"]
    for source in study.data:
        yield Heading(source.name)
        means = results.where(data=source.name).mean(which, "ranker", "order", "share")
        for one in study.rankers:
            rows = tuple(
                (order, tuple(means[one.name, order, share] for share in shares)) for order in orders
            )
            note = (
                f"{source.name}, {one.name}: {which} by the share of training queries, easy and hard by "
                f"{study.settings['judge']}; {len(source.folds)} folds; convention {source.convention}"
            )
            name = f"curve-{source.name}-{one.name}"
            yield Table(name, ResultTable(tuple(f"{share:g}" for share in shares), rows, (note,)))
            lines = {order: list(values) for order, values in rows}
            yield Plot(name, curves(shares, lines, "share of the training queries", which), note + ".")


LEARNING_CURVE = Kind(
    "test quality against the number of training queries, added in three orders",
    SETTINGS,
    cells,
    compute,
    show,
    rankers=("listnet", "ranksvm"),
)
