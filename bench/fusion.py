"""Rank aggregation: robustness to random rankers, planted models, LETOR-agg, and speed compared with ranx.

``python -m bench.fusion`` runs everything; ``python -m bench.fusion robustness`` (or ``inference``,
``clones``, ``trec3``, ``letor``, ``planted``, ``speed``, ``cost``) one part. Plots go to the folder
``bench/results``.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np

import topkit as tk
from bench.fusion_data import KEEP, cut_runs, letor_fold, measure, new_plot, save, trec3_runs
from bench.fusion_speed import cost, speed
from topkit.data import Judgments, Run
from topkit.fusion import Ballots, fuse, kendall_distance
from topkit.fusion.mallows import sample
from topkit.studies.kinds.fusion import replace_by_random

LEVELS = (0, 10, 20, 30, 35)
DRAWS = 5
QUICK = ("combmnz", "borda", "rrf", "ulara", "agreement")
PLANTED = (-1.0, -1.0, *[-0.05] * 7, 0.0)


def robustness(methods: Sequence[str] = (*QUICK, "mallows")) -> None:
    """MAP and P@10 of each method with 0, 10, 20, 30, 35 of 40 TREC-3 systems replaced; table and plot."""
    runs, judgments = trec3_runs()
    alone = {run.name: measure(judgments, run)[0] for run in runs}
    best_baseline = {}
    table: dict[str, dict[int, np.ndarray]] = {method: {} for method in methods}
    correlations: dict[int, list[float]] = {}
    for level in LEVELS:
        found: dict[str, list[list[float]]] = {method: [] for method in methods}
        for draw in range(DRAWS if level else 1):
            mixed = replace_by_random(runs, level, seed=1000 * level + draw, length=KEEP)
            real = [run.name for run in mixed if not run.name.startswith("random-")]
            for method in methods:
                fusion = fuse(mixed, method, keep=KEEP, seed=draw)
                found[method].append(measure(judgments, fusion.run))
                if method == "agreement":
                    agreed = [fusion.per_ranker["agreement"][name] for name in real]
                    rho = spearman(agreed, [alone[name] for name in real])
                    correlations.setdefault(level, []).append(rho)
        for method in methods:
            table[method][level] = np.array(found[method])
        best_baseline[level] = max(table[m][level][:, 0].mean() for m in ("combmnz", "borda", "rrf"))
        print_level(level, table)
    print_matrix("MAP", table, 0)
    print_matrix("P@10", table, 1)
    print("each system's agreement against its MAP alone, Spearman:", end=" ")
    print({level: round(float(np.mean(values)), 3) for level, values in correlations.items()})
    ours = {level: float(table["agreement"][level][:, 0].mean()) for level in LEVELS}
    for level in LEVELS:
        ahead = ours[level] - best_baseline[level]
        comb = ours[level] - float(table["combmnz"][level][:, 0].mean())
        print(f"{level:3} random: agreement {ahead:+.4f} to the best of the three, {comb:+.4f} to combmnz")
    plot_levels(table)


def print_level(level: int, table: dict[str, dict[int, np.ndarray]]) -> None:
    figures = "  ".join(f"{method} {rows[level][:, 0].mean():.4f}" for method, rows in table.items())
    print(f"{level:3} random rankers, MAP: {figures}", flush=True)


def print_matrix(title: str, table: dict[str, dict[int, np.ndarray]], column: int) -> None:
    print(f"{title:<12}" + "".join(f"{level:>16}" for level in LEVELS))
    for method, rows in table.items():
        cells = [
            f"{rows[level][:, column].mean():.4f} ± {rows[level][:, column].std():.4f}" for level in LEVELS
        ]
        print(f"{method:<12}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


def plot_levels(table: dict[str, dict[int, np.ndarray]]) -> None:
    figure, axes = new_plot(2)
    for axis, column, title in zip(axes, (0, 1), ("MAP", "P@10"), strict=True):
        for method, rows in table.items():
            means = [rows[level][:, column].mean() for level in LEVELS]
            spread = [rows[level][:, column].std() for level in LEVELS]
            axis.errorbar(LEVELS, means, spread, marker="o", capsize=2, label=method)
        axis.set(xlabel="random rankers among 40", ylabel=title)
    axes[0].legend()
    save(figure, "robustness.png")


def clones(copies: int = 30) -> None:
    """MAP with each run entered 30 more times: TREC-3, and MQ2008-agg, which no constant was chosen on."""
    runs, judgments = trec3_runs()
    clone_table("TREC-3", runs, judgments, copies, "trec")
    for fold in (1, 2):
        runs, judgments = letor_fold(fold)
        clone_table(f"MQ2008-agg, fold {fold}", runs, judgments, copies, "letor4")


def clone_table(title: str, runs: Sequence[Run], judgments: Judgments, copies: int, convention: str) -> None:
    """One line per method: MAP without copies, and the mean and minimum over the run that is copied."""
    ballots = Ballots.of(runs)
    for method in ("agreement", "combmnz", "rrf"):
        copied = {
            name: mean_ap(method, with_copies(ballots, i, copies), judgments, convention)
            for i, name in enumerate(ballots.rankers)
        }
        worst = min(copied, key=lambda name: copied[name])
        alone = mean_ap(method, ballots, judgments, convention)
        print(
            f"{title}, {method:<10} MAP without copies {alone:.4f}; with {copies} copies "
            f"of one run: mean {np.mean(list(copied.values())):.4f}, minimum {copied[worst]:.4f} ({worst})",
            flush=True,
        )


def mean_ap(method: str, ballots: Ballots, judgments: Judgments, convention: str = "trec") -> float:
    """MAP of the fused run; a topic without a document counts 0."""
    fused = ballots.to_run(tk.AGGREGATORS[method](ballots).scores, method)
    result = tk.evaluate_run(judgments, fused, ["map"], convention=convention, missing="zero")
    return float(result.mean["map"])


def with_copies(ballots: Ballots, ranker: int, copies: int) -> Ballots:
    """The ballots with ``copies`` more rankers that return the lists of one of them."""
    K = ballots.n_rankers
    lists = [q * K + i for q in range(len(ballots)) for i in [*range(K), *[ranker] * copies]]
    lengths = np.diff(ballots.list_ptr)[lists]
    list_ptr = np.append(0, np.cumsum(lengths))
    rows = np.arange(list_ptr[-1]) + np.repeat(ballots.list_ptr[:-1][lists] - list_ptr[:-1], lengths)
    names = tuple(f"{ballots.rankers[ranker]}, copy {c}" for c in range(copies))
    return dataclasses.replace(
        ballots,
        rankers=ballots.rankers + names,
        list_ptr=list_ptr,
        items=ballots.items[rows],
        scores=ballots.scores[rows],
    )


def inference(levels: Sequence[int] = (0, 30), draws: int = 3) -> None:
    """Top-100 lists of 38 systems, as in the paper: inference of mallows by sampling and by Borda count."""
    runs, judgments = trec3_runs()
    lists = cut_runs([run for run in runs if np.diff(run.ptr).min() >= 100], 100, 50)
    for level in levels:
        found: dict[str, list[list[float]]] = {}
        for draw in range(draws if level else 1):
            mixed = replace_by_random(lists, level, seed=1000 * level + draw, length=100)
            fusion = fuse(mixed, "mallows", seed=draw)
            assert fusion.theta is not None
            theta = np.array([fusion.theta[run.name] for run in mixed])
            fused = {"mallows, inference=sampled": fusion.run}
            # the same order as with inference="borda", without fitting again
            weights = {"mallows, inference=borda": np.exp(-theta), "Borda weighted by |θ|": np.abs(theta)}
            for name, each in weights.items():
                fused[name] = fuse(mixed, "weighted-borda", weights=each.tolist()).run
            for name in ("ulara", "combmnz", "borda", "agreement"):
                fused[name] = fuse(mixed, name, seed=draw).run
            for name, run in fused.items():
                found.setdefault(name, []).append(measure(judgments, run, ("p@10", "p@30", "map")))
        for name, rows in found.items():
            values = "  ".join(f"{value:.4f}" for value in np.mean(rows, axis=0))
            print(f"{level:3} random of {len(lists)}: {name:<28} P@10, P@30, MAP {values}", flush=True)


def trec3() -> None:
    """MAP and P@10 on the 40 runs of TREC-3 as they are, with the time of each method."""
    runs, judgments = trec3_runs()
    alone = {run.name: measure(judgments, run) for run in runs}
    name = max(alone, key=lambda key: alone[key][0])
    print(f"{'best system ' + name:<24} MAP {alone[name][0]:.4f}  P@10 {alone[name][1]:.4f}")
    for method in tk.AGGREGATORS:
        if method == "weighted-borda":
            continue
        start = time.perf_counter()
        fusion = fuse(runs, method, keep=KEEP)
        seconds = time.perf_counter() - start
        values = measure(judgments, fusion.run)
        line = f"{method:<24} MAP {values[0]:.4f}  P@10 {values[1]:.4f}  {seconds:7.2f} s"
        if fusion.weights is not None:
            rho = spearman([fusion.weights[run.name] for run in runs], [alone[run.name][0] for run in runs])
            line += f"  weights against MAP: Spearman {rho:.3f}"
        print(line, flush=True)


def letor() -> None:
    """NDCG@10 and MAP of each method on MQ2008-agg, mean of the five test folds (convention letor4)."""
    metrics = ("ndcg@10", "map")
    folds = [letor_fold(fold) for fold in range(1, 6)]
    singles: dict[str, list[list[float]]] = {}
    for runs, judgments in folds:
        for run in runs:
            values = tk.evaluate_run(judgments, run, metrics, convention="letor4", missing="zero").mean
            singles.setdefault(run.name, []).append([values[m] for m in metrics])
    everywhere = {name: np.mean(values, axis=0) for name, values in singles.items() if len(values) == 5}
    best = max(everywhere, key=lambda name: everywhere[name][0])
    print(f"{'best system ' + best:<16} NDCG@10 {everywhere[best][0]:.4f}  MAP {everywhere[best][1]:.4f}")
    for method in tk.AGGREGATORS:
        if method == "weighted-borda":
            continue
        start = time.perf_counter()
        found = []
        for runs, judgments in folds:
            values = tk.evaluate_run(judgments, tk.aggregate(runs, method), metrics, convention="letor4").mean
            found.append([values[m] for m in metrics])
        seconds = time.perf_counter() - start
        mean = np.mean(found, axis=0)
        print(f"{method:<16} NDCG@10 {mean[0]:.4f}  MAP {mean[1]:.4f}  {seconds:7.2f} s", flush=True)


def planted_runs(seed: int, queries: int = 10, n: int = 30) -> list[Run]:
    """K = 10 rankers that copy one order with θ = −1, −1, −0.05 × 7, 0: the paper's setting."""
    runs = []
    for i, theta in enumerate(PLANTED):
        orders = sample(n, theta, queries, seed * 100 + i)
        lists = {
            f"q{q}": [(f"d{doc:02}", float(n - p)) for p, doc in enumerate(order)]
            for q, order in enumerate(orders.tolist())
        }
        runs.append(Run.of(lists, f"ranker-{i}"))
    return runs


def planted() -> None:
    """EM on the paper's setting: θ found, and each aggregate's Kendall distance to the truth."""
    truth = [f"d{doc:02}" for doc in range(30)]

    def far(run: Run) -> float:
        return float(np.mean([kendall_distance([doc for doc, _ in run[q]], truth) for q in run]))

    for estimate in ("metropolis", "borda"):
        print(f"E step {estimate}")
        for seed in range(5):
            runs = planted_runs(seed)
            fusion = fuse(runs, "mallows", estimate=estimate, seed=seed)
            assert fusion.theta is not None
            theta = np.array(list(fusion.theta.values()))
            linear = float(np.corrcoef(theta, PLANTED)[0, 1])
            others = ", ".join(f"{m} {far(tk.aggregate(runs, m)):.1f}" for m in ("borda", "kemeny", "ulara"))
            print(f"  seed {seed}: θ {np.round(theta, 3).tolist()}")
            print(
                f"    γ {gamma(theta, PLANTED):.3f}  Pearson {linear:.3f}  "
                f"Spearman {spearman(theta, PLANTED):.3f} (at most 0.809 with these ties)"
            )
            print(f"    distance to the truth: mallows {far(fusion.run):.1f}, {others}", flush=True)


def spearman(a: Iterable[float], b: Iterable[float]) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(list(a), list(b)).statistic)


def gamma(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> float:
    """Goodman and Kruskal's rank correlation: concordant less discordant pairs, among those without ties."""
    x, y = np.asarray(a), np.asarray(b)
    signs = np.sign(x[:, None] - x[None, :]) * np.sign(y[:, None] - y[None, :])
    return float(signs.sum() / np.abs(signs).sum())


PARTS: dict[str, Callable[..., object]] = {
    "planted": planted,
    "trec3": trec3,
    "robustness": robustness,
    "clones": clones,
    "inference": inference,
    "letor": letor,
    "speed": speed,
    "cost": cost,
}


def main(parts: Sequence[str] = ()) -> None:
    for name in parts or PARTS:
        print(f"-- {name}: {(PARTS[name].__doc__ or '').splitlines()[0]}", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
