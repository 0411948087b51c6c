"""The demo: from documents to a ranker whose worth is known, in one command.

Questions about Python's standard library are asked of its own docstrings: features are built, simulated
assessors label the top of every list with two strategies, rankers learn from the labels and from the bare
preferences, and a report says how good they are and how sure that is.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
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
from topkit.metrics import Evaluation
from topkit.rankers import Learner, ranker
from topkit.studies.assessors import SECONDS
from topkit.studies.demo_data import documents, topics, write_documents, write_topics
from topkit.studies.demo_report import write_report
from topkit.studies.fits import importances, measure_test
from topkit.studies.showing import score_table
from topkit.studies.tables import as_text

K = 5
STRATEGIES = ("heap", "adaptive")
"""The published strategy, and ours; rankers learn from what the last one gives."""
METRICS = [f"kndcg@{K}", "kerr", f"ndcg@{K}", "map"]
CURVE = [f"kndcg@{depth}" for depth in range(1, K + 1)]
RANKERS = ("ranksvm", "ranknet", "listnet", "topk-listmle", "focusednet")
ON_PREFERENCES = "ranksvm on preferences"
FEATURES = ",".join(
    f"{function}.{stream}"
    for stream in ("title", "abstract", "whole")
    for function in ("log_tf", "idf", "bm25", "lm_dir", "length")
)
"""Fifteen: with so few questions to learn from, the 45 of a larger collection would be too many."""
BASELINE, BASELINE_FEATURE = "BM25 alone", "bm25.whole"

Say = Callable[[str], object]


@dataclass(frozen=True)
class Story:
    """All that the demo has found, for the report."""

    data: Dataset
    judgments: dict[str, Judgments]
    """Strategy → the answers it took."""
    results: dict[str, Evaluation]
    importance: dict[str, float]
    """Feature → what shuffling it costs the last of RANKERS, mean over folds."""


def run_demo(folder: Path, seed: int = 0, say: Say = print) -> Path:
    """Tell the whole story with ``say`` and write everything into the folder; returns the report's path."""
    folder.mkdir(parents=True, exist_ok=True)
    graded = prepare(folder, say)
    judgments: dict[str, Judgments] = {}
    labelled = graded
    for strategy in STRATEGIES:
        assessor = Assessor(f"assessor {len(judgments) + 1}", seed)
        labelled, judgments[strategy] = label_dataset(graded, assessor, K, strategy, seed)
        say(f"label    {effort(strategy, judgments[strategy])}")
    say(f"         five grades for each of {len(graded)} documents: {minutes(graded):.0f} minutes")
    both = Judgments(preferences=tuple(one for each in judgments.values() for one in each.preferences))
    write_judgments_csv(both, folder / "preferences.csv")
    labelled.to_parquet(folder / "labelled.parquet")
    results, importance = learn(graded, labelled, both, seed, say)
    story = Story(graded, judgments, results, importance)
    path = folder / "report.html"
    table = score_table(results, METRICS, CAPTION, baseline=BASELINE, test="randomisation")
    write_report(path, story, table)
    say(f"measure\n{as_text(table)}\n\n{where_to_go(folder, path)}")
    return path


CAPTION = f"five folds; kndcg and kerr by the labelled top {K}, ndcg and map by the grades"


def prepare(folder: Path, say: Say) -> Dataset:
    """Index the docstrings, compute features of every candidate, and write what the labelling app reads."""
    collection = documents()
    index = build_index(collection, folder / "index")
    queries = {topic.id: topic.query for topic in topics()}
    grades = {
        topic.id: {name: float(floor(value)) for name, value in topic.relevance.items()} for topic in topics()
    }
    data, _ = build_dataset(index, queries, grades, features=FEATURES, sampling="judged")
    data.to_parquet(folder / "data.parquet")
    write_topics(folder / "topics.csv")
    write_documents(collection, folder / "documents.csv")
    write_run(Run.from_scores(data, bm25_of(data), "bm25"), folder / "bm25.run")
    say(
        f"prepare  {data.n_queries} questions, {len(collection)} docstrings, {data.n_features} features of "
        f"{len(data)} candidates"
    )
    return data


def bm25_of(data: Dataset) -> NDArray[np.float64]:
    """The baseline: BM25 of the whole document."""
    return data.X[:, data.names_of_features().index(BASELINE_FEATURE)].astype(np.float64)


class Assessor:
    """Knows how relevant every candidate is, errs where two are close, and marks irrelevant ones bad."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self._of = {
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
        return self._of[query].judge(query, question)


def minutes(graded: Dataset) -> float:
    """What five grades for every document would take."""
    return len(graded) * SECONDS["grades"] / 60


def effort(strategy: str, judgments: Judgments) -> str:
    """What labelling took, in words."""
    asked = judgments.preferences
    spent = sum(one.seconds for one in asked) / 60
    lists = len(judgments.queries)
    return (
        f"top {K} of {lists} lists, strategy {strategy}: {len(asked)} preferences, "
        f"{len(asked) / lists:.1f} a list, {spent:.0f} minutes"
    )


def learn(
    graded: Dataset, labelled: Dataset, judgments: Judgments, seed: int, say: Say
) -> tuple[dict[str, Evaluation], dict[str, float]]:
    """Cross-validated scores of every ranker, measured by the labelled order and by the grades."""
    rounds = list(zip(query_folds(graded, 5, seed), query_folds(labelled, 5, seed), strict=True))
    tests = concatenate([fold.test for fold, _ in rounds])
    tops = concatenate([top.test for _, top in rounds])
    scores = {BASELINE: bm25_of(tests)}
    drops: list[dict[str, float]] = []
    for name in (*RANKERS, ON_PREFERENCES):
        say(f"learn    {name}, five folds")
        parts = []
        for _, top in rounds:
            model = fitted(name, top, judgments, seed)
            parts.append(model.score(top.test))
            if name == RANKERS[-1]:
                drops.append(importances(model, top.test))
        scores[name] = np.concatenate(parts)
    metrics = list(dict.fromkeys([*CURVE, *METRICS]))
    rules = "yahoo"
    results = {
        name: evaluation(tests, measure_test(tops, tests, values, metrics, rules), rules)
        for name, values in scores.items()
    }
    return results, {feature: float(np.mean([one[feature] for one in drops])) for feature in drops[0]}


def evaluation(data: Dataset, values: dict[str, NDArray[np.float64]], rules: str) -> Evaluation:
    from topkit.metrics import convention

    return Evaluation(data.qids, values, convention(rules))


def fitted(name: str, top: Fold, judgments: Judgments, seed: int) -> Learner:
    """A ranker fitted on a fold: to the labelled order, or to the bare preferences of its queries."""
    common: dict[str, Any] = {"metric": f"kndcg@{K}", "seed": seed}
    if name == ON_PREFERENCES:
        inside = set(top.train.qids)
        own = Judgments(preferences=tuple(one for one in judgments.preferences if one.query in inside))
        pairs = Preferences.of_judgments(top.train, own)
        return ranker("ranksvm", pairs="given", **common).fit(top.train, top.valid, preferences=pairs)
    settings = {"k": K} if "topk" in name or "focused" in name else {}
    return ranker(name, **common, **settings).fit(top.train, top.valid)


def where_to_go(folder: Path, report: Path) -> str:
    """What was written, and how to label the same lists oneself."""
    store = folder / "labels.db"
    # `make demo` runs a program that is not on the path; a call from Python has none to name
    program = (
        sys.argv[0] if Path(sys.argv[0]).name == "topkit" and shutil.which("topkit") is None else "topkit"
    )
    return (
        f"report   {report}\n"
        f"files    preferences.csv, data.parquet, labelled.parquet, topics.csv, documents.csv, bm25.run\n"
        f"label these lists yourself:\n"
        f"  {program} label import --database {store} --name demo --k {K} --topics {folder / 'topics.csv'} "
        f"--documents {folder / 'documents.csv'} --run {folder / 'bm25.run'}\n"
        f"  {program} label serve --database {store}"
    )
