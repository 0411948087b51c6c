"""Files as they come: byte-order marks, UTF-16, pipes, bombs, and what Parquet can hold that data cannot."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import topkit as tk
from topkit.data import InputError, Judgments, Run, letor_scan, read_preferences
from topkit.data.blocks import CHUNK_BYTES, MAX_GZIP_RATIO
from topkit.data.files import NUMBER, numbered_lines
from topkit.data.parquet_checks import MAX_TABLE_RATIO
from topkit.data.partitions import plan_partitions
from topkit.data.streaming import stream_dataset

QRELS = "q1 0 d1 2\nq1 0 d2 0\n"
RUN = "q1 Q0 d1 1 0.5 s\nq1 Q0 d2 2 0.25 s\n"
PREFERENCES = "q1 d1 d2 d1\n"
LETOR = "2 qid:q1 1:0.5 # d1\n0 qid:q1 1:0.25 # d2\n"
ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-be-with-mark")


def encoded(text: str, encoding: str) -> bytes:
    if encoding == "utf-16-be-with-mark":
        return b"\xfe\xff" + text.encode("utf-16-be")
    return text.encode(encoding)


# -- encodings and pipes -----------------------------------------------------------------------------------
@pytest.mark.parametrize("compress", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_byte_order_mark_is_not_part_of_the_first_id(tmp_path: Path, encoding: str, compress: bool) -> None:
    def write(text: str) -> Path:
        raw = encoded(text, encoding)
        (tmp_path / "f").write_bytes(gzip.compress(raw) if compress else raw)
        return tmp_path / "f"

    assert tk.read_qrels(write(QRELS)).queries == ("q1",)
    for compiled in (True, False):
        assert tk.read_run(write(RUN), compiled=compiled).qids == ("q1",)
    assert read_preferences(write(PREFERENCES)).queries == ("q1",)
    for features in (True, False):
        assert tk.read_letor(write(LETOR), features=features).y.tolist() == [2, 0]


def test_utf_16_in_many_blocks(tmp_path: Path) -> None:
    text = "".join(f"q{i} 0 dé{i} 1\n" for i in range(200_000))
    (tmp_path / "f").write_bytes(text.encode("utf-16"))
    assert (tmp_path / "f").stat().st_size > CHUNK_BYTES
    grades = tk.read_qrels(tmp_path / "f").grades
    assert (len(grades), grades[199_999].doc) == (200_000, "dé199999")


def test_damaged_utf_16_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xff\xfe" + "q1 0 d1 2\n".encode("utf-16-le") + b"\x00\xd8")
    with pytest.raises(InputError, match="not valid UTF-16"):
        tk.read_qrels(tmp_path / "f")


@pytest.fixture
def piped(tmp_path: Path) -> Iterator[Callable[[bytes], Path]]:
    """Gives a named pipe through which another thread writes these bytes once."""
    threads: list[threading.Thread] = []

    def write(path: Path, content: bytes) -> None:
        with suppress(BrokenPipeError):  # the reader refuses a bomb before it has read all of it
            path.write_bytes(content)

    def start(content: bytes) -> Path:
        path = tmp_path / f"pipe{len(threads)}"
        os.mkfifo(path)
        threads.append(threading.Thread(target=write, args=(path, content), daemon=True))
        threads[-1].start()
        return path

    yield start
    for thread in threads:
        thread.join(10)


@pytest.mark.parametrize("convert", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_inputs_may_be_pipes(piped: Callable[[bytes], Path], convert: Callable[[bytes], bytes]) -> None:
    assert tk.read_qrels(piped(convert(QRELS.encode()))).queries == ("q1",)
    assert tk.read_run(piped(convert(RUN.encode()))).qids == ("q1",)
    many = "".join(f"{i % 3} qid:{i // 7} 1:{i} # d{i}\n" for i in range(100_000))
    data = tk.read_letor(piped(convert(many.encode())))
    assert len(data) == 100_000
    assert data.X[:, 0].tolist() == list(range(100_000))


def test_parquet_through_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="cannot be read from a pipe"):
        tk.read_parquet(tmp_path / "pipe")


def test_a_gzip_bomb_is_refused_file_or_pipe(tmp_path: Path, piped: Callable[[bytes], Path]) -> None:
    bomb = gzip.compress(b"0 qid:1 1:1\n" * 8_000_000)
    assert MAX_GZIP_RATIO * len(bomb) + CHUNK_BYTES < 96_000_000
    (tmp_path / "bomb.gz").write_bytes(bomb)
    for path in (tmp_path / "bomb.gz", piped(bomb)):
        with pytest.raises(InputError, match=f"more than {MAX_GZIP_RATIO} times its size"):
            for _ in numbered_lines(path):
                pass


# -- values from dictionaries ------------------------------------------------------------------------------
def test_a_run_of_nested_dictionaries() -> None:
    run = Run.of({"q1": {"doc2": 1.5, "doc1": float(np.float32(0.5))}, "q2": {}})
    assert run["q1"] == [("doc2", 1.5), ("doc1", 0.5)]
    assert run["q2"] == []
    assert run == Run.of({"q1": [("doc2", 1.5), ("doc1", 0.5)], "q2": []})


@pytest.mark.parametrize(
    "results",
    [{"q": ["d1", "d2"]}, {"q": "d1"}, {"q": [("d1", "high")]}, {"q": 3}, {"q": [("a", 1, 2)]}, [1]],
)
def test_other_shapes_are_not_runs(results: Any) -> None:
    with pytest.raises(InputError, match="expected"):
        Run.of(results)


def test_judgments_of_nested_dictionaries() -> None:
    table: Any = {"q1": {"d1": 2, "d2": 0.5}, "q2": {"d1": 1}}
    for judgments in (Judgments(table), Judgments.of(table), Judgments(grades=table)):
        assert judgments.grades_by_query() == table
        assert judgments.queries == ("q1", "q2")
    run = Run.of({"q1": {"d1": 1.0, "d2": 2.0}, "q2": {"d1": 1.0}})
    # q1: the relevant d1 is second, q2: first; (1/2 + 1)/2, where grades below 1 are not relevant
    assert tk.evaluate_run(Judgments(table), run, ["rr"], convention="trec").mean["rr"] == 0.75


@pytest.mark.parametrize("table", [{"q": 1}, {"q": ["d"]}, {"q": {"d": "x"}}, {"q": {"d": float("nan")}}])
def test_other_dictionaries_are_not_judgments(table: Any) -> None:
    with pytest.raises(InputError, match="expected"):
        Judgments(table)


# -- LETOR: rising and huge feature indices ----------------------------------------------------------------
def test_rising_feature_indices_widen_the_matrix_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    widths = []
    widen = letor_scan.LetorScan._widen

    def counted(self: letor_scan.LetorScan, features: int) -> None:
        widths.append(features)
        widen(self, features)

    monkeypatch.setattr(letor_scan.LetorScan, "_widen", counted)
    (tmp_path / "f").write_text("".join(f"0 qid:1 {i}:{i}\n" for i in range(1, 4001)))
    data = tk.read_letor(tmp_path / "f")
    np.testing.assert_array_equal(data.X, np.diag(np.arange(1, 4001)).astype(np.float32))
    assert widths == [1, 4000]


def test_indices_in_comments_and_query_ids_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("0 qid:1 1:1\n0 qid:99:5 2:7 # docid = 88:1 77:1\n")
    assert tk.read_letor(tmp_path / "f").X.tolist() == [[1, 0], [0, 7]]


@pytest.mark.parametrize("index", ["100001", "1000000000", "9" * 25])
def test_a_huge_feature_index_is_an_error_with_its_line(tmp_path: Path, index: str) -> None:
    (tmp_path / "f").write_text(f"0 qid:1 1:1\n0 qid:1 2:1\n1 qid:1 {index}:1\n")
    with pytest.raises(InputError, match=f"feature index {index} is above the limit of 100000") as caught:
        tk.read_letor(tmp_path / "f")
    assert caught.value.line == 3


# -- Parquet -----------------------------------------------------------------------------------------------
BASE: dict[str, Any] = {"qid": ["1", "1", "2"], "label": [1.0, 0.0, 2.0], "f": [0.5, 0.25, 0.125]}


def table(folder: Path, metadata: Any = None, **columns: Any) -> Path:
    """Write a table with these columns, changed or added."""
    content = pa.table({**BASE, **columns})
    if metadata is not None:
        content = content.replace_schema_metadata({"topkit": metadata})
    pq.write_table(content, folder / "t.parquet")
    return folder / "t.parquet"


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"label": ["a", "b", "c"]}, "the column 'label' has the type string"),
        ({"label": [[1], [0], [2]]}, "the column 'label' has the type list"),
        ({"qid": [["1"], ["1"], ["2"]]}, "the column 'qid' has the type list"),
        ({"doc_id": [{"a": 1}] * 3}, "the column 'doc_id' has the type struct"),
        ({"label": [1.0, float("inf"), 0.0]}, "the label inf in row 2"),
        ({"label": [1.0, 0.0, 1e39]}, r"the label 1e\+39 in row 3"),
        ({"label": [1.0, None, 0.0]}, "the label in row 2 is missing"),
        ({"qid": ["1", "1", None]}, "the qid in row 3 is missing"),
        ({"f": [0.5, float("-inf"), 0.0]}, "the value -inf of 'f' in row 2"),
        ({"f": [0.5, 0.0, 1e39]}, r"the value 1e\+39 of 'f' in row 3"),
    ],
)
def test_tables_that_are_no_data_set_are_named(tmp_path: Path, columns: dict[str, Any], words: str) -> None:
    path = table(tmp_path, **columns)
    with pytest.raises(InputError, match=words):
        tk.read_parquet(path)
    with pytest.raises(InputError, match=words):
        list(stream_dataset(path, rows=2))


def test_a_missing_value_of_a_feature_is_nan(tmp_path: Path) -> None:
    X = tk.read_parquet(table(tmp_path, f=[0.5, None, 1.0], g=pa.array([1, None, 3]))).X
    np.testing.assert_array_equal(X, [[0.5, 1], [np.nan, np.nan], [1, 3]])


@pytest.mark.parametrize("name", ["qid", "label", "f"])
def test_duplicate_columns_are_named(tmp_path: Path, name: str) -> None:
    names, columns = [*BASE, name], [*BASE.values(), BASE[name]]
    pq.write_table(pa.Table.from_arrays([pa.array(c) for c in columns], names=names), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=f"two columns have the name '{name}'"):
        tk.read_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=f"two columns have the name '{name}'"):
        plan_partitions(tmp_path / "t.parquet", 2)


GOOD = {"version": 1, "truth": "graded", "feature_names": None}


@pytest.mark.parametrize(
    "metadata",
    [
        "{",
        "[]",
        "\udcff",
        "[" * 100_000,
        json.dumps({**GOOD, "truth": 3}),
        json.dumps({**GOOD, "truth": "top-x"}),
        json.dumps({**GOOD, "feature_names": 3}),
        json.dumps({**GOOD, "feature_names": ["a"]}),
        json.dumps({**GOOD, "version": True}),
        json.dumps({**GOOD, "version": 1}).replace("1", "1" * 5000),
    ],
)
def test_bad_metadata_is_an_input_error(tmp_path: Path, metadata: str) -> None:
    packed = pa.array([np.array([1, 2], np.float32).tobytes()] * 3, pa.binary(8))
    path = table(tmp_path, metadata.encode("utf-8", "surrogateescape"), features=packed)
    for read in (tk.read_parquet, lambda path: list(stream_dataset(path))):
        with pytest.raises(InputError, match="metadata"):
            read(path)


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (pa.array([b"12345678", None, b"12345678"], pa.binary(8)), "the features of row 2 are missing"),
        (pa.array([b"123456"] * 3, pa.binary(6)), "fixed_size_binary"),
        (pa.array([b"1", b"2", b"3"]), "binary"),
        (pa.array([1, 2, 3]), "int64"),
        (
            pa.array([np.array([1, np.inf], np.float32).tobytes()] * 3, pa.binary(8)),
            "the value inf of '2' in row 1",
        ),
    ],
)
def test_bad_packed_features_are_named(tmp_path: Path, features: pa.Array, words: str) -> None:
    path = table(tmp_path, json.dumps(GOOD), features=features)
    for read in (tk.read_parquet, lambda path: list(stream_dataset(path, rows=2))):
        with pytest.raises(InputError, match=words):
            read(path)


def test_a_parquet_bomb_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    rows = 2_000_000
    zeros = pa.array(np.zeros(rows, np.int8))
    bomb = {f"f{j}": zeros for j in range(40)} | {"qid": zeros, "label": zeros}
    pq.write_table(pa.table(bomb), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=f"more than {MAX_TABLE_RATIO} times the size of the file"):
        tk.read_parquet(tmp_path / "t.parquet")


def test_a_long_text_that_a_dictionary_repeats_is_refused(tmp_path: Path) -> None:
    rows = 3_000
    indices = pa.array(np.zeros(rows, np.int32))
    texts = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * 1_000_000]))
    content = pa.table({"qid": pa.array(["1"] * rows), "label": pa.array([1.0] * rows), "doc_id": texts})
    pq.write_table(content, tmp_path / "t.parquet")
    with pytest.raises(InputError, match=f"more than {MAX_TABLE_RATIO} times the size of the file"):
        tk.read_parquet(tmp_path / "t.parquet")


def test_a_long_row_of_digits_is_checked_in_linear_time() -> None:
    """With two adjacent repetitions of digits the pattern would take hours here."""
    assert NUMBER.fullmatch(b"1" * 1_000_000 + b"x") is None
    assert all(NUMBER.fullmatch(text) for text in (b"1", b"1.", b".5", b"+1.5e-3", b"-0E7"))
