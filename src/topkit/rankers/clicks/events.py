"""From result pages to click events: who was examined, which features and which memory weights each has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from topkit.data import Dataset, Page

Ints = NDArray[np.int64]
CHUNK = 2_000
"""Pages that are turned into arrays at a time; what bounds the memory of a stream."""


@dataclass(frozen=True)
class Clicks:
    """Result pages to learn from, and a data set that holds the features of their documents (or none).

    ``pages`` may be any iterable, such as :func:`topkit.data.read_pages` of a long file. Documents that the
    data set does not hold are learnt about without features.
    """

    pages: Iterable[Page]
    features: Dataset | None = None

    def prepared(self, prepare: Callable[[Dataset], Dataset]) -> Clicks:
        """The same pages with features made ready for a model."""
        return self if self.features is None else replace(self, features=prepare(self.features))


def examined(page: Page) -> int:
    """How many documents from the top were examined: all down to the last click, none without a click.

    >>> examined(Page("q", ("a", "b", "c"), (True, True, False)))
    2
    """
    return max((place for place, clicked in enumerate(page.clicks, 1) if clicked), default=0)


@dataclass(frozen=True)
class Layout:
    """Where weights are: one a feature, a bias, one a position, and a table of memory weights.

    Memory weights of queries, documents and query–document pairs share the table by hash, which bounds the
    memory whatever the stream holds; in a table with room, two seldom meet.
    """

    features: int
    positions: int
    slots: int

    @property
    def bias(self) -> int:
        return self.features

    @property
    def table(self) -> int:
        """The first memory weight."""
        return self.features + 1 + self.positions

    def __len__(self) -> int:
        return self.table + self.slots

    def position(self, place: int) -> int:
        """The weight of a place on the page, counted from 1; places beyond the last share its weight."""
        return self.bias + min(place, self.positions)

    def memories(self, query: str, docs: Iterable[str]) -> list[tuple[int, int, int]]:
        """The weights of the query, of each document and of each pair of both."""
        key = crc32(query.encode("utf-8", "surrogateescape"))
        start, slots = self.table, self.slots
        own = start + key % slots
        found = []
        for doc in docs:
            name = doc.encode("utf-8", "surrogateescape")
            # other starting values keep a document and a pair of equal text apart
            found.append((own, start + crc32(name, 1) % slots, start + crc32(name, key ^ 0x9E3779B9) % slots))
        return found


@dataclass(frozen=True)
class Events:
    """Examined documents as arrays: the row of their features (−1 for none), weights of value 1, clicks."""

    row: Ints
    slots: Ints
    clicked: NDArray[np.bool_]

    @classmethod
    def of(cls, pages: Iterable[Page], layout: Layout, rows: dict[tuple[str, str], int]) -> Self:
        """The examined documents of pages, page by page and top down."""
        row: list[int] = []
        place: list[int] = []
        memory: list[tuple[int, int, int]] = []
        clicked: list[bool] = []
        for page in pages:
            seen = examined(page)
            docs = page.docs[:seen]
            row += [rows.get((page.query, doc), -1) for doc in docs] if rows else [-1] * seen
            place += range(1, seen + 1)
            memory += layout.memories(page.query, docs)
            clicked += page.clicks[:seen]
        slots = np.empty((len(row), 5), np.int64)
        slots[:, 0] = layout.bias
        slots[:, 1] = layout.bias + np.minimum(place, layout.positions)
        slots[:, 2:] = np.array(memory, np.int64).reshape(len(row), 3)
        return cls(np.array(row, np.int64), slots, np.array(clicked, np.bool_))


def streamed(
    pages: Iterable[Page], layout: Layout, rows: dict[tuple[str, str], int], size: int = CHUNK
) -> Iterator[Events]:
    """The events of a stream of pages, some pages at a time."""
    source = iter(pages)
    while chunk := list(islice(source, size)):
        yield Events.of(chunk, layout, rows)


def rows_by_name(data: Dataset | None) -> dict[tuple[str, str], int]:
    """(query, document) → row."""
    if data is None:
        return {}
    names = data.names_of_documents()
    return {(qid, name): rows.start + i for qid, rows in data for i, name in enumerate(names[rows].tolist())}
