"""Clicks: unbiased learning and estimated propensities by the number of pages."""

from __future__ import annotations

import time

import numpy as np

import topkit as tk
from bench.clicks_data import CONVENTION, IMAGES, L2, METRIC, Floats, Side, per_query, ratio, side
from topkit.reporting.plots import curves, save_figure

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
NAMES = ("naive", "ips", "snips", "dr")
METHODS = ("pbm", "all-pairs", "conditional", "smoothed")
USED = "conditional"
"""The method whose propensities the rankers learn with."""
SPREAD = 0.5
LIMIT = "limit"
"""Name of the smallest errors that estimates without bias can have."""
DRAWS = 4000
"""Draws of errors with the smallest covariance."""
Errors = dict[tuple[str, int], list[Floats]]
"""Method and pages → of each log, the largest relative error of a position; of the limit, one per draw."""


def unbiased() -> None:
    """NDCG@10 of ListNet on simulated clicks over NDCG@10 of ListNet on the grades, 5 folds of MQ2008."""
    values: dict[tuple[str, int], list[Floats]] = {}
    errors: Errors = {}
    truth = []
    for number in range(1, 6):
        one = side(number)
        truth.append(per_query(tk.ranker("listnet", l2=L2).fit(one.train), one.test))
        for pages in SIZES:
            log, known = log_and_propensities(one, pages, number, errors)
            start = time.process_time()
            for name in NAMES:
                clicks = tk.UnbiasedClicks(log, known, name)
                learned = tk.ranker("listnet", l2=L2).fit(one.train, clicks=clicks)
                values.setdefault((name, pages), []).append(per_query(learned, one.test))
            print(f"  training {time.process_time() - start:.1f} s", flush=True)
    print(f"ListNet on grades: {METRIC} ({CONVENTION}) {np.concatenate(truth).mean():.4f}")
    print_shares(values, truth)
    print_errors(errors)


def propensities() -> None:
    """The errors of the propensities alone."""
    errors: Errors = {}
    for number in range(1, 6):
        for pages in SIZES:
            log_and_propensities(side(number), pages, number, errors)
    print_errors(errors)


def print_errors(errors: Errors) -> None:
    """The largest relative error of any position in any log, and what to expect of the best estimate."""
    for method in (*METHODS, LIMIT):
        cells = [f"{pages:>10,}: {np.max(errors[method, pages], axis=0).mean():>5.1%}" for pages in SIZES]
        print(f"largest relative error of the propensities, {method:<11} {'  '.join(cells)}")


def log_and_propensities(
    one: Side, pages: int, seed: int, errors: Errors
) -> tuple[tk.ClickLog, tk.Propensities]:
    """A log, the propensities that rankers learn with, and in ``errors`` those of every method."""
    start = time.process_time()
    log = tk.simulate_click_counts(one.train, one.logging, pages, spread=SPREAD, seed=seed)
    seconds = [f"simulation {time.process_time() - start:.1f} s"]
    found: dict[str, tk.Propensities] = {}
    for method in METHODS:
        start = time.process_time()
        found[method] = tk.estimate_propensities(log, method)
        seconds.append(f"{method} {time.process_time() - start:.1f} s")
        gaps = np.abs(found[method].examination * np.arange(1, len(found[method]) + 1) - 1)
        errors.setdefault((method, pages), []).append(gaps.max(keepdims=True))
    limit = smallest_errors(log, tk.Users().rates(one.train))
    rng = np.random.default_rng(seed)
    drawn = np.abs(rng.multivariate_normal(np.zeros(len(limit)), limit, DRAWS)).max(axis=1)
    errors.setdefault((LIMIT, pages), []).append(drawn)
    reported = found[USED].error
    assert reported is not None
    smallest = f"smallest standard error {np.sqrt(limit[-1, -1]):.1%}, reported {reported[-1]:.1%}"
    text = f"{pages:,} pages, seed {seed}, position {len(reported)}: {smallest}"
    print(f"{text}; {', '.join(seconds)}", flush=True)
    return log, found[USED]


def smallest_errors(log: tk.ClickLog, rates: Floats) -> Floats:
    """The Cramér–Rao bound: the covariance of ln(examination) of positions 2, 3, … if nothing else is known.

    With P(click) = rate·θ, a cell of n impressions has the information n·p/(1 − p) on ln(rate·θ). The rates
    of documents are unknown, so the information on θ is the Schur complement.
    """
    cells, size = log.cells(), log.n_positions
    p = rates[cells.pair] / (cells.bucket + 1.0)
    information = np.zeros((len(log.pairs), size))
    # a document that is always clicked at the first position has p = 1, which would be infinite information
    information[cells.pair, cells.bucket] = cells.impressions * p / np.maximum(1.0 - p, 1e-9)
    of_rate = np.maximum(information.sum(axis=1), 1e-300)
    of_position = np.diag(information.sum(axis=0)) - (information / of_rate[:, None]).T @ information
    bound: Floats = np.linalg.inv(of_position[1:, 1:])
    return bound


def print_shares(values: dict[tuple[str, int], list[Floats]], truth: list[Floats]) -> None:
    """The share of training on grades by number of pages, and its figure."""
    lines, bands = {}, {}
    for name in NAMES:
        shown = [ratio(values[name, pages], truth) for pages in SIZES]
        lines[name], bands[name] = [row[0] for row in shown], [row[1:] for row in shown]
        cells = "  ".join(
            f"{pages:>10,}: {a:.3f} [{b:.3f}, {c:.3f}]" for pages, (a, b, c) in zip(SIZES, shown, strict=True)
        )
        print(f"{name:<9} {cells}", flush=True)
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
