"""A column of strings in one buffer: a million document ids take their bytes, not a million objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

RANGE = 16
"""Consecutive strings, on average, from which on copying ranges is faster than copying strings."""


@dataclass(frozen=True, eq=False, repr=False)
class Strings:
    """An immutable sequence of strings; the UTF-8 bytes of string i are ``blob[offsets[i]:offsets[i + 1]]``.

    This is Arrow's layout, so Parquet reads and writes it without a copy. Bytes that are not UTF-8 survive a
    round trip (``surrogateescape``), because old TREC files contain them.

    >>> names = Strings.of(["b", "", "aé"])
    >>> names[2], len(names), names.take([2, 0]).tolist()
    ('aé', 3, ['aé', 'b'])
    """

    blob: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, values: Iterable[object]) -> Strings:
        """The strings of any iterable; of other values, their ``str``."""
        if isinstance(values, Strings):
            return values
        texts = list(map(str, values))
        joined = "".join(texts)
        if joined.isascii():  # then characters are bytes, and a million strings are encoded by one call
            return cls(np.frombuffer(joined.encode("ascii"), np.uint8), _offsets(texts))
        return cls.of_bytes([text.encode("utf-8", "surrogateescape") for text in texts])

    @classmethod
    def of_bytes(cls, values: list[bytes]) -> Strings:
        """The strings of values that are already encoded."""
        return cls(np.frombuffer(b"".join(values), np.uint8), _offsets(values))

    @classmethod
    def concatenate(cls, parts: list[Strings]) -> Strings:
        """The strings of all parts in order."""
        lengths = [np.diff(part.offsets) for part in parts]
        offsets = np.zeros(sum(map(len, parts)) + 1, np.int64)
        if parts:
            np.cumsum(np.concatenate(lengths), out=offsets[1:])
        blobs = [part.blob[part.offsets[0] : part.offsets[-1]] for part in parts]
        return cls(np.concatenate(blobs) if blobs else np.zeros(0, np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int | np.integer) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Strings: ...
    def __getitem__(self, index: int | np.integer | slice) -> str | Strings:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return Strings(self.blob, self.offsets[start : max(start, stop) + 1])
            return self.take(np.arange(start, stop, step))
        position = range(len(self))[int(index)]
        start, stop = self.offsets[position], self.offsets[position + 1]
        return self.blob[start:stop].tobytes().decode("utf-8", "surrogateescape")

    def __iter__(self) -> Iterator[str]:
        return iter(self.tolist())

    def tobytes(self) -> list[bytes]:
        """Every string, encoded."""
        raw = self.blob.tobytes()
        bounds = self.offsets.tolist()
        return [raw[a:b] for a, b in pairwise(bounds)]

    def tolist(self) -> list[str]:
        """Every string, decoded."""
        start, stop = int(self.offsets[0]), int(self.offsets[-1])
        raw = self.blob[start:stop].tobytes()
        if raw.isascii():  # then bytes and characters have the same positions
            text = raw.decode("ascii")
            return [text[a:b] for a, b in pairwise((self.offsets - start).tolist())]
        return [value.decode("utf-8", "surrogateescape") for value in self.tobytes()]

    def take(self, indices: ArrayLike) -> Strings:
        """The strings at these positions, in this order."""
        index = np.asarray(indices, np.int64)
        breaks = np.flatnonzero(np.diff(index) != 1) + 1
        if len(breaks) < len(index) // RANGE and index.min() >= 0 and index.max() < len(self):
            firsts, lasts = np.append(0, breaks), np.append(breaks, len(index)) - 1
            ends = zip(index[firsts].tolist(), (index[lasts] + 1).tolist(), strict=True)
            return Strings.concatenate([self[first:last] for first, last in ends])
        starts = self.offsets[:-1][index]
        lengths = self.offsets[1:][index] - starts
        offsets = np.zeros(len(index) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        where = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        return Strings(self.blob[where], offsets)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Strings):
            return self.tobytes() == other.tobytes()
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # equality compares the whole column

    def __repr__(self) -> str:
        shown = ", ".join(repr(value) for value in self[:3])
        return f"Strings([{shown}{', …' if len(self) > 3 else ''}], n={len(self)})"


def _offsets(values: Sequence[str] | Sequence[bytes]) -> NDArray[np.int64]:
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, values), np.int64, len(values)), out=offsets[1:])
    return offsets
