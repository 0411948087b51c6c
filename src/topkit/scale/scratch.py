"""Prepared pieces in a scratch file: features are read and normalised once, and streamed from then on.

The file holds the features, labels and query boundaries of each piece as plain arrays: (4·features + 4)
bytes per document and 8 per query. It is an unnamed temporary file (``TMPDIR`` chooses the folder), which
disappears when training ends, even if it fails.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, InputError

Piece = tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]
"""Features, labels and ptr."""


@dataclass
class Scratch:
    """Pieces on disk, to iterate over many times."""

    stream: IO[bytes]
    shapes: list[tuple[int, int, int]] = field(default_factory=list)
    """Documents, features and queries of each piece."""

    def put(self, piece: Dataset) -> None:
        """Append a piece."""
        try:
            for array in (piece.X, piece.y, piece.ptr):
                self.stream.write(np.ascontiguousarray(array).data)
        except OSError as error:
            raise InputError(
                f"cannot write the scratch file ({error.strerror})",
                "set TMPDIR to a folder with enough space for all features",
            ) from None
        self.shapes.append((len(piece), piece.n_features, piece.n_queries))

    def __iter__(self) -> Iterator[Piece]:
        self.stream.flush()
        self.stream.seek(0)
        for documents, features, queries in self.shapes:
            X = self._array(np.float32, documents * features).reshape(documents, features)
            yield X, self._array(np.float32, documents), self._array(np.int64, queries + 1)

    def _array(self, dtype: Any, count: int) -> NDArray[Any]:
        array = np.empty(count, dtype)
        self.stream.readinto(array.view(np.uint8).data)  # type: ignore[attr-defined]
        return array


@contextmanager
def scratch() -> Iterator[Scratch]:
    """An empty scratch file that is deleted at the end."""
    with tempfile.TemporaryFile(prefix="topkit-") as stream:
        yield Scratch(stream)
