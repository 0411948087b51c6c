"""Prepared pieces in a scratch file: features are read and normalised once, and streamed ever after.

The file holds, piece by piece, features, labels and list lengths as plain arrays: (4·features + 4) bytes a
document and 8 a query. It has no name in the folder of temporary files (``TMPDIR`` chooses it) and is gone
when training ends, however it ends.
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
    """Pieces that were put aside, to be gone through again and again."""

    stream: IO[bytes]
    shapes: list[tuple[int, int, int]] = field(default_factory=list)
    """Documents, features and queries of each piece."""

    def put(self, piece: Dataset) -> None:
        try:
            for array in (piece.X, piece.y, piece.ptr):
                self.stream.write(np.ascontiguousarray(array).data)
        except OSError as error:
            raise InputError(
                f"the scratch file cannot be written ({error.strerror})",
                "set TMPDIR to a folder with as much room as the features take",
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
    """An empty scratch file that vanishes at the end."""
    with tempfile.TemporaryFile(prefix="topkit-") as stream:
        yield Scratch(stream)
