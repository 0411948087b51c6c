"""Columns of text separated by white space; where all lines are regular, one ``bytes.split`` reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress, count, islice
from operator import ne
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from topkit.data.errors import InputError
from topkit.data.files import FilePath

Field = TypeVar("Field", str, bytes)


class Layout(NamedTuple):
    """The fields of a line: how many, whether more are allowed, and an example for error messages."""

    width: int
    example: str
    more: bool = False


def columns_of(
    chunks: Iterable[tuple[bytes, int]], path: FilePath, layout: Layout, numbers: tuple[int, ...]
) -> tuple[list[list[bytes]], NDArray[np.int64]]:
    """The columns with these numbers in chunks of whole lines, and the line number of each row.

    Blank lines and lines that start with ``#`` are skipped. A wrong number of fields is an error.
    """
    columns: list[list[bytes]] = [[] for _ in numbers]
    lines: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for chunk, first_line in chunks:
        tokens = _split_regular(chunk, layout.width)
        if tokens is not None:
            chunk_lines = np.arange(first_line, first_line + len(tokens) // layout.width)
        else:
            tokens, chunk_lines = _split_lines(chunk, first_line, layout, path)
        for column, number in zip(columns, numbers, strict=True):
            column += tokens[number :: layout.width]
        lines.append(chunk_lines)
    return columns, np.concatenate(lines)


def first_fields(chunk: bytes) -> list[bytes]:
    """The fields of the first line that is neither blank nor a comment.

    >>> first_fields(b"# qrels\\n\\n1 0 d2 1\\n")
    [b'1', b'0', b'd2', b'1']
    """
    rows = (line.split() for line in chunk[: 1 << 16].split(b"\n"))
    return next((fields for fields in rows if fields and not fields[0].startswith(b"#")), [])


def _split_regular(chunk: bytes, width: int) -> list[bytes] | None:
    """All fields, if every line has exactly ``width`` of them and none is a comment; else None."""
    text = np.frombuffer(chunk, np.uint8)
    blank = text <= 32
    before = np.flatnonzero(blank[:-1] & ~blank[1:])  # the position before each field but the first
    ends = np.flatnonzero(text == 10)
    if blank[0] or len(before) + 1 != width * len(ends):
        return None
    if (before[width - 2 :: width] > ends).any() or (before[width - 1 :: width] < ends[:-1]).any():
        return None
    tokens = chunk.split()
    if len(tokens) != len(before) + 1:  # bytes.split does not treat all control characters as white space
        return None
    return None if any(first.startswith(b"#") for first in set(tokens[::width])) else tokens


def _split_lines(
    chunk: bytes, first_line: int, layout: Layout, path: FilePath
) -> tuple[list[bytes], NDArray[np.int64]]:
    """The fields and line numbers where lines may be blank, comments or invalid."""
    tokens: list[bytes] = []
    lines: list[int] = []
    for line, text in enumerate(chunk.split(b"\n")[:-1], first_line):
        fields = text.split()
        if not fields or fields[0].startswith(b"#"):
            continue
        if len(fields) < layout.width or (len(fields) > layout.width and not layout.more):
            raise InputError(field_count(layout.width, len(fields)), layout.example, file=path, line=line)
        tokens += fields[: layout.width]
        lines.append(line)
    return tokens, np.array(lines, np.int64)


def field_count(expected: int | str, got: int) -> str:
    """The message for a line with a wrong number of fields.

    >>> field_count("4 to 6", 3)
    'expected 4 to 6 fields, got 3'
    """
    return f"expected {expected} fields, got {got}"


def changes(column: Sequence[Field]) -> list[int]:
    """Positions whose field differs from the one before, and 0.

    >>> changes(["a", "a", "b", "a"])
    [0, 2, 3]
    """
    return [0, *compress(count(1), map(ne, column, islice(column, 1, None)))] if column else []


def decoded(column: list[bytes]) -> list[str]:
    """The fields as strings, by one call to decode for all of them."""
    return b"\n".join(column).decode("utf-8", "surrogateescape").split("\n") if column else []


def first_repeated(keys: Iterable[tuple[object, bytes]]) -> int:
    """The position of the first key that occurred before, or −1.

    >>> first_repeated([(0, b"x"), (1, b"x"), (0, b"x")])
    2
    """
    earlier: set[tuple[object, bytes]] = set()
    for position, key in enumerate(keys):
        if key in earlier:
            return position
        earlier.add(key)
    return -1
