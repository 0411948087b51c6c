"""Quality of gradient rankers on real data. ``python -m bench.rankers [mq2008] [ohsumed] [topk]``

Every table is five folds, settings chosen on each fold's validation part, means over the test parts. Folds
run in two processes of one thread each; nothing is cached.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tests.support.real_data import real_data_folder

import topkit as tk
from topkit.rankers.tuning import tune

LINEAR = ("ranknet", "listnet", "listmle", "rankcosine", "topk-listnet", "topk-listmle", "topk-rankcosine",
          "focusednet", "linear-regression")  # fmt: skip
TREES = ("ranknet", "listnet", "listmle", "topk-listmle", "focusednet", "lambdamart", "mart")
FOLDS = range(1, 6)


@dataclass(frozen=True)
class Cell:
    """One fit: a ranker on a fold, and the measures of its test scores under some conventions."""

    data: str
    fold: int
    ranker: str
    settings: dict[str, Any] = field(default_factory=dict)
    measures: tuple[tuple[str, str], ...] = ()
    """(metric, convention) pairs."""
    top_k: int | None = None
    seed: int = 0
    search: tuple[str, ...] = ()
    """Settings to try on the validation part; the penalty is always chosen there."""


def parts(cell: Cell) -> list[tk.Dataset]:
    folder = real_data_folder()
    if folder is None:
        raise SystemExit("the real data is not available: set TOPKIT_DATA")
    names = [Path(folder, cell.data, f"Fold{cell.fold}", f"{part}.txt") for part in ("train", "vali", "test")]
    found = [tk.read_letor(name) for name in names]
    return found if cell.top_k is None else [data.top_k(cell.top_k, cell.seed) for data in found]


def run(cell: Cell) -> list[np.ndarray]:
    """Values of every query of the test part, measure by measure."""
    train, valid, test = parts(cell)
    if cell.search:
        fitted, _ = tune(cell.ranker, train, valid, trials=100, **cell.settings)
    else:
        fitted = tk.ranker(cell.ranker, **cell.settings).fit(train, valid)
    scores = fitted.score(test)
    return [tk.evaluate(test, scores, name, rules).per_query[name] for name, rules in cell.measures]


def run_all(cells: list[Cell]) -> list[list[np.ndarray]]:
    with ProcessPoolExecutor(2) as pool:
        return list(pool.map(run, cells))


def table(title: str, rows: dict[str, list[Cell]], heads: list[str]) -> dict[str, list[np.ndarray]]:
    """Print mean over folds of each measure, row by row; per-query values of all folds in one array."""
    cells = [cell for group in rows.values() for cell in group]
    results = iter(run_all(cells))
    print(f"\n{title}\n{'':<26}" + "".join(f"{head:>12}" for head in heads))
    joined = {}
    for name, group in rows.items():
        found = [next(results) for _ in group]
        means = [np.mean([fold[m].mean() for fold in found]) for m in range(len(heads))]
        joined[name] = [np.concatenate([fold[m] for fold in found]) for m in range(len(heads))]
        print(f"{name:<26}" + "".join(f"{mean:12.4f}" for mean in means), flush=True)
    return joined


def mq2008() -> None:
    """NDCG@10, yahoo and letor4, of linear rankers and boosted trees."""
    measures = (("ndcg@10", "yahoo"), ("ndcg@10", "letor4"), ("map", "letor4"))
    rows = {}
    for scorer, names in (("linear", LINEAR), ("trees", TREES)):
        for name in names:
            rows[f"{name}, {scorer}"] = [
                Cell("MQ2008", fold, name, {"scorer": scorer}, measures) for fold in FOLDS
            ]
    table("MQ2008, chosen by NDCG@10 (yahoo)", rows, ["N@10 yahoo", "N@10 letor4", "MAP"])


def ohsumed() -> None:
    """The measures of the published OHSUMED tables, with min–max features as there."""
    chosen = {"normalise": "min-max", "metric": "map", "convention": "letor3"}
    measures = tuple((name, "letor3") for name in ("ndcg@1", "ndcg@3", "ndcg@10", "map"))
    rows = {name: [Cell("OHSUMED-letor2", fold, name, chosen, measures) for fold in FOLDS] for name in LINEAR}
    table("OHSUMED (LETOR 2), chosen by MAP, letor3", rows, ["N@1", "N@3", "N@10", "MAP"])


def topk(k: int = 10, seeds: int = 5) -> None:
    """FocusedNet compared with RankNet and ListNet on top-k truth made from MQ2008, with a paired t-test."""
    from topkit.metrics.significance import paired_t

    measures = ((f"kndcg@{k}", "yahoo"), ("kerr", "yahoo"))
    chosen = {"metric": f"kndcg@{k}"}
    rows = {}
    for name, search in (("focusednet", ("beta",)), ("ranknet", ()), ("listnet", ())):
        settings = {**chosen, "k": k, "l2": None} if name == "focusednet" else chosen
        rows[name] = [
            Cell("MQ2008", fold, name, settings, measures, k, seed, search)
            for seed in range(seeds)
            for fold in FOLDS
        ]
    found = table(f"MQ2008 with top-{k} truth, {seeds} seeds", rows, [f"κ-NDCG@{k}", "κ-ERR"])
    for other in ("ranknet", "listnet"):
        for m, name in enumerate((f"κ-NDCG@{k}", "κ-ERR")):
            ours, theirs = (found[x][m].reshape(seeds, -1).mean(axis=0) for x in ("focusednet", other))
            gain, p = (ours - theirs).mean(), paired_t(ours - theirs)
            print(f"focusednet − {other}, {name}: {gain:+.4f}, paired t over queries p = {p:.3g}")


TABLES = {"mq2008": mq2008, "ohsumed": ohsumed, "topk": topk}


def main() -> None:
    for name in ("TOPKIT_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    for name in [word for word in sys.argv[1:] if word in TABLES] or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main()
