"""SVM, boosting and linear rankers against published figures, peers and each other.

``python -m bench.svm_boosting [ohsumed] [mq2008] [topk] [linearsvc] [growth] [speed] [margins]``
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.support.real_data import real_data_folder

import topkit as tk
from bench.timing import best_of, show
from topkit.compute import Floats, thread_count
from topkit.metrics.significance import holm, paired_t, randomisation
from topkit.rankers.linear import pair_margins, refine_with_sigmoid

IMAGES = Path(__file__).parent.parent / "docs" / "images"
BETAS = (0.1, 0.3, 0.5, 0.7, 0.9)
SEEDS = range(5)


@cache
def fold(name: str, number: int) -> tuple[tk.Dataset, tk.Dataset, tk.Dataset]:
    """Train, validation and test of one fold."""
    folder = real_data_folder()
    if folder is None:
        raise SystemExit("real data not at hand: set TOPKIT_DATA to its folder")
    train, valid, test = (
        tk.read_letor(folder / name / f"Fold{number}" / f"{part}.txt") for part in ("train", "vali", "test")
    )
    return train, valid, test


def table(
    name: str, convention: str, which: str, rows: list[tuple[str, str, dict[str, Any], float | None]]
) -> None:
    """The mean over five folds of each ranker, chosen on validation data, against the published figure."""
    print(f"{name}, convention {convention}, mean {which} of 5 folds")
    print(f"{'ranker':<22} {which:>8} {'published':>10} {'difference':>11} {'seconds':>8}")
    for title, ranker, settings, published in rows:
        start, means = time.perf_counter(), []
        for number in range(1, 6):
            train, valid, test = fold(name, number)
            fitted = tk.ranker(ranker, **{"metric": which, "convention": convention, **settings})
            scores = fitted.fit(train, valid).score(test)
            means.append(tk.evaluate(test, scores, which, convention).mean[which])
        mean, seconds = float(np.mean(means)), time.perf_counter() - start
        beside = "" if published is None else f"{published:10.3f} {mean - published:+11.4f}"
        print(f"{title:<22} {mean:8.4f} {beside:<22} {seconds:8.1f}", flush=True)


def ohsumed() -> None:
    """MAP on LETOR 2.0's OHSUMED, features normalised per query by min and max."""
    table(
        "OHSUMED-letor2", "letor3", "map",
        [
            ("best feature", "bestfeature", {}, None),
            ("perceptron, 5 passes", "perceptron", {}, 0.318),
            ("perceptron + sigmoid", "sigmoid", {"base": "perceptron"}, 0.451),
            ("RankSVM", "ranksvm", {}, 0.447),
            ("RankSVM, plain hinge", "ranksvm", {"loss": "hinge"}, 0.447),
            ("RankSVM + sigmoid", "sigmoid", {"base": "ranksvm"}, None),
            ("SVM-MAP", "svmmap", {}, None),
            ("RankBoost", "rankboost", {}, 0.440),
            ("AdaRank.MAP", "adarank", {}, 0.442),
            ("AdaRank.NDCG", "adarank", {"metric": "ndcg@10"}, 0.442),
            ("Coordinate Ascent", "coordinate-ascent", {"restarts": 5}, None),
        ],
    )  # fmt: skip


def mq2008() -> None:
    """NDCG@10 on LETOR 4.0's MQ2008."""
    table(
        "MQ2008", "letor4", "ndcg@10",
        [
            ("best feature", "bestfeature", {}, None),
            ("RankSVM", "ranksvm", {}, 0.228),
            ("RankBoost", "rankboost", {}, 0.226),
            ("AdaRank.NDCG", "adarank", {}, 0.231),
            ("SVM-MAP", "svmmap", {}, None),
            ("Coordinate Ascent", "coordinate-ascent", {"restarts": 5}, None),
        ],
    )  # fmt: skip
    train = fold("MQ2008", 1)[0]
    for name, settings in (("ranksvm", {"C": 0.04}), ("svmmap", {"C": 1.0})):
        fitted = tk.ranker(name, **settings).fit(train)
        precision = tk.evaluate(train, fitted.score(train), "map", "letor3").mean["map"]
        trace = fitted.traces[-1]
        gap = f", duality gap {trace.values[-1]:.2e} (tolerance 1e-3)" if name == "svmmap" else ""
        print(f"{name}: MAP on its own training data, Fold1 {precision:.4f}{gap}")


def topk() -> None:
    """κ-NDCG@10 and κ-ERR on top-10 truth made from grades: focused rankers against their parents."""
    families = {
        "FocusedSVM": [("SVM-MAP", "svmmap"), ("RankSVM", "ranksvm"), ("FocusedSVM", "focusedsvm")],
        "FocusedBoost": [
            ("AdaRank", "adarank"),
            ("RankBoost", "rankboost"),
            ("FocusedBoost", "focusedboost"),
        ],
    }
    measures = ["kndcg@10", "kerr"]
    found: dict[str, dict[str, list[Floats]]] = {}
    for seed in SEEDS:
        for number in range(1, 6):
            train, valid, test = (part.top_k(10, seed=seed) for part in fold("MQ2008", number))
            for family in families.values():
                for title, ranker in family:
                    scores = best_beta(ranker, train, valid).score(test)
                    values = tk.evaluate(test, scores, measures).per_query
                    for measure in measures:
                        found.setdefault(title, {}).setdefault(measure, []).append(values[measure])
        print(f"seed {seed} done", flush=True)
    print(
        "MQ2008, top-10 truth from grades, 5 seeds x 5 folds; p of the paired t test (and of randomisation)"
    )
    print("over queries, each the mean of its seeds, corrected by Holm within a measure")
    queries = {title: {m: per_seed_mean(values[m]) for m in measures} for title, values in found.items()}
    for measure in measures:
        compared, p_values, exact = [], [], []
        for focused, family in families.items():
            for title, _ in family:
                print(f"{measure:<9} {title:<13} {queries[title][measure].mean():.4f}")
            for parent, _ in family[:2]:
                differences = queries[focused][measure] - queries[parent][measure]
                compared.append(f"{focused} - {parent:<9} {differences.mean():+.4f}")
                p_values.append(paired_t(differences))
                exact.append(randomisation(differences))
        for line, p, q in zip(compared, holm(np.array(p_values)), holm(np.array(exact)), strict=True):
            print(f"{measure:<9} {line}  p={p:.4f} ({q:.4f})", flush=True)


def best_beta(ranker: str, train: tk.Dataset, valid: tk.Dataset) -> Any:
    """The ranker with the balance that is best on validation data, where it has one."""
    if not ranker.startswith("focused"):
        return tk.ranker(ranker, metric="kndcg@10").fit(train, valid)
    best, best_measure = None, -np.inf
    for beta in BETAS:
        fitted = tk.ranker(ranker, metric="kndcg@10", beta=beta).fit(train, valid)
        measure = tk.evaluate(valid, fitted.score(valid), "kndcg@10").mean["kndcg@10"]
        if measure > best_measure:
            best, best_measure = fitted, measure
    return best


def per_seed_mean(values: list[Floats]) -> Floats:
    """Values of seed × fold, seed first, as one mean per query."""
    seeds = len(values) // 5
    joined = [np.concatenate(values[5 * seed : 5 * seed + 5]) for seed in range(seeds)]
    return np.asarray(np.mean(joined, axis=0))


def linearsvc() -> float:
    """RankSVM against LinearSVC on explicit pair differences, 120 documents per query; the primal's ratio."""
    from sklearn.svm import LinearSVC

    data = tk.normalise(fold("OHSUMED-letor2", 1)[0])
    rows = np.concatenate([np.arange(s.start, min(s.start + 120, s.stop)) for _, s in data])
    data = tk.Dataset.build(data.X[rows], data.y[rows], data.query_index[rows])
    print(f"{data}, at most 120 documents per query")

    def differences() -> Floats:
        found = []
        for _, part in data:
            y, X = data.y[part], data.X[part].astype(np.float64)
            u, v = np.nonzero(y[:, None] > y[None, :])
            found.append(X[u] - X[v])
        return np.concatenate(found)

    D = differences()
    sign = np.where(np.arange(len(D)) % 2, -1.0, 1.0)
    C = 1e3 / len(D)
    turned = D * sign[:, None]

    def theirs(dual: bool) -> Any:
        return LinearSVC(
            C=C, loss="squared_hinge", fit_intercept=False, dual=dual, tol=1e-4, max_iter=100_000
        ).fit(turned, sign)

    def objective(w: Floats) -> float:
        return float(0.5 * w @ w + C * (np.maximum(0, 1 - D @ w) ** 2).sum())

    def ours() -> Any:
        return tk.ranker("ranksvm", C=C, normalise="none").fit(data)

    value, peer = objective(ours().model.weights), objective(theirs(False).coef_[0])
    print(f"{len(D)} pairs; objective {value:.6f}, LinearSVC {peer:.6f}, relative {value / peer - 1:+.1e}")
    own, primal, dual, listing = best_of(
        ours, lambda: theirs(False), lambda: theirs(True), differences, turns=3
    )
    ratio = show(
        "tk ranksvm (reads labels, lists no pairs)", own, primal, "LinearSVC primal, fit only", "20x"
    )
    show("tk ranksvm", own, dual, "LinearSVC dual, fit only")
    show("tk ranksvm", own, primal + listing, "primal + listing the pairs")
    return ratio


def fit_one(data: tk.Dataset) -> object:
    return tk.ranker("ranksvm", normalise="none").fit(data)


def growth() -> None:
    """Time and memory of RankSVM against the length of a list: n log n, not n²."""
    import resource

    import matplotlib.pyplot as plt

    sizes = [500, 1000, 2000, 4000, 8000, 16000, 32000, 64000]
    seconds = []
    print(f"{'documents':>10} {'seconds':>9} {'µs per document':>14} {'peak memory MB':>15}")
    for n in sizes:
        rng = np.random.default_rng(n)
        X = rng.normal(size=(n, 25)).astype(np.float32)
        y = np.digitize(X[:, 0] + rng.normal(size=n), [0.0, 1.0, 2.0, 3.0])
        data = tk.Dataset.build(X, y, ["q"] * n)
        (best,) = best_of(partial(fit_one, data), turns=3)
        seconds.append(best)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{n:>10} {best:9.4f} {best / n * 1e6:14.2f} {peak:15.0f}", flush=True)
    figure, axes = plt.subplots(figsize=(5, 3.5), layout="constrained")
    axes.loglog(sizes, seconds, "o-", label="RankSVM, one list")
    guide = np.array(sizes) * np.log(sizes)
    axes.loglog(sizes, guide * seconds[-1] / guide[-1], "--", label="n log n")
    square = np.array(sizes, float) ** 2
    axes.loglog(sizes, square * seconds[0] / square[0], ":", label="n²")
    axes.set(xlabel="documents in the list", ylabel="seconds a fit")
    axes.legend()
    figure.savefig(IMAGES / "ranksvm-growth.png", dpi=110)
    slope = np.polyfit(np.log(sizes[2:]), np.log(seconds[2:]), 1)[0]
    print(f"exponent of time in n from {sizes[2]} on: {slope:.2f}; plot in {IMAGES / 'ranksvm-growth.png'}")


def speed() -> None:
    """Wall time of the usual settings against LightGBM, in turn, best of several."""
    import lightgbm

    train, valid, _ = fold("MQ2008", 1)
    print(f"MQ2008 Fold1, {train} with validation; in turn with LGBMRanker")

    def peer() -> object:
        model = lightgbm.LGBMRanker(n_estimators=300, verbose=-1, n_jobs=thread_count())
        return model.fit(train.X, train.y, group=train.lengths)

    rankers = [
        ("RankBoost, 300 rounds", "rankboost", {"rounds": 300}, 7.3),
        ("AdaRank, 500 rounds", "adarank", {"rounds": 500}, 6.0),
        ("Coordinate Ascent, 5 restarts x 25", "coordinate-ascent", {"restarts": 5, "steps": 25}, 18.9),
        ("RankSVM, 12 values of C", "ranksvm", {}, None),
        ("SVM-MAP, 9 values of C", "svmmap", {}, None),
        ("FocusedSVM, 9 values of C", "focusedsvm", {}, None),
        ("FocusedBoost, 300 rounds", "focusedboost", {}, None),
    ]
    sides: list[Callable[[], object]] = [
        partial(tk.ranker(name, **settings).fit, train, valid) for _, name, settings, _ in rankers
    ]
    for side in sides:
        side()  # kernels are compiled or loaded once
    *ours, light = best_of(*sides, peer, turns=5)
    for (title, _, _, java), seconds in zip(rankers, ours, strict=True):
        line = f"{title:<36} {seconds:7.3f} s   {seconds / light:5.2f} times LGBMRanker(300) ({light:.3f} s)"
        if java is not None:  # its seconds where LightGBM needed 0.26; not run here
            line += f"   a Java peer, taken as {java / 0.26:.0f} times: {java / 0.26 * light / seconds:.0f}x"
        print(line)


def margins() -> None:
    """The histogram of pair margins with its outliers, before and after the sigmoid."""
    import matplotlib.pyplot as plt

    train, valid, _ = fold("OHSUMED-letor2", 1)
    figure, axes = plt.subplots(figsize=(5.5, 3.5), layout="constrained")
    for title, base in (("perceptron", "perceptron"), ("RankSVM", "ranksvm")):
        fitted = tk.ranker(base, metric="map", convention="letor3").fit(train, valid)
        for name, ranker in (
            (title, fitted),
            (f"{title} + sigmoid", refine_with_sigmoid(fitted, train, valid)),
        ):
            found = pair_margins(train, ranker.score(train), bins=60)
            print(
                f"{name:<22} {found.pairs} pairs, {found.wrong:.1%} wrong, "
                f"{found.outliers:.2%} wrong by more than 2 deviations"
            )
            axes.stairs(found.counts / found.pairs, found.edges, label=name)
    axes.axvline(-2, color="grey", linestyle=":")
    axes.set(xlabel="pair margin, in deviations", ylabel="share of pairs", xlim=(-5, 5))
    axes.legend(fontsize=8)
    figure.savefig(IMAGES / "pair-margins.png", dpi=110)
    print(f"plot in {IMAGES / 'pair-margins.png'}")


PARTS = {
    "ohsumed": ohsumed,
    "mq2008": mq2008,
    "topk": topk,
    "linearsvc": linearsvc,
    "growth": growth,
    "speed": speed,
    "margins": margins,
}


def main(names: list[str] | None = None) -> None:
    for name in names or list(PARTS):
        print(f"-- {name}", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
