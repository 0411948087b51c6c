"""The demo: label the top of every list, learn from it, measure the top; a table and a report at the end.

The data is small and comes with the package: 29 questions about Python's standard library, 14 candidate
functions and classes each, grades 0–3 written for this project, and 15 text-matching features of names and
docstrings.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, Judgments, concatenate, folds, normalise
from topkit.labelling import Question, SimulatedAssessor, Verdict, label_dataset
from topkit.metrics import Evaluation, compare, evaluate, metric
from topkit.rankers import ranker
from topkit.studies.demo_data import demo_data
from topkit.studies.plots import curves, histogram
from topkit.studies.report import Report
from topkit.studies.tables import ResultTable, as_text

K = 5
METRICS = [f"kndcg@{K}", "kerr", f"ndcg@{K}", "map"]
CURVE = [f"kndcg@{depth}" for depth in range(1, K + 1)]
RANKERS = ("ranknet", "listnet", "topk-listmle", "focusednet")
BASELINE, BASELINE_FEATURE = "BM25 alone", 12
SECONDS_A_PREFERENCE, SECONDS_A_GRADE = 5.51, 13.87  # as assessors took in Niu et al., SIGIR 2012, table 1

Say = Callable[[str], None]
Results = dict[str, Evaluation]


def run_demo(folder: Path, seed: int = 0, say: Say = print) -> Path:
    """Tell the whole story with ``say`` and write the report; returns its path."""
    graded = demo_data()
    say(f"label    {graded.n_queries} lists of {graded.lengths.max()} documents, the top {K} of each")
    labelled, judgments = label_dataset(graded, Assessor(graded), K, seed=seed)
    say(f"         {effort(graded, judgments)}")
    results = learn(graded, labelled, seed, say)
    table = result_table(results)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "report.html"
    write_report(path, graded, judgments, results, table)
    say(f"measure\n{as_text(table)}\n\nreport   {path}")
    return path


class Assessor:
    """Knows the grades of every query's documents; grade 0 is "bad", equal grades are "about the same"."""

    name = "simulated"

    def __init__(self, graded: Dataset) -> None:
        documents = graded.names_of_documents()
        self._of = {
            qid: SimulatedAssessor(
                self.name,
                dict(zip(documents[rows].tolist(), graded.y[rows].tolist(), strict=True)),
                bad_below=0.5,
                tie_band=0.0,
            )
            for qid, rows in graded
        }

    def judge(self, query: str, question: Question) -> Verdict:
        return self._of[query].judge(query, question)


def effort(graded: Dataset, judgments: Judgments) -> str:
    """What labelling took, in words."""
    asked = len(judgments.preferences)
    pairs, grades = asked * SECONDS_A_PREFERENCE / 60, len(graded) * SECONDS_A_GRADE / 60
    return (
        f"{asked} preferences, {asked / graded.n_queries:.1f} a list: {pairs:.0f} minutes at "
        f"{SECONDS_A_PREFERENCE} s each (five grades for every document: {grades:.0f} minutes at "
        f"{SECONDS_A_GRADE} s each)"
    )


def learn(graded: Dataset, labelled: Dataset, seed: int, say: Say) -> Results:
    """Cross-validated scores of every ranker, evaluated by the labelled order and by the grades."""
    parts: dict[str, list[NDArray[np.float64]]] = {name: [] for name in RANKERS}
    rounds = list(zip(folds(graded, 5, seed), folds(labelled, 5, seed), strict=True))
    for name in RANKERS:
        say(f"learn    {name}, five folds")
        for _, top in rounds:
            settings = {"k": K} if "topk" in name or "focused" in name else {}
            model = ranker(name, metric=f"kndcg@{K}", seed=seed, **settings).fit(top.train, top.valid)
            parts[name].append(model.score(top.test))
    tests = concatenate([fold.test for fold, _ in rounds])
    tops = concatenate([top.test for _, top in rounds])
    bm25 = normalise(tests).X[:, BASELINE_FEATURE].astype(np.float64)
    scores = {BASELINE: bm25} | {name: np.concatenate(part) for name, part in parts.items()}
    return {name: _evaluated(tests, tops, values) for name, values in scores.items()}


def _evaluated(graded: Dataset, top: Dataset, scores: NDArray[np.float64]) -> Evaluation:
    by_order = evaluate(top, scores, [*CURVE, *METRICS[:2]])
    by_grade = evaluate(graded, scores, METRICS[2:])
    return Evaluation(by_order.qids, {**by_order.per_query, **by_grade.per_query}, by_order.convention)


def result_table(results: Results) -> ResultTable:
    """Means, with marks where a ranker differs from the baseline."""
    first = results[BASELINE]
    marks = {
        (pair.b, column): "▲" if pair.difference < 0 else "▼"
        for column in METRICS
        for pair in compare(results, column, test="randomisation", baseline=BASELINE).pairs
        if pair.corrected < 0.05
    }
    return ResultTable(
        tuple(METRICS),
        tuple((name, tuple(result.mean[m] for m in METRICS)) for name, result in results.items()),
        (
            f"{len(first.qids)} queries, 5-fold cross-validation; kndcg and kerr by the labelled top {K}, "
            f"ndcg and map by the grades; convention {first.convention}",
            f"▲ ▼: above or below {BASELINE} with p < 0.05, Fisher's randomisation test, Holm's correction",
        ),
        tuple(metric(m).measure.greater_is_better for m in METRICS),
        marks,
    )


def write_report(
    path: Path, graded: Dataset, judgments: Judgments, results: Results, table: ResultTable
) -> None:
    """One HTML page of what was done and what came out."""
    asked = [len(answers) for answers in judgments.preferences_by_query().values()]
    best = max(results, key=lambda name: results[name].mean[METRICS[0]])
    report = Report("topkit demo: from preferences to a ranker")
    report.words(
        f"{graded.n_queries} questions about Python's standard library, {graded.lengths.max()} candidates "
        f"each. A simulated assessor compared pairs until the top {K} of every list was in order; rankers "
        "learnt from that order and were tested on questions they had not seen."
    )
    report.facts(
        {
            "lists labelled": str(graded.n_queries),
            "questions a list, mean": f"{np.mean(asked):.1f}",
            f"best by {METRICS[0]}": best,
        }
    )
    report.heading("Label")
    report.words(effort(graded, judgments) + ".")
    report.figure(histogram(asked, "questions asked", "lists"), f"Questions it took to order the top {K}.")
    report.heading("Learn and measure")
    report.table(table)
    lines = {name: [result.mean[m] for m in CURVE] for name, result in results.items()}
    report.figure(
        curves(range(1, K + 1), lines, "depth", "κ-NDCG"), "κ-NDCG at each depth, mean over test queries."
    )
    report.heading("Where to go from here")
    report.words("`topkit --help` lists the commands; `topkit eval` compares your own runs.")
    report.write(path)
