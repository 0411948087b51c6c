"""Quality at the defaults on MQ2008 against LightGBM's lambdarank. ``python -m bench.quality [TRIALS]``

The best linear ranker, the best tree ranker and the mixture are chosen by NDCG@10 on the validation parts,
means of five folds. They are compared on the test parts with LightGBM at its own defaults and at its tuned
best, and once more when they are tuned with the same number of trials. Fisher's randomisation test over the
784 test queries, with Holm's correction for all comparisons.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

import topkit as tk
from bench.one_machine import lightgbm_lambdarank, mq2008
from topkit.metrics.significance import holm, randomisation
from topkit.rankers.tuning import tune

LINEAR = ("ranknet", "ranksvm", "listnet", "listmle", "rankcosine", "topk-listmle", "focusednet", "svmmap",
          "adarank", "coordinate-ascent", "linear-regression")  # fmt: skip
TREES = ("lambdamart", "mart", "ranknet", "listnet", "listmle", "topk-listmle", "focusednet")
FOLDS = range(1, 6)
DEFAULTS = {"n_estimators": 100, "num_leaves": 31, "learning_rate": 0.1, "min_child_samples": 20}
"""LightGBM's own."""

Values = tuple[float, np.ndarray]
"""The mean NDCG@10 on a validation part, and the NDCG@10 of each query of the test part."""


def values_of(valid: tk.Dataset, test: tk.Dataset, scores: tuple[np.ndarray, np.ndarray]) -> Values:
    chosen_by, tested = (
        tk.evaluate(data, np.asarray(part, np.float64), ["ndcg@10"])
        for data, part in zip((valid, test), scores, strict=True)
    )
    return chosen_by.mean["ndcg@10"], tested.per_query["ndcg@10"]


def ours(fold: int, name: str, trials: int, **settings: Any) -> Values:
    train, valid, test = mq2008(fold)
    if trials > 1:
        fitted, _ = tune(name, train, valid, trials=trials, **settings)
    else:
        fitted = tk.ranker(name, **settings).fit(train, valid)
    return values_of(valid, test, (fitted.ordering_scores(valid), fitted.ordering_scores(test)))


def lightgbm(fold: int, trials: int) -> Values:
    """The best of some settings on the validation part; the first are the defaults."""
    train, valid, test = mq2008(fold)
    rng = np.random.default_rng(0)
    best: Values | None = None
    for trial in range(trials):
        settings: dict[str, Any] = DEFAULTS if trial == 0 else {
            "n_estimators": 500,
            "num_leaves": int(rng.choice([7, 15, 31, 63])),
            "learning_rate": float(rng.choice([0.02, 0.05, 0.1])),
            "min_child_samples": int(rng.choice([10, 20, 50, 100])),
            "reg_lambda": float(rng.choice([0.0, 1.0, 10.0])),
            "colsample_bytree": float(rng.choice([0.5, 0.8, 1.0])),
            "lambdarank_truncation_level": int(rng.choice([10, 20, 30])),
        }  # fmt: skip
        model = lightgbm_lambdarank(train, valid, **settings)
        found = values_of(valid, test, (model.predict(valid.X), model.predict(test.X)))
        if best is None or found[0] > best[0]:
            best = found
    assert best is not None
    return best


def five_folds(folds: list[Values]) -> Values:
    return float(np.mean([valid for valid, _ in folds])), np.concatenate([test for _, test in folds])


def best_of(group: tuple[str, ...], scorer: str, trials: int) -> tuple[str, Values]:
    """The ranker with the best validation NDCG@10 among these, all of which are printed."""
    results = {}
    for name in group:
        settings = {} if name in ("svmmap", "adarank", "coordinate-ascent", "ranksvm") else {"scorer": scorer}
        results[name] = five_folds([ours(fold, name, trials, **settings) for fold in FOLDS])
        row(f"{name}, {scorer}, trials {trials}", results[name])
    chosen = max(results, key=lambda name: results[name][0])
    return f"{chosen}, {scorer}, trials {trials}", results[chosen]


def row(name: str, values: Values) -> None:
    print(f"{name:<44}{values[0]:>12.4f}{values[1].mean():>10.4f}", flush=True)


def main() -> None:
    for name in ("TOPKIT_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(f"{'NDCG@10 (yahoo), mean of five folds':<44}{'validation':>12}{'test':>10}")
    contestants = [best_of(LINEAR, "linear", 1), best_of(TREES, "trees", 1)]
    mixed = five_folds([ours(fold, "tune-and-mix", 1) for fold in FOLDS])
    row("tune-and-mix", mixed)
    contestants.append(("tune-and-mix", mixed))
    for scorer in ("linear", "trees"):
        chosen = contestants[scorer == "trees"][0].split(",")[0]
        contestants.append(best_of((chosen,), scorer, trials))
    peers = {}
    for title, count in (("LightGBM, defaults", 1), (f"LightGBM, best of {trials}", trials)):
        peers[title] = five_folds([lightgbm(fold, count) for fold in FOLDS])
        row(title, peers[title])
    pairs = [(name, peer) for name, _ in contestants for peer in peers]
    gaps = [dict(contestants)[name][1] - peers[peer][1] for name, peer in pairs]
    p_values = holm(np.array([randomisation(gap) for gap in gaps]))
    print(
        f"\nTest NDCG@10, difference; p by randomisation with Holm's correction for {len(pairs)} comparisons"
    )
    for (name, peer), gap, p in zip(pairs, gaps, p_values.tolist(), strict=True):
        print(f"{name} − {peer}: {gap.mean():+.4f}, p = {p:.3f}")


if __name__ == "__main__":
    main()
