"""Fusion: time compared with ranx, and the cost of Mallows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import topkit as tk
from bench.fusion_data import KEEP, cut_runs, new_plot, save, trec3_runs
from bench.timing import best_of, show
from topkit.data import Run
from topkit.fusion import Ballots, fuse, kendall_distance


def speed(methods: Sequence[str] = ("combmnz", "rrf", "borda")) -> dict[str, float]:
    """The ratio to ranx, after its warm-up, of CombMNZ, RRF and Borda on the 40 parsed TREC-3 runs."""
    import ranx

    whole = [untied(run) for run in trec3_runs()[0]]
    cases: list[tuple[str, dict[str, Any], str, str | None, int, int]] = [
        ("combmnz", {"scale": "min-max"}, "mnz", "min-max", 50, KEEP),
        ("rrf", {}, "rrf", None, 50, KEEP),
        (
            "borda",
            {"unranked": "shared"},
            "bordafuse",
            None,
            5,
            100,
        ),  # the peer takes hours for all: quadratic
    ]
    ratios = {}
    for name, settings, peer, norm, topics, depth in cases:
        if name not in methods:
            continue
        runs = cut_runs(whole, depth, topics)
        theirs = [ranx_run(run) for run in runs]
        ranx.fuse([ranx_run(run) for run in cut_runs(runs[:2], 10, 2)], norm=norm, method=peer)
        mine = tk.aggregate(runs, name, **settings)
        start = time.perf_counter()
        other = ranx.fuse(theirs, norm=norm, method=peer)
        two = time.perf_counter() - start
        for _ in range(3):
            (one,) = best_of(partial(tk.aggregate, runs, name, **settings))
            if two < 30:
                (again,) = best_of(partial(ranx.fuse, theirs, norm=norm, method=peer), turns=1)
                two = min(two, again)
        apart = largest_difference(mine, other)
        what = f"{name}, 40 runs, {topics} x {depth} (scores differ by {apart:.0e})"
        ratios[name] = show(what, one, two, "ranx", "5x")
    return ratios


def untied(run: Run) -> Run:
    """The run with n, n − 1, … for scores, so that it does not matter how ties are broken."""
    lengths = np.diff(run.ptr)
    scores = np.repeat(run.ptr[1:], lengths) - np.arange(len(run.scores))
    return Run(run.qids, run.ptr, run.docs, scores.astype(np.float64), run.name)


def ranx_run(run: Run) -> Any:
    import ranx

    return ranx.Run({q: dict(run[q]) for q in run}, name=run.name)


def largest_difference(ours: Run, theirs: Any) -> float:
    """The largest difference of scores between two fused runs."""
    other = theirs.to_dict()
    worst = 0.0
    for q in ours:
        assert len(ours[q]) == len(other[q])
        worst = max(worst, *(abs(score - other[q][doc]) for doc, score in ours[q]))
    return worst


def cost() -> None:
    """Mallows on top-100 lists of 38 systems and 50 topics; its time against the lists' length, plotted."""
    runs, _ = trec3_runs()
    full = [run for run in runs if np.diff(run.ptr).min() >= KEEP]
    fuse(cut_runs(full, 10, 2), "mallows")  # compiled before the clock starts
    print(f"{len(full)} systems, 50 topics")
    depths, seconds, pools = (10, 20, 50, 100, 200), [], []
    for depth in depths:
        own = cut_runs(full, depth, 50)
        start = time.perf_counter()
        fusion = fuse(own, "mallows", depth=depth)
        seconds.append(time.perf_counter() - start)
        pools.append(float(Ballots.of(own).pool_sizes.mean()))
        goal = "  (goal: under 60 s)" if depth == 100 else ""
        print(
            f"top-{depth:<4} pool {pools[-1]:7.1f}  {seconds[-1]:7.2f} s  {len(fusion.trace)} EM steps  "
            f"R̂ {fusion.diagnostics['r_hat']:.3f}{goal}",
            flush=True,
        )
    figure, axes = new_plot(1)
    axes[0].loglog(depths, seconds, marker="o")
    axes[0].set(xlabel="length of the lists", ylabel="seconds, 38 systems x 50 topics", title="Mallows EM")
    save(figure, "mallows_cost.png")
    sort_cost()


def sort_cost() -> None:
    """Kendall's distance is n log n: a million items."""
    rng = np.random.default_rng(0)
    for n in (10_000, 100_000, 1_000_000):
        order = rng.permutation(n).tolist()
        (seconds,) = best_of(partial(kendall_distance, order, range(n)), turns=2)
        print(f"Kendall's distance of {n:>9,} items: {seconds:.3f} s")
