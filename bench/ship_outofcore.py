"""Out-of-core training in a child process that may not have more memory than ``--memory``."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from tests.support.rankers import linear_weights

import topkit as tk
from bench.ship_data import write_large

LIMIT = 400_000_000
FEATURES = 136
DOCUMENTS = 3_000_000
"""Features of 4·136·3,000,000 bytes = 1.63 GB, more than four times the limit."""
SETTINGS = {"k": 10, "l2": 1e-2, "tolerance": 1e-7, "normalise": "none"}


def outofcore() -> None:
    """Peak memory under RLIMIT_DATA, and the optimum against training with all in memory."""
    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder, "train.parquet"), Path(folder, "model")
        write_large(path, DOCUMENTS, FEATURES)
        words = ["train", "topk-listmle", "--train", str(path), "--memory", "400MB", "--out", str(model)]
        words += [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
        start = time.perf_counter()
        # one thread: RLIMIT_DATA counts the stacks and buffers that threads reserve and never touch
        child = subprocess.Popen(
            [sys.executable, "-m", "topkit", *words],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "TOPKIT_THREADS": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT)),
        )
        child.wait()
        seconds = time.perf_counter() - start
        peak = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        size = path.stat().st_size
        print(f"data {size / 1e6:.0f} MB, limit {LIMIT / 1e6:.0f} MB, {size / LIMIT:.1f} times")
        print(f"exit code {child.returncode} under RLIMIT_DATA, peak resident memory {peak / 1e6:.0f} MB")
        assert child.returncode == 0
        assert peak < LIMIT < size / 4
        parts = tk.load_ranker(model)
        start = time.perf_counter()
        whole = tk.ranker("topk-listmle", **SETTINGS).fit(tk.read_parquet(path))
        alone = time.perf_counter() - start
        difference = float(np.abs(linear_weights(parts) - linear_weights(whole)).max())
        print(f"out of core {seconds:.1f} s; in memory {alone:.1f} s, with about three times the data's size")
        print(f"the largest weight differs by {difference:.1e} (asked 1e-6)")
        assert difference < 1e-6
