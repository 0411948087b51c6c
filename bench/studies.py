"""The studies of the documentation, and the newcomer's path. ``python -m bench.studies PART…``

- ``compare``, ``k``, ``beta``, ``budget``: the example studies, which print their tables; results are kept in
  ``bench/results``, so an interrupted one goes on where it stopped.
- ``kills``, ``dask``: a study killed five times, and one on two Dask workers, against an undisturbed one.
- ``newcomer``: clone → ``make demo`` → report, timed step by step, in a fresh folder.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"


def study(name: str) -> Callable[[], None]:
    """Run one of the examples."""

    def run() -> None:
        out = RESULTS / f"{name}.study"
        command = [sys.executable, "-m", "topkit", "study", "run", f"examples/{name}.toml", "--out", str(out)]
        subprocess.run(command, cwd=ROOT, check=True)

    return run


def tests(words: str) -> Callable[[], None]:
    """Run the tests of running studies whose names hold these words."""

    def run() -> None:
        command = [sys.executable, "-m", "pytest", "-q", "tests/studies/test_run.py", "-k", words]
        subprocess.run(command, cwd=ROOT, check=True)

    return run


def newcomer() -> None:
    """Two steps: clone, and make demo, which installs, compiles and writes the report."""
    with tempfile.TemporaryDirectory() as folder:
        steps = {
            "git clone": ["git", "clone", "--quiet", str(ROOT), f"{folder}/topkit"],
            "make demo (install, compile, run)": ["make", "-C", f"{folder}/topkit", "demo"],
            "make demo again": ["make", "-C", f"{folder}/topkit", "demo"],
        }
        for name, command in steps.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            print(f"{name:<36} {time.perf_counter() - start:6.1f} s", flush=True)
        report = Path(folder, "topkit", "topkit-demo", "report.html")
        print(f"the report is there: {report.is_file()}, {report.stat().st_size // 1024} KB")


PARTS: dict[str, Callable[[], None]] = {
    "compare": study("compare"),
    "k": study("k-full-order"),
    "beta": study("beta"),
    "budget": study("budget"),
    "kills": tests("killed"),
    "dask": tests("dask"),
    "newcomer": newcomer,
}


def main() -> None:
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
