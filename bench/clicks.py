"""Learning from clicks on simulations of known truth; each part is one claim of ``docs/clicks.md``.

``python -m bench.clicks [unbiased] [propensities] [rounds] [losses] [biases] [coverage] [interleave] [pbm]
[explore]``
"""

from __future__ import annotations

import sys
import time
import warnings

import topkit as tk
from bench.clicks_coverage import coverage
from bench.clicks_data import L2, Floats, per_query, ratio, side
from bench.clicks_losses import losses
from bench.clicks_online import explore, interleave
from bench.clicks_pbm import pbm
from bench.clicks_unbiased import propensities, unbiased


def rounds() -> None:
    """The estimators that learn propensities with the ranker, at 100,000 pages of the first fold."""
    values: dict[str, list[Floats]] = {}
    truth = []
    for number in (1,):
        one = side(number)
        truth.append(per_query(tk.ranker("listnet", l2=L2).fit(one.train), one.test))
        log = tk.simulate_clicks(one.train, one.logging, 100_000, spread=0.5, seed=number)
        for name in ("dual", "pairwise"):
            clicks = tk.UnbiasedClicks(log, estimator=name)
            learned = tk.ranker("listnet", l2=L2).fit(one.train, clicks=clicks)
            values.setdefault(name, []).append(per_query(learned, one.test))
    for name, found in values.items():
        share, low, high = ratio(found, truth)
        print(f"{name:<9} {share:.3f} [{low:.3f}, {high:.3f}]")


def biases() -> None:
    """Pages of 20 documents, and trust bias, at 300,000 pages of the first two folds."""
    for title, length, users in (
        ("pages of 20", 20, tk.Users()), ("trust 0.5", 10, tk.Users(trust=0.5)),
    ):  # fmt: skip
        values: dict[str, list[Floats]] = {}
        truth = []
        for number in (1, 2):
            one = side(number)
            truth.append(per_query(tk.ranker("listnet", l2=L2).fit(one.train), one.test))
            log = tk.simulate_clicks(
                one.train, one.logging, 300_000, length=length, spread=0.5, users=users, seed=number
            )
            for name, method, estimator in (
                ("naive", "pbm", "naive"),
                ("pbm", "pbm", "snips"),
                ("trust", "trust", "snips"),
            ):
                clicks = tk.UnbiasedClicks(log, method, estimator)
                learned = tk.ranker("listnet", l2=L2).fit(one.train, clicks=clicks)
                values.setdefault(name, []).append(per_query(learned, one.test))
        print(
            title,
            "  ".join(f"{name} {ratio(found, truth)[0]:.3f}" for name, found in values.items()),
            flush=True,
        )


PARTS = {
    "unbiased": unbiased, "propensities": propensities, "rounds": rounds, "losses": losses, "biases": biases,
    "coverage": coverage, "interleave": interleave, "pbm": pbm, "explore": explore,
}  # fmt: skip


def main() -> None:
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] if sys.argv[0].endswith("clicks.py") and len(sys.argv) > 1 else PARTS:
        start = time.process_time()
        print(f"-- {name}", flush=True)
        PARTS[name]()
        print(f"   {time.process_time() - start:.0f} s of processor time", flush=True)


if __name__ == "__main__":
    main()
