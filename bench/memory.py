"""Peak resident memory of reading, training, scoring and evaluating, as multiples of the features.

``python -m bench.profiles memory [DOCUMENTS]``; each step is a process of its own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from bench.ship_data import write_large

DOCUMENTS, FEATURES = 10_000_000, 46
AIMS = {"read": 1.5, "train": 2.5, "score": 1.5, "evaluate": 1.5}
"""Peak resident memory over the size of the features as float32."""


def peak() -> int:
    """The largest resident size of this process so far, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def step(name: str, path: str, model: str) -> None:
    """Do one step in this process and print the peaks before and after it."""
    import topkit as tk

    tiny = tk.demo_data()
    fitted = tk.ranker("listnet", l2=1e-3).fit(tiny)
    tk.evaluate(tiny, fitted.score(tiny), ["ndcg@10"])
    before = peak()
    data = tk.read_parquet(path)
    if name == "train":
        tk.ranker("listnet", l2=1e-3, max_steps=5).fit(data).save(model)
    elif name == "score":
        tk.load_ranker(model).score(data)
    elif name == "evaluate":
        tk.evaluate(data, data.X[:, 0].astype(np.float64), ["ndcg@10", "map", "err"])
    print(json.dumps({"before": before, "peak": peak()}))


@cache
def multiples(documents: int = DOCUMENTS) -> dict[str, float]:
    """The peak of each step over the size of the features; the libraries, about 200 MB, are not counted."""
    size = 4 * documents * FEATURES
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder, "data.parquet"), Path(folder, "model")
        write_large(path, documents, FEATURES)
        for name in AIMS:
            command = [sys.executable, "-W", "ignore", "-m", "bench.memory", name, str(path), str(model)]
            done = subprocess.run(
                command, check=True, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
            )
            peaks = json.loads(done.stdout)
            found[name] = (peaks["peak"] - peaks["before"]) / size
    return found


def memory(documents: int = DOCUMENTS) -> None:
    """Print the multiples of all steps."""
    print(f"{documents:,} documents with {FEATURES} features: {4 * documents * FEATURES / 1e9:.2f} GB")
    for name, ratio in multiples(documents).items():
        verdict = "" if ratio <= AIMS[name] else "  above the aim"
        print(f"{name:<10}{ratio:6.2f} times the features (aim {AIMS[name]}){verdict}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] in AIMS:
        step(*sys.argv[1:4])
    else:
        memory(int(sys.argv[1]))
