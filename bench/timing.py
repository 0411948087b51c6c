"""Timing two sides fairly: interleaved, the best of several turns of each."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_of(*sides: Callable[[], object], turns: int = 5) -> list[float]:
    """Seconds of the fastest of ``turns`` calls of each side, taken in turn so that noise falls on all."""
    best = [float("inf")] * len(sides)
    for _ in range(turns):
        for i, side in enumerate(sides):
            start = time.perf_counter()
            side()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def show(what: str, ours: float, peer: float, name: str, goal: str = "") -> float:
    """Print one line: how many times as fast we are; returns that ratio."""
    wanted = f"  (goal {goal})" if goal else ""
    print(f"{what:<58} {ours:9.4f} s   {name:<28} {peer:9.4f} s   {peer / ours:6.1f}x{wanted}", flush=True)
    return peer / ours
