"""LightGBM's data files: rows without query ids, and the sizes of the queries in a file beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from os import fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.data.arrays import read_only
from topkit.data.blocks import FilePath, text_stream
from topkit.data.dataset import Dataset
from topkit.data.errors import InputError
from topkit.data.files import line_chunks, numbered_lines, shown
from topkit.data.letor import dataset_of_rows, write_letor
from topkit.data.letor_scan import LetorScan, text_size
from topkit.data.looks import look_of
from topkit.data.truth import Truth
from topkit.data.writers import text_writer

ENDINGS = (".query", ".group")
"""Ends of the name of the file with the sizes: LightGBM looks for ``train.txt.query``."""
FORM = "write the number of documents of each query, one per line"
_ZERO = re.compile(rb"[ \t]0:")
_INDEX = re.compile(rb"(?<=[ \t])(\d+):")


def read_lightgbm(path: FilePath, group: FilePath | None = None, *, truth: Truth | str = "graded") -> Dataset:
    """Read a data file of LightGBM and its group file: the number of documents of each query, one per line.

    The rows are SVMlight text without query ids, or CSV or TSV with the label in the first column (a header
    is recognised). Features of SVMlight text may count from 0 or from 1. ``group`` is by default the file
    beside it that ends in ``.query`` or ``.group``. The queries are named 1, 2, 3, …
    """
    sizes = _sizes(_group_file(path) if group is None else group)
    data = _svmlight(path, sizes) if look_of(path) == "svmlight" else _table(path, sizes)
    kind = Truth.parse(truth) if isinstance(truth, str) else truth
    return data if kind == data.truth else data.with_labels(data.y, kind)


def write_lightgbm(data: Dataset, path: FilePath) -> None:
    """Write SVMlight text without query ids, and the sizes of the queries into ``path``.query."""
    write_letor(data, path, sparse=True, queries=False)
    with text_writer(f"{fspath(path)}{ENDINGS[0]}") as stream:
        stream.writelines(f"{size}\n" for size in data.lengths.tolist())


def has_group_file(path: FilePath) -> bool:
    """Whether rows without query ids have a group file beside them."""
    return (
        any(Path(f"{fspath(path)}{ending}").is_file() for ending in ENDINGS) and look_of(path) == "svmlight"
    )


def _group_file(path: FilePath) -> str:
    names = [f"{fspath(path)}{ending}" for ending in ENDINGS]
    for name in names:
        if Path(name).is_file():
            return name
    raise InputError(f"expected {names[0]} beside it", "give the group file: group=…", file=path)


def _sizes(path: FilePath) -> NDArray[np.int64]:
    sizes = []
    for line, text in numbered_lines(path):
        word = text.strip()
        if word and (not word.isdigit() or len(word) > 18 or int(word) == 0):
            raise InputError(f"invalid number of documents {shown(word)!r}", FORM, file=path, line=line)
        sizes += [int(word)] if word else []
    if not sizes:
        raise InputError("the group file is empty", FORM, file=path)
    return np.array(sizes, np.int64)


def _check_rows(rows: int, sizes: NDArray[np.int64], path: FilePath) -> None:
    if rows != sizes.sum():
        problem = f"the file has {rows} documents, the group file {sizes.sum()}"
        raise InputError(problem, "give the group file of this data", file=path)


def _svmlight(path: FilePath, sizes: NDArray[np.int64]) -> Dataset:
    from_zero = any(_ZERO.search(chunk) for chunk, _ in line_chunks(path))
    query_of_row = iter(np.repeat(np.arange(1, len(sizes) + 1), sizes).tolist())
    with closing(LetorScan(path, text_size(path))) as scan:
        for chunk, line in line_chunks(path):
            scan.add(b"".join(_with_queries(chunk, query_of_row, from_zero)), line)
        rows = scan.finish()
    _check_rows(len(rows.y), sizes, path)
    return dataset_of_rows(rows)


def _with_queries(chunk: bytes, query_of_row: Iterator[int], from_zero: bool) -> Iterator[bytes]:
    """The lines with ``qid:N`` after the label; a line beyond the last query gets query 0."""
    for text in chunk.split(b"\n")[:-1]:
        label, _, rest = text.strip().partition(b" ")
        if not label or label.startswith(b"#"):
            yield b"\n"
            continue
        if from_zero:
            rest = _INDEX.sub(lambda match: b"%d:" % (int(match[1]) + 1), b" " + rest)
        yield b"%b qid:%d %b\n" % (label, next(query_of_row, 0), rest)


def _table(path: FilePath, sizes: NDArray[np.int64]) -> Dataset:
    from pyarrow import ArrowInvalid
    from pyarrow import csv as arrow_csv

    first = next((text for _, text in numbered_lines(path) if text.strip()), b"")
    separator = max("\t, ", key=first.decode("utf-8", "replace").count)
    header = not _is_number(first.decode("utf-8", "replace").split(separator)[0])
    with text_stream(path) as stream:
        try:
            table = arrow_csv.read_csv(
                stream,
                read_options=arrow_csv.ReadOptions(autogenerate_column_names=not header),
                parse_options=arrow_csv.ParseOptions(delimiter=separator),
            )
        except ArrowInvalid as error:
            problem = f"the table cannot be read ({error})"
            raise InputError(problem, "the first column is the label", file=path) from None
    _check_rows(table.num_rows, sizes, path)
    columns = [_numbers(table, name, path) for name in table.column_names]
    names = tuple(table.column_names[1:]) if header else None
    X = np.ascontiguousarray(np.stack(columns[1:], axis=1)) if columns[1:] else np.zeros((len(columns[0]), 0))
    qids = tuple(str(q) for q in range(1, len(sizes) + 1))
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    return Dataset(read_only(X, np.float32, "X"), columns[0], ptr, qids, feature_names=names)


def _numbers(table: Any, name: str, path: FilePath) -> NDArray[Any]:
    import pyarrow as pa

    try:
        array: NDArray[Any] = table[name].cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        problem = f"the column {name!r} is not a number"
        raise InputError(problem, "give numbers, with the label in the first column", file=path) from None
    return array


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
