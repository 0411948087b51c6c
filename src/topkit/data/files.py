"""Reading and writing files: errors name the file and line, and a file is never left half-written."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from topkit.data.blocks import FilePath as FilePath
from topkit.data.blocks import text_blocks
from topkit.data.errors import InputError
from topkit.data.writers import text_writer as text_writer
from topkit.data.writers import written_whole as written_whole

MAX_LINE_BYTES = 4 << 20
"""The widest line of public data is some kilobytes; the limit keeps a wrong file from filling the memory."""

NUMBER = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
"""A decimal number in a data file; Python's ``float`` also takes ``1_0``, ``inf`` and ``nan``."""
FLOAT32_LIMIT = float(2**128 - 2**103)
"""From this size on a number rounds to infinity in 32 bits."""


def line_chunks(path: FilePath, longest: int = MAX_LINE_BYTES) -> Iterator[tuple[bytes, int]]:
    """Chunks of about four megabytes of whole lines, each with the number of its first line.

    Gzip and UTF-16 are converted, and a byte-order mark is removed: :func:`topkit.data.blocks.text_blocks`.
    The last line gets a newline if it has none. Raises :class:`InputError` for a file that is missing,
    binary, truncated, or has a line of more than ``longest`` bytes.
    """
    line = 1
    rest = uncounted = b""
    for number, block in enumerate(text_blocks(path)):
        line, uncounted = line + count_lines(uncounted), b""  # counted only if another block follows
        if number == 0 and b"\0" in block:
            raise InputError(
                "the file is binary, not text",
                "give UTF-8 text, plain or gzip (UTF-16 needs a byte-order mark)",
                file=path,
                line=line,
            )
        end = block.rfind(b"\n") + 1
        if end:
            whole = not rest and end == len(block)
            chunk = block if whole else b"".join((rest, memoryview(block)[:end]))
            if len(chunk) > longest:
                _check_line_lengths(chunk, line, path, longest)
            yield chunk, line
            uncounted = chunk
            rest = block[end:]
        else:
            rest += block
        if len(rest) > longest:
            raise _line_too_long(path, line + count_lines(uncounted), longest)
    if rest:
        yield rest + b"\n", line + count_lines(uncounted)


def count_lines(chunk: bytes) -> int:
    """The number of newlines (NumPy compares faster than bytes.count finds)."""
    return int(np.count_nonzero(np.frombuffer(chunk, np.uint8) == 10))


def numbered_lines(path: FilePath) -> Iterator[tuple[int, bytes]]:
    """The lines of a file (compressed too) without their newlines, each with its number."""
    for chunk, first_line in line_chunks(path):
        yield from enumerate(chunk.split(b"\n")[:-1], first_line)


def shown(word: bytes) -> str:
    """A piece of a file as a message shows it: at most 40 characters."""
    return word[:40].decode("utf-8", "replace")


def _check_line_lengths(chunk: bytes, first_line: int, path: FilePath, longest: int) -> None:
    """Raise if a line of the chunk has more than ``longest`` bytes."""
    position, line = 0, first_line
    while len(chunk) - position > longest:
        # The last newline within the limit: no line before it can be too long.
        end = chunk.rfind(b"\n", position, position + longest + 1)
        line += chunk.count(b"\n", position, end + 1) if end >= 0 else 0
        if end < 0:
            raise _line_too_long(path, line, longest)
        position = end + 1


def _line_too_long(path: FilePath, line: int, longest: int) -> InputError:
    problem = f"the line is longer than {longest >> 20} MB"
    return InputError(problem, "check that the file has one document per line", file=path, line=line)
