"""Postings on disk: written block by block in the order of documents, sorted by term at the end."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Ints32

MERGE = 1 << 22
"""Postings sorted at a time: 48 MB in memory."""
PARTS = ("terms", "docs", "counts")
"""The three temporary files of a stream."""


@dataclass
class StreamWriter:
    """Collects the postings of one stream in three temporary files."""

    stem: Path
    """Path of the temporary files, without suffix."""
    lengths: list[Ints32] = field(default_factory=list)
    distinct: list[Ints32] = field(default_factory=list)
    documents: int = 0
    occurrences: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    frequency: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def add(self, block: tuple[Ints32, Ints32, Ints32, Ints32, Ints32], vocabulary: int) -> None:
        """Add a block: terms, documents and counts of its postings; lengths and distinct terms of documents.

        vocabulary: number of terms so far.
        """
        terms, docs, counts, lengths, distinct = block
        arrays = (terms, docs + np.int32(self.documents), counts)
        for part, array in zip(PARTS, arrays, strict=True):
            with self._file(part).open("ab") as file:
                file.write(array.tobytes())
        new_terms = vocabulary - len(self.frequency)
        self.frequency = np.pad(self.frequency, (0, new_terms)) + np.bincount(terms, minlength=vocabulary)
        weighted = np.bincount(terms, weights=counts, minlength=vocabulary).astype(np.int64)
        self.occurrences = np.pad(self.occurrences, (0, new_terms)) + weighted
        self.lengths.append(lengths)
        self.distinct.append(distinct)
        self.documents += len(lengths)

    def sort(self, folder: Path, name: str) -> None:
        """Write the postings in the order of terms to the files of the index."""
        from topkit.features.kernels import scatter

        ptr = np.zeros(len(self.frequency) + 1, np.int64)
        np.cumsum(self.frequency, out=ptr[1:])
        size = int(ptr[-1])
        out_docs, out_counts = (
            _new_array(folder / f"{name}.{part}.npy", max(size, 1)) for part in ("docs", "counts")
        )
        at = ptr[:-1].copy()
        for start in range(0, size, MERGE):
            many = min(MERGE, size - start)
            terms, docs, counts = (
                np.fromfile(self._file(part), np.int32, many, offset=4 * start) for part in PARTS
            )
            scatter(terms, docs, counts, at, out_docs, out_counts)
        np.save(folder / f"{name}.ptr.npy", ptr)
        np.save(folder / f"{name}.lengths.npy", np.concatenate(self.lengths))
        np.save(folder / f"{name}.distinct.npy", np.concatenate(self.distinct))
        np.save(folder / f"{name}.occurrences.npy", self.occurrences)

    def _file(self, part: str) -> Path:
        return self.stem.with_suffix(f".{part}")


def _new_array(path: Path, size: int) -> Ints32:
    """A memory-mapped array whose disk space is reserved: a full disk would end the process later."""
    array = np.lib.format.open_memmap(path, "w+", np.int32, (size,))
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return array
