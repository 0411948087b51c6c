"""Index: the term counts of every stream of a corpus, as memory-mapped arrays in a folder."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from topkit.data import InputError, Strings
from topkit.features.analyser import Analyser

WHOLE = "whole"
"""The stream of all fields of a document together."""


@dataclass(frozen=True, eq=False)
class Stream:
    """The postings of one stream: term t occurs in documents ``docs[ptr[t]:ptr[t+1]]``, ascending."""

    ptr: NDArray[np.int64]
    docs: NDArray[np.int32]
    counts: NDArray[np.int32]
    """How often the term occurs in the document of the posting."""
    lengths: NDArray[np.int32]
    """Number of terms of each document, with repetitions, without stop words."""
    distinct: NDArray[np.int32]
    """Number of distinct terms of each document."""
    occurrences: NDArray[np.int64]
    """How often each term occurs in all documents."""

    @cached_property
    def total(self) -> int:
        """Number of terms in all documents."""
        return int(self.lengths.sum(dtype=np.int64))

    @property
    def average_length(self) -> float:
        """Mean number of terms per document."""
        return self.total / len(self.lengths)

    def frequency(self, terms: NDArray[np.int32]) -> NDArray[np.int64]:
        """Number of documents with each term."""
        return np.asarray(self.ptr[terms + 1] - self.ptr[terms])


@dataclass(frozen=True, eq=False)
class Index:
    """An indexed corpus, built by :func:`topkit.features.build_index` and opened by :func:`open_index`."""

    doc_ids: Strings
    vocabulary: Strings
    streams: dict[str, Stream]
    analyser: Analyser
    urls: Strings | None = None
    """The original URLs, if documents have a field ``url``."""

    def __len__(self) -> int:
        return len(self.doc_ids)

    @cached_property
    def document(self) -> dict[str, int]:
        """Document id → number."""
        return {name: i for i, name in enumerate(self.doc_ids)}

    @cached_property
    def term(self) -> dict[str, int]:
        """Term → number."""
        return {name: i for i, name in enumerate(self.vocabulary)}

    def stream(self, name: str) -> Stream:
        """A stream by name; ``whole`` of a corpus with one field is that field."""
        if name in self.streams:
            return self.streams[name]
        if name == WHOLE and len(self.streams) == 1:
            return next(iter(self.streams.values()))
        raise InputError(f"the index has no stream {name!r}", f"it has {', '.join(self.streams)}")

    def query(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The distinct terms of a query that occur in the corpus, and their counts in the query."""
        known = Counter(self.term[term] for term in self.analyser.terms(text) if term in self.term)
        return np.array(list(known), np.int32), np.array(list(known.values()), np.int32)

    def __repr__(self) -> str:
        return f"Index({len(self)} documents, {len(self.vocabulary)} terms, {', '.join(self.streams)})"
