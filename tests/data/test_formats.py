"""Data set files by name, and CSV, TSV, JSON Lines and SVMlight in particular."""

from __future__ import annotations

import gzip
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import topkit as tk
from topkit import Dataset, InputError
from topkit.cli import command_line
from topkit.data.formats import read_dataset, write_dataset

DATA = Dataset.build(
    [[0.1, np.nan, 3.0], [1e-7, 2.0, 0.0], [0.0, 0.5, 1e10]],
    [2, 0, 1],
    ["007", "007", "12"],
    doc_ids=["a,1", 'b"2', "ç"],
    feature_names=["bm25", "a,b", "x"],
)
TABLES = ["a.csv", "a.tsv", "a.csv.gz", "a.jsonl", "a.jsonl.gz"]
TEXTS = ["a.txt", "a.svm", "a.svmlight.gz"]


@pytest.mark.parametrize("name", [*TABLES, "a.parquet"])
def test_tables_keep_values_ids_and_feature_names(tmp_path: Path, name: str) -> None:
    write_dataset(DATA, tmp_path / name)
    assert read_dataset(tmp_path / name) == DATA


@pytest.mark.parametrize(
    ("source", "target"),
    list(product([*TABLES[2:4], "a.txt", "a.svm"], ["b.txt", "b.svm.gz", "b.tsv", "b.parquet"])),
)
def test_every_format_converts_to_every_other(tmp_path: Path, source: str, target: str) -> None:
    plain = Dataset.build(DATA.X, DATA.y, ["1", "1", "2"], doc_ids=["a", "b", "c"])
    write_dataset(plain, tmp_path / source)
    end = tmp_path / f"to-{target}"
    result = CliRunner().invoke(command_line(["data"]), ["data", "convert", str(tmp_path / source), str(end)])
    assert result.exit_code == 0, result.output
    data = read_dataset(end)
    np.testing.assert_array_equal(data.X, plain.X)
    assert data.qids == plain.qids
    assert data.y.tolist() == plain.y.tolist()
    assert data.doc_ids == plain.doc_ids


def test_svmlight_is_read_by_scikit_learn(tmp_path: Path) -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    plain = Dataset.build(DATA.X, DATA.y, ["1", "1", "2"])
    write_dataset(plain, tmp_path / "a.svm")
    X, y, qid = datasets.load_svmlight_file(str(tmp_path / "a.svm"), query_id=True)
    np.testing.assert_array_equal(X.toarray().astype(np.float32), plain.X)
    assert y.tolist() == [2, 0, 1]
    assert qid.tolist() == [1, 1, 2]
    assert "3:0" not in (tmp_path / "a.svm").read_text()


def test_csv_is_what_pandas_reads(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    write_dataset(DATA, tmp_path / "a.csv")
    frame = pd.read_csv(tmp_path / "a.csv", dtype={"qid": str})
    assert Dataset.from_frame(frame) == DATA


def test_columns_can_have_any_name_and_rows_any_order(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"query,url,grade,f,g\n02,x,1,0.5,\n01,y,0,1,2\n02,z,2,3,4\n"))
    data = tk.read_csv(path, qid="query", label="grade", doc_id="url")
    assert data.qids == ("02", "01")
    assert data.doc_ids is not None
    assert data.doc_ids.tolist() == ["x", "z", "y"]
    np.testing.assert_array_equal(data.X, np.array([[0.5, np.nan], [3, 4], [1, 2]], np.float32))
    assert tk.read_csv(path, qid="query", label="grade", features=["g"]).feature_names == ("g",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("qid,label,x\n1,0\n", r"a\.csv: the table cannot be read \(.*Expected 3 columns, got 2"),
        ("query,label,x\n1,0,2\n", r"a\.csv: the frame has no column 'qid'"),
        ("qid,label,x\n1,0,red\n", r"a\.csv: the column is not a number: 'x'"),
        ("qid,label,x\n", r"a\.csv: the frame has no rows"),
        ("", r"a\.csv: the table cannot be read"),
    ],
)
def test_invalid_tables_are_errors_with_the_file(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        tk.read_csv(tmp_path / "a.csv")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        tk.read_csv(tmp_path / "none.csv")
    with pytest.raises(InputError, match="no such file"):
        read_dataset(tmp_path / "none.jsonl")
