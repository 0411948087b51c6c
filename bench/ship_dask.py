"""Two local Dask workers against one process: the same optimum, the time, what travels, a killed worker."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from tests.support.rankers import linear_weights
from tests.support.real_data import real_data_folder

import topkit as tk
from bench.ship_data import part, write_large
from topkit.compute.cluster import connected
from topkit.scale import train_in_parts

DOCUMENTS, FEATURES = 2_000_000, 46
SETTINGS: dict[str, Any] = {"k": 10, "l2": 1e-5, "tolerance": 1e-8, "normalise": "none"}


def loopback() -> int:
    """Bytes that went over this machine's own network so far."""
    return int(psutil.net_io_counters(pernic=True)["lo"].bytes_sent)


def objective(fitted: tk.rankers.Learner) -> float:
    return float(fitted.traces[0].values[-1])


def compare(name: str, found: tk.rankers.Learner, whole: tk.rankers.Learner) -> None:
    weights = float(np.abs(linear_weights(found) - linear_weights(whole)).max())
    value = abs(objective(found) - objective(whole))
    print(f"{name}: objective differs by {value:.1e}, the largest weight by {weights:.1e} (asked 1e-6)")
    assert max(value, weights) < 1e-6


def dask() -> None:
    """Linear top-k ListMLE on 2,000,000 documents: time ratio and network volume, and the optimum."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.parquet")
        write_large(path, DOCUMENTS, FEATURES)
        data = tk.read_parquet(path)
        tk.ranker("topk-listmle", **SETTINGS).fit(data.select(np.arange(10)))  # compiled before it is timed
        alone = {}
        for threads in ("1", "2"):
            os.environ["TOPKIT_THREADS"] = threads
            start = time.perf_counter()
            whole = tk.ranker("topk-listmle", **SETTINGS).fit(data)
            alone[threads] = time.perf_counter() - start
        del data
        with connected(workers=2) as cluster:
            moved, start = loopback(), time.perf_counter()
            spread = train_in_parts("topk-listmle", path, cluster=cluster, rows=1 << 17, **SETTINGS)
            together, moved = time.perf_counter() - start, loopback() - moved
        steps = spread.traces[0].steps
        print(f"two workers of one thread {together:.1f} s, reading the file included")
        for threads, seconds in alone.items():
            ratio = seconds / together
            print(f"one process, {threads} thread(s), data in memory: {seconds:.1f} s, {ratio:.2f} times")
        print(f"{steps} steps; {moved / 1e6:.1f} MB over the network, {moved / steps / 1e3:.0f} kB a step;")
        print(f"the features are {4 * DOCUMENTS * FEATURES / 1e6:.0f} MB, which the workers read themselves")
        compare("two workers", spread, whole)


def killed() -> None:
    """The same on 500,000 documents, with one of the two workers killed at the tenth step."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.parquet")
        write_large(path, DOCUMENTS // 4, FEATURES)
        whole = tk.ranker("topk-listmle", **SETTINGS).fit(tk.read_parquet(path))
        with connected(workers=2) as cluster:
            gone: list[int] = []

            def report(what: str, step: int, steps: int, value: float) -> None:
                if step == 10 and not gone:
                    gone.append(next(iter(cluster.client.run(os.getpid).values())))
                    # a moment later, so that it falls into the sums of the next step
                    threading.Timer(0.05, os.kill, (gone[0], signal.SIGKILL)).start()

            start = time.perf_counter()
            spread = train_in_parts(
                "topk-listmle", path, cluster=cluster, rows=1 << 15, report=report, **SETTINGS
            )
            seconds = time.perf_counter() - start
        assert gone
        print(f"one of two workers killed at step 10 of {spread.traces[0].steps}; done in {seconds:.1f} s")
        compare("with the worker killed", spread, whole)


def lightgbm() -> None:
    """LambdaMART through lightgbm.dask against the local one, on synthetic data and MQ2008."""
    settings: dict[str, Any] = {"trees": 100, "leaves": 15, "rate": 0.1}

    def mean(fitted: tk.rankers.Learner, test: tk.Dataset) -> float:
        return tk.evaluate(test, fitted.score(test), "ndcg@10").mean["ndcg@10"]

    with tempfile.TemporaryDirectory() as folder, connected(workers=2) as cluster:
        path = Path(folder, "train.parquet")
        write_large(path, 200_000, 20, curved=True)
        valid, test = part(300, 20, 1001, curved=True), part(1000, 20, 1002, curved=True)
        local = tk.ranker("lambdamart", **settings).fit(tk.read_parquet(path), valid)
        spread = train_in_parts("lambdamart", path, valid, cluster=cluster, rows=1 << 15, **settings)
        here, there = mean(local, test), mean(spread, test)
        print(f"200,000 documents: NDCG@10 local {here:.4f}, Dask {there:.4f}, {there - here:+.4f}")
        assert abs(there - here) < 0.002
        found = []
        real = real_data_folder()
        for fold in range(1, 6 if real else 1):
            own = Path(str(real), "MQ2008", f"Fold{fold}")
            train, valid, test = (tk.read_letor(own / f"{p}.txt") for p in ("train", "vali", "test"))
            train.to_parquet(path)
            local = tk.ranker("lambdamart", **settings).fit(train, valid)
            spread = train_in_parts("lambdamart", path, valid, cluster=cluster, rows=2500, **settings)
            found.append((mean(local, test), mean(spread, test)))
        if found:
            here, there = np.mean(found, axis=0)
            each = ", ".join(f"{b - a:+.4f}" for a, b in found)
            print(f"MQ2008, five folds: local {here:.4f}, Dask {there:.4f}, difference {there - here:+.4f}")
            print(f"   by fold (about 157 test queries each): {each}")
