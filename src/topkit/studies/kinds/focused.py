"""focused: FocusedRank against its parents, on graded and on ordered truth.

Tables 4 and 5 of Niu, Guo, Lan & Cheng, SIGIR 2012. A data set with ``truth = "labels"`` is measured by the
measures of grades, one with an order (``top-10``, ``teacher-10``) by those of top-k truth. Each focused
ranker is tested against its pairwise and its listwise parent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated

import numpy as np

from topkit.data import InputError
from topkit.data.settings import Setting
from topkit.data.words import counted
from topkit.metrics import CORRECTIONS, TESTS, Evaluation, compare, metric
from topkit.metrics.comparison import LEVEL
from topkit.reporting.marks import BETTER, WORSE, mark
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell
from topkit.studies.fits import Fit, compute_fit, fit_cell, needs_order, turns
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Heading, Paragraph, Part, TablePart
from topkit.studies.results import Results
from topkit.studies.showing import score_table
from topkit.studies.spec import Contestant, Source, Study

PARENTS = {
    "focusedsvm": ("svmmap", "ranksvm"),
    "focusedboost": ("adarank", "rankboost"),
    "focusednet": ("listnet", "ranknet"),
}
"""Focused ranker → its listwise and its pairwise parent."""


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``focused``."""

    test: Annotated[
        str,
        Setting("The significance test.", choices=tuple(name for name in TESTS if name != "tukey")),
    ] = "t"
    correction: Annotated[
        str,
        Setting("The correction for the number of comparisons with parents.", choices=tuple(CORRECTIONS)),
    ] = "holm"


def cells(study: Study[Settings]) -> Iterator[Cell[Fit]]:
    """One fit per data set, ranker, fold and seed; from grades, one seed if the ranker draws no order."""
    for turn, contestant in product(turns(study), study.rankers):
        graded = turn.source.truth == "labels"
        if graded and turn.seed != study.seeds[0] and not draws_order(contestant):
            continue
        suited = replace(
            study, metrics=metrics_for(study, turn.source), choose=choice_for(study, turn.source)
        )
        yield fit_cell(suited, turn, contestant, {"ranker": contestant.name}, Fit)


def draws_order(contestant: Contestant) -> bool:
    """Whether a ranker learns a random order that agrees with the grades, so that seeds matter."""
    return contestant.ranker in PARENTS or contestant.settings.get("ties") == "random"


def metrics_for(study: Study[Settings], source: Source) -> tuple[str, ...]:
    """The measures of grades for data with grades, those of an order for data with an order."""
    suited = tuple(name for name in study.metrics if needs_order(name) == (source.truth != "labels"))
    if not suited:
        raise InputError(
            f"no measure suits the truth {source.truth!r} of the data set {source.name!r}",
            'name measures of both kinds, such as "ndcg@10" and "kndcg@10"',
        )
    return suited


def choice_for(study: Study[Settings], source: Source) -> str:
    """The measure that chooses settings: the study's, or for data with an order its κ form."""
    if source.truth == "labels" or needs_order(study.choose):
        return study.choose
    return str(metric(f"k{study.choose}"))


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """For each data set the means of all rankers, and every focused ranker minus each of its parents."""
    for source in study.data:
        metrics = metrics_for(study, source)
        evaluations = results.where(data=source.name).evaluations(metrics, source.convention, "ranker")
        caption = (
            f"{source.name}, truth {source.truth}, {counted(len(source.folds), 'fold')}, "
            f"{counted(len(study.seeds), 'seed')}, "
            f"settings chosen by {choice_for(study, source)} on validation data"
        )
        yield Heading(source.name)
        yield TablePart(source.name, score_table(evaluations, metrics, caption))
        pairs = compared(study, evaluations)
        if pairs:
            table = differences(study, source.name, evaluations, metrics, pairs)
            yield TablePart(f"parents-{source.name}", table)
            yield Paragraph(verdict(source.name, table))


def compared(study: Study[Settings], evaluations: Mapping[str, Evaluation]) -> list[tuple[str, str]]:
    """(focused ranker, parent) by their names in tables."""
    return [
        (focused.name, parent.name)
        for focused in study.rankers
        for parent in study.rankers
        if parent.ranker in PARENTS.get(focused.ranker, ())
    ]


def differences(
    study: Study[Settings],
    name: str,
    evaluations: Mapping[str, Evaluation],
    metrics: tuple[str, ...],
    pairs: list[tuple[str, str]],
) -> ScoreTable:
    """Focused ranker minus parent by measure, with marks of the corrected test over queries."""
    settings = study.settings
    marks: dict[tuple[str, str], str] = {}
    columns = []
    for which in metrics:
        tests = [
            compare({a: evaluations[a], b: evaluations[b]}, which, settings.test, None).pairs[0]
            for a, b in pairs
        ]
        corrected = CORRECTIONS[settings.correction](np.array([pair.p for pair in tests]))
        for (a, b), pair, p in zip(pairs, tests, corrected, strict=True):
            if p < LEVEL:
                marks[f"{a} − {b}", which] = mark(pair.difference)
        columns.append([pair.difference for pair in tests])
    rows = tuple(
        (f"{a} − {b}", tuple(column[place] for column in columns)) for place, (a, b) in enumerate(pairs)
    )
    note = (
        f"{name}: focused ranker minus parent; {BETTER} {WORSE}: p < {LEVEL:g}, {TESTS[settings.test]} over "
        f"queries, {settings.correction.title()} correction for {len(pairs)} comparisons per measure"
    )
    return ScoreTable(metrics, rows, (note,), marks=marks, bold=False)


def verdict(name: str, table: ScoreTable) -> str:
    """How many differences are positive and how many are significant."""
    values = [value for _, row in table.rows for value in row]
    marks = list(table.marks.values())
    return (
        f"{name}: the focused ranker is above its parent in {sum(value > 0 for value in values)} of "
        f"{len(values)} comparisons; {marks.count(BETTER)} are significantly better, "
        f"{marks.count(WORSE)} significantly worse."
    )


FOCUSED = Kind(
    summary="FocusedRank against its pairwise and listwise parents, on graded and on ordered truth",
    code=Code(Settings, Fit, cells, compute_fit, show),
    metrics=("ndcg@10", "err", "kndcg@10", "kerr"),
    rankers=("svmmap", "ranksvm", "focusedsvm", "adarank", "rankboost", "focusedboost", "listnet", "ranknet",
             "focusednet", "topk-listmle"),
)  # fmt: skip
