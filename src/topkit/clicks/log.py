"""ClickLog: which documents were shown at which positions, and which were clicked. An immutable value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.clicks.pairs import Pairs
from topkit.compute import Bools, Floats, Ints, Ints32
from topkit.data import InputError, Page
from topkit.data.words import counted

DENSE = 1 << 26
"""Cells of a table of counts that is added up directly; a larger one is sorted instead."""
BLOCK = 1 << 22
"""Rows that are counted at a time, which bounds the memory of their keys."""


@dataclass(frozen=True)
class Cells:
    """Counts of rows that share a pair and a bucket, such as a position."""

    pair: Ints
    """The number of the query and document."""
    bucket: Ints
    impressions: Floats
    clicks: Floats


@dataclass(frozen=True, eq=False, repr=False)
class ClickLog:
    """Impressions of documents: ``pairs`` names them, the arrays have one entry per row.

    A log of **pages** has one row per document shown: page p is rows ``ptr[p]:ptr[p+1]``, from the top, and
    ``clicks`` is true or false. A log of **counts** has no ``ptr``: a row says how often a document was shown
    at a position (``impressions``), and how often it was clicked there.

    >>> log = ClickLog.of_pages([Page("q", ("a", "b"), (False, True)), Page("q", ("b", "a"), (True, False))])
    >>> log
    ClickLog(2 pages, 1 query, 2 documents, 2 clicks)
    >>> log.counts().impressions.tolist()
    [1, 1, 1, 1]
    """

    pairs: Pairs
    pair: Ints32
    position: NDArray[Any]
    """16 bits, counted from 1."""
    clicks: NDArray[Any]
    ptr: Ints | None = None
    impressions: Ints | None = None

    def __post_init__(self) -> None:
        for name, dtype in (("pair", np.int32), ("position", np.uint16)):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype))
        rows = len(self.pair)
        if (self.ptr is None) == (self.impressions is None):
            raise InputError("expected either pages or counts", "give ptr or impressions")
        kind = np.bool_ if self.impressions is None else np.int64
        object.__setattr__(self, "clicks", np.asarray(self.clicks, kind))
        if len(self.position) != rows or len(self.clicks) != rows:
            raise InputError(f"expected {rows} positions and clicks, one per row")
        if rows == 0:
            raise InputError("the log has no rows", "give at least one page")
        if int(self.position.min()) < 1:
            raise InputError("positions are counted from 1, got 0", "add 1 to the positions")
        if self.impressions is not None:
            self._check_counts()

    def _check_counts(self) -> None:
        impressions = np.asarray(self.impressions, np.int64)
        object.__setattr__(self, "impressions", impressions)
        wrong = np.flatnonzero((impressions < 0) | (self.clicks < 0) | (self.clicks > impressions))
        if len(wrong):
            row = int(wrong[0])
            raise InputError(
                f"row {row + 1} has {self.clicks[row]} clicks for {impressions[row]} impressions",
                "expected from 0 clicks to as many as there are impressions",
            )

    # -- making one ----------------------------------------------------------------------------------------
    @classmethod
    def of_pages(cls, pages: Iterable[Page]) -> Self:
        """The log of pages; positions count from 1 at the top of each page."""
        shown = list(pages)
        queries = [page.query for page in shown for _ in page.docs]
        docs = [doc for page in shown for doc in page.docs]
        lengths = np.fromiter((len(page.docs) for page in shown), np.int64, len(shown))
        pairs, pair = Pairs.of(queries, docs)
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        position = np.arange(len(docs)) - np.repeat(ptr[:-1], lengths) + 1
        clicks = np.fromiter((click for page in shown for click in page.clicks), np.bool_)
        return cls(pairs, pair, position, clicks, ptr)

    @classmethod
    def from_frame(cls, frame: Any, **columns: str) -> ClickLog:
        """A log from a pandas or polars data frame or an Arrow table; see :func:`topkit.read_clicks`."""
        from topkit.clicks.reading import log_of_frame

        return log_of_frame(frame, columns)

    # -- shape ---------------------------------------------------------------------------------------------
    def __len__(self) -> int:
        """Number of pages; of a log of counts, number of rows."""
        return len(self.pair) if self.ptr is None else len(self.ptr) - 1

    @property
    def has_pages(self) -> bool:
        """Whether the rows are pages; otherwise they are counts."""
        return self.ptr is not None

    @property
    def bounds(self) -> Ints:
        """The first row of each page, and the number of rows; InputError for a log of counts."""
        if self.ptr is None:
            raise InputError(
                "this needs whole pages, and the log has counts only",
                "give one row per document shown, with a column that names its page",
            )
        return self.ptr

    @property
    def n_positions(self) -> int:
        """The largest position."""
        return int(self.position.max())

    @cached_property
    def page_query(self) -> Ints:
        """The number of the query of each page."""
        query: Ints = self.pairs.query[self.pair[self.bounds[:-1]]]
        return query

    def by_place(self) -> Iterator[tuple[Ints, Ints]]:
        """The first row of every page, then the second of those that have one, and so on: pages and rows."""
        lengths = np.diff(self.bounds)
        pages = np.flatnonzero(lengths > 0)
        place = 0
        while len(pages):
            yield pages, self.bounds[pages] + place
            place += 1
            pages = pages[lengths[pages] > place]

    # -- parts ---------------------------------------------------------------------------------------------
    def select(self, pages: ArrayLike) -> ClickLog:
        """The pages at these positions, or where a Boolean mask is true; the pairs stay the same."""
        chosen = np.asarray(pages)
        chosen = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        lengths = np.diff(self.bounds)[chosen]
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        rows = np.arange(ptr[-1]) + np.repeat(self.bounds[chosen] - ptr[:-1], lengths)
        return replace(
            self, pair=self.pair[rows], position=self.position[rows], clicks=self.clicks[rows], ptr=ptr
        )

    def with_clicks(self, clicks: Bools) -> ClickLog:
        """The same pages with other clicks."""
        return replace(self, clicks=clicks)

    def cells(self, bucket: Ints | NDArray[np.uint16] | None = None, buckets: int = 0) -> Cells:
        """Impressions and clicks by pair and bucket; the bucket is the position − 1 by default."""
        if bucket is None:
            bucket, buckets = self.position, self.n_positions + 1
            cells = self.cells(bucket, buckets)
            return replace(cells, bucket=cells.bucket - 1)
        shape = len(self.pairs) * buckets
        if shape <= DENSE:
            shown, clicked = self._added_up(bucket, buckets, shape)
            keys = np.flatnonzero(shown)
            shown, clicked = shown[keys], clicked[keys]
        else:
            rows = self.pair.astype(np.int64) * buckets + bucket
            keys, place = np.unique(rows, return_inverse=True)
            weights = None if self.impressions is None else self.impressions.astype(np.float64)
            shown = np.bincount(place, weights, len(keys)).astype(np.float64)
            clicked = np.bincount(place, self.clicks.astype(np.float64), len(keys))
        return Cells(keys // buckets, keys % buckets, shown, clicked)

    def _added_up(self, bucket: NDArray[Any], buckets: int, shape: int) -> tuple[Any, Any]:
        shown, clicked = np.zeros(shape), np.zeros(shape)
        for start in range(0, len(self.pair), BLOCK):
            rows = slice(start, start + BLOCK)
            keys = self.pair[rows].astype(np.int64) * buckets + bucket[rows]
            if self.impressions is None:
                shown += np.bincount(keys, minlength=shape)
                clicked += np.bincount(keys[self.clicks[rows]], minlength=shape)
            else:
                shown += np.bincount(keys, self.impressions[rows], minlength=shape)
                clicked += np.bincount(keys, self.clicks[rows], minlength=shape)
        return shown, clicked

    def counts(self) -> ClickLog:
        """The log as counts: one row per query, document and position."""
        cells = self.cells()
        return ClickLog(
            self.pairs,
            cells.pair.astype(np.int32),
            (cells.bucket + 1).astype(np.uint16),
            cells.clicks.astype(np.int64),
            None,
            cells.impressions.astype(np.int64),
        )

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame that :meth:`from_frame` reads: one row per document shown, or per count."""
        from topkit.data.frames_out import frame_of

        columns: dict[str, Any] = {}
        if self.ptr is not None:
            columns["page"] = np.repeat(np.arange(len(self)), np.diff(self.ptr))
        names = self.pairs.docs
        columns["query"] = [self.pairs.qids[q] for q in self.pairs.query[self.pair].tolist()]
        columns |= {"document": names.take(self.pair).tolist(), "position": self.position.astype(np.int64)}
        if self.impressions is not None:
            columns["impressions"] = self.impressions
        return frame_of({**columns, "clicks": self.clicks.astype(np.int64)}, backend)

    def __repr__(self) -> str:
        parts = [] if self.ptr is None else [counted(len(self), "page")]
        parts += [counted(len(self.pairs.qids), "query"), counted(len(self.pairs), "document")]
        return f"ClickLog({', '.join(parts)}, {counted(int(self.clicks.sum()), 'click')})"
