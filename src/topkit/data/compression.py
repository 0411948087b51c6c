"""Compressed files: gzip, bzip2 and xz by the standard library, Zstandard by pyarrow.

Readers detect the method from the first bytes of a file; writers choose it by the end of the file name.
"""

from __future__ import annotations

import gzip
import io
import zlib
from os import PathLike, fspath
from typing import IO, Any, NamedTuple, Protocol, cast

ENDINGS = (".gz", ".bz2", ".xz", ".zst")
"""Ends of file names that say that the text is written compressed."""


class Readable(Protocol):
    """What decompressors are read through."""

    def read(self, size: int = -1, /) -> bytes: ...

    def close(self) -> None: ...


class Compression(NamedTuple):
    """A method of compression: its name in messages, and the first bytes of its files."""

    name: str
    magic: bytes


GZIP = Compression("gzip", b"\x1f\x8b")
BZIP2 = Compression("bzip2", b"BZh")
XZ = Compression("xz", b"\xfd7zXZ\x00")
ZSTANDARD = Compression("Zstandard", b"\x28\xb5\x2f\xfd")
COMPRESSIONS = (GZIP, BZIP2, XZ, ZSTANDARD)
LONGEST_MAGIC = max(len(method.magic) for method in COMPRESSIONS)


def compression_of(first: bytes) -> Compression | None:
    """The method whose magic number the bytes start with.

    >>> compression_of(b"BZh91AY").name
    'bzip2'
    """
    return next((method for method in COMPRESSIONS if first.startswith(method.magic)), None)


def without_compression(path: str | PathLike[str]) -> str:
    """A file name without the ending of its compression.

    >>> without_compression("train.csv.zst"), without_compression("bm25.run")
    ('train.csv', 'bm25.run')
    """
    name = fspath(path)
    ending = _ending(name)
    return name[: -len(ending)] if ending else name


def decompressor(method: Compression, source: io.RawIOBase) -> Readable:
    """A stream of the decompressed bytes of ``source``; concatenated parts are read one after another."""
    if method is GZIP:
        return cast(Readable, gzip.GzipFile(fileobj=source))
    if method is BZIP2:
        import bz2

        return cast(Readable, bz2.BZ2File(cast(IO[bytes], source)))
    if method is XZ:
        import lzma

        return cast(Readable, lzma.LZMAFile(cast(IO[bytes], source)))
    import pyarrow as pa

    return cast(Readable, pa.CompressedInputStream(pa.PythonFile(source, mode="r"), "zstd"))


def damage(error: Exception) -> bool:
    """Whether an exception of a decompressor says that the data is damaged or truncated."""
    # bz2 and pyarrow raise OSError and EOFError; an OSError of the disk has an error number.
    known = isinstance(error, EOFError | zlib.error | gzip.BadGzipFile)
    without_number = isinstance(error, OSError) and error.errno is None
    return known or without_number or type(error).__name__ == "LZMAError"


def compressor(path: str | PathLike[str], raw: IO[bytes]) -> Any:
    """A stream that compresses into ``raw`` as the end of the name says; None for plain text.

    The same text always gives the same bytes: no name and no time are stored.
    """
    ending = _ending(fspath(path))
    if ending == ".gz":
        return gzip.GzipFile("", "wb", 6, raw, mtime=0)
    if ending == ".bz2":
        import bz2

        return bz2.BZ2File(raw, "wb")
    if ending == ".xz":
        import lzma

        return lzma.LZMAFile(raw, "wb")
    if ending == ".zst":
        import pyarrow as pa

        return pa.CompressedOutputStream(_Kept(raw), "zstd")
    return None


class _Kept(io.RawIOBase):
    """A stream that passes on what is written and ignores ``close``, which pyarrow would pass on too."""

    def __init__(self, target: IO[bytes]) -> None:
        self.target = target

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self.target.write(data)

    def flush(self) -> None:
        if not self.target.closed:
            self.target.flush()


def _ending(name: str) -> str:
    lower = name.lower()
    return next((ending for ending in ENDINGS if lower.endswith(ending)), "")
