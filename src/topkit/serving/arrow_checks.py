"""Checks of an Arrow IPC stream before pyarrow reads its data.

A few kilobytes can describe gigabytes: compressed buffers, dictionaries, columns without buffers, and buffers
that many columns share. The schema and the header of each message are checked first, so that reading the
stream never needs much more memory than the body.
"""

from __future__ import annotations

import struct
from typing import Any

from topkit.serving.refusal import Limits, RefusedError, at_most

SCHEMA_BYTES_PER_FEATURE = 512
"""The schema is a tree of objects, several times larger in memory, so its size is limited too."""


def check_stream(body: Any, limits: Limits) -> None:
    """Raise RefusedError if a pyarrow buffer contains anything but plain columns of numbers and query ids."""
    import pyarrow as pa

    rows = 0
    for number, message in enumerate(pa.ipc.MessageReader.open_stream(body)):
        header = Flatbuffer(bytes(message.metadata)) if number else None
        if number == 0:
            _check_schema(message, limits)
        elif message.type == "record batch" and header is not None:
            rows += header.check_batch(len(message.body) if message.body is not None else 0)
            at_most(limits.candidates, rows, "candidates")
        else:
            raise RefusedError(
                422, f"unsupported Arrow message: {message.type}; send columns without dictionaries"
            )


def _check_schema(message: Any, limits: Limits) -> None:
    import pyarrow as pa

    if message.type != "schema":
        raise RefusedError(400, f"the body is not an Arrow IPC stream: it starts with a {message.type}")
    if len(message.metadata) > SCHEMA_BYTES_PER_FEATURE * (limits.features + 100):
        raise RefusedError(413, f"the schema is too large for the limit of {limits.features} features")
    schema = pa.ipc.read_schema(message)
    at_most(limits.features + 1, len(schema), "columns")
    try:
        names = schema.names
    except UnicodeDecodeError:
        raise RefusedError(422, "a column name is not UTF-8; rename the column") from None
    if not names:
        raise RefusedError(422, "the table has no feature columns")
    if len(set(names)) < len(names):
        raise RefusedError(422, "two columns have the same name")
    for name, kind in zip(names, schema.types, strict=True):
        _check_type(name, kind, limits)


def _check_type(name: str, kind: Any, limits: Limits) -> None:
    from pyarrow import types

    if name == "qid" and (types.is_string(kind) or types.is_large_string(kind) or types.is_integer(kind)):
        return
    if name == "qid":
        raise RefusedError(422, f"qid: expected strings or integers, got {kind}")
    if types.is_fixed_size_list(kind):
        at_most(limits.features, kind.list_size, "features")
        if kind.list_size == 0:  # would need no bytes for any number of rows
            raise RefusedError(422, f"{name!r}: the lists are empty")
        kind = kind.value_type
    if not (types.is_floating(kind) or types.is_integer(kind)):
        raise RefusedError(422, f"{name!r}: expected numbers, got {kind}")


class Flatbuffer:
    """The header of a message, which pyarrow does not expose.

    Message {version, header_type, header, …}, where the header of a batch is
    RecordBatch {length, nodes, buffers: [{offset, length}], compression}.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data

    def check_batch(self, body_bytes: int) -> int:
        """Number of rows of a record batch; raises if it would need more memory than its body."""
        batch = self.target(self.field(struct.unpack_from("<I", self.data, 0)[0], 2))
        if self.field(batch, 3):
            raise RefusedError(422, "compressed Arrow buffers are not supported; send them uncompressed")
        length, buffers = self.field(batch, 0), self.field(batch, 2)
        rows = struct.unpack_from("<q", self.data, length)[0] if length else 0
        total = 0
        if buffers:
            vector = self.target(buffers)
            count = struct.unpack_from("<I", self.data, vector)[0]
            for _, size in struct.iter_unpack("<qq", self.data[vector + 4 : vector + 4 + 16 * count]):
                total += max(size, 0)
        if total > body_bytes:
            raise RefusedError(422, "the Arrow buffers overlap or exceed the body")
        return max(int(rows), 0)

    def field(self, table: int, number: int) -> int:
        """Offset of a field of a table, or 0 if the field is not set."""
        vtable = table - struct.unpack_from("<i", self.data, table)[0]
        size = struct.unpack_from("<H", self.data, vtable)[0]
        position = 4 + 2 * number
        offset = struct.unpack_from("<H", self.data, vtable + position)[0] if position < size else 0
        return table + offset if offset else 0

    def target(self, field: int) -> int:
        """The position that an offset in the data points to."""
        return field + int(struct.unpack_from("<I", self.data, field)[0])
