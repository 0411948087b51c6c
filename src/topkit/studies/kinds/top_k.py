"""k: is the top k of a full order enough to learn from? Training truth is cut at k, test truth is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated

from topkit.data import Dataset
from topkit.data.settings import Setting
from topkit.metrics import evaluate, parse_metrics
from topkit.rankers import settings_of
from topkit.reporting.plots import curves
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell, Outcome
from topkit.studies.fits import TOP, Fit, as_rows, fit, fit_cell, measured, turns
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Heading, Paragraph, Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.sources import load
from topkit.studies.spec import Source, Study

ALL = 0
"""The k that means no cut."""
KS = (1, 2, 3, 5, 7, 10, 15, 20, 30, ALL)
FULL_ORDER = "full-order "
"""In front of the name of a measure on the full order; other measures use the top ten or the labels."""


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``k``."""

    ks: Annotated[tuple[int, ...], Setting("Where the training truth is cut; 0 keeps all of it.", low=0)] = KS
    on_full_order: Annotated[
        tuple[str, ...], Setting("Measures on the full order of the test part; none for graded truth.")
    ] = ("ndcg@5", "ndcg@10", "nwkt@10")


@dataclass(frozen=True)
class CutFit(Fit):
    """A fit on training truth that is cut at k."""

    k: int
    on_full_order: tuple[str, ...]


def cells(study: Study[Settings]) -> Iterator[Cell[CutFit]]:
    """One fit per data set, ranker, k, fold and seed."""
    for turn, contestant in product(turns(study), study.rankers):
        on_order = full_order_metrics(study, turn.source)
        for k in study.settings.ks:
            factors = {"ranker": contestant.name, "k": k}
            yield fit_cell(study, turn, contestant, factors, CutFit, k=k, on_full_order=on_order)


def compute(cell: Cell[CutFit]) -> Outcome:
    """Train on the truth cut at k; choose by the top ten of the validation truth; test as always.

    Rankers with a setting k receive it; the others learn it from the labels of the cut truth.
    """
    work = cell.work
    data = load(work.data, cell.files)
    train = cut(data.learn.train, work.k, work.seed)
    settings = {}
    if "k" in settings_of(work.ranker, **work.settings):
        settings["k"] = work.k or int(train.lengths.max())
    fitted, facts = fit(work, train, data.learn.valid.top_k(TOP, work.seed), **settings)
    outcome = measured(work, data, fitted, facts)
    if work.on_full_order:
        test = data.learn.test
        by_metric = evaluate(
            test, fitted.ordering_scores(test), work.on_full_order, work.convention
        ).per_query
        more = as_rows(test.qids, {FULL_ORDER + name: by_metric[name] for name in by_metric}, {})
        columns = {name: [*rows, *more.columns[name]] for name, rows in outcome.columns.items()}
        outcome = replace(outcome, columns=columns)
    return outcome


def full_order_metrics(study: Study[Settings], source: Source) -> tuple[str, ...]:
    """The measures on the full order, if the truth of the data set is one."""
    if source.truth not in ("teacher", "order") and source.labels != "order":
        return ()
    return (
        tuple(map(str, parse_metrics(study.settings.on_full_order))) if study.settings.on_full_order else ()
    )


def cut(data: Dataset, k: int, seed: int) -> Dataset:
    """The data with its truth cut at k; unchanged for 0: the full order, or the grades."""
    return data if k == ALL else data.top_k(k, seed)


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """Each measure against k, one line per ranker."""
    ks = study.settings.ks
    names = ["all" if k == ALL else str(k) for k in ks]
    for source in study.data:
        yield Heading(source.name)
        of_source = results.where(data=source.name)
        for which in (*study.metrics, *(FULL_ORDER + name for name in full_order_metrics(study, source))):
            means = of_source.mean(which, "ranker", "k")
            rows = tuple(
                (contestant.name, tuple(means[contestant.name, k] for k in ks))
                for contestant in study.rankers
            )
            note = (
                f"{source.name}: {which} on the test part by the k at which training truth is cut, "
                f"{len(source.folds)} folds; convention {source.convention}"
            )
            yield TablePart(f"k-{source.name}-{which}", ScoreTable(tuple(names), rows, (note,), bold=False))
            for row, values in rows:
                yield Paragraph(f"{source.name}, {which}: {row} {settles(names, values)}")
            yield PlotPart(
                f"k-{source.name}-{which}",
                curves(ks, {name: list(values) for name, values in rows}, "k", which, even=True, names=names),
                note + ".",
            )


def settles(names: list[str], values: tuple[float, ...]) -> str:
    """From which k on all values are within 2 % of the last.

    >>> settles(["1", "2", "5", "all"], (0.40, 0.495, 0.505, 0.50))
    'stays within 2 % of its last value from k = 2 on (k = 1: −20.0 %).'
    """
    last = values[-1]
    place = next(i for i in range(len(values)) if all(abs(v - last) <= 0.02 * last for v in values[i:]))
    before = f"{100 * (values[0] / last - 1):+.1f}".replace("-", "−")
    return f"stays within 2 % of its last value from k = {names[place]} on (k = {names[0]}: {before} %)."


TOP_K = Kind(
    summary="test quality against the k at which the training truth is cut",
    code=Code(Settings, CutFit, cells, compute, show),
    metrics=("kndcg@10", "ndcg@10"),
    rankers=("ranksvm", "rankboost", "ranknet", "topk-listmle"),
)
