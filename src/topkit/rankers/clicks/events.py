"""From result pages to click events: the examined documents, their features and their memory weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar, Self
from zlib import crc32

import numpy as np

from topkit.compute import Bools, Ints
from topkit.data import Dataset, Page

CHUNK = 2_000
"""Pages converted to arrays at a time: this bounds the memory that a stream needs."""


@dataclass(frozen=True)
class Clicks:
    """Result pages to learn from, and optionally a data set with the features of their documents.

    ``pages`` may be any iterable, such as :func:`topkit.data.read_pages` of a long file. Documents that are
    not in the data set have no features. ``rated`` are pages whose users said whether they were satisfied;
    the utility to rank by is learned from them (:mod:`topkit.rankers.clicks.utility`).
    """

    source: ClassVar[str] = "clicks"
    pages: Iterable[Page]
    features: Dataset | None = None
    rated: Sequence[tuple[Page, bool]] = ()

    def prepared(self, prepare: Callable[[Dataset], Dataset]) -> Clicks:
        """The same pages with prepared features."""
        return self if self.features is None else replace(self, features=prepare(self.features))


def examined(page: Page) -> int:
    """The number of examined documents: all down to the last click, none without a click.

    >>> examined(Page("q", ("a", "b", "c"), (True, True, False)))
    2
    """
    return max((place for place, clicked in enumerate(page.clicks, 1) if clicked), default=0)


@dataclass(frozen=True)
class Layout:
    """Positions of the weights: one per feature, a bias, one per position, and a table of memory weights.

    Memory weights of queries, documents and query–document pairs share the table by hash, so the model has a
    fixed size for any stream; in a table that is large enough, collisions are rare.
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
        """The weight of a position on the page, counted from 1; later positions share the last weight."""
        return self.bias + min(place, self.positions)

    def memories(self, query: str, docs: Iterable[str]) -> list[tuple[int, int, int]]:
        """For each document, the weights of the query, of the document, and of the pair of both."""
        key = crc32(query.encode("utf-8", "surrogateescape"))
        start, slots = self.table, self.slots
        of_query = start + key % slots
        weights = []
        for doc in docs:
            name = doc.encode("utf-8", "surrogateescape")
            # Different starting values give a document and a pair different hashes.
            of_doc, of_pair = crc32(name, 1) % slots, crc32(name, key ^ 0x9E3779B9) % slots
            weights.append((of_query, start + of_doc, start + of_pair))
        return weights


@dataclass(frozen=True)
class Events:
    """Examined documents as arrays: row of the features (−1 for none), weights with input 1, clicks."""

    row: Ints
    slots: Ints
    clicked: Bools

    @classmethod
    def of(cls, pages: Iterable[Page], layout: Layout, rows: dict[tuple[str, str], int]) -> Self:
        """The examined documents, page by page and from the top."""
        row: list[int] = []
        place: list[int] = []
        memory: list[tuple[int, int, int]] = []
        clicked: list[bool] = []
        for page in pages:
            count = examined(page)
            docs = page.docs[:count]
            row += [rows.get((page.query, doc), -1) for doc in docs] if rows else [-1] * count
            place += range(1, count + 1)
            memory += layout.memories(page.query, docs)
            clicked += page.clicks[:count]
        slots = np.empty((len(row), 5), np.int64)
        slots[:, 0] = layout.bias
        slots[:, 1] = layout.bias + np.minimum(place, layout.positions)
        slots[:, 2:] = np.array(memory, np.int64).reshape(len(row), 3)
        return cls(np.array(row, np.int64), slots, np.array(clicked, np.bool_))


def streamed(
    pages: Iterable[Page], layout: Layout, rows: dict[tuple[str, str], int], size: int = CHUNK
) -> Iterator[Events]:
    """The events of a stream of pages, ``size`` pages at a time."""
    source = iter(pages)
    while chunk := list(islice(source, size)):
        yield Events.of(chunk, layout, rows)


def rows_by_name(data: Dataset | None) -> dict[tuple[str, str], int]:
    """(query, document) → row."""
    if data is None:
        return {}
    names = data.names_of_documents()
    return {(qid, name): rows.start + i for qid, rows in data for i, name in enumerate(names[rows].tolist())}
