"""Corpus to data set: quality on Cranfield, and speed against bm25s. ``python -m bench.features``

Name parts to run only those: ``python -m bench.features cranfield speed linear``. Sentence selection on
WikiQA is the study ``examples/sentences.toml``.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.support.real_data import real_data_folder

import topkit as tk
from bench.timing import best_of, show
from topkit.features import (
    LINK_FEATURES,
    STOP_WORDS,
    Candidates,
    Document,
    LinkGraph,
    analyse_queries,
    build_dataset,
    build_index,
    extract,
    feature_names,
    link_features,
    read_cranfield_qrels,
    read_documents,
    read_queries,
)
from topkit.features.analyser import WORD

Fit = Callable[[tk.Dataset, tk.Dataset], Callable[[tk.Dataset], NDArray[np.float64]]]


def ranksvm(train: tk.Dataset, valid: tk.Dataset) -> Callable[[tk.Dataset], NDArray[np.float64]]:
    """RankSVM; C and the normalisation are those with the better MAP on validation."""
    fitted = [
        tk.ranker("ranksvm", normalise=how, metric="map").fit(train, valid) for how in ("min-max", "z-score")
    ]
    return max(fitted, key=lambda one: tk.evaluate(valid, one.score(valid), "map").mean["map"]).score


def boosted_trees(train: tk.Dataset, valid: tk.Dataset) -> Callable[[tk.Dataset], NDArray[np.float64]]:
    """LambdaMART by LightGBM on features normalised per query, number of trees chosen on validation data."""
    import lightgbm

    def ready(data: tk.Dataset) -> tk.Dataset:
        return tk.normalise(data, "z-score", "append")

    fitted, watched = ready(train), ready(valid)
    settings = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [10],
        "learning_rate": 0.03,
        "num_leaves": 7,
        "min_data_in_leaf": 50,
        "feature_fraction": 0.3,
        "lambda_l2": 10.0,
        "seed": 0,
        "num_threads": 2,
        "deterministic": True,
        "verbosity": -1,
    }
    rows = lightgbm.Dataset(fitted.X, fitted.y, group=fitted.lengths)
    held_out = lightgbm.Dataset(watched.X, watched.y, group=watched.lengths, reference=rows)
    stop = lightgbm.early_stopping(60, verbose=False)
    model = lightgbm.train(settings, rows, 400, valid_sets=[held_out], callbacks=[stop])
    return lambda data: np.asarray(model.predict(ready(data).X), np.float64)


def cranfield() -> None:
    """Index, features of the best 100 by BM25, five folds, two rankers against BM25 alone, significance."""
    folder = real_data_folder()
    if folder is None:
        print("Cranfield is not at hand: set TOPKIT_DATA")
        return
    place = folder / "cranfield"
    with tempfile.TemporaryDirectory() as scratch:
        documents = read_documents(place / "cran.all.1400")
        index = build_index(documents, scratch, fields=["title", "abstract"])
        queries, grades = read_queries(place / "cran.qry"), read_cranfield_qrels(place / "cranqrel")
        data, card = build_dataset(index, queries, grades, sampling="top", depth=100)
    print(card)
    relevant = np.maximum.reduceat(data.y, data.ptr[:-1]) > 0
    data = data.select(relevant)
    bm25 = list(data.names_of_features()).index("bm25.whole")
    methods: dict[str, Fit] = {"RankSVM": ranksvm, "boosted trees": boosted_trees}
    scores: dict[str, list[NDArray[np.float64]]] = {"BM25": [], **{name: [] for name in methods}}
    tested: list[tk.Dataset] = []
    for fold in tk.query_folds(data, 5, seed=0):
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


def generated_texts(documents: int, words: int, seed: int = 0) -> list[str]:
    """Short documents with words of a Zipf distribution over a vocabulary of 60,000."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    vocabulary = np.array(["".join(rng.choice(letters, rng.integers(3, 10))) for _ in range(60_000)])
    weights = 1.0 / np.arange(1, len(vocabulary) + 1)
    lengths = rng.integers(words // 2, 2 * words, documents)
    drawn = vocabulary[rng.choice(len(vocabulary), int(lengths.sum()), p=weights / weights.sum())]
    return [" ".join(part) for part in np.split(drawn, np.cumsum(lengths)[:-1])]


def speed() -> None:
    """Indexing 200,000 short documents: tokens, stop words, stems and postings, against bm25s."""
    import bm25s
    import Stemmer

    texts = generated_texts(200_000, 25)
    print(f"{len(texts):,} documents, {sum(map(len, texts)) / 1e6:.0f} MB")

    def ours() -> None:
        with tempfile.TemporaryDirectory() as folder:
            build_index((Document(str(i), {"text": text}) for i, text in enumerate(texts)), folder)

    def peer() -> None:
        stemmer = Stemmer.Stemmer("english")
        tokens = bm25s.tokenize(
            texts, stopwords=sorted(STOP_WORDS), stemmer=stemmer, token_pattern=WORD, show_progress=False
        )
        bm25s.BM25(method="lucene", k1=1.2, b=0.75).index(tokens, show_progress=False)

    build_index([Document("1", {"text": "compile first"})], tempfile.mkdtemp())
    mine, other = best_of(ours, peer, turns=2)
    show("build_index, 200,000 documents", mine, other, "bm25s tokenize + index", "no slower")


def linear() -> None:
    """All 64 features for up to 1,000 queries of 1,000 candidates: the 44 of text, and the 20 of links."""
    rng = np.random.default_rng(0)
    count = 20_000
    texts = generated_texts(count, 40)
    fields = [text.split() for text in texts]
    documents = [
        Document(
            f"d{i}",
            {
                "body": texts[i],
                "anchor": " ".join(words[:4]),
                "title": " ".join(words[4:10]),
                "url": f"http://host{i % 200}.org/{words[0]}/{i}",
                "extracted": " ".join(words[5:9]),
            },
        )
        for i, words in enumerate(fields)
    ]
    with tempfile.TemporaryDirectory() as folder:
        index = build_index(documents, folder)
        popular = (count * rng.random(5 * count) ** 4).astype(np.int64)  # few pages get most links
        graph = LinkGraph.of(count, np.stack([rng.integers(0, count, 5 * count), popular], axis=1))
        graph = graph.with_topics(rng.integers(0, 10, count))
        picks = [" ".join(rng.choice(fields[int(i)], 3)) for i in rng.integers(0, count, 1000)]
        names = feature_names(index, "trec", graph)
        content = [name for name in names if name not in LINK_FEATURES]
        links = [name for name in names if name in LINK_FEATURES]
        rows = []
        for many in (125, 250, 500, 1000):
            queries = analyse_queries(index, {str(i): text for i, text in enumerate(picks[:many])})
            docs = [np.sort(rng.choice(count, 1000, replace=False)).astype(np.int32) for _ in range(many)]
            candidates = Candidates.of(queries.qids, docs)
            _, text = measured(partial(extract, index, queries, candidates, content))
            _, link = measured(partial(link_features, index, queries, candidates, links, graph))
            rows.append((many, text, link))
            print(
                f"{many:>5} queries x 1,000, processor time: {len(content)} text features {text:6.2f} s, "
                f"{len(links)} link features {link:6.2f} s",
                flush=True,
            )
    many, *times = np.array(rows).T
    for what, spent in zip(("text", "link"), times, strict=True):
        each, start = np.polyfit(many, spent, 1)
        print(
            f"{what}: {start:.2f} s + {1000 * each:.2f} ms per query, "
            f"correlation {np.corrcoef(many, spent)[0, 1]:.4f}"
        )
    plot_growth(rows, Path(tempfile.gettempdir()) / "features-growth.svg")


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and of the processor, which other programs disturb less."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def plot_growth(rows: list[tuple[int, float, float]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3.5), layout="constrained")
    axes = figure.add_subplot()
    queries = [row[0] for row in rows]
    axes.plot(queries, [row[1] + row[2] for row in rows], "s-", label="all 64 features")
    axes.plot(queries, [row[1] for row in rows], "o-", label="the 44 of text")
    axes.set_xlabel("queries of 1,000 candidates")
    axes.set_ylabel("seconds of processor time")
    axes.set_ylim(0)
    axes.legend()
    figure.savefig(path)
    print(f"plot: {path}")


PARTS: dict[str, Callable[[], None]] = {
    "cranfield": cranfield,
    "speed": speed,
    "linear": linear,
}


def main() -> None:
    chosen = [name for name in sys.argv[1:] if name in PARTS] or list(PARTS)
    for name in chosen:
        print(f"-- {name}", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main()
