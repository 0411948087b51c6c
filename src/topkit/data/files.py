"""Opening, reading and writing files so that bad ones are named and good ones never end half-written."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO

import numpy as np

from topkit.data.errors import InputError

CHUNK_BYTES = 4 << 20  # small enough to be reused by the allocator and to stay near the caches
MAX_LINE_BYTES = 4 << 20
MAX_GZIP_RATIO = 200  # text this repetitive is not data; the limit keeps a gzip bomb from filling the memory

FilePath = str | PathLike[str]


def line_chunks(path: FilePath) -> Iterator[tuple[bytes, int]]:
    """The file in pieces of about four megabytes that end with a line, each with its first line's number.

    Decompresses gzip by its magic number, whatever the name. The last line gets a newline if it has none.
    Raises :class:`InputError` for a file that is missing, binary, cut off, or has an absurdly long line.
    """
    line = 1
    rest = uncounted = b""
    for number, block in enumerate(_blocks(path)):
        line, uncounted = line + count_lines(uncounted), b""  # only where another block follows
        if number == 0 and b"\0" in block:
            problem = "the file is binary, not text"
            raise InputError(problem, "give a text file or a .gz of one", file=path, line=line)
        end = block.rfind(b"\n") + 1
        if end:
            whole = not rest and end == len(block)
            chunk = block if whole else b"".join((rest, memoryview(block)[:end]))
            if len(chunk) > MAX_LINE_BYTES:
                _check_line_lengths(chunk, line, path)
            yield chunk, line
            uncounted = chunk
            rest = block[end:]
        else:
            rest += block
        if len(rest) > MAX_LINE_BYTES:
            raise _line_too_long(path, line + count_lines(uncounted))
    if rest:
        yield rest + b"\n", line + count_lines(uncounted)


def count_lines(chunk: bytes) -> int:
    """How many newlines there are (NumPy compares faster than bytes.count finds)."""
    return int(np.count_nonzero(np.frombuffer(chunk, np.uint8) == 10))


def _blocks(path: FilePath) -> Iterator[bytes]:
    """The bytes of the file, unpacked."""
    compressed = is_gzip(path)
    limit = MAX_GZIP_RATIO * os.path.getsize(path) + CHUNK_BYTES
    total = 0
    with _opened(path, compressed) as stream:
        while True:
            try:
                block = stream.read(CHUNK_BYTES)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                remedy = "copy or download it again"
                raise InputError(
                    f"the gzip data is damaged or cut off ({error})", remedy, file=path
                ) from None
            if not block:
                return
            total += len(block)
            if compressed and total > limit:
                problem = f"the gzip data unpacks to more than {MAX_GZIP_RATIO} times its size"
                raise InputError(problem, "unpack it first if this is right", file=path)
            yield block


def _check_line_lengths(chunk: bytes, first_line: int, path: FilePath) -> None:
    """Raise if a line of the chunk is longer than :data:`MAX_LINE_BYTES`."""
    position, line = 0, first_line
    while len(chunk) - position > MAX_LINE_BYTES:
        # The last newline within reach: no line before it can be too long.
        end = chunk.rfind(b"\n", position, position + MAX_LINE_BYTES + 1)
        line += chunk.count(b"\n", position, end + 1) if end >= 0 else 0
        if end < 0:
            raise _line_too_long(path, line)
        position = end + 1


def _line_too_long(path: FilePath, line: int) -> InputError:
    problem = f"the line is longer than {MAX_LINE_BYTES >> 20} MB"
    return InputError(problem, "check that the file has one document a line", file=path, line=line)


def is_gzip(path: FilePath) -> bool:
    """Whether the file starts as gzip does."""
    with _opened(path, compressed=False) as stream:
        return stream.read(2) == b"\x1f\x8b"


@contextmanager
def _opened(path: FilePath, compressed: bool) -> Iterator[gzip.GzipFile | io.FileIO]:
    try:
        stream = gzip.GzipFile(path) if compressed else io.FileIO(path)
    except FileNotFoundError:
        raise InputError("there is no such file", "check the path", file=path) from None
    except IsADirectoryError:
        raise InputError("this is a folder, not a file", "name a file in it", file=path) from None
    except PermissionError:
        raise InputError("the file may not be read", "check its permissions", file=path) from None
    with stream:
        yield stream


@contextmanager
def written_whole(path: FilePath) -> Iterator[Path]:
    """A temporary path beside ``path`` that takes its place if the block ends well, and vanishes if not."""
    import tempfile

    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except FileNotFoundError:
        raise InputError(f"the folder {target.parent} does not exist", "create it first", file=path) from None
    except PermissionError:
        raise InputError(
            f"the folder {target.parent} may not be written", "choose another", file=path
        ) from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def text_writer(path: FilePath) -> Iterator[IO[str]]:
    """A text stream to ``path`` (compressed if it ends in .gz) that replaces it only when all is written."""
    with written_whole(path) as temporary:
        zipped = str(path).endswith(".gz")
        raw = gzip.GzipFile(temporary, "wb", compresslevel=6) if zipped else io.FileIO(temporary, "wb")
        with io.TextIOWrapper(raw, encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
            yield stream
