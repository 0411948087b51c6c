"""One evaluation of loss and gradient out of core, against the same pieces in memory: time of one thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

import topkit as tk
from bench.ship_data import part
from topkit.rankers.pieces import plus
from topkit.rankers.preparation import Preparation
from topkit.scale.gradient import LinearGradient, gradient_sums
from topkit.scale.recipe import Recipe, stored
from topkit.scale.scratch import scratch
from topkit.scorers import LinearScorer

QUERIES, FEATURES, TURNS = 3000, 136, 5


def evaluation() -> None:
    """Print the ratios of :func:`ratios`."""
    for name, (thread, process) in ratios().items():
        print(f"{name:<32} computing thread {thread:.2f}x, whole process {process:.2f}x (aim 1.5x)")


def ratios() -> dict[str, tuple[float, float]]:
    """CPU time of the computing thread, and of the whole process with its reader, over that in memory."""
    data = part(QUERIES, FEATURES, 1)
    method = LinearGradient("topk-listmle", {"k": 10}, LinearScorer(), draws=True)
    recipe = Recipe(
        tk.ranker("topk-listmle", k=10), method, Preparation.of(data, None, "none"), str(data.truth)
    )
    vector = np.random.default_rng(0).normal(scale=0.01, size=FEATURES + 1)
    with scratch() as file:
        for piece in recipe.pieces(data):
            file.put(piece)
        like = piece.select([0])

        def bind(X: Any, y: Any, ptr: Any) -> Any:
            return recipe.bind(stored(like, X, y.copy(), ptr.copy()))  # the scratch file reuses its buffers

        held = [(X.copy(), bind(X, y, ptr)) for X, y, ptr in file]

        def in_memory() -> object:
            return reduce(plus, (gradient_sums(bound, X, vector) for X, bound in held))

        def losses_kept() -> object:
            pairs = zip(file, held, strict=True)
            return reduce(plus, (gradient_sums(bound, X, vector) for (X, _, _), (_, bound) in pairs))

        def losses_bound_again() -> object:
            return reduce(plus, (gradient_sums(bind(X, y, ptr), X, vector) for X, y, ptr in file))

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
    found = {}
    for name, pairs in seconds.items():
        thread, process = np.min(pairs, axis=0) / base
        found[name] = (float(thread), float(process))
    return found
