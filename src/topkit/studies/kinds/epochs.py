"""epochs: AUC on the training queries after each step of the sigmoid meta-ranker, from several starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Annotated

import numpy as np

from topkit.data.settings import Setting
from topkit.metrics import evaluate
from topkit.rankers import Job, ranker
from topkit.rankers.linear import Sigmoid
from topkit.reporting.plots import curves
from topkit.reporting.tables import ScoreTable
from topkit.scorers import Linear
from topkit.studies.cell import Cell, Outcome
from topkit.studies.fits import Fit, fit_cell, turns
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Heading, Paragraph, Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.sources import load
from topkit.studies.spec import Contestant, Study

RANDOM = "random start"
SHOWN = (0, 1, 2, 3, 5, 10, 20, 30, 50)
"""Epochs in the table."""


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``epochs``."""

    steps: Annotated[int, Setting("Largest number of steps of gradient descent.", low=1)] = 50
    steepness: Annotated[float, Setting("Steepness σ of the sigmoid.", above=0)] = 1.0
    random_start: Annotated[bool, Setting("Whether to start from random weights too.")] = True


@dataclass(frozen=True)
class EpochFit(Fit):
    """A descent from the weights of a base ranker, or from random ones."""

    steps: int
    """Steps of gradient descent."""
    steepness: float
    """σ of the sigmoid."""


def cells(study: Study[Settings]) -> Iterator[Cell[EpochFit]]:
    """One descent per data set, base, fold and seed."""
    settings = study.settings
    others = (Contestant(RANDOM, RANDOM),) if settings.random_start else ()
    for turn, base in product(turns(study), (*study.rankers, *others)):
        more = {"steps": settings.steps, "steepness": settings.steepness}
        yield fit_cell(study, turn, base, {"base": base.name}, EpochFit, **more)


def compute(cell: Cell[EpochFit]) -> Outcome:
    """The measures of the training queries after each step; a descent that settled keeps its last value."""
    work = cell.work
    train = load(work.data, cell.files).learn.train
    named = {} if work.ranker == RANDOM else {"base": work.ranker, "base_settings": dict(work.settings)}
    learner = ranker("sigmoid", steepness=work.steepness, max_steps=work.steps, **named)
    prepared = learner.preparation_for(train)(train)
    method = learner.method
    if not isinstance(method, Sigmoid):
        raise TypeError("the ranker 'sigmoid' is not of the type Sigmoid")
    start = None
    if work.ranker == RANDOM:
        start = np.random.default_rng(work.seed).normal(size=prepared.n_features)
    job = Job(prepared, None, learner.measure(), work.seed)
    path = method.epochs(job, start)
    columns: dict[str, list[object]] = {"epoch": [], "metric": [], "value": []}
    for epoch in range(work.steps + 1):
        scores = Linear(path[min(epoch, len(path) - 1)]).score(prepared)
        for metric in work.metrics:
            columns["epoch"].append(epoch)
            columns["metric"].append(metric)
            columns["value"].append(evaluate(train, scores, metric, work.convention).mean[metric])
    return Outcome(columns, {"epochs": len(path) - 1})


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """The headline measure against the epoch, one line per start."""
    which = study.metrics[0]
    epochs = tuple(range(study.settings.steps + 1))
    for source in study.data:
        yield Heading(source.name)
        of_source = results.where(data=source.name)
        means = of_source.mean(which, "base", "epoch")
        lines = {base: [means[base, epoch] for epoch in epochs] for base in of_source.levels("base")}
        shown = [epoch for epoch in SHOWN if epoch <= study.settings.steps]
        rows = tuple((base, tuple(values[epoch] for epoch in shown)) for base, values in lines.items())
        note = (
            f"{source.name}: {which} of the training queries after each epoch of the sigmoid meta-ranker, "
            f"{len(source.folds)} folds; convention {source.convention}"
        )
        columns = tuple(f"epoch {epoch}" for epoch in shown)
        yield TablePart(f"epochs-{source.name}", ScoreTable(columns, rows, (note,), bold=False))
        yield PlotPart(f"epochs-{source.name}", curves(epochs, lines, "epoch", which), note + ".")
        reached = {base: _near_end(values) for base, values in lines.items()}
        listed = ", ".join(f"{base} {epoch}" for base, epoch in reached.items())
        yield Paragraph(f"{source.name}: epochs until {which} is within 0.001 of its last value: {listed}.")


def _near_end(values: list[float]) -> int:
    """The first epoch from which all values are within 0.001 of the last."""
    far = [epoch for epoch, value in enumerate(values) if abs(value - values[-1]) > 1e-3]
    return far[-1] + 1 if far else 0


EPOCHS = Kind(
    summary="AUC on the training queries after each epoch of the sigmoid meta-ranker",
    code=Code(Settings, EpochFit, cells, compute, show),
    metrics=("auc",),
    rankers=("perceptron", "ranksvm", "listnet"),
)
