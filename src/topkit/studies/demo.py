"""The demo: from documents to a measured ranker, in one command.

Questions about Python's standard library search its own docstrings. The demo builds features, lets simulated
assessors label the top of every list with two strategies, trains rankers on the labels and on the
preferences alone, and writes a report with their quality and its significance.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, Fold, Judgments, Run, concatenate, query_folds, write_run
from topkit.features import build_dataset, build_index
from topkit.labelling import Question, SimulatedAssessor, Verdict, label_dataset, write_judgments_csv
from topkit.labelling.judges.simulated import error_by_gap
from topkit.losses import Preferences
from topkit.metrics import Evaluation, convention
from topkit.rankers import Learner, ranker
from topkit.studies.assessors import SECONDS
from topkit.studies.demo_data import FEATURES, documents, mentions, topics, write_documents, write_topics
from topkit.studies.demo_report import Findings, write_report
from topkit.studies.fits import importances, measure_test
from topkit.studies.showing import score_table

K = 5
STRATEGIES = ("heap", "adaptive")
"""The published strategy and topkit's own; rankers learn from the labels of the last one."""
METRICS = [f"kndcg@{K}", "kerr", f"ndcg@{K}", "map"]
CURVE = [f"kndcg@{depth}" for depth in range(1, K + 1)]
CONVENTION = "yahoo"
RANKERS = ("ranksvm", "ranknet", "listnet", "topk-listmle", "focusednet")
ON_PREFERENCES = "ranksvm on preferences"
BASELINE, BASELINE_FEATURE = "BM25 alone", "bm25.docstring"
"""BM25 of name and docstring: what a search engine without learning returns."""
ALL_FIELDS, ALL_FIELDS_FEATURE = "BM25 of all fields", "bm25.whole"
CAPTION = f"five folds; kndcg and kerr on the labelled top {K}, ndcg and map on the grades"

Say = Callable[[str], object]
"""Prints a line."""


def run_demo(folder: Path, seed: int = 0, say: Say = print) -> Path:
    """Run all steps, printing with ``say``, and write everything to the folder; returns the report's path."""
    folder.mkdir(parents=True, exist_ok=True)
    graded = prepare(folder, say)
    judgments: dict[str, Judgments] = {}
    labelled = graded
    for strategy in STRATEGIES:
        assessor = Assessor(f"assessor {len(judgments) + 1}", seed)
        labelled, judgments[strategy] = label_dataset(graded, assessor, K, strategy, seed)
        say(f"label    {effort(strategy, judgments[strategy])}")
    say(f"         five grades for each of {len(graded)} documents: {grading_minutes(graded):.0f} minutes")
    preferences = tuple(answer for answers in judgments.values() for answer in answers.preferences)
    all_judgments = Judgments(preferences=preferences)
    write_judgments_csv(all_judgments, folder / "preferences.csv")
    labelled.to_parquet(folder / "labelled.parquet")
    results, importance = learn(graded, labelled, all_judgments, seed, say)
    scores = score_table(results, METRICS, CAPTION, baseline=BASELINE, test="randomisation")
    path = folder / "report.html"
    findings = Findings(
        k=K,
        data=graded,
        judgments=judgments,
        grading_minutes=grading_minutes(graded),
        scores=scores,
        results=results,
        curve=CURVE,
        baseline=BASELINE,
        explained=RANKERS[-1],
        importance=importance,
    )
    write_report(path, findings)
    say(f"measure\n{scores.table().text()}\n\n{next_steps(folder, path)}")
    return path


def prepare(folder: Path, say: Say) -> Dataset:
    """Index the docstrings, compute the features of every candidate, write the files of the labelling app."""
    collection = documents()
    index = build_index(collection, folder / "index")
    links = mentions(collection, index)
    queries = {topic.id: topic.query for topic in topics()}
    grades = {
        topic.id: {name: float(floor(value)) for name, value in topic.relevance.items()} for topic in topics()
    }
    data, _ = build_dataset(
        index, queries, grades, features=",".join(FEATURES), sampling="judged", links=links
    )
    data.to_parquet(folder / "data.parquet")
    write_topics(folder / "topics.csv")
    write_documents(collection, folder / "documents.csv")
    write_run(Run.from_scores(data, scores_of(data, BASELINE_FEATURE), "bm25"), folder / "bm25.run")
    say(
        f"prepare  {data.n_queries} questions, {len(collection)} docstrings, {data.n_features} features of "
        f"{len(data)} candidates"
    )
    return data


def scores_of(data: Dataset, feature: str) -> NDArray[np.float64]:
    """The scores of a ranker that uses one feature."""
    return data.X[:, data.names_of_features().index(feature)].astype(np.float64)


class Assessor:
    """Knows the relevance of every candidate, errs if two are close, and marks irrelevant ones bad."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self._assessors = {
            topic.id: SimulatedAssessor(
                name,
                topic.relevance,
                error=error_by_gap(0.3, 0.5),
                bad_below=0.5,
                seconds=SECONDS["preferences"],
                seed=seed * 1000 + number,
            )
            for number, topic in enumerate(topics())
        }

    def judge(self, query: str, question: Question) -> Verdict:
        """The answer to a question about a query's documents."""
        return self._assessors[query].judge(query, question)


def grading_minutes(graded: Dataset) -> float:
    """The time that five grades for every document would take."""
    return len(graded) * SECONDS["grades"] / 60


def effort(strategy: str, judgments: Judgments) -> str:
    """What the labelling cost, in words."""
    answers = judgments.preferences
    minutes = sum(answer.seconds for answer in answers) / 60
    lists = len(judgments.queries)
    return (
        f"top {K} of {lists} lists, strategy {strategy}: {len(answers)} preferences, "
        f"{len(answers) / lists:.1f} per list, {minutes:.0f} minutes"
    )


def learn(
    graded: Dataset, labelled: Dataset, judgments: Judgments, seed: int, say: Say
) -> tuple[dict[str, Evaluation], dict[str, float]]:
    """Cross-validated evaluation of every ranker, and the feature importances of the last of RANKERS."""
    folds = list(zip(query_folds(graded, 5, seed), query_folds(labelled, 5, seed), strict=True))
    graded_tests = concatenate([fold.test for fold, _ in folds])
    labelled_tests = concatenate([fold.test for _, fold in folds])
    scores = {
        BASELINE: scores_of(graded_tests, BASELINE_FEATURE),
        ALL_FIELDS: scores_of(graded_tests, ALL_FIELDS_FEATURE),
    }
    drops: list[dict[str, float]] = []
    for name in (*RANKERS, ON_PREFERENCES):
        say(f"learn    {name}, five folds")
        parts = []
        for _, fold in folds:
            model = fitted(name, fold, judgments, seed)
            parts.append(model.score(fold.test))
            if name == RANKERS[-1]:
                drops.append(importances(model, fold.test))
        scores[name] = np.concatenate(parts)
    metrics = list(dict.fromkeys([*CURVE, *METRICS]))
    results = {
        name: Evaluation(
            graded_tests.qids,
            measure_test(labelled_tests, graded_tests, values, metrics, CONVENTION),
            convention(CONVENTION),
        )
        for name, values in scores.items()
    }
    return results, {feature: float(np.mean([drop[feature] for drop in drops])) for feature in drops[0]}


def fitted(name: str, fold: Fold, judgments: Judgments, seed: int) -> Learner:
    """A ranker fitted on a fold: to the labelled order, or to the preferences alone."""
    common: dict[str, Any] = {"metric": f"kndcg@{K}", "seed": seed}
    if name == ON_PREFERENCES:
        queries = set(fold.train.qids)
        answers = tuple(answer for answer in judgments.preferences if answer.query in queries)
        pairs = Preferences.of_judgments(fold.train, Judgments(preferences=answers))
        return ranker("ranksvm", pairs="given", **common).fit(fold.train, fold.valid, preferences=pairs)
    settings = {"k": K} if "topk" in name or "focused" in name else {}
    return ranker(name, **common, **settings).fit(fold.train, fold.valid)


def next_steps(folder: Path, report: Path) -> str:
    """What was written, how to label the same lists yourself, and what to do with data of one's own."""
    database = folder / "labels.db"
    # `make demo` runs a program that is not on the path; if called from Python, there is no program to name
    program = (
        sys.argv[0] if Path(sys.argv[0]).name == "topkit" and shutil.which("topkit") is None else "topkit"
    )
    return (
        f"report   {report}\n"
        f"files    preferences.csv, data.parquet, labelled.parquet, topics.csv, documents.csv, bm25.run\n\n"
        f"label these lists yourself:\n"
        f"  {program} label import --database {database} --name demo --k {K} "
        f"--topics {folder / 'topics.csv'} "
        f"--documents {folder / 'documents.csv'} --run {folder / 'bm25.run'}\n"
        f"  {program} label serve --database {database}\n\n"
        f"with your own data:\n"
        f"  features and grades (CSV, Parquet, LETOR)   {program} study new compare --out mine.toml\n"
        f"  documents, queries and judgments            {program} features build --help\n"
        f"  no judgments yet                            {program} label serve"
    )
