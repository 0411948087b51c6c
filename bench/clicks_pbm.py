"""Clicks: the speed of the position-based model."""

from __future__ import annotations

import time

import numpy as np

import topkit as tk
from bench.clicks_data import Floats
from topkit.clicks.log import Cells
from topkit.clicks.pairs import Pairs
from topkit.data import Strings


def pbm() -> None:
    """The position-based model on 10,000,000 pages of ten documents: seconds, memory, ratio to NumPy."""
    import resource

    from topkit.clicks.models.pbm import pbm as fit

    rng = np.random.default_rng(0)
    pages, queries, docs, length = 10_000_000, 2_000, 20, 10
    query = rng.integers(0, queries, pages, np.int32)
    offset, step = rng.integers(0, docs, pages, np.int8), rng.choice(np.array([1, 3, 7, 9], np.int8), pages)
    rates = rng.uniform(0.05, 0.9, queries * docs).astype(np.float32)
    pair, clicks = np.empty(pages * length, np.int32), np.empty(pages * length, bool)
    for place in range(length):
        shown = query * docs + (offset + step * np.int8(place)) % docs
        pair[place::length] = shown
        clicks[place::length] = rng.random(pages, np.float32) < rates[shown] / (place + 1)
    names = Pairs(
        tuple(map(str, range(queries))), np.arange(queries + 1) * docs, Strings.of(range(queries * docs))
    )
    position = np.tile(np.arange(1, length + 1, dtype=np.uint16), pages)
    log = tk.ClickLog(names, pair, position, clicks, np.arange(0, pages * length + 1, length))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fit(log.select(np.arange(10)))  # compiles
    start = time.process_time()
    model = fit(log, smoothing=0.0)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    passes = 3 * model.trace.steps
    start = time.process_time()
    plain_pass(log, np.full(queries * docs, 0.5), np.full(length, 0.5))
    of_pass = time.process_time() - start
    gap = np.abs(model.by_position * np.arange(1, length + 1) - 1).max()
    steps = f"{model.trace.steps} steps ({passes} passes)"
    print(f"{pages:,} pages, {int(clicks.sum()):,} clicks: {seconds:.1f} s of processor time, {steps}")
    print(f"memory {before / 1e6:.2f} GB before (the log), {peak / 1e6:.2f} GB at most while fitting")
    plain_seconds = of_pass * passes
    print(
        f"NumPy over impressions: {of_pass:.1f} s per pass, {plain_seconds:.0f} s for as many: "
        f"{plain_seconds / seconds:.0f}x"
    )
    print(f"largest relative error of the examination {gap:.2%}")
    cells = log.cells()
    plain, ours = best_passes(cells, queries * docs, length)
    times = f"{ours * 1e3:.1f} ms, NumPy {plain * 1e3:.1f} ms: {plain / ours:.1f}x"
    print(f"one pass over {len(cells.pair):,} counts: {times}")


def plain_pass(log: tk.ClickLog, a: Floats, g: Floats) -> tuple[Floats, Floats]:
    """One step of expectation–maximisation over all impressions in NumPy, in blocks to save memory."""
    new_a, new_g = np.zeros(len(a)), np.zeros(len(g))
    for first in range(0, len(log.pair), 1 << 22):
        rows = slice(first, first + (1 << 22))
        pair, place = log.pair[rows], log.position[rows].astype(np.int64) - 1
        u, v, c = a[pair], g[place], log.clicks[rows]
        p = u * v
        new_a += np.bincount(pair, np.where(c, 1.0, (u - p) / (1 - p)), len(a))
        new_g += np.bincount(place, np.where(c, 1.0, (v - p) / (1 - p)), len(g))
    return new_a, new_g


def best_passes(cells: Cells, pairs: int, length: int) -> list[float]:
    from bench.timing import best_of
    from topkit.clicks import kernels

    a, g = np.full(pairs, 0.5), np.full(length, 0.5)
    shown, clicks = cells.impressions, cells.clicks

    def plain() -> None:
        u, v = a[cells.pair], g[cells.bucket]
        p = u * v
        left = (shown - clicks) / (1 - p)
        np.bincount(cells.pair, clicks + left * (u - p), pairs)
        np.bincount(cells.bucket, clicks + left * (v - p), length)
        (clicks * np.log(p) + (shown - clicks) * np.log(1 - p)).sum()

    def ours() -> None:
        kernels.product_pass(cells.pair, cells.bucket, shown, clicks, a, g, np.zeros(pairs), np.zeros(length))

    return best_of(plain, ours)
