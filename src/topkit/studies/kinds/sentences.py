"""sentences: rankers that select the sentences of a document which answer a question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from topkit.compute import Floats
from topkit.data import Dataset
from topkit.data.settings import Setting
from topkit.features import (
    SENTENCE_FEATURES,
    Analyser,
    Background,
    Language,
    best_depth,
    best_threshold,
    keep_depth,
    keep_threshold,
    kept_quality,
    read_sentence_pairs,
    read_synonyms,
    sentence_dataset,
)
from topkit.features.sentence_files import PAIR_FILES
from topkit.reporting.plots import curves
from topkit.reporting.tables import ScoreTable
from topkit.studies.cell import Cell, Outcome
from topkit.studies.fits import Fit, as_rows, fit, importances, measure_test
from topkit.studies.kind import Code, Kind
from topkit.studies.parts import Part, PlotPart, TablePart
from topkit.studies.results import Results
from topkit.studies.showing import best_first, importance_plot, score_table
from topkit.studies.sources import FoldSpec, find_file, fingerprint
from topkit.studies.spec import Contestant, Study

PARTS = ("train", "dev", "test")
BASELINE = "language model"
CONVENTION = "yahoo"
SHARES = (*(round(0.02 * i, 2) for i in range(1, 26)), 0.6, 0.7, 0.8, 0.9, 1.0)
"""Shares of sentences kept by a threshold, in the plot of F1."""


@dataclass(frozen=True)
class Settings:
    """The settings of the kind ``sentences``."""

    folder: Annotated[
        str, Setting("Folder with train, dev and test, each with id.txt, a.toks, b.toks and sim.txt.")
    ] = "{data}/wikiqa"
    synonyms: Annotated[
        str, Setting("File of synonyms that count as matches, one group per line; empty for none.")
    ] = ""


@dataclass(frozen=True)
class SentenceFit(Fit):
    """A ranker, or the language model alone; files are named by fingerprint."""

    pairs: tuple[str, ...]
    """Four files for each of the parts."""
    synonyms: str


def cells(study: Study[Settings]) -> Iterator[Cell[SentenceFit]]:
    """One fit per ranker and seed, and the language model."""
    settings = study.settings
    paths = [
        str(find_file(f"{settings.folder}/{part}/{name}", study.folder))
        for part in PARTS
        for name in PAIR_FILES
    ]
    synonyms = str(find_file(settings.synonyms, study.folder)) if settings.synonyms else ""
    others = {fingerprint(synonyms): synonyms} if synonyms else {}
    for contestant in (Contestant(BASELINE, BASELINE), *study.rankers):
        for seed in study.seeds:
            work = SentenceFit(
                data=FoldSpec("graded", "labels", 1),
                ranker=contestant.ranker,
                settings=dict(contestant.settings),
                choices=dict(contestant.choices),
                trials=contestant.trials,
                metrics=study.metrics,
                convention=CONVENTION,
                choose=study.choose,
                seed=seed,
                pairs=tuple(fingerprint(path) for path in paths),
                synonyms=next(iter(others), ""),
            )
            files = {**dict(zip(work.pairs, paths, strict=True)), **others}
            yield Cell(study.kind, {"ranker": contestant.name, "seed": seed}, work, files)


def compute(cell: Cell[SentenceFit]) -> Outcome:
    """Fit on train, choose settings, depth and threshold on dev, measure on test."""
    work = cell.work
    paths = tuple(cell.files[content] for content in work.pairs)
    train, dev, test = sentence_sets(paths, cell.files[work.synonyms] if work.synonyms else "")
    facts: dict[str, Any] = {}
    if work.ranker == BASELINE:
        column = SENTENCE_FEATURES.index("lm")
        on_dev, on_test = (part.X[:, column].astype(np.float64) for part in (dev, test))
    else:
        fitted, facts = fit(work, train, dev)
        on_dev, on_test = fitted.ordering_scores(dev), fitted.ordering_scores(test)
        facts["importance"] = importances(fitted, dev)
    facts["filtering"] = filtering(dev, on_dev, test, on_test)
    values = measure_test(test, test, on_test, work.metrics, work.convention)
    return as_rows(test.qids, values, facts)


@lru_cache(maxsize=1)
def sentence_sets(paths: tuple[str, ...], synonyms: str) -> tuple[Dataset, Dataset, Dataset]:
    """Train, dev and test without questions that have no relevant sentence; term counts are from train."""
    folders = [Path(paths[i]).parent for i in range(0, len(paths), len(PAIR_FILES))]
    judged = [read_sentence_pairs(folder) for folder in folders]
    analyser = Analyser()
    language = Language(analyser, read_synonyms(synonyms) if synonyms else {})
    background = Background.of((text for question in judged[0] for text in question.sentences), analyser)
    parts = [sentence_dataset(part, background, language) for part in judged]
    train, dev, test = (data.select(np.maximum.reduceat(data.y, data.ptr[:-1]) > 0) for data in parts)
    return train, dev, test


def filtering(dev: Dataset, on_dev: Floats, test: Dataset, on_test: Floats) -> dict[str, Any]:
    """F1 on test by depth and by threshold: chosen on dev, and the largest possible (chosen on test)."""
    facts: dict[str, Any] = {}
    for name, data, scores in (("dev", dev, on_dev), ("test", test, on_test)):
        depth, threshold = best_depth(data, scores), best_threshold(data, scores)
        facts[name] = {
            "depth": depth,
            "by depth": kept_quality(test, keep_depth(test, on_test, depth)).f1,
            "threshold": threshold,
            "by threshold": kept_quality(test, keep_threshold(on_test, threshold)).f1,
        }
    limits = np.quantile(on_test, [1 - share for share in SHARES])
    facts["curve"] = [kept_quality(test, keep_threshold(on_test, limit)).f1 for limit in limits]
    return facts


def show(study: Study[Settings], results: Results) -> Iterator[Part]:
    """R-precision with tests, F1 by depth and by threshold, F1 against what is kept, important features."""
    evaluations = results.evaluations(study.metrics, CONVENTION, "ranker")
    caption = f"sentences, settings chosen by {study.choose} on dev"
    yield TablePart("sentences", score_table(evaluations, study.metrics, caption, baseline=BASELINE))
    facts = {str(cell.factors["ranker"]): outcome.facts["filtering"] for cell, outcome in results}
    for chosen_on, title in (("dev", "depth and threshold chosen on dev"), ("test", "the best on test")):
        rows = tuple(
            (
                f"{name} (depth {figures[chosen_on]['depth']}, from {figures[chosen_on]['threshold']:.3f})",
                (figures[chosen_on]["by depth"], figures[chosen_on]["by threshold"]),
            )
            for name, figures in facts.items()
        )
        note = f"F1 of the kept sentences, mean over test questions: {title}"
        columns = ("F1 by depth", "F1 by threshold")
        yield TablePart(f"filtering-{chosen_on}", ScoreTable(columns, rows, (note,)))
    lines = {name: figures["curve"] for name, figures in facts.items()}
    plot = curves(SHARES, lines, "share of sentences kept by one threshold for all questions", "F1")
    yield PlotPart("threshold", plot, "F1 on test against the share of sentences above the threshold.")
    learnt = {name: evaluation for name, evaluation in evaluations.items() if name != BASELINE}
    if learnt:
        yield from importance_plot("sentences", results, best_first(learnt, study.metrics[0])[0])


SENTENCES = Kind(
    summary="selection of the sentences that answer a question",
    code=Code(Settings, SentenceFit, cells, compute, show),
    metrics=("rprec", "map"),
    rankers=("ranksvm-rbf", "svr", "mart"),
    learns=False,
)
