"""Prepared pieces in a scratch file: features are read and normalised once, and streamed from then on.

The file holds the features, labels and query boundaries of each piece as plain arrays: (4·features + 4)
bytes per document and 8 per query. It is an unnamed temporary file (``TMPDIR`` chooses the folder), which
disappears when training ends, even if it fails.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO

import numpy as np

from topkit.compute import Bytes, Floats32, Ints
from topkit.data import Dataset, InputError

Piece = tuple[Floats32, Floats32, Ints]
"""Features, labels and ptr."""


@dataclass
class Scratch:
    """Pieces on disk, to iterate over many times; a thread reads the next piece ahead.

    Iterating uses two buffers in turn, because memory that is new for each piece costs as much as reading. So
    a piece is valid until the next one is requested.
    """

    stream: IO[bytes]
    shapes: list[tuple[int, int, int]] = field(default_factory=list)
    """Documents, features and queries of each piece."""

    def put(self, piece: Dataset) -> None:
        """Append a piece."""
        try:
            # ptr first, so that every array starts at a multiple of its item size
            for array in (piece.ptr, piece.X, piece.y):
                self.stream.write(np.ascontiguousarray(array).data)
        except OSError as error:
            raise InputError(
                f"cannot write the scratch file ({error.strerror})",
                "set TMPDIR to a folder with enough space for all features",
            ) from None
        self.shapes.append((len(piece), piece.n_features, piece.n_queries))

    def __iter__(self) -> Iterator[Piece]:
        if not self.shapes:
            return
        self.stream.flush()
        self.stream.seek(0)
        largest = max(_bytes(*shape) for shape in self.shapes)
        buffers = [np.empty(largest, np.uint8) for _ in self.shapes[:2]]
        with ThreadPoolExecutor(1, "topkit-read-ahead") as reader:
            following = reader.submit(self._read, 0, buffers[0])
            for number in range(len(self.shapes)):
                piece = following.result()
                if number + 1 < len(self.shapes):
                    following = reader.submit(self._read, number + 1, buffers[(number + 1) % 2])
                yield piece

    def _read(self, number: int, buffer: Bytes) -> Piece:
        """The next piece of the stream, as views of the buffer."""
        documents, features, queries = self.shapes[number]
        part = buffer[: _bytes(documents, features, queries)]
        self.stream.readinto(part.data)  # type: ignore[attr-defined]
        first, last = 8 * (queries + 1), 4 * documents
        X = part[first : len(part) - last].view(np.float32).reshape(documents, features)
        return X, part[len(part) - last :].view(np.float32), part[:first].view(np.int64)


def _bytes(documents: int, features: int, queries: int) -> int:
    """The size of a piece in the file."""
    return 8 * (queries + 1) + 4 * documents * (features + 1)


@contextmanager
def scratch() -> Iterator[Scratch]:
    """An empty scratch file that is deleted at the end."""
    with tempfile.TemporaryFile(prefix="topkit-") as stream:
        yield Scratch(stream)
