"""Pages of a ranker that explores, and users with position bias who click on them: logs with known truth."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topkit.clicks.log import ClickLog
from topkit.clicks.pairs import Pairs
from topkit.data import Dataset, InputError
from topkit.data.settings import Setting, check_settings, settings_of

Floats = NDArray[np.float64]

BLOCK = 1 << 20
"""Documents that are shuffled at a time, which bounds the memory."""


def click_rates(data: Dataset, noise: float = 0.1) -> Floats:
    """P(click | examined) of each document by its grade: noise + (1 − noise)·(2^y − 1)/(2^y_max − 1)."""
    gains = np.exp2(data.y.astype(np.float64)) - 1.0
    values: Floats = noise + (1.0 - noise) * gains / max(float(gains.max()), 1.0)
    return values


def shown_pages(
    data: Dataset, scores: ArrayLike, pages: int, length: int = 10, spread: float = 1.0, seed: int = 0
) -> ClickLog:
    """Pages without clicks: queries at random, documents by score + ``spread`` × Gumbel noise.

    That is Plackett–Luce sampling with scores divided by the spread; 0 shows the order of the scores.
    """
    values = np.asarray(scores, np.float64)
    if values.shape != (len(data),):
        raise InputError(f"expected {len(data)} scores, one per document, got shape {values.shape}")
    rng = np.random.default_rng(seed)
    queries = np.bincount(rng.integers(0, data.n_queries, pages), minlength=data.n_queries)
    lengths = np.repeat(np.minimum(data.lengths, length), queries)
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    pair = np.empty(int(ptr[-1]), np.int32)
    filled = 0
    for query, count in enumerate(queries.tolist()):
        rows = slice(int(data.ptr[query]), int(data.ptr[query + 1]))
        n = rows.stop - rows.start
        step = max(1, BLOCK // max(n, 1))
        for start in range(0, count, step):
            block = min(step, count - start)
            keys = (
                values[rows] + spread * rng.gumbel(size=(block, n))
                if spread
                else np.tile(values[rows], (block, 1))
            )
            order = np.argsort(-keys, axis=1, kind="stable")[:, :length].ravel()
            pair[filled : filled + len(order)] = rows.start + order
            filled += len(order)
    position = np.arange(len(pair)) - np.repeat(ptr[:-1], lengths) + 1
    return ClickLog(Pairs.of_dataset(data), pair, position, np.zeros(len(pair), np.bool_), ptr)


def simulate_clicks(
    data: Dataset,
    scores: ArrayLike,
    pages: Annotated[int, Setting("Number of pages.", low=1)] = 10_000,
    *,
    length: Annotated[int, Setting("Documents per page.", low=1)] = 10,
    spread: Annotated[float, Setting("How much the ranker explores.", low=0)] = 1.0,
    eta: Annotated[float, Setting("Position bias: examination of position p is p^−eta.", low=0)] = 1.0,
    noise: Annotated[float, Setting("Click rate of irrelevant documents.", low=0, high=1)] = 0.1,
    trust: Annotated[float, Setting("Extra clicks of irrelevant documents at the top.", low=0, high=1)] = 0.0,
    seed: Annotated[int, Setting("Seed of the random number generator.", low=0)] = 0,
) -> ClickLog:
    """A log of users who click on pages of a ranker: P(click) = p^−eta·rate(grade), by the grades of ``data``.

    The ranker shows documents by score plus random noise, so that documents occur at several positions. An
    examined document is clicked with probability noise + (1 − noise)·(2^y − 1)/(2^y_max − 1). With ``trust``
    t, irrelevant documents are clicked as if their rate were t/p higher at position p. The setting of
    Joachims, Swaminathan & Schnabel, WSDM 2017, with trust as in Agarwal et al., WWW 2019.

    >>> import topkit as tk
    >>> data = tk.demo_data()
    >>> tk.simulate_clicks(data, data.X[:, 0], 100)
    ClickLog(100 pages, 120 queries, 2,400 documents, 157 clicks)
    """
    options = {"pages": pages, "length": length, "spread": spread, "eta": eta, "noise": noise}
    options |= {"trust": trust, "seed": seed}
    check_settings(settings_of(simulate_clicks), options, "simulate_clicks")
    log = shown_pages(data, scores, pages, length, spread, seed)
    position = log.position.astype(np.float64)
    rate = click_rates(data, noise)[log.pair]
    p = position**-eta * (rate + trust / position * (1.0 - rate))
    rng = np.random.default_rng([seed, 1])
    return log.with_clicks(rng.random(len(p)) < p)
