"""One evaluation of loss and gradient out of core, against the same pieces in memory: time of one thread."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from bench.ship_data import part
from topkit.rankers.preparation import Preparation
from topkit.scale.scratch import scratch
from topkit.scale.sums import Recipe, added, piece_sums

QUERIES, FEATURES, TURNS = 3000, 136, 5


def evaluation() -> None:
    """CPU time of the computing thread, and of the whole process with its reader; best of five."""
    data = part(QUERIES, FEATURES, 1)
    recipe = Recipe(Preparation.of(data, None, "none"), "topk-listmle", {"k": 10}, draws_order=True)
    vector = np.random.default_rng(0).normal(scale=0.01, size=FEATURES + 1)
    with scratch() as stored:
        for piece in recipe.pieces(data):
            stored.put(piece)
        # copies, since the scratch file reuses its buffers
        held = [(X.copy(), recipe.bind(y.copy(), ptr.copy())) for X, y, ptr in stored]

        def in_memory() -> object:
            return added(piece_sums(X, bound, vector) for X, bound in held)

        def losses_kept() -> object:
            pairs = zip(stored, held, strict=True)
            return added(piece_sums(X, bound, vector) for (X, _, _), (_, bound) in pairs)

        def losses_bound_again() -> object:
            return added(piece_sums(X, recipe.bind(y.copy(), ptr.copy()), vector) for X, y, ptr in stored)

        ways: dict[str, Callable[[], object]] = {
            "in memory": in_memory,
            "out of core, losses kept": losses_kept,
            "out of core, losses bound again": losses_bound_again,
        }
        seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for _ in range(TURNS):
            for name, way in ways.items():
                thread, process = time.thread_time(), time.process_time()
                way()
                seconds[name].append((time.thread_time() - thread, time.process_time() - process))
    base = min(thread for thread, _ in seconds["in memory"])
    for name, pairs in seconds.items():
        thread, process = np.min(pairs, axis=0) / base
        print(f"{name:<32} computing thread {thread:.2f}x, whole process {process:.2f}x (aim 1.5x)")
