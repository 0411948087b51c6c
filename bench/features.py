"""Corpus to data set: quality on Cranfield and WikiQA, and speed beside bm25s. ``python -m bench.features``

Name parts to run only those: ``python -m bench.features cranfield sentences speed linear``.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from tests.conftest import real_data_folder

import topkit as tk
from topkit.features import build_dataset, build_index, read_cranfield_qrels, read_documents, read_queries

Fit = Callable[[tk.Dataset, tk.Dataset], Callable[[tk.Dataset], NDArray[np.float64]]]


def ranksvm(train: tk.Dataset, valid: tk.Dataset) -> Callable[[tk.Dataset], NDArray[np.float64]]:
    return tk.ranker("ranksvm").fit(train, valid).score


def boosted_trees(train: tk.Dataset, valid: tk.Dataset) -> Callable[[tk.Dataset], NDArray[np.float64]]:
    """LambdaMART by LightGBM on features normalised per query, as many trees as validation likes best."""
    import lightgbm

    def ready(data: tk.Dataset) -> tk.Dataset:
        return tk.normalise(data, "z-score", "append")

    fitted, watched = ready(train), ready(valid)
    model = lightgbm.LGBMRanker(
        n_estimators=400,
        learning_rate=0.03,
        num_leaves=7,
        min_child_samples=50,
        colsample_bytree=0.3,
        reg_lambda=10.0,
        random_state=0,
        n_jobs=2,
        verbosity=-1,
        lambdarank_truncation_level=20,
    )
    model.fit(
        fitted.X,
        fitted.y.astype(int),
        group=fitted.lengths,
        eval_set=[(watched.X, watched.y.astype(int))],
        eval_group=[watched.lengths],
        eval_at=[10],
        callbacks=[lightgbm.early_stopping(60, verbose=False)],
    )
    return lambda data: np.asarray(model.predict(ready(data).X), np.float64)


def cranfield() -> None:
    """Index, features, five folds, and two rankers beside BM25 alone, with significance."""
    folder = real_data_folder()
    if folder is None:
        print("Cranfield is not at hand: set TOPKIT_DATA")
        return
    place = folder / "cranfield"
    with tempfile.TemporaryDirectory() as scratch:
        documents = read_documents(place / "cran.all.1400")
        index = build_index(documents, scratch, fields=["title", "abstract"])
        queries, grades = read_queries(place / "cran.qry"), read_cranfield_qrels(place / "cranqrel")
        data, card = build_dataset(index, queries, grades, sampling="p+top", depth=1000)
    print(card)
    relevant = np.maximum.reduceat(data.y, data.ptr[:-1]) > 0
    data = data.select(relevant)
    bm25 = list(data.names_of_features()).index("bm25.whole")
    methods: dict[str, Fit] = {"RankSVM": ranksvm, "boosted trees": boosted_trees}
    scores: dict[str, list[NDArray[np.float64]]] = {"BM25": [], **{name: [] for name in methods}}
    tested: list[tk.Dataset] = []
    for fold in tk.folds(data, 5, seed=0):
        tested.append(fold.test)
        scores["BM25"].append(fold.test.X[:, bm25].astype(np.float64))
        for name, method in methods.items():
            scores[name].append(method(fold.train, fold.valid)(fold.test))
    together = tk.concatenate(tested)
    evaluations = {
        name: replace(tk.evaluate(together, np.concatenate(parts), ["ndcg@10", "map"], "yahoo"), name=name)
        for name, parts in scores.items()
    }
    for name, evaluation in evaluations.items():
        print(f"{name:<14} NDCG@10 {evaluation.mean['ndcg@10']:.4f}   MAP {evaluation.mean['map']:.4f}")
    print(tk.compare(evaluations, "ndcg@10", baseline="BM25", test="randomisation"))


PARTS: dict[str, Callable[[], None]] = {"cranfield": cranfield}


def main() -> None:
    chosen = [name for name in sys.argv[1:] if name in PARTS] or list(PARTS)
    for name in chosen:
        print(f"-- {name}", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main()
