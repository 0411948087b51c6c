"""Corpus to data set: quality on Cranfield and WikiQA, and speed beside bm25s. ``python -m bench.features``

Name parts to run only those: ``python -m bench.features cranfield sentences speed linear``.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.conftest import real_data_folder

import topkit as tk
from topkit.features import (
    SENTENCE_FEATURES,
    Analyser,
    Background,
    Judged,
    best_depth,
    best_threshold,
    build_dataset,
    build_index,
    keep_depth,
    keep_threshold,
    kept_quality,
    read_cranfield_qrels,
    read_documents,
    read_queries,
    read_synonyms,
    sentence_dataset,
)

WORDNET = "/usr/share/wordnet"
"""Where Debian's package wordnet-base puts the database; without it synonyms are left out."""

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


def wikiqa(folder: Path, part: str) -> list[Judged]:
    """The questions of a part with their candidate sentences."""
    columns = [
        (folder / part / name).read_text(encoding="utf-8").splitlines()
        for name in ("id.txt", "a.toks", "b.toks", "sim.txt")
    ]
    groups: dict[str, Judged] = {}
    for qid, question, sentence, label in zip(*columns, strict=True):
        one = groups.setdefault(qid, Judged(f"{part}-{qid}", question, [], []))
        one.sentences.append(sentence)
        one.labels.append(float(label))
    return list(groups.values())


def support_vectors(train: tk.Dataset, valid: tk.Dataset) -> Callable[[tk.Dataset], NDArray[np.float64]]:
    """Support vector regression with a radial kernel on standardised features, C by validation."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    models = [make_pipeline(StandardScaler(), SVR(C=C)).fit(train.X, train.y) for C in (0.1, 1.0)]
    best = max(models, key=lambda model: tk.evaluate(valid, model.predict(valid.X), "rprec").mean["rprec"])
    return lambda data: np.asarray(best.predict(data.X), np.float64)


def regression_trees(train: tk.Dataset, valid: tk.Dataset) -> Callable[[tk.Dataset], NDArray[np.float64]]:
    """Boosted trees on single sentences, as in the paper; size and weights chosen by validation."""
    import lightgbm

    models = []
    for leaves in (2, 4, 8):
        for weight in (1.0, 3.0, 10.0):
            model = lightgbm.LGBMClassifier(
                n_estimators=200,
                learning_rate=0.05,
                num_leaves=leaves,
                scale_pos_weight=weight,
                random_state=0,
                n_jobs=2,
                verbosity=-1,
            )
            models.append(model.fit(train.X, train.y.astype(int)))

    def score(model: object, data: tk.Dataset) -> NDArray[np.float64]:
        return np.asarray(model.predict_proba(data.X)[:, 1])  # type: ignore[attr-defined]

    best = max(models, key=lambda model: tk.evaluate(valid, score(model, valid), "rprec").mean["rprec"])
    return lambda data: score(best, data)


def sentences() -> None:
    """WikiQA: three learners beside the language model, R-precision, and F1 by depth and by threshold."""
    folder = real_data_folder()
    if folder is None:
        print("WikiQA is not at hand: set TOPKIT_DATA")
        return
    parts = {part: wikiqa(folder / "wikiqa", part) for part in ("train", "dev", "test")}
    analyser = Analyser()
    background = Background.of((s for one in parts["train"] for s in one.sentences), analyser)
    synonyms = read_synonyms(WORDNET) if Path(WORDNET).is_dir() else None
    print(f"synonyms: {'none at hand' if synonyms is None else f'{len(synonyms):,} terms'}")
    sets = {}
    for part, judged in parts.items():
        made = sentence_dataset(judged, background, analyser, synonyms)
        sets[part] = made.select(np.maximum.reduceat(made.y, made.ptr[:-1]) > 0)
        print(f"{part}: {sets[part].n_queries} questions, {len(sets[part])} sentences")
    train, valid, test = sets["train"], sets["dev"], sets["test"]
    methods: dict[str, Callable[[tk.Dataset], NDArray[np.float64]]] = {
        "LM": lambda data: data.X[:, SENTENCE_FEATURES.index("lm")].astype(np.float64),
        "RankSVM": ranksvm(train, valid),
        "SVR": support_vectors(train, valid),
        "boosted trees": regression_trees(train, valid),
    }
    evaluations = {}
    print(f"{'':<14} R-precision   F1 by depth        F1 by threshold (both chosen on dev)")
    for name, score in methods.items():
        evaluations[name] = tk.evaluate(test, score(test), "rprec", "ranklib")
        depth, limit = best_depth(valid, score(valid)), best_threshold(valid, score(valid))
        by_depth = kept_quality(test, keep_depth(test, score(test), depth)).f1
        by_threshold = kept_quality(test, keep_threshold(score(test), limit)).f1
        value = evaluations[name].mean["rprec"]
        row = f"{by_depth:.4f} (k = {depth})     {by_threshold:.4f} (from {limit:.3f})"
        print(f"{name:<14} {value:.4f}        {row}", flush=True)
    print(tk.compare(evaluations, "rprec", baseline="LM"))


PARTS: dict[str, Callable[[], None]] = {"cranfield": cranfield, "sentences": sentences}


def main() -> None:
    chosen = [name for name in sys.argv[1:] if name in PARTS] or list(PARTS)
    for name in chosen:
        print(f"-- {name}", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main()
