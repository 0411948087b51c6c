"""Columns of white-space separated text, at the speed of one bytes.split where all lines are alike."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, count, islice
from operator import ne
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from topkit.data.errors import InputError
from topkit.data.files import FilePath, line_chunks

Field = TypeVar("Field", str, bytes)


def read_columns(
    path: FilePath, width: int, wanted: tuple[int, ...], form: str, *, more: bool = False
) -> tuple[list[list[bytes]], NDArray[np.int64]]:
    """The columns with these numbers of a file that has ``width``, and the line number of each row.

    Blank lines and lines that start with ``#`` are skipped. A line with fewer fields is an error that shows
    the right ``form``; so is one with more, unless ``more`` lets it pass.
    """
    found: list[list[bytes]] = [[] for _ in wanted]
    lines: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for chunk, first_line in line_chunks(path):
        tokens = _all_alike(chunk, width)
        if tokens is not None:
            numbers = np.arange(first_line, first_line + len(tokens) // width)
        else:
            tokens, numbers = _one_by_one(chunk, first_line, width, form, more, path)
        for column, place in zip(found, wanted, strict=True):
            column += tokens[place::width]
        lines.append(numbers)
    return found, np.concatenate(lines)


def _all_alike(chunk: bytes, width: int) -> list[bytes] | None:
    """All fields, if every line has exactly ``width`` and none is a comment or odd; else None."""
    text = np.frombuffer(chunk, np.uint8)
    blank = text <= 32
    before = np.flatnonzero(blank[:-1] & ~blank[1:])  # the place before each field but the first
    ends = np.flatnonzero(text == 10)
    if blank[0] or len(before) + 1 != width * len(ends):
        return None
    if (before[width - 2 :: width] > ends).any() or (before[width - 1 :: width] < ends[:-1]).any():
        return None
    tokens = chunk.split()
    if len(tokens) != len(before) + 1:  # bytes.split does not take all control characters for white space
        return None
    return None if any(first.startswith(b"#") for first in set(tokens[::width])) else tokens


def _one_by_one(
    chunk: bytes, first_line: int, width: int, form: str, more: bool, path: FilePath
) -> tuple[list[bytes], NDArray[np.int64]]:
    """The fields and line numbers where lines may be blank, comments or wrong."""
    tokens: list[bytes] = []
    lines: list[int] = []
    for line, text in enumerate(chunk.split(b"\n")[:-1], first_line):
        fields = text.split()
        if not fields or fields[0].startswith(b"#"):
            continue
        if len(fields) < width or (len(fields) > width and not more):
            said = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
            raise InputError(f"{said} where {width} belong", form, file=path, line=line)
        tokens += fields[:width]
        lines.append(line)
    return tokens, np.array(lines, np.int64)


def changes(column: Sequence[Field]) -> list[int]:
    """Places whose field differs from the one before, and 0.

    >>> changes(["a", "a", "b", "a"])
    [0, 2, 3]
    """
    return [0, *compress(count(1), map(ne, column, islice(column, 1, None)))] if column else []


def decoded(column: list[bytes]) -> list[str]:
    """The fields as strings; one call to decode instead of one a field."""
    return b"\n".join(column).decode("utf-8", "surrogateescape").split("\n") if column else []
