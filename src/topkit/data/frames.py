"""Data frames of any library (pandas, polars, Arrow tables) to values of topkit.

narwhals reads the frames, so no frame library is a dependency. Rows may be in any order: they are
grouped by query, in the order in which the queries first occur, and keep their order within a query.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.compute import require, thread_map
from topkit.data.dataset import Dataset
from topkit.data.errors import InputError
from topkit.data.frames_out import BACKENDS
from topkit.data.groups import Groups
from topkit.data.judgments import GradeTable, Judgments
from topkit.data.preference_columns import is_preference_table, preferences_of_rows
from topkit.data.run import Run
from topkit.data.strings import Strings
from topkit.data.truth import Truth

BLOCK_ROWS = 4096
"""Rows that are transposed at once: large enough for NumPy, small enough to stay near the caches."""
QUERY = ("qid", "q_id", "query_id", "query-id", "query", "topic")
DOCUMENT = ("docno", "doc_id", "docid", "doc", "document", "document_id", "corpus-id")
SCORE = ("score", "scores")
GRADE = ("label", "relevance", "rel", "grade", "score")
"""Names of columns in PyTerrier, ranx, ir_measures, BEIR and topkit; the first that exists is used."""


def is_frame(value: object) -> bool:
    """Whether a value is a data frame or an Arrow table."""
    names = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__", "__narwhals_dataframe__")
    return (
        _is_hugging_face(value)
        or any(hasattr(type(value), name) for name in names)
        or hasattr(value, "collect_schema")
    )


def _is_hugging_face(value: object) -> bool:
    """Whether a value is a Dataset of Hugging Face's ``datasets``, which has no interface of frames."""
    return type(value).__module__.partition(".")[0] == "datasets" and hasattr(value, "with_format")


def opened_frame(frame: Any) -> Any:
    """The frame as a narwhals data frame; any object with Arrow's PyCapsule interface is accepted."""
    nw = require("narwhals", "frames")
    if _is_hugging_face(frame) and hasattr(frame, "__getitem__") and hasattr(frame, "column_names"):
        frame = frame.with_format("arrow")[:]  # an Arrow table of the rows that were selected or shuffled
    try:
        opened = nw.from_native(frame, allow_series=False, pass_through=True)
        if not isinstance(opened, (nw.DataFrame, nw.LazyFrame)):
            import pyarrow as pa

            opened = nw.from_native(pa.table(frame))
        opened = opened.collect() if isinstance(opened, nw.LazyFrame) else opened
        columns = opened.columns
    except (TypeError, ValueError, nw.exceptions.NarwhalsError) as error:
        raise InputError(
            f"expected a data frame, got {type(frame).__name__} ({error})",
            "give a pandas or polars data frame or an Arrow table with different column names",
        ) from None
    if not columns or len(opened) == 0:
        raise InputError("the frame has no rows", "give at least one document")
    return opened


class Columns(NamedTuple):
    """The names of the columns of a data set; see :meth:`topkit.Dataset.from_frame`."""

    qid: str
    label: str | None
    doc_id: str | None
    features: Sequence[str] | None


def dataset_from_frame(frame: Any, columns: Columns, truth: Truth | str) -> Dataset:
    """See :meth:`topkit.Dataset.from_frame`."""
    qid, label, doc_id, features = columns
    table = opened_frame(frame)
    document = doc_id or ("doc_id" if "doc_id" in table.columns else None)
    note = "note" if "note" in table.columns and _is_text(table["note"]) else None
    others = [name for name in (qid, label, document, note) if name is not None]
    _check_columns(table, others[:2] if doc_id is None else others[:3])
    names = [name for name in table.columns if name not in others] if features is None else list(features)
    _check_columns(table, names)
    _check_numbers(table, names)
    groups = Groups.of(_ids(table[qid], qid))
    labels = np.zeros(len(table), np.float32) if label is None else _labels(table[label], label)
    X = _matrix([_numbers(table[name]) for name in names], len(table), groups.places)
    return Dataset(
        X,
        groups.sorted(labels),
        groups.ptr,
        groups.qids,
        None if document is None else _texts(table[document], document, groups),
        tuple(map(str, names)),
        Truth.parse(truth) if isinstance(truth, str) else truth,
        None if note is None else _texts(table[note].fill_null(""), note, groups),
        _backend_of(table),
    )


def run_from_frame(
    frame: Any, qid: str | None = None, doc_id: str | None = None, score: str | None = None, name: str = "run"
) -> Run:
    """See :meth:`topkit.Run.from_frame`."""
    table = opened_frame(frame)
    query, document = _named(table, qid, QUERY, "qid"), _named(table, doc_id, DOCUMENT, "doc_id")
    if score is None and "rank" in table.columns and not any(column in table.columns for column in SCORE):
        scores = -_labels(table["rank"], "rank", np.float64)
    else:
        column = _named(table, score, SCORE, "score")
        scores = _labels(table[column], column, np.float64)
    groups = Groups.of(_ids(table[query], query))
    docs = _texts(table[document], document, groups)
    _check_repeats(groups, docs)
    return Run(groups.qids, groups.ptr, docs, groups.sorted(scores), name, _backend_of(table))


def judgments_from_frame(
    frame: Any, qid: str | None = None, doc_id: str | None = None, label: str | None = None
) -> Judgments:
    """See :meth:`topkit.Judgments.from_frame`."""
    table = opened_frame(frame)
    columns = ["query" if name == qid else str(name) for name in table.columns]
    if label is None and is_preference_table(columns):
        rows = zip(*(table[name].to_list() for name in table.columns), strict=True)
        return Judgments(preferences=tuple(preferences_of_rows(columns, rows)))
    query = _named(table, qid, QUERY, "qid")
    document, column = _named(table, doc_id, DOCUMENT, "doc_id"), _named(table, label, GRADE, "label")
    grades = _labels(table[column], column, np.float64)
    groups = Groups.of(_ids(table[query], query))
    docs = _texts(table[document], document, groups)
    _check_repeats(groups, docs)
    queries = [groups.qids[q] for q in np.repeat(np.arange(len(groups.qids)), np.diff(groups.ptr)).tolist()]
    return Judgments(GradeTable(queries, docs.tolist(), groups.sorted(grades).tolist()))


def _check_columns(table: Any, names: Iterable[str]) -> None:
    missing = [name for name in names if name not in table.columns]
    if missing:
        from topkit.data.words import suggestion

        hint = suggestion(missing[0], table.columns, f"it has {', '.join(map(str, table.columns[:12]))}")
        raise InputError(f"the frame has no column {missing[0]!r}", hint)


def _named(table: Any, chosen: str | None, known: Sequence[str], parameter: str) -> str:
    """The chosen column, or the first of the known names that the frame has."""
    if chosen is not None:
        _check_columns(table, [chosen])
        return chosen
    names = [name for name in known if name in table.columns]
    if not names:
        raise InputError(
            f"expected a column named {' or '.join(known)}, got {', '.join(map(str, table.columns[:12]))}",
            f"name it: {parameter}=…",
        )
    return names[0]


def _check_numbers(table: Any, names: Iterable[str]) -> None:
    nw = require("narwhals", "frames")
    kinds = {name: table[name].dtype for name in names}
    wrong = {name: kind for name, kind in kinds.items() if not (kind.is_numeric() or kind == nw.Boolean)}
    if wrong:
        listed = ", ".join(f"{name!r} ({kind})" for name, kind in wrong.items())
        verb = "the column is not a number: " if len(wrong) == 1 else "these columns are not numbers: "
        raise InputError(verb + listed, "encode them as numbers, or name the feature columns: features=[…]")


def _is_text(series: Any) -> bool:
    nw = require("narwhals", "frames")
    return bool(series.dtype in (nw.String, nw.Object, nw.Categorical))


def _numbers(series: Any) -> NDArray[Any]:
    """A numeric column as an array, NaN for missing values; not copied if it is a column of floats."""
    nw = require("narwhals", "frames")
    if series.dtype not in (nw.Float32, nw.Float64):
        series = series.cast(nw.Float64)
    array: NDArray[Any] = series.to_numpy()
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def _labels(series: Any, name: str, dtype: type[np.floating[Any]] = np.float32) -> NDArray[Any]:
    nw = require("narwhals", "frames")
    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        raise InputError(f"the column {name!r} is not a number ({series.dtype})", "give a column of numbers")
    values = _numbers(series)
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise InputError(f"row {row + 1} of the column {name!r} is missing or not finite", "fill the column")
    return values.astype(dtype)


def _ids(series: Any, name: str) -> Any:
    """A column of ids as an Arrow array; a missing id is an error."""
    import pyarrow as pa

    array = series.to_arrow()
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if array.null_count:
        row = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"row {row + 1} of the column {name!r} is missing", "fill the column")
    return array


def _texts(series: Any, name: str, groups: Groups) -> Strings:
    from topkit.data.parquet import to_strings

    array = _ids(series, name)
    texts = Strings.of(array.to_pylist()) if array.type in _floats() else to_strings(array)
    return texts if groups.order is None else texts.take(groups.order)


def _floats() -> tuple[Any, ...]:
    """Types whose text differs between Arrow and Python: 7.0 is '7' in Arrow."""
    import pyarrow as pa

    return (pa.float16(), pa.float32(), pa.float64())


def _check_repeats(groups: Groups, docs: Strings) -> None:
    names = docs.tolist()
    for q, query in enumerate(groups.qids):
        documents = names[groups.ptr[q] : groups.ptr[q + 1]]
        if len(set(documents)) < len(documents):
            repeated = next(doc for doc in documents if documents.count(doc) > 1)
            raise InputError(
                f"document {repeated!r} occurs twice for query {query!r}",
                "keep one row per query and document",
            )


def _matrix(columns: list[NDArray[Any]], rows: int, places: NDArray[np.int64] | None) -> NDArray[np.float32]:
    """The columns as one matrix in C order, row i at ``places[i]``; on threads.

    Blocks of rows are transposed within the cache, and each row is then written once, to its place.
    """
    X = np.empty((rows, len(columns)), np.float32)

    def fill(start: int) -> None:
        block = X[start : start + BLOCK_ROWS]
        if places is not None:
            block = np.empty_like(block)
        with np.errstate(over="raise"):
            for j, column in enumerate(columns):
                block[:, j] = column[start : start + BLOCK_ROWS]
        if places is not None:
            X[places[start : start + BLOCK_ROWS]] = block

    try:
        thread_map(fill, range(0, rows, BLOCK_ROWS))
    except FloatingPointError:
        raise InputError("X has values that are too large for float32") from None
    return X


def _backend_of(table: Any) -> str:
    name = str(table.implementation.value)
    return name if name in BACKENDS else ""
