"""Time from_frame on 1,000,000 rows × 46 features against from_arrays (best of five) and a groupby loop.

python -m bench.frames
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from topkit import Dataset, concatenate

ROWS, FEATURES, QUERIES = 1_000_000, 46, 10_000


RUNS = 5


def seconds(action: Callable[[], Dataset]) -> tuple[float, Dataset]:
    start = time.perf_counter()
    data = action()
    return time.perf_counter() - start, data


def interleaved(actions: dict[str, Callable[[], Dataset]]) -> dict[str, tuple[float, Dataset]]:
    """The fastest of several runs of each action; the actions take turns, so that noise hits all of them."""
    best = {name: seconds(action) for name, action in actions.items()}
    for _ in range(RUNS - 1):
        for name, action in actions.items():
            taken, data = seconds(action)
            best[name] = min(taken, best[name][0]), data
    return best


def groupby_loop(frame: pd.DataFrame, names: list[str]) -> Dataset:
    """What a user writes without from_frame: one data set per group, joined."""
    parts = [
        Dataset.build(
            group[names].to_numpy(), group["label"].to_numpy(), group["qid"].to_numpy(), feature_names=names
        )
        for _, group in frame.groupby("qid", sort=False)
    ]
    return concatenate(parts)


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((ROWS, FEATURES))
    y = rng.integers(0, 5, ROWS)
    names = [f"f{j}" for j in range(FEATURES)]
    for order, qid in (
        ("sorted", np.sort(rng.integers(0, QUERIES, ROWS))),
        ("unsorted", rng.integers(0, QUERIES, ROWS)),
    ):
        columns = {
            "qid": qid,
            "label": y,
            **{name: np.ascontiguousarray(X[:, j]) for j, name in enumerate(names)},
        }
        frames = {
            "pandas": pd.DataFrame(columns),
            "polars": pl.DataFrame(columns),
            "Arrow": pa.table(columns),
        }
        Dataset.from_frame(frames["Arrow"].slice(0, 100))  # imports are not part of the time
        loop, looped = seconds(partial(groupby_loop, frames["pandas"], names))
        best = interleaved(
            {
                "from_arrays": partial(Dataset.from_arrays, X, y, qid, feature_names=names),
                **{name: partial(Dataset.from_frame, frame) for name, frame in frames.items()},
            }
        )
        base, expected = best.pop("from_arrays")
        assert looped == expected
        print(f"{order:8}  from_arrays {base:.2f} s; groupby loop {loop:.2f} s")
        for name, (taken, data) in best.items():
            assert data == expected
            ratios = f"{taken / base:.2f} × from_arrays; groupby loop {loop / taken:.1f} ×"
            print(f"{order:8}  {name:7} {taken:.2f} s = {ratios}")


if __name__ == "__main__":
    main()
