"""Click logs from data frames, CSV, TSV, Parquet and the text of result pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.pairs import Pairs
from topkit.compute import Ints, Ints32
from topkit.data import InputError, read_pages
from topkit.data.files import FilePath
from topkit.data.formats import DELIMITERS, format_of, read_table
from topkit.data.frames import DOCUMENT, QUERY, opened_frame

COLUMNS: dict[str, tuple[str, ...]] = {
    "page": ("page", "page_id", "session", "session_id", "serp", "serp_id", "request_id"),
    "query": (*QUERY, "queries"),
    "document": (*DOCUMENT, "url", "item", "item_id"),
    "position": ("position", "pos", "rank"),
    "impressions": ("impressions", "views", "shown"),
    "clicks": ("clicks", "click", "clicked"),
}
"""What a column holds → the names that are recognised; the first that exists is used."""
LARGEST = 2**53
"""Largest count: 64-bit floats, which counts are added up in, hold every integer up to it."""
NEEDED = ("query", "document", "clicks")


def read_clicks(path: FilePath, **columns: str) -> ClickLog:
    """Read a click log: CSV, TSV or Parquet by the file name, else the text of :func:`topkit.read_pages`.

    A table has the columns query, document and clicks, and either

    - **page** (or session): one row per document shown; ``position`` from 1, or the order of the rows; or
    - **impressions** and **position**: one row per query, document and position, with counts.

    Other usual names are recognised; name a column that is not: ``read_clicks(path, document="sku")``. Rows
    may be in any order.
    """
    ending = format_of(path)
    if ending not in (*DELIMITERS, ".parquet"):
        return ClickLog.of_pages(read_pages(path))
    texts = [*COLUMNS["query"], *COLUMNS["document"], *COLUMNS["page"], *columns.values()]
    try:
        return log_of_frame(read_table(path, texts), columns)
    except InputError as error:
        raise InputError(error.problem, error.remedy, file=path) from None


def log_of_frame(frame: Any, columns: Mapping[str, str]) -> ClickLog:
    """See :meth:`topkit.ClickLog.from_frame`."""
    table = opened_frame(frame)
    names = {what: _name(table.columns, what, columns) for what in COLUMNS}
    unknown = [what for what in columns if what not in COLUMNS]
    if unknown:
        raise InputError(f"unknown column {unknown[0]!r}", f"choose from {', '.join(COLUMNS)}")
    pairs, pair = Pairs.of(_ids(table, names["query"]), _ids(table, names["document"]))
    clicks = _integers(table, names["clicks"])
    if names["impressions"]:
        if not names["position"]:
            raise InputError("counts need a column of positions", "add the column 'position'")
        position = _positions(table, names["position"])
        return ClickLog(pairs, pair, position, clicks, None, _integers(table, names["impressions"]))
    if not names["page"]:
        raise InputError(
            "expected a column of pages or of impressions, got " + ", ".join(map(str, table.columns[:12])),
            "add the column 'page' to single impressions, or 'impressions' to counts",
        )
    if ((clicks != 0) & (clicks != 1)).any():
        raise InputError("expected clicks of 0 or 1 on a page", "add the column 'impressions' to counts")
    return _log_of_pages(table, names, pairs, pair, clicks)


def _log_of_pages(table: Any, names: Mapping[str, str], pairs: Pairs, pair: Ints32, clicks: Ints) -> ClickLog:
    encoded = _ids(table, names["page"]).dictionary_encode()
    page = encoded.indices.to_numpy().astype(np.int64)
    position = _positions(table, names["position"]) if names["position"] else None
    order = np.argsort(page, kind="stable") if position is None else np.lexsort((position, page))
    pages, ptr = int(page.max()) + 1, None
    ptr = np.concatenate([[0], np.cumsum(np.bincount(page, minlength=pages))])
    query = pairs.query[pair[order]]
    mixed = np.flatnonzero((np.diff(page[order]) == 0) & (np.diff(query) != 0))
    if len(mixed):
        name = encoded.dictionary[int(page[order][mixed[0]])].as_py()
        raise InputError(f"page {name!r} has documents of two queries", "give each query its own page")
    if position is None:
        position = np.empty(len(page), np.int64)
        position[order] = np.arange(len(page)) - np.repeat(ptr[:-1], np.diff(ptr)) + 1
    repeated = np.flatnonzero((np.diff(page[order]) == 0) & (np.diff(position[order]) == 0))
    if len(repeated):
        name = encoded.dictionary[int(page[order][repeated[0]])].as_py()
        at = int(position[order][repeated[0]])
        raise InputError(f"page {name!r} has two documents at position {at}", "keep one row per position")
    return ClickLog(pairs, pair[order], position[order], clicks[order] == 1, ptr)


def _name(columns: Sequence[str], what: str, chosen: Mapping[str, str]) -> str:
    """The column that holds this; empty if there is none and it is not needed."""
    known = (chosen[what],) if what in chosen else COLUMNS[what]
    present = [name for name in known if name in columns]
    if present:
        return present[0]
    if what in NEEDED or what in chosen:
        raise InputError(
            f"expected a column named {' or '.join(known[:4])}, got {', '.join(map(str, columns[:12]))}",
            f"name it: {what}=…",
        )
    return ""


def _ids(table: Any, name: str) -> Any:
    """A column of ids as an Arrow array."""
    import pyarrow as pa

    array = table[name].to_arrow()
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    array = array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array
    if pa.types.is_nested(array.type) or pa.types.is_float16(array.type):
        raise InputError(f"the column {name!r} has the type {array.type}", "give texts or integers as ids")
    if array.null_count:
        row = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"row {row + 1} of the column {name!r} is missing", "fill the column")
    return array


def _integers(table: Any, name: str) -> Ints:
    try:
        values = table[name].to_numpy().astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the column {name!r} is not a number", "give a column of integers") from None
    wrong = np.flatnonzero(~((values >= 0) & (values <= LARGEST) & (values == np.floor(values))))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"row {row + 1} of the column {name!r}: expected a count, got {values[row]:g}",
            "give integers from 0 to 2^53",
        )
    integers: Ints = values.astype(np.int64)
    return integers


def _positions(table: Any, name: str) -> Ints:
    values = _integers(table, name)
    if values.min() < 1 or values.max() >= 1 << 16:
        raise InputError(
            f"expected positions from 1 to 65535, got {values.min()} to {values.max()}",
            "count positions from 1",
        )
    return values
