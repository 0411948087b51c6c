"""The parent: starts a child per target, attributes its crashes, and collects counts and failing inputs."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from bench.fuzz.child import COUNTS, STATE, kind_of

MOST_CRASHES = 25
"""A target with more crashes ends early: each costs a start of the child."""
MOST_KEPT = 15
"""Failing inputs that are kept per target, one per kind of failure."""
MOST_SMALLER = 3
"""Kept inputs per target that are made smaller, which takes some seconds each."""
ENVIRONMENT = {
    f"{name}_THREADS": "1" for name in ("TOPKIT", "OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMBA_NUM")
} | {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}


@dataclass
class Tally:
    """What became of the inputs of one target."""

    name: str
    tried: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*COUNTS, "crash"), 0))
    peak_mb: int = 0
    failures: dict[str, dict[str, object]] = field(default_factory=dict)
    """Kind of failure → its first record and how often it occurred."""
    problem: str = ""

    @property
    def failed(self) -> int:
        """Number of inputs that failed, or 1 if the target itself could not run."""
        bad = sum(self.counts[name] for name in ("raw", "slow", "difference", "crash"))
        return bad or int(bool(self.problem))

    def note(self, record: Mapping[str, object]) -> None:
        key = f"{record['outcome']} {kind_of(str(record['signature']))}"
        known = self.failures.setdefault(key, {**record, "times": 0})
        known["times"] = int(str(known["times"])) + 1


def fuzz(name: str, inputs: int, seed: str, keep: Path) -> Tally:
    """Run the inputs of a target; failing ones are written to the folder ``keep``, made smaller."""
    tally = Tally(name)
    scratch = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108
    with tempfile.TemporaryDirectory(prefix=f"fuzz-{name}-", dir=scratch) as temporary:
        folder = Path(temporary)
        first = 0
        while first < inputs and tally.counts["crash"] + tally.counts["slow"] <= MOST_CRASHES:
            first = _run_child(tally, folder, seed, first, inputs)
            if tally.problem:
                break
        tally.tried = first
        _keep_failures(tally, folder, seed, keep)
    return tally


def _run_child(tally: Tally, folder: Path, seed: str, first: int, last: int) -> int:
    """Run inputs in a new child until it ends or dies; returns the first input that is still to run."""
    state = folder / "state"
    state.write_bytes(STATE.pack(-1, *([0] * len(COUNTS))))
    (folder / "failures.jsonl").write_text("")
    child = start_child(tally.name, folder, seed, str(first), str(last))
    _, errors = child.communicate()
    current, *counts = STATE.unpack(state.read_bytes())
    for name, count in zip(COUNTS, counts, strict=True):
        tally.counts[name] += count
    for line in (folder / "failures.jsonl").read_text().splitlines():
        tally.note(json.loads(line))
    if child.returncode == 0:
        tally.peak_mb = max(tally.peak_mb, int((folder / "peak").read_text()))
        return last
    if current < 0:
        tally.problem = errors.decode("utf-8", "replace").strip()[-2000:] or f"exit {child.returncode}"
        return first
    timed_out = child.returncode == -signal.SIGALRM
    outcome = "slow" if timed_out else "crash"
    tally.counts[outcome] += 1
    death = signal.Signals(-child.returncode).name if child.returncode < 0 else f"exit {child.returncode}"
    tally.note({"input": current, "outcome": outcome, "signature": death, "valid": False})
    return int(current) + 1


def start_child(name: str, folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """The child process for a target."""
    command = [sys.executable, "-m", "bench.fuzz.child", name, str(folder), *arguments]
    return subprocess.Popen(
        command, env=os.environ | ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def _keep_failures(tally: Tally, folder: Path, seed: str, keep: Path) -> None:
    """Write one input per kind of failure, and make it smaller."""
    if not tally.failures:
        return
    from bench.fuzz.targets import SELF_TESTS, TARGETS

    keep.mkdir(parents=True, exist_ok=True)
    prepared = (TARGETS | SELF_TESTS)[tally.name].prepare(folder)
    for place, record in enumerate(list(tally.failures.values())[:MOST_KEPT]):
        number = int(str(record["input"]))
        content, valid = prepared.input_of(Random(f"{seed}/{tally.name}/{number}"))
        digest = hashlib.sha256(content).hexdigest()[:8]
        path = keep / f"{tally.name}-{number}-{digest}{'.valid' if valid else ''}"
        path.write_bytes(content)
        record["file"] = str(path)
        if record["outcome"] != "slow" and place < MOST_SMALLER:
            start_child(tally.name, folder, "--smaller", str(path)).communicate()


def replay_files(name: str, paths: list[Path], folder: Path) -> list[tuple[str, str, str]]:
    """(file, outcome, signature) of every file; one that kills the child has the outcome crash or slow."""
    results = []
    left = [str(path) for path in paths]
    while left:
        child = start_child(name, folder, "--input", *left)
        output, errors = child.communicate()
        lines = [json.loads(line) for line in output.decode().splitlines()]
        done = [line for line in lines if "outcome" in line]
        results += [(line["file"], line["outcome"], line["signature"]) for line in done]
        left = left[len(done) :]
        if left:
            if len(lines) == 2 * len(done):  # it died before the next input
                raise RuntimeError(errors.decode("utf-8", "replace")[-2000:])
            outcome = "slow" if child.returncode == -signal.SIGALRM else "crash"
            results.append((left.pop(0), outcome, f"exit {child.returncode}"))
    return results
