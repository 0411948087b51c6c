"""Streams of whole queries and partitions: put together they are the file, however they are cut."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topkit as tk
from topkit.data import streaming
from topkit.data.partitions import plan_partitions
from topkit.data.streaming import stream_dataset


def uneven(queries: int, seed: int) -> tk.Dataset:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 9, queries)
    n = int(lengths.sum())
    X = rng.normal(size=(n, 3)).astype(np.float32)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, n)
    qid = np.repeat([f"q{i}" for i in range(queries)], lengths)
    return tk.Dataset.build(X, y, qid, doc_ids=[f"d{i}" for i in range(n)])


@given(st.integers(1, 12), st.integers(1, 40), st.integers(1, 20), st.integers(0, 5))
@settings(max_examples=60)
def test_parquet_streams_and_partitions(
    tmp_path_factory: pytest.TempPathFactory, queries: int, rows: int, group: int, seed: int
) -> None:
    """Batches, row groups and partitions of any size, none of which respects queries."""
    data = uneven(queries, seed)
    path = tmp_path_factory.mktemp("p") / "a.parquet"
    data.to_parquet(path)
    pq.write_table(pq.read_table(path), path, row_group_size=group)
    pieces = list(stream_dataset(path, rows))
    assert tk.concatenate(pieces) == data
    plan = plan_partitions(path, rows)
    parts = [part.read() for part in plan.partitions]
    assert tk.concatenate(parts) == data
    assert (plan.queries, plan.documents, plan.features) == (data.n_queries, len(data), 3)
    assert plan.longest == data.lengths.max()
    assert all(len(part) < rows + plan.longest for part in plan.partitions)


@pytest.mark.parametrize("text_bytes", [1, 300, 1 << 20])
def test_text_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text_bytes: int) -> None:
    """Chunks are made small, so that queries go over their ends."""
    from topkit.data import blocks

    monkeypatch.setattr(blocks, "CHUNK_BYTES", 100)
    monkeypatch.setattr(streaming, "TEXT_BYTES", text_bytes)
    data = uneven(9, 1)
    data.to_letor(tmp_path / "a.txt")
    (tmp_path / "b.gz").write_bytes(gzip.compress((tmp_path / "a.txt").read_bytes()))
    for name in ("a.txt", "b.gz"):
        assert tk.concatenate(list(stream_dataset(tmp_path / name))) == tk.read_letor(tmp_path / name)


def test_foreign_tables_and_truth(tmp_path: Path) -> None:
    table = pa.table({"qid": ["a", "a", "b"], "label": [1, 0, 2], "x": [0.5, 1.5, 2.5], "z": [1, 2, 3]})
    pq.write_table(table, tmp_path / "t.parquet")
    [whole] = [tk.concatenate(list(stream_dataset(tmp_path / "t.parquet", 2)))]
    assert whole == tk.read_parquet(tmp_path / "t.parquet")
    uneven(4, 0).top_k(2).to_parquet(tmp_path / "k.parquet")
    assert plan_partitions(tmp_path / "k.parquet", 5).truth == "top-2"


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_a_query_in_two_places_is_an_error(tmp_path: Path, rows: int) -> None:
    table = pa.table({"qid": ["a", "b", "a"], "label": [1, 0, 2], "x": [0.5, 1.5, 2.5]})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(tk.InputError, match="rows of query 'a' are not contiguous"):
        list(stream_dataset(tmp_path / "t.parquet", rows))
    (tmp_path / "t.txt").write_text("1 qid:a 1:1\n0 qid:b 1:1\n2 qid:a 1:2\n")
    with pytest.raises(tk.InputError, match="rows of query 'a' are not contiguous"):
        list(stream_dataset(tmp_path / "t.txt"))


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(tk.InputError, match="no such file"):
        list(stream_dataset(tmp_path / "no.parquet"))
    with pytest.raises(tk.InputError, match="no such file"):
        plan_partitions(tmp_path / "no.parquet", 5)
    (tmp_path / "bad.parquet").write_text("1 qid:a 1:1\n")
    with pytest.raises(tk.InputError, match="not a readable Parquet file"):
        plan_partitions(tmp_path / "bad.parquet", 5)
    (tmp_path / "empty.txt").write_text("\n\n")
    with pytest.raises(tk.InputError, match="no documents"):
        list(stream_dataset(tmp_path / "empty.txt"))
