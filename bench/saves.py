"""Saves and loads at the same time, and bombs: ``python -m bench.saves``.

Processes save and load one model file, and build and open one index, side by side. A failure is an exception
of a save or a build; a broken read is a load that fails or gives other scores or documents than a whole file.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import topkit as tk
from topkit.features import Document, build_index, open_index
from topkit.rankers.checks import easy_data

ROUNDS = 300
WORKERS = 4
MEASURE = """
import resource, sys, topkit as tk
import topkit.rankers.registry
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    tk.load_ranker(sys.argv[1])
    answer = "loaded"
except tk.InputError:
    answer = "refused"
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(f"{answer}; resident {before / 1024:.0f} MB before, at most {after / 1024:.0f} MB")
"""


def documents(size: int) -> list[Document]:
    return [Document(f"d{i}", {"title": f"wing {i}", "body": f"flow {i % 5}"}) for i in range(size)]


def save_and_load(work: tuple[str, int, int]) -> tuple[int, int]:
    """Failures and broken reads of some rounds on a model file."""
    path, rounds, _ = work
    ranker, data = tk.load_ranker(path), easy_data(5, seed=9)
    expected = ranker.score(data)
    failures = broken = 0
    for _ in range(rounds):
        try:
            ranker.save(path)
        except Exception:
            failures += 1
        try:
            broken += not np.array_equal(tk.load_ranker(path).score(data), expected)
        except Exception:
            broken += 1
    return failures, broken


def build_and_open(work: tuple[str, int, int]) -> tuple[int, int]:
    """Failures and broken reads of some rounds on an index; each round keeps the previous one open."""
    path, rounds, seed = work
    held, failures, broken = open_index(path), 0, 0
    for turn in range(rounds):
        try:
            build_index(documents(10 + (seed + turn) % 7), path)
        except Exception:
            failures += 1
        for index in (held, None):
            try:
                index = open_index(path) if index is None else index
                names = [document.id for document in documents(len(index))]
                total = sum(int(stream.docs.sum()) >= 0 for stream in index.streams.values())
                broken += index.doc_ids.tolist() != names or total != 3
                held = index
            except Exception:
                broken += 1
    return failures, broken


def bombs(folder: Path) -> None:
    """Print the largest resident size of a process that loads each bomb."""
    cases = {
        "manifest of 1 GB": {"manifest.json": 1000},
        "array of 1 GB": {"manifest.json": 1, "arrays/weights.npy": 1000},
        "text of 1 GB": {"manifest.json": 1, "texts/trees.txt": 1000},
        "array of 60 MB": {"arrays/weights.npy": 60},
        "text of 60 MB": {"texts/trees.txt": 60},
    }
    for name, entries in cases.items():
        path = folder / "bomb"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            if "manifest.json" not in entries:
                archive.writestr(
                    "manifest.json",
                    '{"format": "topkit-ranker", "version": 1, "values": {"bias": 0}, '
                    '"ranker": "listnet", "model": "linear"}',
                )
            for entry, megabytes in entries.items():
                with archive.open(entry, "w", force_zip64=True) as stream:
                    if entry.endswith(".npy"):
                        header = {"descr": "<f8", "fortran_order": False, "shape": (megabytes << 17,)}
                        np.lib.format.write_array_header_1_0(stream, header)
                    for _ in range(megabytes):
                        stream.write(bytes(1 << 20))
        size = path.stat().st_size / 1e6
        answer = subprocess.run(
            [sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True
        ).stdout
        print(f"{name} in {size:.1f} MB: {answer.strip()}", flush=True)


def main() -> None:
    """Print the failures, the broken reads and the memory under bombs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tk.ranker("listnet").fit(easy_data(8)).save(folder / "model")
        build_index(documents(12), folder / "index")
        with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
            for target, work in (("model", save_and_load), ("index", build_and_open)):
                jobs = [(str(folder / target), ROUNDS // WORKERS, seed) for seed in range(WORKERS)]
                outcomes = list(pool.map(work, jobs))
                failures, broken = (sum(column) for column in zip(*outcomes, strict=True))
                print(
                    f"{target}: {ROUNDS} saves and loads in {WORKERS} processes: "
                    f"{failures} failures, {broken} broken reads",
                    flush=True,
                )
        print("left over:", sorted(path.name for path in folder.iterdir()))
        bombs(folder)


if __name__ == "__main__":
    main()
