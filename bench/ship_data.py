"""Synthetic data of any size, written in parts: grades are a noisy function of features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.progress import track

import topkit as tk

DOCUMENTS_A_QUERY = 100


def part(queries: int, features: int, seed: int, *, curved: bool = False) -> tk.Dataset:
    """Queries of 100 documents, grades 0–4; with ``curved``, quality has products and steps for trees.

    Features go together in part and have scales from 0.7 to 1.4, so that L-BFGS has some steps to take.
    """
    rng = np.random.default_rng(seed)
    n = queries * DOCUMENTS_A_QUERY
    X = rng.standard_normal((n, features), np.float32) + rng.standard_normal((n, 1), np.float32)
    weights = np.random.default_rng(99).standard_normal(features).astype(np.float32) / np.sqrt(features)
    quality = X @ weights
    if curved:
        quality = quality + X[:, 0] * X[:, 1] + 2.0 * (X[:, 2] > 0.5) * X[:, 3]
    quality = quality + rng.standard_normal(n, np.float32)
    y = np.digitize(quality, np.quantile(quality, [0.6, 0.8, 0.9, 0.97])).astype(np.float32)
    X *= np.geomspace(0.7, 1.4, features).astype(np.float32)
    ptr = np.arange(queries + 1, dtype=np.int64) * DOCUMENTS_A_QUERY
    return tk.Dataset(X, y, ptr, tuple(f"{seed}-{q}" for q in range(queries)))


def write_large(path: Path, documents: int, features: int, *, curved: bool = False, seed: int = 1) -> None:
    """A Parquet file of this many documents, 100,000 in memory at a time."""
    at_once = 1000
    parts = documents // (at_once * DOCUMENTS_A_QUERY)
    own = path.with_suffix(".part")
    writer = None
    for i in track(range(parts), description=f"writing {path.name}", transient=True):
        part(at_once, features, seed + i, curved=curved).to_parquet(own)
        table = pq.read_table(own)
        table = table.set_column(0, "qid", table.column("qid").cast(pa.string()))
        writer = writer or pq.ParquetWriter(path, table.schema, compression="none", use_dictionary=["qid"])
        writer.write_table(table, row_group_size=16_384)
    if writer is not None:
        writer.close()
    own.unlink()
