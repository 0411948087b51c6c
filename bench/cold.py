"""What the first use compiles: reading, and the first fit of every ranker. ``python -m bench.cold [NAME…]``

Each row starts a process with an empty Numba cache, and another one with the cache of the first. Times are
processor seconds of one thread, so that a busy machine changes them little. ``--kernels`` lists what was
compiled.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

AIMS = {"read": 3.0}
FIT_AIM = 5.0
"""Seconds that compiling may add to reading, and to the first fit of a ranker."""


def main() -> None:
    import topkit as tk

    names = [word for word in sys.argv[1:] if not word.startswith("-")] or ["read", *tk.RANKERS]
    print(f"{'':<18}{'cold':>7}{'warm':>7}{'compiling':>11}{'aim':>5}  functions compiled")
    late = []
    for name in names:
        cold, warm = both(name)
        extra, aim = cold["seconds"] - warm["seconds"], AIMS.get(name, FIT_AIM)
        late += [name] if extra > aim else []
        verdict = "" if extra <= aim else "  above the aim"
        print(
            f"{name:<18}{cold['seconds']:7.1f}{warm['seconds']:7.1f}{extra:11.1f}{aim:5.0f}"
            f"{len(cold['kernels']):6}{verdict}",
            flush=True,
        )
        if "--kernels" in sys.argv:
            for kernel, seconds, arguments in sorted(cold["kernels"], key=lambda row: -row[1]):
                print(f"    {seconds:6.2f}  {kernel}({arguments[:150]})")
    print(f"{len(names) - len(late)} of {len(names)} within the aim" + (f"; not: {late}" if late else ""))


def both(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same work in a process with an empty cache, and in one with the cache of the first."""
    with tempfile.TemporaryDirectory() as cache:
        limits = {"TOPKIT_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        environment = {**os.environ, **limits, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-W", "ignore", "-m", "bench.cold", "--work", name]
        cold, warm = (
            json.loads(
                subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
            )
            for _ in range(2)
        )
        return cold, warm


def work(name: str) -> None:
    """Do it once in this process; print the seconds and what was compiled as JSON."""
    import topkit as tk

    kernels = listen()
    if name == "read":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.txt"
            path.write_text("1 qid:1 1:0.5 2:1e-30 # docid = D1\n0 qid:1 1:0.25 2:3 # docid = D2\n" * 3)
            start = time.process_time()
            tk.read_letor(path)
    else:
        fold = tk.query_folds(tk.demo_data(), 5)[0]
        kernels.clear()
        start = time.process_time()
        tk.ranker(name).fit(fold.train, fold.valid)
    print(json.dumps({"seconds": time.process_time() - start, "kernels": kernels}))


def listen() -> list[tuple[str, float, str]]:
    """A list to which every compiled function is added: its name, its own seconds, and its arguments."""
    from numba.core import event

    kernels: list[tuple[str, float, str]] = []
    under_way: list[list[float]] = []

    class Compiling(event.Listener):  # type: ignore[misc]
        """Keeps the time of each function without that of the functions it calls."""

        def on_start(self, event: Any) -> None:
            under_way.append([time.process_time(), 0.0])

        def on_end(self, event: Any) -> None:
            start, inner = under_way.pop()
            spent = time.process_time() - start
            if under_way:
                under_way[-1][1] += spent
            function = event.data["dispatcher"].py_func
            name = f"{function.__module__}.{function.__qualname__}"
            kernels.append((name, spent - inner, str(event.data["args"])))

    event.register("numba:compile", Compiling())
    return kernels


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2])
    else:
        main()
