"""``python -m bench.fuzz [--inputs N] [--seed S] [TARGET…]``: fuzz every reader, or the targets named.

Prints one line per target: inputs tried, accepted, refused with a message, raw exceptions, inputs over two
seconds, crashes, and values that differ from the oracle. Exits with 1 if anything failed.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.fuzz.runner import Tally, fuzz
from bench.fuzz.targets import TARGETS

COLUMNS = ("tried", "accepted", "refused", "raw", "over 2 s", "crash", "differs", "MB", "s")


def row_of(tally: Tally, seconds: float) -> str:
    """A line of the table."""
    counts = tally.counts
    values = [tally.tried, counts["accepted"], counts["refused"], counts["raw"], counts["slow"]]
    values += [counts["crash"], counts["difference"], tally.peak_mb, round(seconds)]
    return f"{tally.name:<20}" + "".join(f"{value:>10,}" for value in values)


def shares(names: list[str], inputs: int) -> dict[str, int]:
    """How many of the inputs each target gets, by its weight."""
    total = sum(TARGETS[name].weight for name in names)
    return {name: max(1, round(inputs * TARGETS[name].weight / total)) for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--inputs", type=int, default=100_000, help="inputs of all targets together")
    parser.add_argument("--seed", default=None, help="any text; by default the time")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="folder for failing inputs")
    parser.add_argument("--jobs", type=int, default=1, help="children at the same time")
    options = parser.parse_args()
    unknown = set(options.targets) - set(TARGETS)
    if unknown:
        parser.error(f"unknown target {min(unknown)!r}; choose from {', '.join(TARGETS)}")
    seed = options.seed or str(int(time.time()))
    names = options.targets or list(TARGETS)
    print(f"seed {seed}")
    print(f"{'target':<20}" + "".join(f"{column:>10}" for column in COLUMNS), flush=True)
    started = time.monotonic()

    def run(name: str, inputs: int) -> Tally:
        start = time.monotonic()
        tally = fuzz(name, inputs, seed, options.keep)
        print(row_of(tally, time.monotonic() - start), flush=True)
        return tally

    with ThreadPoolExecutor(options.jobs) as pool:
        tallies = list(pool.map(run, *zip(*shares(names, options.inputs).items(), strict=True)))
    total = Tally("total")
    for tally in tallies:
        total.tried += tally.tried
        total.peak_mb = max(total.peak_mb, tally.peak_mb)
        for key, count in tally.counts.items():
            total.counts[key] += count
    print(row_of(total, time.monotonic() - started))
    for tally in tallies:
        if tally.problem:
            print(f"\n{tally.name} could not run:\n{tally.problem}")
        for record in tally.failures.values():
            print(
                f"\n{tally.name}, input {record['input']} and {record['times']} like it: "
                f"{record['outcome']}: {record['signature']}\n  {record.get('file', '')}"
            )
    sys.exit(any(tally.failed for tally in tallies))


if __name__ == "__main__":
    main()
