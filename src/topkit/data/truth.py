"""What labels mean (graded, full order, top-k), and the conversion of one kind of truth to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from topkit.data.errors import InputError

Kind = Literal["graded", "order", "top-k"]


@dataclass(frozen=True)
class Truth:
    """The kind of truth of labels.

    - ``graded``: the grade, 0 = irrelevant.
    - ``order``: a permutation of all n documents; the label is n+1−rank, so the best has n and the worst 1.
    - ``top-k``: an order of the top k, everything else below it: k+1−place in the top k, else 0. A list
      with n < k documents is ordered completely, with k := n. Documents that tie share a place (the best of
      theirs) and so a label, also at the last place, so more than k documents can have a label above 0.
      Documents that were marked bad have the label 0 even if fewer than k documents are better.
    """

    kind: Kind = "graded"
    k: int | None = None

    def __post_init__(self) -> None:
        if (self.kind == "top-k") != (self.k is not None):
            raise InputError(f"top-k truth needs k, other kinds have none; got {self.kind} with k = {self.k}")
        if self.k is not None and self.k < 1:
            raise InputError(f"k must be at least 1, got {self.k}")

    def __str__(self) -> str:
        return f"top-{self.k}" if self.kind == "top-k" else self.kind

    @classmethod
    def parse(cls, text: str) -> Truth:
        """The truth that prints as ``text``.

        >>> Truth.parse("top-10")
        Truth(kind='top-k', k=10)
        """
        if text in ("graded", "order"):
            return cls(kind="graded" if text == "graded" else "order")
        if text.startswith("top-") and text[4:].isdigit() and int(text[4:]) > 0:
            return cls("top-k", int(text[4:]))
        raise InputError(
            f"unknown kind of truth {text!r}", "use 'graded', 'order' or 'top-K' such as 'top-10'"
        )


GRADED = Truth()


def order_labels(
    y: NDArray[np.float32], ptr: NDArray[np.int64], seed: int, keys: NDArray[np.uint64] | None = None
) -> NDArray[np.float32]:
    """Full-order labels n+1−rank by ``y``; equal labels are ordered by keys, or at random by the seed."""
    lengths = np.diff(ptr)
    query = np.repeat(np.arange(len(lengths)), lengths)
    tie_break = np.random.default_rng(seed).permutation(len(y)) if keys is None else keys
    best_last = np.lexsort((tie_break, y, query))
    labels = np.empty(len(y), np.float32)
    labels[best_last] = np.arange(1, len(y) + 1) - np.repeat(ptr[:-1], lengths)
    return labels


def labels_of_top(
    y: NDArray[np.float32], ptr: NDArray[np.int64], truth: Truth, k: int, seed: int, break_ties: bool
) -> NDArray[np.float32]:
    """Top-k labels from labels of any truth; see :meth:`topkit.data.Dataset.top_k`."""
    if truth.k is not None and truth.k < k:
        raise InputError(f"the top {k} cannot be derived from {truth} truth", f"use k ≤ {truth.k}")
    if k < 1:
        raise InputError(f"k must be at least 1, got {k}")
    if truth.kind == "top-k":
        return shorter_top_labels(y, ptr, k, seed if break_ties else None)
    return top_k_labels(y if truth.kind == "order" else order_labels(y, ptr, seed), ptr, k)


def top_k_labels(y: NDArray[np.float32], ptr: NDArray[np.int64], k: int) -> NDArray[np.float32]:
    """Top-k labels from the labels of a full order: k+1−rank for the first k of each list, 0 for the rest."""
    lengths = np.diff(ptr)
    beyond = np.repeat(np.maximum(lengths - k, 0), lengths)
    labels: NDArray[np.float32] = np.maximum(y - beyond, 0).astype(np.float32)
    return labels


def shorter_top_labels(
    y: NDArray[np.float32], ptr: NDArray[np.int64], k: int, break_ties: int | None
) -> NDArray[np.float32]:
    """Top-k labels from those of a larger k; ties stay, or are ordered at random by the seed ``break_ties``.

    Documents with the label 0 are in no order, so they are never ordered at random.
    """
    lengths = np.diff(ptr)
    best = np.repeat(np.maximum.reduceat(y, ptr[:-1]), lengths) if len(y) else y
    if break_ties is not None:
        rank = np.repeat(lengths, lengths) - order_labels(y, ptr, break_ties)  # from 0
        y = np.where(y > 0, np.maximum(best - rank, 0), 0).astype(np.float32)
    labels: NDArray[np.float32] = np.maximum(y - (best - np.minimum(best, k)), 0).astype(np.float32)
    return labels


def check_labels(y: NDArray[np.float32], ptr: NDArray[np.int64], truth: Truth) -> None:
    """Raise if ``y`` are not labels of this kind."""
    if truth.kind == "graded":
        return
    lengths = np.diff(ptr)
    query = np.repeat(np.arange(len(lengths)), lengths)
    ranked = y[np.lexsort((-y, query))]
    starts = np.repeat(ptr[:-1], lengths)
    place = np.arange(len(y)) - starts
    if truth.k is None:
        wrong = ranked != np.repeat(lengths, lengths) - place
    else:
        tied = (ranked == np.roll(ranked, 1)) & (place > 0)
        place = np.maximum.accumulate(np.where(tied, 0, np.arange(len(y)))) - starts
        # A part of the documents of a list may be fewer than k and still have the label k.
        best, k = ranked[starts], np.repeat(np.minimum(lengths, truth.k), lengths)
        wrong = ranked != np.where(ranked > 0, best - place, 0)
        wrong |= (best != 0) & (best != k) & (best != truth.k)
    if wrong.any():
        first = int(query[np.argmax(wrong)])
        raise InputError(
            f"the labels of query number {first + 1} are not {truth} labels",
            "expected the labels n, n−1, …, 1 (order), or k+1−place and zeros, where documents that tie have "
            "the best of their places (top-k)",
        )
