"""How each cost grows with the size of its data: ``python -m bench.growth [NAME…]``

Each kind of work runs at three sizes, each four times the one before. The exponent e is the slope of
log time on log size: 1 is linear, 2 quadratic. Times are processor seconds of one thread.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import topkit as tk

LENGTH = 50


class Growth(NamedTuple):
    """A kind of work, what its size counts, and its sizes."""

    name: str
    unit: str
    sizes: tuple[int, int, int]
    prepare: Callable[[int], Callable[[], object]]
    """size → the work to time."""


def documents(size: int) -> tk.Dataset:
    """Lists of 50 documents with 20 features and four grades."""
    rng = np.random.default_rng(0)
    X = rng.random((size, 20), dtype=np.float32)
    signal = X[:, :5] @ rng.normal(size=5).astype(np.float32) + 0.5 * rng.normal(size=size)
    y = np.clip(np.round(2 * signal), 0, 3).astype(np.float32)
    ptr = np.arange(0, size + 1, LENGTH)
    return tk.Dataset(X, y, ptr, tuple(map(str, range(len(ptr) - 1))))


def reading(size: int) -> Callable[[], object]:
    path = Path(tempfile.mkdtemp(prefix="topkit-growth-")) / f"{size}.txt"
    documents(size).to_letor(path)
    return lambda: tk.read_letor(path)


def evaluating(size: int) -> Callable[[], object]:
    data = documents(size)
    scores = data.X[:, 0].astype(np.float64)
    return lambda: tk.evaluate(data, scores, ["ndcg@10", "map", "err"])


def training(name: str, **settings: object) -> Callable[[int], Callable[[], object]]:
    def prepare(size: int) -> Callable[[], object]:
        data = documents(size)
        return lambda: tk.ranker(name, **settings).fit(data)

    return prepare


def one_long_list(name: str) -> Callable[[int], Callable[[], object]]:
    """Value and gradient of a loss on one list."""

    def prepare(size: int) -> Callable[[], object]:
        rng = np.random.default_rng(0)
        scores, labels = rng.normal(size=size), rng.integers(0, 5, size).astype(np.float64)
        objective = tk.loss(name).on(labels, [0, size])
        return lambda: objective(scores)

    return prepare


def labelling(size: int) -> Callable[[], object]:
    """Ten questions in the middle of labelling the top 10 of a list; the size is its number of documents."""
    items = [f"{i:06}" for i in range(size)]
    started = tk.Labelling(items, k=10, strategy="adaptive", seed=0)
    for _ in range(size // 2):
        question = started.question
        if question is None:
            break
        started = started.answer("a" if str(question.a) < str(question.b) else "b")

    def ask() -> None:
        session = started
        for _ in range(10):
            question = session.question
            if question is None:
                return
            session = session.answer("a" if str(question.a) < str(question.b) else "b")

    return ask


def aggregating(size: int) -> Callable[[], object]:
    """Ten runs with lists of 50 documents; the size is the number of documents in a run."""
    data = documents(size)
    rng = np.random.default_rng(0)
    runs = [tk.Run.from_scores(data, data.X[:, 0] + rng.normal(size=size), f"run{i}") for i in range(10)]
    return lambda: tk.aggregate(runs, "agreement")


WORK = [
    Growth("reading LETOR text", "documents", (20_000, 80_000, 320_000), reading),
    Growth("evaluating 3 measures", "documents", (200_000, 800_000, 3_200_000), evaluating),
    Growth("training, linear: listnet", "documents", (20_000, 80_000, 320_000), training("listnet", l2=1e-3)),
    Growth("training, SVM: ranksvm", "documents", (20_000, 80_000, 320_000), training("ranksvm", C=1e-4)),
    Growth("training, trees: lambdamart, 20 trees", "documents", (10_000, 40_000, 160_000),
           training("lambdamart", trees=20)),
    Growth("training, coordinate ascent: 1 sweep", "documents", (5_000, 20_000, 80_000),
           training("coordinate-ascent", restarts=1, sweeps=1)),
    Growth("training, boosting: rankboost, 20 rounds", "documents", (10_000, 40_000, 160_000),
           training("rankboost", rounds=20)),
    Growth("training, boosting: adarank", "documents", (10_000, 40_000, 160_000), training("adarank")),
    Growth("loss of one list: topk-listmle", "documents", (5_000, 20_000, 80_000),
           one_long_list("topk-listmle")),
    Growth("loss of one list: squared-hinge", "documents", (5_000, 20_000, 80_000),
           one_long_list("squared-hinge")),
    Growth("loss of one list: lambdarank", "documents", (5_000, 20_000, 80_000), one_long_list("lambdarank")),
    Growth("labelling: ten questions of one list", "documents", (50, 200, 800), labelling),
    Growth("aggregating 10 runs: agreement", "documents", (2_500, 10_000, 40_000), aggregating),
]  # fmt: skip


def exponent(sizes: tuple[int, ...], times: list[float]) -> float:
    """The slope of log time on log size.

    >>> round(exponent((1, 2, 4), [3.0, 12.0, 48.0]), 3)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def times(work: Growth) -> list[float]:
    """Processor seconds of the work at each size."""
    found = []
    for size in work.sizes:
        run = work.prepare(size)
        run()  # loads the kernels
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            run()
            best = min(best, time.process_time() - start)
        found.append(max(best, 1e-9))
    return found


def rows(words: list[str]) -> Iterator[tuple[Growth, list[float]]]:
    """Each kind of work that is asked for, with its seconds at each size."""
    for work in WORK:
        if not words or any(word in work.name for word in words):
            yield work, times(work)


def main() -> None:
    os.environ |= {"TOPKIT_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    warnings.simplefilter("ignore")
    print(f"{'':<42}{'sizes':<26}{'seconds':<28}{'exponent':>9}")
    for work, spent_at in rows([word for word in sys.argv[1:] if not word.startswith("-")]):
        sizes = " ".join(f"{size:,}" for size in work.sizes)
        spent = " ".join(f"{seconds:.3g}" for seconds in spent_at)
        print(f"{work.name:<42}{sizes:<26}{spent:<28}{exponent(work.sizes, spent_at):9.2f}", flush=True)


if __name__ == "__main__":
    main()
