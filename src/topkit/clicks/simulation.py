"""Pages of a ranker that explores, and users with position bias who click on them: logs with known truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from topkit.clicks.log import ClickLog
from topkit.clicks.pairs import Pairs
from topkit.compute import Floats, Ints
from topkit.data import Dataset, InputError
from topkit.data.settings import Setting, check_fields

BLOCK = 1 << 20
"""Documents that are shuffled at a time, which bounds the memory."""


@dataclass(frozen=True)
class Users:
    """How simulated users click: P(click) = p^−eta·(rate + trust/p·(1 − rate)) at position p.

    The rate of a document is noise + (1 − noise)·(2^y − 1)/(2^y_max − 1) for its grade y.
    """

    eta: Annotated[float, Setting("Position bias: the examination of position p is p^−eta.", low=0)] = 1.0
    noise: Annotated[float, Setting("Click rate of irrelevant documents.", low=0, high=1)] = 0.1
    trust: Annotated[float, Setting("Extra clicks on irrelevant documents at the top.", low=0, high=1)] = 0.0

    def __post_init__(self) -> None:
        check_fields(self)

    def rates(self, data: Dataset) -> Floats:
        """P(click | examined) of each document, without trust."""
        gains = np.exp2(data.y.astype(np.float64)) - 1.0
        values: Floats = self.noise + (1.0 - self.noise) * gains / max(float(gains.max()), 1.0)
        return values

    def probabilities(self, log: ClickLog, rates: Floats) -> Floats:
        """P(click) of each row of a log whose pairs have these rates."""
        position, rate = log.position.astype(np.float64), rates[log.pair]
        values: Floats = position**-self.eta * (rate + self.trust / position * (1.0 - rate))
        return values


def shown_pages(
    data: Dataset, scores: ArrayLike, pages: int, length: int = 10, spread: float = 1.0, seed: int = 0
) -> ClickLog:
    """Pages without clicks: queries at random, documents by score + ``spread`` × Gumbel noise.

    That is Plackett–Luce sampling with scores divided by the spread; 0 shows the order of the scores.
    """
    rng = np.random.default_rng(seed)
    queries = _pages_of_queries(data, pages, rng)
    lengths = np.repeat(np.minimum(data.lengths, length), queries)
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    pair, position = np.empty(int(ptr[-1]), np.int32), np.empty(int(ptr[-1]), np.uint16)
    filled = 0
    for shown in _shown_blocks(data, scores, queries, length, spread, rng):
        rows = slice(filled, filled + shown.size)
        pair[rows] = shown.ravel()
        position[rows] = np.tile(np.arange(1, shown.shape[1] + 1), len(shown))
        filled = rows.stop
    return ClickLog(Pairs.of_dataset(data), pair, position, np.zeros(len(pair), np.bool_), ptr)


def shown_counts(
    data: Dataset, scores: ArrayLike, pages: int, length: int = 10, spread: float = 1.0, seed: int = 0
) -> ClickLog:
    """The counts of :func:`shown_pages`, without keeping the pages: the memory does not grow with them."""
    rng = np.random.default_rng(seed)
    width = min(length, int(data.lengths.max()))
    table = np.zeros((len(data), width), np.int64)
    queries = _pages_of_queries(data, pages, rng)
    for shown in _shown_blocks(data, scores, queries, length, spread, rng):
        first, end, places = int(shown.min()), int(shown.max()) + 1, shown.shape[1]
        keys = (shown - first) * places + np.arange(places)
        counts = np.bincount(keys.ravel(), minlength=(end - first) * places)
        table[first:end, :places] += counts.reshape(end - first, places)
    pair, place = np.nonzero(table)
    impressions = table[pair, place]
    none = np.zeros(len(pair), np.int64)
    return ClickLog(Pairs.of_dataset(data), pair.astype(np.int32), place + 1, none, None, impressions)


def _pages_of_queries(data: Dataset, pages: int, rng: np.random.Generator) -> Ints:
    """How many of the pages each query gets; all queries are equally likely."""
    if pages < 1:
        raise InputError(f"expected at least one page, got {pages}")
    return np.bincount(rng.integers(0, data.n_queries, pages), minlength=data.n_queries)


def _shown_blocks(
    data: Dataset,
    scores: ArrayLike,
    queries: Ints,
    length: int,
    spread: float,
    rng: np.random.Generator,
) -> Iterator[Ints]:
    """Blocks of pages of one query: a row per page with the documents from the top."""
    if length < 1 or spread < 0:
        raise InputError(f"expected at least one document per page and a spread ≥ 0, got {length}, {spread}")
    values = np.asarray(scores, np.float64)
    if values.shape != (len(data),):
        raise InputError(f"expected {len(data)} scores, one per document, got shape {values.shape}")
    for query, count in enumerate(queries.tolist()):
        rows = slice(int(data.ptr[query]), int(data.ptr[query + 1]))
        n = rows.stop - rows.start
        step = max(1, BLOCK // max(n, 1))
        for start in range(0, count, step):
            block = min(step, count - start)
            keys = np.broadcast_to(values[rows], (block, n))
            if spread:
                keys = keys + spread * rng.gumbel(size=(block, n))
            yield rows.start + np.argsort(-keys, axis=1, kind="stable")[:, :length]


def simulate_clicks(
    data: Dataset,
    scores: ArrayLike,
    pages: int = 10_000,
    *,
    length: int = 10,
    spread: float = 1.0,
    users: Users | None = None,
    seed: int = 0,
) -> ClickLog:
    """A log of users who click on the pages of a ranker, by the grades of ``data``; for tests and studies.

    The ranker shows the first ``length`` documents by score + ``spread`` × Gumbel noise, so that documents
    occur at several positions. The setting of Joachims, Swaminathan & Schnabel, WSDM 2017, with trust bias as
    in Agarwal et al., WWW 2019.

    >>> import topkit as tk
    >>> data = tk.demo_data()
    >>> tk.simulate_clicks(data, data.X[:, 0], 100)
    ClickLog(100 pages, 120 queries, 1,680 documents, 94 clicks)
    """
    people = users or Users()
    log = shown_pages(data, scores, pages, length, spread, seed)
    p = people.probabilities(log, people.rates(data))
    return log.with_clicks(np.random.default_rng([seed, 1]).random(len(p)) < p)


def simulate_click_counts(
    data: Dataset,
    scores: ArrayLike,
    pages: int = 10_000,
    *,
    length: int = 10,
    spread: float = 1.0,
    users: Users | None = None,
    seed: int = 0,
) -> ClickLog:
    """:func:`simulate_clicks` as counts, for many millions of pages: the memory does not grow with them.

    The pages of the same seed are added up as they are drawn. Clicks at one position are independent, so
    their sum is binomial.

    >>> import topkit as tk
    >>> data = tk.demo_data()
    >>> int(tk.simulate_click_counts(data, data.X[:, 0], 100).impressions.sum())
    1000
    """
    people = users or Users()
    log = shown_counts(data, scores, pages, length, spread, seed)
    p = people.probabilities(log, people.rates(data))
    assert log.impressions is not None  # noqa: S101 (it is a log of counts)
    clicks = np.random.default_rng([seed, 1]).binomial(log.impressions, np.minimum(p, 1.0))
    return replace(log, clicks=clicks)
