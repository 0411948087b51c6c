"""Quality of every ranker, loss and fusion method on the data of ``topkit demo``, for their reference pages.

``python -m bench.methods [rankers] [losses] [aggregators]`` writes docs/figures/NAME.csv. Five folds,
settings chosen on validation data, means over the 120 test queries, convention yahoo. p is from Fisher's
randomisation test against BM25 of name and docstring, not corrected: a page shows one method.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import topkit as tk
from topkit.compute import NotConverged
from topkit.data.files import text_writer
from topkit.metrics import Evaluation

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
METRICS = ["ndcg@5", "map"]
BASELINE = "bm25.docstring"
Row = dict[str, str]


def main() -> None:
    FIGURES.mkdir(exist_ok=True)
    warnings.simplefilter("ignore", NotConverged)  # the defaults of slow methods stop at their step limit
    for what in sys.argv[1:] or list(TABLES):
        rows = []
        for row in TABLES[what]():
            print(row, flush=True)
            rows.append(row)
        with text_writer(FIGURES / f"{what}.csv") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def rankers() -> Iterator[Row]:
    """Every ranker with its default settings."""
    for name in tk.RANKERS:
        yield row_of(name, cross_validated(name))


def losses() -> Iterator[Row]:
    """A linear ranker on every loss."""
    for name in tk.LOSSES:
        yield row_of(name, cross_validated("gradient", loss=name))


def aggregators() -> Iterator[Row]:
    """The fusion of the five BM25 features, each as one system."""
    data = tk.demo_data()
    runs = [
        tk.Run.from_scores(data, data.X[:, column], feature)
        for column, feature in enumerate(data.names_of_features())
        if feature.startswith("bm25")
    ]
    for name in tk.AGGREGATORS:
        settings: dict[str, Any] = {"weights": [1.0] * len(runs)} if name == "weighted-borda" else {}
        yield row_of(name, evaluated(tk.aggregate(runs, name, **settings)))


def cross_validated(name: str, **settings: Any) -> Evaluation:
    """The evaluation of the test parts of five folds."""
    ranked: dict[str, list[tuple[str, float]]] = {}
    for fold in tk.query_folds(tk.demo_data(), 5):
        fitted = tk.ranker(name, metric="ndcg@5", **settings).fit(fold.train, fold.valid)
        run = fitted.rank(fold.test)
        ranked.update({query: list(run[query]) for query in run})
    return evaluated(tk.Run.of(ranked, name))


def evaluated(run: tk.Run) -> Evaluation:
    """A run measured by the grades of the demo, each query in the order of the run."""
    data = tk.demo_data()
    names = data.names_of_documents()
    scores = np.zeros(len(data))
    for query, rows in data:
        place = {doc: -float(rank) for rank, (doc, _) in enumerate(run[query])}
        scores[rows] = [place.get(doc, -1e9) for doc in names[rows].tolist()]
    return tk.evaluate(data, scores, METRICS)


def row_of(name: str, result: Evaluation) -> Row:
    data = tk.demo_data()
    baseline = tk.evaluate(data, data.X[:, data.names_of_features().index(BASELINE)], METRICS)
    pair = tk.compare({"it": result, "BM25": baseline}, "ndcg@5", test="randomisation")["it", "BM25"]
    values = {metric: f"{result.mean[metric]:.4f}" for metric in METRICS}
    return {"name": name, **values, "over BM25 (ndcg@5)": f"{pair.difference:+.4f}", "p": f"{pair.p:.4f}"}


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "rankers": rankers,
    "losses": losses,
    "aggregators": aggregators,
}

if __name__ == "__main__":
    main()
