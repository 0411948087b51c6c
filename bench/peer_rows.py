"""Rows of the page of ratios: the peers of README's table, fusion without judgments, and quality."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from tests.support.real_data import real_data_folder

from bench.fusion import mean_ap, with_copies
from bench.fusion_data import KEEP, measure, trec3_runs
from bench.table import Row
from topkit.fusion import Ballots, fuse
from topkit.labelling import lower_bound
from topkit.labelling.simulate import Scenario, simulate
from topkit.studies.kinds.fusion import replace_by_random

T = TypeVar("T")
COPIES = 30
RANDOM = 35
DRAWS = 5
ORDERS = 200
"""Random orders of the documents that count questions."""


def unprinted(benchmark: Callable[[], T]) -> T:
    """The result of a benchmark that also prints a report."""
    with contextlib.redirect_stdout(io.StringIO()):
        return benchmark()


def reading_runs() -> float:
    """ir_measures' time for the runs of TREC-3, over ours."""
    from bench.data import runs

    folder = real_data_folder()
    if folder is None:
        raise FileNotFoundError("the real data is not available")
    with tempfile.TemporaryDirectory() as scratch:
        return unprinted(lambda: runs(folder, Path(scratch), turns=3))


def measuring(peer: int) -> Callable[[], float]:
    """The time of pytrec_eval (0) or ir-measures (1) for 23 measures, over ours."""

    def ratio() -> float:
        from bench.metrics import from_arrays

        return unprinted(from_arrays)[peer]

    return ratio


def ranx() -> float:
    """ranx's time for CombMNZ, over ours."""
    from bench.fusion_speed import speed

    return unprinted(lambda: speed(("combmnz",)))["combmnz"]


def linearsvc() -> float:
    """The time of LinearSVC, primal, over RankSVM's."""
    from bench.svm_boosting import linearsvc

    return unprinted(linearsvc)


def click_events() -> float:
    """The time of SGDClassifier for a million click events, over ours."""
    from bench.lr import rate

    return unprinted(rate)


def assessors(kind: str) -> Callable[[], float]:
    """Judgments per second of 200 assessors at once, over the rows per second of a bare endpoint."""

    def ratio() -> float:
        from bench.web import load

        return unprinted(lambda: load(kind, seconds=30, many=200, processes=1))

    return ratio


def served() -> float:
    """Requests per second of the scoring service, over those of a bare endpoint."""
    from bench.ship_serving import serving

    return unprinted(serving)[0]


def clean() -> float:
    """MAP of agreement on the 40 runs of TREC-3."""
    runs, judgments = trec3_runs()
    return mean_ap("agreement", Ballots.of(runs), judgments)


def copied() -> float:
    """The smallest MAP of agreement over the run that is entered 30 more times."""
    runs, judgments = trec3_runs()
    ballots = Ballots.of(runs)
    return min(
        mean_ap("agreement", with_copies(ballots, i, COPIES), judgments) for i in range(ballots.n_rankers)
    )


def mostly_random() -> float:
    """The mean MAP of agreement, on whole lists, with 35 of the 40 runs replaced by random ones."""
    runs, judgments = trec3_runs()
    mixed = [replace_by_random(runs, RANDOM, seed=1000 * RANDOM + draw, length=KEEP) for draw in range(DRAWS)]
    return float(np.mean([measure(judgments, fuse(m, "agreement").run)[0] for m in mixed]))


def over_lightgbm() -> float:
    """NDCG@10 of tune-and-mix minus LightGBM's lambdarank at its defaults, MQ2008, five folds."""
    from bench.quality import FOLDS, five_folds, lightgbm, ours

    mixed = five_folds([ours(fold, "tune-and-mix", 1) for fold in FOLDS])
    peer = five_folds([lightgbm(fold, 1) for fold in FOLDS])
    return float((mixed[1] - peer[1]).mean())


def questions() -> float:
    """Mean questions of the strategy adaptive for the ordered top 10 of 50, over the lower bound."""
    (outcome,) = simulate([Scenario("adaptive", 50, 10)], ORDERS)
    return outcome.judgments / lower_bound(50, 10)


ROWS = [
    Row("ir_measures / ours: reading the 40 runs of TREC-3", reading_runs, 10),
    Row("pytrec_eval / ours: 23 measures of 1,000,000 documents", measuring(0), 15),
    Row("ir-measures / ours: 23 measures of 1,000,000 documents", measuring(1), 15, slow=True),
    Row("ranx / ours: CombMNZ of 40 runs", ranx, 5),
    Row("LinearSVC / ours: RankSVM, the same optimum", linearsvc, 20),
    Row("SGDClassifier / ours: 1,000,000 click events", click_events, 1),
    Row("200 assessors, SQLite: judgments / rows of an endpoint", assessors("sqlite"), 0.5, slow=True),
    Row(
        "200 assessors, PostgreSQL: judgments / rows of an endpoint", assessors("postgresql"), 0.5, slow=True
    ),
    Row("scoring service: requests / those of an endpoint", served, 0.5, slow=True),
    Row("fusion by agreement, TREC-3: MAP", clean, 0.44, unit=""),
    Row("fusion by agreement, 30 copies of any run: smallest MAP", copied, 0.43, unit="", slow=True),
    Row("fusion by agreement, 35 of 40 random: MAP", mostly_random, 0.38, unit=""),
    Row("tune-and-mix: NDCG@10 minus LightGBM's at its defaults", over_lightgbm, 0, unit="", slow=True),
    Row("questions for the top 10 of 50 / lower bound", questions, 1.05, True),
]
