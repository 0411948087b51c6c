"""Targets for Parquet, and the tables that Arrow bodies are made from."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bench.fuzz.target import DifferenceError, Prepared


def random_columns(rng: Random, rows: int) -> dict[str, Callable[[], Any]]:
    """Makers of columns by the name of their type; those below ``float64`` are no features."""
    import pyarrow as pa

    def numbers(kind: Any) -> Callable[[], Any]:
        return lambda: pa.array([rng.randrange(100) for _ in range(rows)], kind)

    texts = [rng.choice(("a", "b", "é")) for _ in range(rows)]
    odd = [rng.choice((float("nan"), float("inf"), 1e39, None, -0.0, 1e-300)) for _ in range(rows)]
    return {
        "float32": lambda: pa.array(np.random.default_rng(rng.randrange(99)).normal(size=rows), pa.float32()),
        "float64": lambda: pa.array([rng.gauss(0, 1) for _ in range(rows)], pa.float64()),
        "int8": numbers(pa.int8()),
        "int64": numbers(pa.int64()),
        "uint64": numbers(pa.uint64()),
        "odd": lambda: pa.array(odd, pa.float64()),
        "huge": lambda: pa.array([2**63 + i for i in range(rows)], pa.uint64()),
        "null": lambda: pa.nulls(rows),
        "string": lambda: pa.array(texts),
        "binary": lambda: pa.array([b"\xff"] * rows),
        "bool": lambda: pa.array([bool(rng.randrange(2)) for _ in range(rows)]),
        "list": lambda: pa.array([[1.0, 2.0]] * rows),
        "fixed": lambda: pa.array([[1.0, 2.0]] * rows, pa.list_(pa.float32(), 2)),
        "struct": lambda: pa.array([{"a": 1}] * rows),
        "dictionary": lambda: pa.array(texts).dictionary_encode(),
        "decimal": lambda: pa.array(range(rows)).cast(pa.decimal128(20, 2)),
        "time": lambda: pa.array([1] * rows, pa.timestamp("ns")),
        "bytes8": lambda: pa.array([b"12345678"] * rows, pa.binary(8)),
        "half": lambda: pa.array(np.ones(rows, np.float16)),
        "map": lambda: pa.array([[("a", 1)]] * rows, pa.map_(pa.string(), pa.int32())),
    }


PLAIN = ("float32", "float64", "int8", "int64", "uint64")


def query_column(rng: Random, rows: int) -> Any:
    """Contiguous query ids as strings or integers."""
    import pyarrow as pa

    numbers = sorted(rng.randrange(4) for _ in range(rows))
    return pa.array(numbers) if rng.random() < 0.3 else pa.array([f"q{i}" for i in numbers])


def table(rng: Random, valid: bool, head: tuple[str, ...] = ("qid", "label")) -> Any:
    """A table with numeric features; an invalid one has a wrong type, a wrong name or no rows."""
    import pyarrow as pa

    rows = rng.randrange(1, 9) if valid or rng.random() < 0.95 else 0
    makers = random_columns(rng, rows)
    columns: list[tuple[str, Any]] = []
    for name in head:
        wrong = not valid and rng.random() < 0.3
        if wrong:
            columns.append((name, makers[rng.choice(list(makers))]()))
        else:
            columns.append((name, query_column(rng, rows) if name == "qid" else makers["int8"]()))
    for j in range(rng.randrange(1, 5)):
        kind = rng.choice(PLAIN if valid or rng.random() < 0.6 else tuple(makers))
        columns.append((f"f{j}", makers[kind]()))
    if not valid and rng.random() < 0.3:
        name = rng.choice(("qid", "label", "f0", "features", "doc_id", "note", "", "é"))
        columns.insert(rng.randrange(len(columns) + 1), (name, makers[rng.choice(list(makers))]()))
    if not valid and rng.random() < 0.15:
        del columns[rng.randrange(len(columns))]
    names, arrays = [name for name, _ in columns], [array for _, array in columns]
    return pa.Table.from_arrays(arrays, names=names)


def _facts(rng: Random) -> dict[str, Any]:
    """Metadata like that of topkit, with wrong values."""
    facts: dict[str, Any] = {"version": 1, "truth": "graded", "feature_names": None}
    for key in facts:
        if rng.random() < 0.4:
            facts[key] = rng.choice(
                (None, 1, True, "x", "top-3", "order", ["a"], ["f0", "f0"], {}, "top-0", 2.0, [1])
            )
    return facts


def parquet_bytes(rows: Any) -> bytes:
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(rows, stream, compression="none")
    return stream.getvalue()


def parquet(folder: Path) -> Prepared:
    """read_parquet of tables of other tools and of topkit, against pyarrow."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from topkit.data import Dataset, read_parquet, write_parquet
    from topkit.data.streaming import stream_dataset

    path = folder / "data.parquet"
    packed = folder / "packed.parquet"
    features = np.arange(12, dtype=np.float32).reshape(4, 3)
    write_parquet(
        Dataset.build(features, [2, 1, 0, 1], ["a", "a", "b", "b"], doc_ids=["d1", "d2", "d3", "d4"]), packed
    )
    own = packed.read_bytes()

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        data = read_parquet(path)
        list(stream_dataset(path))
        if not np.isfinite(data.y).all() or np.isinf(data.X).any():
            raise DifferenceError("an infinite feature or label was read")
        if valid and content != own:
            rows = pq.read_table(io.BytesIO(content))
            names = [name for name in rows.column_names if name not in ("qid", "label")]
            columns = [rows.column(name).to_numpy().astype(np.float32) for name in names]
            if not np.array_equal(np.stack(columns, 1), data.X):
                raise DifferenceError("pyarrow reads other features")
            if [str(qid) for qid in rows.column("qid").to_pylist()] != [
                data.qids[i] for i in data.query_index
            ]:
                raise DifferenceError("pyarrow reads other queries")

    def generate(rng: Random) -> bytes:
        return own if rng.random() < 0.2 else parquet_bytes(table(rng, True))

    def damage(rng: Random, content: bytes) -> bytes:
        try:
            rows = table(rng, False)
            if rng.random() < 0.4:
                facts = (
                    json.dumps(_facts(rng)) if rng.random() < 0.8 else rng.choice(("[]", "x", "1", "\x00"))
                )
                rows = rows.replace_schema_metadata({"topkit": facts})
            return parquet_bytes(rows)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
            return content  # the damage that was drawn has no Arrow form; the input stays as it was

    return Prepared(check, generate, (b"PAR1", b"topkit"), damage)
