"""Learning from clicks on simulations of known truth; each part is one claim of ``docs/clicks.md``.

``python -m bench.clicks [unbiased] [rounds] [losses] [biases] [coverage] [interleave] [pbm] [explore]``
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

import topkit as tk
from bench.clicks_data import CONVENTION, IMAGES, L2, METRIC, Floats, per_query, ratio, side
from bench.clicks_online import coverage, explore, interleave
from bench.clicks_pbm import pbm
from topkit.reporting.plots import curves, save_figure

SIZES = (10_000, 100_000, 1_000_000)


def unbiased() -> None:
    """NDCG@10 of ListNet on simulated clicks over NDCG@10 of ListNet on the grades, 5 folds of MQ2008."""
    names = ("naive", "ips", "snips", "dr")
    values: dict[tuple[str, int], list[Floats]] = {}
    errors: dict[tuple[str, int], list[float]] = {}
    truth = []
    for number in range(1, 6):
        one = side(number)
        truth.append(per_query(tk.ranker("listnet", l2=L2).fit(one.train), one.test))
        for pages in SIZES:
            log = tk.simulate_clicks(one.train, one.logging, pages, spread=0.5, seed=number)
            for method in ("pbm", "all-pairs"):
                found = tk.estimate_propensities(log, method).examination
                gap = np.abs(found * np.arange(1, len(found) + 1) - 1).max()
                errors.setdefault((method, pages), []).append(float(gap))
            known = tk.estimate_propensities(log, "pbm")
            for name in names:
                clicks = tk.UnbiasedClicks(log, known, name)
                learned = tk.ranker("listnet", l2=L2).fit(one.train, clicks=clicks)
                values.setdefault((name, pages), []).append(per_query(learned, one.test))
    print(f"ListNet on grades: {METRIC} ({CONVENTION}) {np.concatenate(truth).mean():.4f}")
    lines, bands = {}, {}
    for name in names:
        shown = [ratio(values[name, pages], truth) for pages in SIZES]
        lines[name], bands[name] = [row[0] for row in shown], [row[1:] for row in shown]
        cells = "  ".join(
            f"{pages:>9,}: {a:.3f} [{b:.3f}, {c:.3f}]" for pages, (a, b, c) in zip(SIZES, shown, strict=True)
        )
        print(f"{name:<9} {cells}", flush=True)
    for method in ("pbm", "all-pairs"):
        cells = "  ".join(f"{pages:>9,}: {np.max(errors[method, pages]):.1%}" for pages in SIZES)
        print(f"largest relative error of the propensities by {method:<9} {cells}")
    figure = curves(
        SIZES,
        lines,
        "pages",
        "share of NDCG@10 on grades",
        bands=bands,
        even=True,
        names=[f"{n:,}" for n in SIZES],
    )
    save_figure(figure, IMAGES / "clicks-unbiased.svg")


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


def losses() -> None:
    """Rankers of every kind at 100,000 pages of the first fold: on grades, naive and corrected."""
    one = side(1)
    log = tk.simulate_clicks(one.train, one.logging, 100_000, spread=0.5, seed=1)
    known = tk.estimate_propensities(log, "pbm")
    few = {"trees": 100, "leaves": 7}
    for name, settings in (
        ("linear-regression", {"l2": L2}), ("ranknet", {"l2": L2}), ("listmle", {"l2": L2}),
        ("listnet", {"scorer": "mlp", "epochs": 30}), ("lambdamart", few),
        ("listnet", {"scorer": "trees", **few}),
    ):  # fmt: skip
        found = [per_query(tk.ranker(name, **settings).fit(one.train), one.test).mean()]
        for estimator in ("naive", "snips"):
            clicks = tk.UnbiasedClicks(log, known, estimator)
            found.append(
                per_query(tk.ranker(name, **settings).fit(one.train, clicks=clicks), one.test).mean()
            )
        text = f"{name} {settings.get('scorer', '')}"
        shown = f"grades {found[0]:.4f}  naive {found[1]:.4f}  snips {found[2]:.4f}"
        print(f"{text:<20} {shown}  {found[2] / found[0]:.3f}", flush=True)


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
    "unbiased": unbiased, "rounds": rounds, "losses": losses, "biases": biases, "coverage": coverage,
    "interleave": interleave, "pbm": pbm, "explore": explore,
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
