"""Reading LETOR text, Parquet and TREC runs compared with peers, and its memory. ``python -m bench.data``"""

from __future__ import annotations

import gzip
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from tests.support.real_data import real_data_folder

import topkit as tk
from bench.timing import best_of, show

QUERIES, DOCUMENTS, FEATURES = 1_000, 120, 136


def write_mslr_like(path: Path) -> None:
    """200 MB in the shape of MSLR-WEB10K: counts, large sums and ratios, with document ids as comments."""
    rng = np.random.default_rng(0)
    with path.open("w") as stream:
        for query in range(QUERIES):
            values = rng.random((DOCUMENTS, FEATURES))
            values[:, ::3] = np.round(values[:, ::3] * 500)
            values[:, 1::3] *= 1000
            for i, row in enumerate(values.tolist()):
                pairs = " ".join(f"{j}:{value:.7g}" for j, value in enumerate(row, 1))
                stream.write(f"{rng.integers(5)} qid:{query + 1} {pairs} #docid = GX{query:03}-{i:02}\n")


def reading(path: Path) -> None:
    from sklearn.datasets import load_svmlight_file

    print(f"LETOR text of {path.stat().st_size / 1e6:.0f} MB, {QUERIES} queries x {DOCUMENTS} x {FEATURES}")
    data = tk.read_letor(path)
    X, y, qid = load_svmlight_file(str(path), query_id=True)
    np.testing.assert_array_equal(data.X, X.toarray().astype(np.float32))
    np.testing.assert_array_equal(data.y, y)
    np.testing.assert_array_equal([data.qids[q] for q in data.query_index], qid.astype(str))
    peer, *_ = best_of(lambda: load_svmlight_file(str(path), query_id=True), turns=2)
    ours, *_ = best_of(lambda: tk.read_letor(path), turns=12)
    show("tk.read_letor", ours, peer, "sklearn load_svmlight_file", "25x, same values")
    stored = path.with_suffix(".parquet")
    data.to_parquet(stored)
    assert tk.read_parquet(stored) == data
    text, parquet = best_of(lambda: tk.read_letor(path), lambda: tk.read_parquet(stored), turns=10)
    show("tk.read_parquet", parquet, text, "tk.read_letor", "10x")


MEMORY = """
import re, sys
from pathlib import Path
import topkit as tk

def status(key):
    return int(re.search(key + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

tk.read_letor(sys.argv[1])                      # loads the compiled scanner
Path("/proc/self/clear_refs").write_text("5")   # forget the peak so far
before = status("VmRSS")
data = tk.read_letor(sys.argv[2])
ids = data.doc_ids
print(data.X.nbytes + data.y.nbytes + data.ptr.nbytes + ids.blob.nbytes + ids.offsets.nbytes)
print(status("VmHWM") - before)
"""


def memory(path: Path) -> None:
    small = path.with_name("small.txt")
    small.write_text("1 qid:1 1:0.5 2:1e-30 #docid = x\n")
    command = [sys.executable, "-c", MEMORY, str(small), str(path)]
    size, peak = map(int, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    ratio = f"{peak / size:.2f}x (goal 2.5x)"
    print(f"memory: arrays returned {size / 1e6:.0f} MB, peak while reading {peak / 1e6:.0f} MB, {ratio}")


def runs(folder: Path, scratch: Path, turns: int = 10) -> float:
    """The ratio of reading the TREC-3 runs to ir_measures."""
    import ir_measures

    files = []
    for packed in sorted((folder / "trec3/runs").glob("*.gz")):
        files.append(scratch / packed.stem)
        files[-1].write_bytes(gzip.decompress(packed.read_bytes()))
    tk.read_run(files[0])
    ours, peer = best_of(
        lambda: [tk.read_run(path) for path in files],
        lambda: [sum(1 for _ in ir_measures.read_trec_run(str(path))) for path in files],
        turns=10,
    )
    return show(
        f"tk.read_run, the {len(files)} runs of TREC-3", ours, peer, "ir_measures.read_trec_run", "10x"
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "mslr.txt"
        write_mslr_like(path)
        reading(path)
        memory(path)
        folder = real_data_folder()
        if folder is None:
            print("TREC-3 runs not at hand: set TOPKIT_DATA to time the reading of runs")
        else:
            runs(folder, Path(name))


if __name__ == "__main__":
    main()
