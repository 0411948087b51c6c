"""From arrays to values of every query: the one path that all evaluation takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.compute import thread_map
from topkit.data import InputError, Strings, Truth
from topkit.data.truth import GRADED
from topkit.metrics.block import BLOCK_DOCUMENTS, Block, Floats, Lists, small_integers
from topkit.metrics.conventions import Convention
from topkit.metrics.conventions import convention as convention_named
from topkit.metrics.measure import Measure
from topkit.metrics.order import NotANumberError, Scores, as_scores, query_blocks
from topkit.metrics.parse import Metric, parse_metrics


def evaluate_arrays(
    y: ArrayLike,
    scores: ArrayLike,
    ptr: ArrayLike,
    metrics: str | Metric | Iterable[str | Metric],
    convention: str | Convention = "yahoo",
    *,
    truth: Truth = GRADED,
    doc_ids: Strings | None = None,
) -> dict[str, Floats]:
    """The value of each metric for every query, from labels and scores; query q is rows ptr[q]:ptr[q+1].

    What :func:`topkit.evaluate` calls underneath, without names and means; cheap enough for every round of
    training.

    >>> evaluate_arrays([0, 2, 1], [0.3, 0.1, 0.2], [0, 2, 3], "ndcg@1,rr")
    {'ndcg@1': array([0., 1.]), 'rr': array([0.5, 1. ])}
    """
    bounds = np.asarray(ptr, np.int64)
    values = as_scores(scores)
    labels = np.asarray(y)
    if labels.shape != values.shape or labels.ndim != 1:
        raise InputError(f"{labels.shape} labels and {values.shape} scores", "give one score a document")
    if len(bounds) == 0 or bounds[0] != 0 or bounds[-1] != len(labels) or (np.diff(bounds) < 0).any():
        raise ValueError("ptr must rise from 0 to the number of documents")
    rules = convention_named(convention)
    small, precise = _both(lambda: small_integers(labels), lambda: _at_precision(values, rules))
    lists = Lists(precise, small, bounds, doc_ids, truth=truth)
    chosen = parse_metrics(metrics)
    return dict(zip(map(str, chosen), evaluate_lists(lists, chosen, rules), strict=True))


A = TypeVar("A")
B = TypeVar("B")


def _both(first: Callable[[], A], second: Callable[[], B]) -> tuple[A, B]:
    """Two passes over everything, at the same time."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(first)
        done = second()
        return waiting.result(), done


def _at_precision(scores: Scores, rules: Convention) -> Scores:
    return scores.astype(np.float32, copy=False) if rules.single_precision else scores


def _not_a_number(scores: Scores, ptr: NDArray[np.int64], qids: tuple[str, ...]) -> InputError:
    """The error that names the first document whose score is not a number."""
    row = int(np.argmax(np.isnan(scores)))
    q = int(np.searchsorted(ptr, row, side="right")) - 1
    name = repr(qids[q]) if qids else f"number {q + 1}"
    return InputError(
        f"the score of document {row - int(ptr[q]) + 1} of query {name} is not a number (NaN)",
        "every document needs a score",
    )


def evaluate_lists(
    lists: Lists, metrics: list[Metric], convention: str | Convention, qids: tuple[str, ...] = ()
) -> list[Floats]:
    """The values of each metric, one array a metric; ``qids`` are for the message if a score is NaN."""
    rules = convention_named(convention)
    for one in metrics:
        _check_truth(one, lists)
    families = _families(metrics)
    lists = replace(lists, scores=_at_precision(lists.scores, rules))
    by_length, blocks = query_blocks(lists.lengths, BLOCK_DOCUMENTS)
    results = np.empty((len(metrics), len(by_length)))

    # Sorting gains by threads. Measures do not: their many small steps would wait for the interpreter's lock.
    try:
        ranked = thread_map(lambda place: Block.of(lists, by_length[place], rules.ties), blocks)
    except NotANumberError:
        raise _not_a_number(lists.scores, lists.ptr, qids) from None
    for place in reversed(blocks):
        block = ranked.pop()  # and its memory goes with it
        # who returns nothing earns nothing, whatever the convention gives where nothing is relevant
        used = rules if block.lengths.any() else replace(rules, empty=0.0)
        for measure, settings, depths, rows in families:
            values = measure.function(block, depths, used, **settings)
            for row, value in zip(rows, values, strict=True):
                results[row, place] = value
    of_query = np.empty_like(by_length)
    of_query[by_length] = np.arange(len(by_length))
    return list(results.take(of_query, axis=1))


Family = tuple[Measure, dict[str, float], list[int | None], list[int]]


def _families(metrics: list[Metric]) -> list[Family]:
    """Metrics that differ only in their depth, together: they share almost all of their work."""
    families: dict[tuple[str, tuple[tuple[str, float], ...]], Family] = {}
    for place, one in enumerate(metrics):
        key = (one.name, one.settings)
        _, _, depths, places = families.setdefault(key, (one.measure, dict(one.settings), [], []))
        depths.append(one.depth)
        places.append(place)
    return list(families.values())


def _check_truth(one: Metric, lists: Lists) -> None:
    needs = one.measure.needs
    if needs == "top-k" and lists.truth.kind != "top-k":
        raise InputError(f"{one} needs top-k truth, not {lists.truth}", "convert it: dataset.top_k(10)")
    if needs == "order" and lists.truth.kind == "graded":
        raise InputError(f"{one} needs the order of the top, not grades", "convert it: dataset.top_k(10)")
    if needs == "preferences" and lists.pairs is None:
        raise InputError(f"{one} needs preferences, and there are none", "evaluate a run by preferences")
    if needs == "clicks" and lists.clicks is None:
        raise InputError(
            f"{one} needs clicks, and there are none", "evaluate a run by result pages with clicks"
        )
