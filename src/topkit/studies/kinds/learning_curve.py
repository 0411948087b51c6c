"""learning-curve: test quality against the number of training queries, added in three orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset
from topkit.data.settings import Setting
from topkit.metrics import evaluate
from topkit.rankers import ranker
from topkit.reporting.plots import curves
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell, Outcome
from topkit.studies.fits import Fit, fit, fit_cell, measured, turns
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Heading, Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.sources import load
from topkit.studies.spec import Study

ORDERS = ("random", "best-first", "worst-first")
SHARES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``learning-curve``."""

    shares: Annotated[tuple[float, ...], Setting("Shares of the training queries.", above=0, high=1)] = SHARES
    orders: Annotated[
        tuple[str, ...],
        Setting("How queries are added: at random, easy ones first, hard ones first.", choices=ORDERS),
    ] = ORDERS
    judge: Annotated[
        str,
        Setting(
            "The ranker, fitted on all training queries, that decides which queries are easy; the paper uses "
            "the best single feature."
        ),
    ] = "bestfeature"


@dataclass(frozen=True)
class CurveFit(Fit):
    """A fit on a share of the training queries."""

    order: str
    share: float
    judge: str


def cells(study: Study[Settings]) -> Iterator[Cell[CurveFit]]:
    """One fit per data set, ranker, order, share, fold and seed."""
    settings = study.settings
    for turn, contestant in product(turns(study), study.rankers):
        for order in settings.orders:
            for share in settings.shares:
                factors = {"ranker": contestant.name, "order": order, "share": share}
                more = {"order": order, "share": share, "judge": settings.judge}
                yield fit_cell(study, turn, contestant, factors, CurveFit, **more)


def compute(cell: Cell[CurveFit]) -> Outcome:
    """Fit on the first queries of an order; the validation part stays complete."""
    work = cell.work
    data = load(work.data, cell.files)
    order = query_order(data.learn.train, work.order, work.judge, work.choose, work.convention, work.seed)
    queries = max(1, round(work.share * len(order)))
    train = data.learn.train.select(np.sort(order[:queries]))
    fitted, facts = fit(work, train, data.learn.valid)
    return measured(work, data, fitted, {**facts, "queries": queries})


def query_order(
    train: Dataset, order: str, judge: str, which: str, convention: str, seed: int
) -> NDArray[np.int64]:
    """Indices of the training queries, in the order in which they are added."""
    shuffled = np.random.default_rng(seed).permutation(train.n_queries)
    if order == "random":
        return shuffled
    fitted = ranker(judge, metric=which, convention=convention).fit(train)
    quality = evaluate(train, fitted.ordering_scores(train), which, convention).per_query[which][shuffled]
    sign = -1.0 if order == "best-first" else 1.0
    return shuffled[np.argsort(sign * quality, kind="stable")]


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """For each ranker, the headline measure against the share of queries, one line per order."""
    which = study.metrics[0]
    shares, orders = study.settings.shares, study.settings.orders
    for source in study.data:
        yield Heading(source.name)
        means = results.where(data=source.name).mean(which, "ranker", "order", "share")
        for contestant in study.rankers:
            rows = tuple(
                (order, tuple(means[contestant.name, order, share] for share in shares)) for order in orders
            )
            note = (
                f"{source.name}, {contestant.name}: {which} by the share of training queries, easy and hard "
                f"according to {study.settings.judge}; {len(source.folds)} folds; "
                f"convention {source.convention}"
            )
            name = f"curve-{source.name}-{contestant.name}"
            yield TablePart(name, ScoreTable(tuple(f"{share:g}" for share in shares), rows, (note,)))
            lines = {order: list(values) for order, values in rows}
            yield PlotPart(name, curves(shares, lines, "share of the training queries", which), note + ".")


LEARNING_CURVE = Kind(
    summary="test quality against the number of training queries, added in three orders",
    code=Code(Settings, CurveFit, cells, compute, show),
    rankers=("listnet", "ranksvm"),
)
