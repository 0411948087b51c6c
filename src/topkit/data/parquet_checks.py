"""What a Parquet file must be before it is read as a data set: columns, types, metadata and size."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topkit.data.blocks import FilePath, file_size
from topkit.data.errors import InputError
from topkit.data.truth import Truth

TEXT_COLUMNS = ("qid", "label", "doc_id", "note")
"""The columns that are not features; in a table of another tool they have the same meaning."""
VERSION = 1
"""The version of the layout; a reader refuses any other."""
MAX_TABLE_RATIO, SMALL_TABLE = 200, 1 << 28
"""A table above this size that is so many times larger than its file is refused before it is decoded."""


class Facts(NamedTuple):
    """What topkit wrote into the metadata of the schema."""

    truth: Truth
    feature_names: list[str] | None


def check_schema(schema: Any, path: FilePath) -> None:
    """Raise unless the columns have different names, and the text columns types that can be read."""
    import pyarrow as pa

    repeated = [name for name, count in Counter(schema.names).items() if count > 1]
    if repeated:
        raise InputError(f"two columns have the name {repeated[0]!r}", "rename one of them", file=path)
    for name in ("qid", "label"):
        if name not in schema.names:
            raise InputError(f"the column {name!r} is missing", "name the columns qid and label", file=path)
    for name in TEXT_COLUMNS:
        kind = schema.field(name).type if name in schema.names else pa.null()
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        numeric = (
            pa.types.is_integer(plain)
            or pa.types.is_floating(plain)
            or pa.types.is_decimal(plain)
            or pa.types.is_boolean(plain)
            or pa.types.is_null(plain)
        )
        text = pa.types.is_string(plain) or pa.types.is_large_string(plain) or pa.types.is_binary(plain)
        if not (numeric or (name != "label" and (text or pa.types.is_large_binary(plain)))):
            wanted = "numbers" if name == "label" else "text or numbers"
            problem = f"the column {name!r} has the type {plain}"
            raise InputError(problem, f"write {wanted} in this column", file=path)


def read_facts(schema: Any, path: FilePath) -> Facts | None:
    """What topkit wrote into the metadata of the schema; None for a table of another tool."""
    raw = (schema.metadata or {}).get(b"topkit")
    if raw is None:
        return None
    try:
        facts = json.loads(raw)
        version, truth, names = facts["version"], Truth.parse(facts["truth"]), facts["feature_names"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise _bad_metadata(path) from None
    if isinstance(version, bool) or version != VERSION:
        raise _bad_metadata(path)
    if names is not None and not (
        isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and len(names) == packed_width(schema, path)
    ):
        raise _bad_metadata(path)
    return Facts(truth, names)


def packed_width(schema: Any, path: FilePath) -> int:
    """The number of features in the column ``features`` that topkit writes."""
    import pyarrow as pa

    if "features" not in schema.names:
        return 0
    kind = schema.field("features").type
    if not pa.types.is_fixed_size_binary(kind) or kind.byte_width % 4 or not kind.byte_width:
        problem = f"the column 'features' has the type {kind}, which topkit does not write"
        raise InputError(problem, "write the data set again", file=path)
    return int(kind.byte_width // 4)


def _bad_metadata(path: FilePath) -> InputError:
    problem = "the metadata of the table was written by a newer topkit or was changed since"
    return InputError(problem, "write the data set again", file=path)


def check_table_size(metadata: Any, width: int, path: FilePath) -> None:
    """Raise if the features or the decompressed columns are absurdly larger than the file."""
    groups = (metadata.row_group(group) for group in range(metadata.num_row_groups))
    check_size(max(4 * metadata.num_rows * width, sum(group.total_byte_size for group in groups)), path)


def check_size(size: int, path: FilePath) -> None:
    """Raise if that many decoded bytes are absurdly more than the file."""
    if size > SMALL_TABLE and size > MAX_TABLE_RATIO * file_size(path):
        raise InputError(
            f"the table takes {size / 2**30:.1f} GB, more than {MAX_TABLE_RATIO} times the size of the file",
            "write it without compression if this is right",
            file=path,
        )


def check_values(
    X: NDArray[np.float32], first_row: int, names: tuple[str, ...] | None, path: FilePath
) -> None:
    """Raise if a feature is infinite; ``first_row`` is the row of the file that X starts with, from 0."""
    infinite = np.isinf(X)
    if infinite.any():
        row, column = np.argwhere(infinite)[0].tolist()
        raise bad_value(
            float(X[row, column]), names[column] if names else str(column + 1), first_row + row, path
        )


def bad_value(value: float, name: str, row: int, path: FilePath) -> InputError:
    """The error for a value that is not a 32-bit number in a row, which counts from 0."""
    problem = f"the value {value:g} of {name!r} in row {row + 1} is not a 32-bit number"
    return InputError(problem, "write a finite number, or null for a missing value", file=path)


def check_column(column: NDArray[Any], name: str, first_row: int, path: FilePath) -> NDArray[np.float32]:
    """A column of numbers as float32; raises if one of them is infinite or becomes so."""
    with np.errstate(over="ignore"):
        values = column.astype(np.float32)
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise bad_value(float(column[row]), name, first_row + row, path)
    return values


def check_labels_and_queries(label: Any, qid: Any, first_row: int, path: FilePath) -> NDArray[np.float32]:
    """The labels as float32; raises if a label or query id is missing, or a label is not finite."""
    if qid.null_count:
        row = first_row + int(np.argmax(qid.is_null().to_numpy(zero_copy_only=False))) + 1
        raise InputError(f"the qid in row {row} is missing", "fill the column qid", file=path)
    numbers = label.to_numpy(zero_copy_only=False)
    with np.errstate(over="ignore"):
        values: NDArray[np.float32] = numbers.astype(np.float32)
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argmax(bad))
        place = f"in row {first_row + row + 1}"
        if np.isnan(numbers[row]):
            raise InputError(f"the label {place} is missing", "fill the column label", file=path)
        problem = f"the label {numbers[row]:g} {place} is not a 32-bit number"
        raise InputError(problem, "write finite labels", file=path)
    return values
