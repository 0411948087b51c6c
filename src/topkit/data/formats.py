"""Data set files by name: LETOR and SVMlight text, CSV, TSV, JSON Lines and Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from topkit.data.blocks import FilePath, text_stream
from topkit.data.compression import without_compression
from topkit.data.dataset import Dataset
from topkit.data.errors import InputError
from topkit.data.letor import read_letor, write_letor
from topkit.data.lightgbm_files import has_group_file, read_lightgbm
from topkit.data.parquet import opened_parquet, read_parquet, write_parquet
from topkit.data.truth import Truth
from topkit.data.writers import text_writer

DELIMITERS = {".csv": ",", ".tsv": "\t"}


def read_csv(
    path: FilePath,
    *,
    qid: str = "qid",
    label: str | None = "label",
    doc_id: str | None = None,
    features: Sequence[str] | None = None,
    truth: Truth | str = "graded",
    delimiter: str | None = None,
) -> Dataset:
    """Read a CSV or TSV file with a header (compressed too); the parameters are those of ``from_frame``.

    The delimiter is a tab for ``.tsv`` and ``.tsv.gz``, else a comma. Ids are read as text, so ``007`` stays
    ``007``. An empty field is a missing value (NaN). Rows may be in any order.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if delimiter is None:
        delimiter = DELIMITERS.get(format_of(path), ",")
    types = {name: pa.string() for name in (qid, doc_id or "doc_id", "note")}
    table = _arrow_table(
        path,
        lambda source: arrow_csv.read_csv(
            source,
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter),
            convert_options=arrow_csv.ConvertOptions(column_types=types),
        ),
    )
    return _dataset(table, path, qid=qid, label=label, doc_id=doc_id, features=features, truth=truth)


def write_csv(data: Dataset, path: FilePath) -> None:
    """Write a table with a header (TSV if the name says so, ``.gz`` compresses); NaN is an empty field."""
    from topkit.data.frames_out import dataset_columns

    columns = dataset_columns(data)
    with text_writer(path) as stream:
        writer = csv.writer(stream, delimiter=DELIMITERS.get(format_of(path), ","), lineterminator="\n")
        writer.writerow(columns)
        texts = [_texts(column) if isinstance(column, np.ndarray) else column for column in columns.values()]
        writer.writerows(zip(*texts, strict=True))


def read_jsonl(path: FilePath, *, truth: Truth | str = "graded") -> Dataset:
    """Read JSON Lines (compressed too): one object per document with ``qid``, ``label`` and its features."""
    from pyarrow import json as arrow_json

    return _dataset(_arrow_table(path, arrow_json.read_json), path, truth=truth)


def write_jsonl(data: Dataset, path: FilePath) -> None:
    """Write one JSON object per document; NaN becomes null."""
    from topkit.data.frames_out import dataset_columns

    columns = {
        name: column if isinstance(column, list) else [_shortest(text) for text in _texts(column)]
        for name, column in dataset_columns(data).items()
    }
    with text_writer(path) as stream:
        for row in zip(*columns.values(), strict=True):
            stream.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n")


def write_svmlight(data: Dataset, path: FilePath) -> None:
    """Write SVMlight text: zeros are left out and a missing value is ``nan``."""
    write_letor(data, path, sparse=True)


Writer = Callable[[Dataset, FilePath], None]

WRITERS: dict[str, Writer] = {
    ".parquet": write_parquet,
    ".csv": write_csv,
    ".tsv": write_csv,
    ".jsonl": write_jsonl,
    ".ndjson": write_jsonl,
    ".svm": write_svmlight,
    ".svmlight": write_svmlight,
    ".libsvm": write_svmlight,
}
"""Ending of a file name → its writer; any other name is LETOR text."""


def format_of(path: FilePath) -> str:
    """The ending of a file name that says its format, without ``.gz``, ``.bz2``, ``.xz`` or ``.zst``.

    >>> format_of("train.CSV.gz")
    '.csv'
    """
    return Path(without_compression(path).lower()).suffix


def read_dataset(path: FilePath, *, regroup: bool = False, truth: Truth | str = "graded") -> Dataset:
    """Read a data set in the format of its file name; tables have the columns ``qid`` and ``label``.

    ``regroup`` is for LETOR text, which otherwise must have the rows of each query together; Parquet files
    of topkit know their kind of truth. Text without query ids is read with LightGBM's group file beside it.
    """
    ending = format_of(path)
    if ending == ".parquet":
        return read_parquet(path)
    if ending in DELIMITERS:
        return read_csv(path, truth=truth)
    if ending in (".jsonl", ".ndjson"):
        return read_jsonl(path, truth=truth)
    if has_group_file(path):
        return read_lightgbm(path, truth=truth)
    return read_letor(path, regroup=regroup, truth=truth)


def write_dataset(data: Dataset, path: FilePath) -> None:
    """Write a data set in the format of the file name; ``.gz`` compresses text."""
    WRITERS.get(format_of(path), write_letor)(data, path)


def read_table(path: FilePath, texts: Sequence[str] = ()) -> Any:
    """The Arrow table of a CSV, TSV or Parquet file; the columns named in ``texts`` are read as text."""
    if format_of(path) == ".parquet":
        with opened_parquet(path) as file:
            return file.read()
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    delimiter = arrow_csv.ParseOptions(delimiter=DELIMITERS.get(format_of(path), ","))
    types = arrow_csv.ConvertOptions(column_types={name: pa.string() for name in texts})
    return _arrow_table(path, lambda source: arrow_csv.read_csv(source, None, delimiter, types))


def _arrow_table(path: FilePath, read: Callable[[Any], Any]) -> Any:
    import pyarrow as pa

    try:
        with text_stream(path) as stream:
            table = read(stream)
        _ = table.column_names  # a name that is not UTF-8 is an error only when it is asked for
        return table
    except UnicodeDecodeError:
        raise InputError("a column name is not UTF-8", "save the file as UTF-8", file=path) from None
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        problem = f"the table cannot be read ({error})"
        raise InputError(problem, "fix the line and re-run", file=path) from None


def _dataset(table: Any, path: FilePath, **options: Any) -> Dataset:
    """The data set of a table; an error names the file."""
    from dataclasses import replace

    try:
        return replace(Dataset.from_frame(table, **options), frame_backend="")
    except InputError as error:
        raise InputError(error.problem, error.remedy, file=path) from None


def _texts(values: Any) -> list[str]:
    """The shortest text of each number that reads back to it; empty for NaN."""
    from topkit.data.letor import shortest_texts

    return ["" if text == "nan" else text.removesuffix(".0") for text in shortest_texts(values)]


def _shortest(text: str) -> float | int | None:
    """The JSON number of a text; float32 values keep their few digits."""
    if not text:
        return None
    return int(text) if text.lstrip("-").isdigit() else float(text)
