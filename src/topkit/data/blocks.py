"""The bytes of an input file, decompressed and in UTF-8, whatever it is: a file, a pipe, gzip, xz, UTF-16.

A file is opened once and read forward, so that ``<(zcat …)`` and standard input (``-``) are inputs like any
other.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from topkit.data.compression import (
    LONGEST_MAGIC,
    Compression,
    Readable,
    compression_of,
    damage,
    decompressor,
)
from topkit.data.errors import InputError

CHUNK_BYTES = 4 << 20
"""Bytes per read: small enough to be reused by the allocator and to stay near the caches."""
MAX_GZIP_RATIO = 200
"""Text that compresses better than this is not data; the limit keeps a bomb from filling the memory."""

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

FilePath = str | PathLike[str]

STANDARD_INPUT = "-"
"""The path that means standard input."""


def text_blocks(path: FilePath) -> Iterator[bytes]:
    """The text of a file as UTF-8 in blocks of about four megabytes, without its byte-order mark.

    Decompresses gzip, bzip2, xz and Zstandard by their magic numbers, whatever the name, and converts UTF-16
    that starts with a byte-order mark. Any other text is passed on as it is. Raises :class:`InputError` for a
    file that is missing, truncated, or decompresses to more than :data:`MAX_GZIP_RATIO` times its size.
    """
    blocks = _decompressed(path)
    first = next(blocks, b"")
    if first.startswith(UTF_16):
        yield from _from_utf_16(first, blocks, path)
    else:
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from blocks


def text_stream(path: FilePath) -> io.BufferedReader:
    """The same text as a file object, for readers of other libraries."""
    return io.BufferedReader(_BlockStream(text_blocks(path)), CHUNK_BYTES)


def is_compressed(path: FilePath) -> bool:
    """Whether a regular file starts with a known magic number. This would consume bytes of a pipe."""
    with _opened(path) as stream:
        return compression_of(stream.read(LONGEST_MAGIC)) is not None


def file_size(path: FilePath) -> int:
    """The size of a regular file; 0 for a pipe, whose size is not known before it ends."""
    try:
        status = os.stat(path)
    except OSError:
        return 0  # opening it raises the error with its message
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


class _Replayed(io.RawIOBase):
    """A stream that starts with bytes that were already read from it, and counts what is taken."""

    def __init__(self, first: bytes, stream: io.FileIO) -> None:
        self.first = io.BytesIO(first)
        self.stream = stream
        self.taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = self.first.readinto(buffer) or self.stream.readinto(buffer)
        self.taken += count
        return count


class _BlockStream(io.RawIOBase):
    """Blocks of bytes as a stream."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self.blocks = blocks
        self.rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self.rest:
            block = next(self.blocks, None)
            if block is None:
                return 0
            self.rest = memoryview(block)
        count = min(len(buffer), len(self.rest))
        buffer[:count] = self.rest[:count]
        self.rest = self.rest[count:]
        return count


def _decompressed(path: FilePath) -> Iterator[bytes]:
    with _opened(path) as stream:
        first = _read(stream, path)
        while first and len(first) < LONGEST_MAGIC and (more := _read(stream, path)):
            first += more  # a pipe may give one byte at a time
        method = compression_of(first)
        if method is not None:
            yield from _expanded(method, _Replayed(first, stream), path)
            return
        while first:
            yield first
            first = _read(stream, path)


def _expanded(method: Compression, source: _Replayed, path: FilePath) -> Iterator[bytes]:
    size = file_size(path)
    total = 0
    with contextlib.closing(decompressor(method, source)) as stream:
        while block := _read(stream, path, method):
            total += len(block)
            if total > MAX_GZIP_RATIO * max(size, source.taken) + CHUNK_BYTES:
                problem = f"the {method.name} data decompresses to more than {MAX_GZIP_RATIO} times its size"
                raise InputError(problem, "decompress it first if this is right", file=path)
            yield block


def _read(stream: Readable, path: FilePath, method: Compression | None = None) -> bytes:
    try:
        return stream.read(CHUNK_BYTES)
    except Exception as error:
        if method is not None and damage(error):
            problem = f"the {method.name} data is damaged or truncated ({error})"
            raise InputError(problem, "copy or download it again", file=path) from None
        if not isinstance(error, OSError):
            raise
        raise InputError(f"the file cannot be read ({error.strerror})", "check the disk", file=path) from None


def _from_utf_16(first: bytes, blocks: Iterator[bytes], path: FilePath) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        yield decoder.decode(first).encode()
        for block in blocks:
            yield decoder.decode(block).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError as error:
        problem = f"the file starts as UTF-16 but is not valid UTF-16 ({error.reason})"
        raise InputError(problem, "save it as UTF-8", file=path) from None


def whole_file(path: FilePath) -> bytes:
    """The bytes of a file as they are, for formats that cannot be read forward."""
    with _opened(path) as stream:
        return b"".join(iter(lambda: stream.read(CHUNK_BYTES), b""))


@contextmanager
def _opened(path: FilePath) -> Iterator[io.FileIO]:
    standard_input = os.fspath(path) == STANDARD_INPUT
    try:
        stream = open(  # noqa: SIM115 - closed below; blocks need no buffer
            0 if standard_input else path, "rb", buffering=0, closefd=not standard_input
        )
    except FileNotFoundError:
        raise InputError("no such file", "check the path", file=path) from None
    except IsADirectoryError:
        raise InputError("this is a folder, not a file", "give a file", file=path) from None
    except PermissionError:
        raise InputError("no permission to read the file", "check its permissions", file=path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"the file cannot be opened ({error})", "check the path", file=path) from None
    with stream:
        yield stream
