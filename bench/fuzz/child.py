"""The child process: runs the inputs of a target one after the other and records what became of each.

``python -m bench.fuzz.child TARGET FOLDER SEED FIRST LAST`` runs a range of inputs; with ``--input FILE`` it
runs one input, for replays and for making a failing input smaller.
"""

from __future__ import annotations

import json
import mmap
import os
import resource
import signal
import struct
import sys
import time
import traceback
import warnings
from pathlib import Path
from random import Random

from bench.fuzz.target import DifferenceError, Prepared, expected_errors

SLOW_SECONDS = 2.0
KILL_SECONDS = 20
"""An input that runs for this long ends the child."""
SPARE_BYTES = 1500 << 20
"""Memory that inputs may take beyond what the child holds after its start."""
COUNTS = ("accepted", "refused", "raw", "slow", "difference")
STATE = struct.Struct(f"<q{len(COUNTS)}q")
"""The input that is running, and the counts so far: a file, so that it survives a crash."""


def limit_memory() -> None:
    """Limit the address space to what is used now and :data:`SPARE_BYTES`."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + SPARE_BYTES, size + SPARE_BYTES))


def outcome_of(prepared: Prepared, content: bytes, valid: bool) -> tuple[str, str]:
    """What became of an input (one of COUNTS), and a signature of the failure."""
    for _ in range(2):  # the first use of a function may compile it, which is not the input's fault
        start = time.process_time()
        outcome, signature = _outcome(prepared, content, valid)
        seconds = time.process_time() - start
        if seconds <= SLOW_SECONDS:
            return outcome, signature
    return "slow", f"{outcome} after {seconds:.0f} s"


def _outcome(prepared: Prepared, content: bytes, valid: bool) -> tuple[str, str]:
    try:
        prepared.check(content, valid)
    except expected_errors() as error:
        return ("difference", f"valid input was refused: {_reason(error)}") if valid else ("refused", "")
    except DifferenceError as error:
        return "difference", _reason(error)
    except Exception as error:
        return "raw", _signature(error)
    return "accepted", ""


def _reason(error: BaseException) -> str:
    return str(error).replace("\n", " ")[:200]


def _signature(error: BaseException) -> str:
    """The exception and the last line of topkit that it passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/topkit/" in frame.filename]
    place = f"{frames[-1].filename.split('/topkit/')[-1]}:{frames[-1].name}" if frames else "?"
    return f"{type(error).__name__} in {place}: {_reason(error)[:120]}"


def kind_of(signature: str) -> str:
    """The part of a signature that does not depend on the values of the input."""
    return signature.split(": ")[0]


def prepare(name: str, folder: Path) -> Prepared:
    """The target, warmed up (so that compiling counts for no input) and with its limits set."""
    from bench.fuzz.targets import SELF_TESTS, TARGETS

    warnings.simplefilter("ignore")
    sys.set_int_max_str_digits(4300)
    folder.mkdir(parents=True, exist_ok=True)
    prepared = (TARGETS | SELF_TESTS)[name].prepare(folder)
    for i in range(20):
        outcome_of(prepared, prepared.generate(Random(i)), False)
    limit_memory()
    return prepared


def run_range(name: str, folder: Path, seed: str, first: int, last: int) -> None:
    """Run the inputs first..last−1; failures are appended to ``failures.jsonl`` in the folder."""
    prepared = prepare(name, folder)
    state_file = folder / "state"
    counts = dict.fromkeys(COUNTS, 0)
    with (
        state_file.open("r+b") as handle,
        mmap.mmap(handle.fileno(), STATE.size) as state,
        (folder / "failures.jsonl").open("a") as failures,
    ):
        for i in range(first, last):
            content, valid = prepared.input_of(Random(f"{seed}/{name}/{i}"))
            STATE.pack_into(state, 0, i, *counts.values())
            signal.alarm(KILL_SECONDS)
            outcome, signature = outcome_of(prepared, content, valid)
            signal.alarm(0)
            counts[outcome] += 1
            if signature:
                record = {"input": i, "outcome": outcome, "signature": signature, "valid": valid}
                failures.write(json.dumps(record) + "\n")
                failures.flush()
        STATE.pack_into(state, 0, last, *counts.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    (folder / "peak").write_text(str(peak))


def replay(name: str, folder: Path, paths: list[str]) -> None:
    """Run files as inputs, print the outcome of each; a name that ends in .valid says that it is valid."""
    prepared = prepare(name, folder)
    for path in paths:
        print(json.dumps({"file": path}), flush=True)
        signal.alarm(KILL_SECONDS)
        outcome, signature = outcome_of(prepared, Path(path).read_bytes(), path.endswith(".valid"))
        signal.alarm(0)
        print(json.dumps({"file": path, "outcome": outcome, "signature": signature}), flush=True)


def main() -> None:
    name, folder, *rest = sys.argv[1:]
    if rest[0] == "--input":
        replay(name, Path(folder), rest[1:])
    elif rest[0] == "--smaller":
        from bench.fuzz.smaller import make_smaller

        make_smaller(prepare(name, Path(folder)), Path(rest[1]))
    else:
        run_range(name, Path(folder), rest[0], int(rest[1]), int(rest[2]))
    sys.stdout.flush()
    os._exit(0)  # a damaged heap must not turn a finished range into a crash at exit


if __name__ == "__main__":
    main()
