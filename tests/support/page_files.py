"""The small files that the pages of the documentation name, made from the data that comes with topkit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import topkit as tk
from topkit.labelling import write_judgments_csv
from topkit.studies.demo import Assessor, prepare

QUERIES = 60
"""Queries that the files contain: enough to learn from, few enough to be quick."""


def write_page_files(folder: Path) -> None:
    """Write data sets, runs, judgments, documents and a model, under the names that the pages use."""
    data = tk.demo_data().select(np.arange(QUERIES))
    train, valid, test = tk.query_folds(data, 5)[0]
    for part, name in ((train, "train"), (valid, "vali"), (test, "test")):
        part.to_letor(folder / f"{name}.txt")
        part.to_parquet(folder / f"{name}.parquet")
    data.to_parquet(folder / "large.parquet")
    tk.ranker("focusednet", k=5, l2=0.01).fit(train).save(folder / "focused.model")
    _write_runs(data, folder)
    _write_judgments(data, train, folder)
    _write_corpus(folder)
    pages = [
        tk.Page(query, tuple(train.names_of_documents()[rows][:3].tolist()), (False, True, False))
        for query, rows in train
    ]
    for name in ("monday.txt", "tuesday.txt", "pages.txt"):
        tk.write_pages(pages, folder / name)
    graded = prepare(folder / "demo", lambda line: None)
    labelled, answers = tk.label_dataset(graded, Assessor("assessor 1", 0), 5)
    labelled.to_parquet(folder / "demo" / "labelled.parquet")
    write_judgments_csv(answers, folder / "demo" / "preferences.csv")


def _write_runs(data: tk.Dataset, folder: Path) -> None:
    (folder / "runs").mkdir()
    for column in range(4):
        run = tk.Run.from_scores(data, data.X[:, column], data.names_of_features()[column])
        tk.write_run(run, folder / "runs" / f"{run.name}.gz")
    tk.write_run(tk.Run.from_scores(data, data.X[:, 4], "run"), folder / "run.gz")
    lines = [
        f"q,{system},d{doc},{doc % 3 + place}\n" for place, system in enumerate("abc") for doc in range(5)
    ]
    (folder / "rankings.csv").write_text("query,system,document,value\n" + "".join(lines))


def _write_judgments(data: tk.Dataset, train: tk.Dataset, folder: Path) -> None:
    names = data.names_of_documents()
    grades = tuple(
        tk.Grade(query, doc, float(grade))
        for query, rows in data
        for doc, grade in zip(names[rows].tolist(), data.y[rows], strict=True)
    )
    tk.write_qrels(tk.Judgments(grades=grades), folder / "qrels.txt")
    names = train.names_of_documents()
    preferences = tuple(
        tk.Preference(query, names[rows][0], names[rows][1], "a" if train.y[rows][0] >= 1 else "b")
        for query, rows in train
    )
    for name in ("preferences.txt", "answers.txt", "judgments.pref"):
        tk.write_preferences(tk.Judgments(preferences=preferences), folder / name)


def _write_corpus(folder: Path) -> None:
    texts = ["red wing boots", "the red planet", "wing of a bird", "boots for snow", "a snow bird"]
    with (folder / "docs.jsonl").open("w") as stream:
        for number, text in enumerate(texts, 1):
            body = f"All about {text}. " * number
            stream.write(json.dumps({"id": f"d{number}", "title": text, "abstract": body}) + "\n")
    (folder / "queries.tsv").write_text("q1\tred wing\nq2\tsnow boots\nq3\tbird\n")
    (folder / "corpus.qrels").write_text("q1 0 d1 2\nq1 0 d2 0\nq2 0 d4 2\nq2 0 d1 1\nq3 0 d5 1\nq3 0 d3 1\n")
    (folder / "article.txt").write_text("The shop sells boots. Red Wing boots last for years.\n")


def names_of_page(page: str) -> dict[str, Any]:
    """The values that a page uses without defining them, such as the scores of somebody's ranker."""
    data, test = tk.read_letor("train.txt"), tk.read_letor("test.txt")
    scores = test.X[:, 4].astype(np.float64)
    evaluations = [tk.evaluate(test, test.X[:, column], ["ndcg@10"]) for column in (2, 3, 4)]
    named: dict[str, dict[str, Any]] = {
        "losses.md": {
            "data": data,
            "scores": np.linspace(0, 1, len(data)),
            "labels": data.y.astype(np.float64),
            "ptr": data.ptr,
            "weights": np.ones(data.n_queries),
            "queries": np.array([0, 2]),
        },
        "metrics.md": {"scores": scores, **dict(zip(("e1", "e2", "e3"), evaluations, strict=True))},
        "features.md": {"text": Path("article.txt").read_text()},
        "fusion.md": {"test": test, "rankers": [tk.ranker("bestfeature").fit(test)]},
    }
    return named.get(page, {})
