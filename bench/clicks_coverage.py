"""Clicks: how often the intervals of off-policy estimates hold the true clicks per page."""

from __future__ import annotations

import os

import numpy as np

import topkit as tk
from bench.clicks_data import L2, Floats, side, standard, true_clicks
from topkit.clicks.counterfactual import ESTIMATORS
from topkit.clicks.off_policy import ClickEvaluation

RUNS = int(os.environ.get("RUNS", "400"))
"""Logs per pair of rankers; the share of 400 intervals has a standard error of 1.1 %."""
PAGES = int(os.environ.get("PAGES", "20000"))


def coverage() -> None:
    """Per 100 runs, how often intervals of 95 % hold the truth, and how often it is below or above them."""
    one = side(1)
    ranker = tk.ranker("listnet", l2=L2).fit(one.train)
    train = one.train.select(np.arange(60))  # few enough that 20,000 pages show every document
    weak = one.logging[: len(train)]
    best = standard(train, train.X[:, 38])
    learned = standard(train, ranker.ordering_scores(train))
    wide = tk.simulate_click_counts(train, weak, 300_000, spread=1.0, seed=999)
    estimated = tk.estimate_propensities(wide, "conditional")
    for title, logging, new in (
        ("weak feature → ListNet", weak, learned),
        ("weak feature that explores more → ListNet", 0.5 * weak, learned),
        ("best feature → ListNet", best, learned),
        ("ListNet → best feature", learned, best),
    ):
        print(f"{title}: {pair_of_rankers(train, logging, new, estimated)}", flush=True)


def pair_of_rankers(data: tk.Dataset, logging: Floats, new: Floats, estimated: tk.Propensities) -> str:
    """The coverage of every estimator, for logs of one ranker and the pages of another."""
    truth, run = true_clicks(data, new), tk.Run.from_scores(data, new)
    given = tk.Propensities(1 / np.arange(1.0, 11.0))
    cases = {(name, "given"): given for name in ESTIMATORS} | {("snips", "estimated"): estimated}
    found: dict[tuple[str, str], list[ClickEvaluation]] = {case: [] for case in cases}
    for seed in range(RUNS):
        log = tk.simulate_clicks(data, logging, PAGES, spread=1.0, seed=seed)
        for (name, source), propensities in cases.items():
            found[name, source].append(tk.evaluate_clicks(log, run, propensities, estimator=name))
    one = found["snips", "given"][-1]
    parts = [f"truth {truth:.4f}, log {one.logged:.4f}, coverage {one.coverage:.3f}"]
    for (name, source), runs in found.items():
        low, high, values = (np.array([getattr(r, n) for r in runs]) for n in ("low", "high", "value"))
        below, above = 100 * np.mean(truth < low), 100 * np.mean(truth > high)
        width = f"±{np.mean(high - low) / 2:.4f}, bias {values.mean() - truth:+.4f}"
        parts.append(
            f"{name} {source} {100 - below - above:.1f} (below {below:.1f}, above {above:.1f}; {width})"
        )
    return "\n    ".join(parts)
