"""Where the time and the memory of common work go. ``python -m bench.profiles [files|fits|large|memory]``

``files`` compares reading and writing with their limits: a memory copy of the same bytes, and one pass that
only looks for line ends. ``fits`` and ``large`` show which share of a fit is not the method's own arithmetic.
``memory`` is the peak resident size of a process as a multiple of the features. Times are processor seconds
of one thread.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import topkit as tk
from bench.one_machine import mq2008
from bench.ship_data import part

RUN_BYTES = 1_000_000_000
LARGE_QUERIES, FEATURES = 12_000, 46
FIT_AIM = 0.2
"""The largest share of a fit that may not be the method's own arithmetic."""
LARGE = ("listnet", "topk-listmle", "ranksvm", "adarank", "rankboost", "lambdamart", "linear-regression")
SETTINGS: dict[str, dict[str, Any]] = {
    "rankboost": {"rounds": 50},
    "lambdamart": {"trees": 20},
    "adarank": {"rounds": 50},
}
"""Smaller than the defaults, so that a fit to 1,200,000 documents takes seconds."""


# -- files ---------------------------------------------------------------------------------------------------
def copy_seconds(path: Path) -> float:
    """Seconds of a memory copy of as many bytes as the file has."""
    block = np.ones(min(path.stat().st_size, 1 << 27), np.uint8)
    into = np.empty_like(block)
    into[:] = block
    start = time.process_time()
    into[:] = block
    return (time.process_time() - start) * path.stat().st_size / len(block)


def scan_seconds(path: Path) -> float:
    """Seconds of reading a file from the cache and counting its lines: the least that parsing does."""
    start = time.process_time()
    with path.open("rb", buffering=0) as stream:
        block = bytearray(1 << 22)
        while size := stream.readinto(block):
            np.count_nonzero(np.frombuffer(block, np.uint8, size) == 10)
    return time.process_time() - start


def forget(path: Path) -> None:
    """Drop a file from the system's cache, so that it is read from the disk."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def show_file(name: str, path: Path, work: Callable[[], object]) -> None:
    work()  # loads the kernels
    forget(path)
    cold, start = time.perf_counter(), time.process_time()
    work()
    cold, spent = time.perf_counter() - cold, time.process_time() - start
    size = path.stat().st_size
    copy, scan = spent / copy_seconds(path), spent / scan_seconds(path)
    print(
        f"{name:<34}{size / 1e6:8.0f} MB{size / 1e6 / spent:8.0f} MB/s{copy:8.1f}{scan:8.1f}   "
        f"cold {cold:.1f} s",
        flush=True,
    )


def write_run(path: Path, size: int) -> Path:
    """A run of 1,000 documents per query, and its judgments; the path of the judgments."""
    lines = [f"{i:07}" for i in range(1000)]
    qrels, written, query = path.with_suffix(".qrels"), 0, 0
    with path.open("w") as run, qrels.open("w") as judged:
        while written < size:
            query += 1
            written += run.write(
                "".join(
                    f"q{query} Q0 d{query}-{name} {i + 1} {1.0 - i / 1000:.4f} system\n"
                    for i, name in enumerate(lines)
                )
            )
            judged.writelines(f"q{query} 0 d{query}-{name} {i % 3}\n" for i, name in enumerate(lines[:50]))
    return qrels


def files() -> None:
    """``topkit eval`` of a run, reading LETOR and Parquet, converting and normalising."""
    print(f"{'':<34}{'file':>11}{'speed':>13}{'÷ copy':>8}{'÷ scan':>8}")
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "run.txt")
        qrels = write_run(run, RUN_BYTES)
        truth = tk.read_qrels(qrels)
        show_file("eval --qrels, a run", run, lambda: tk.evaluate_run(truth, tk.read_run(run), ["ndcg@10"]))
        run.unlink()
        data = part(4_000, FEATURES, 1)
        text, table, out = Path(folder, "a.txt"), Path(folder, "a.parquet"), Path(folder, "b.parquet")
        data.to_letor(text)
        data.to_parquet(table)
        show_file("read LETOR", text, lambda: tk.read_letor(text))
        show_file("read Parquet", table, lambda: tk.read_parquet(table))
        show_file("convert LETOR to Parquet", text, lambda: tk.read_letor(text).to_parquet(out))
        show_file(
            "normalise Parquet",
            table,
            lambda: tk.normalise(tk.read_parquet(table), "z-score").to_parquet(out),
        )
        score = Path(folder, "features.npy")
        np.save(score, data.X)
        show_file("normalise in memory", score, lambda: tk.normalise(data, "z-score"))


# -- fits ----------------------------------------------------------------------------------------------------
@contextmanager
def clocks() -> Iterator[dict[str, float]]:
    """Processor seconds of what a fit does besides training: prepare features, validate, describe data."""
    learner: Any = import_module("topkit.rankers.learner")  # Any, because its imports are replaced
    spent: dict[str, float] = {}
    depth = [0]

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            depth[0] += 1
            start = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                depth[0] -= 1
                if depth[0] == 0:
                    spent[name] = spent.get(name, 0.0) + time.process_time() - start

        return call

    measure = learner.Learner.measure
    saved = learner.Preparation.__call__, learner.describe, learner.provenance
    patches: list[tuple[Any, str, Any]] = [
        (learner.Preparation, "__call__", timed("prepare", saved[0])),
        (learner, "describe", timed("describe", saved[1])),
        (learner, "provenance", timed("describe", saved[2])),
        (learner.Learner, "measure", lambda self: timed("validate", measure(self))),
    ]
    before = [getattr(owner, name) for owner, name, _ in patches]
    try:
        for owner, name, value in patches:
            setattr(owner, name, value)
        yield spent
    finally:
        for (owner, name, _), value in zip(patches, before, strict=True):
            setattr(owner, name, value)


def show_fit(name: str, train: tk.Dataset, valid: tk.Dataset | None, **settings: Any) -> float:
    """Print the split of one fit; the share that is not the method's."""
    tk.ranker(name, **settings).fit(train, valid)  # loads the kernels
    with clocks() as spent:
        start = time.process_time()
        tk.ranker(name, **settings).fit(train, valid)
        total = time.process_time() - start
    around = spent.get("prepare", 0.0) + spent.get("describe", 0.0)
    share = around / total
    cells = "".join(f"{spent.get(key, 0.0) / total:10.0%}" for key in ("prepare", "describe", "validate"))
    verdict = "" if share <= FIT_AIM else "  above the aim"
    print(f"{name:<20}{total:8.2f} s{cells}{1 - share:10.0%}{verdict}", flush=True)
    return share


def _head() -> None:
    print(f"{'':<20}{'fit':>10}{'prepare':>10}{'describe':>10}{'validate':>10}{'method':>10}")


def fits() -> float:
    """Every ranker on MQ2008 Fold1 with its default settings; the method includes its validation."""
    _head()
    train, valid, _ = mq2008(1)
    return max(show_fit(name, train, valid) for name in tk.RANKERS if name != "click-label")


def large() -> float:
    """The rankers for large data on 1,200,000 documents with 46 features, without validation data."""
    _head()
    train = part(LARGE_QUERIES, FEATURES, 1)
    return max(show_fit(name, train, None, **SETTINGS.get(name, {})) for name in LARGE)


def main() -> None:
    os.environ |= {"TOPKIT_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    warnings.simplefilter("ignore")
    from bench.memory import memory

    parts: dict[str, Callable[[], object]] = {"files": files, "fits": fits, "large": large, "memory": memory}
    for name in sys.argv[1:] or list(parts):
        print(f"-- {name}", flush=True)
        parts[name]()


if __name__ == "__main__":
    main()
