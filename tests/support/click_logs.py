"""Click models with known parameters, pages to simulate them on, and brute-force likelihoods."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from topkit.clicks import ClickLog, ClickModel
from topkit.clicks.models.cascade import Cascade
from topkit.clicks.models.dbn import DynamicBayesian, SimplifiedDynamicBayesian
from topkit.clicks.models.dcm import DependentClick
from topkit.clicks.models.pbm import PositionBased
from topkit.clicks.models.trust import TrustBased
from topkit.clicks.models.ubm import UserBrowsing
from topkit.clicks.pairs import Pairs
from topkit.data import Strings

Floats = NDArray[np.float64]


def random_pages(pages: int, length: int, seed: int, queries: int = 5, docs: int = 6) -> ClickLog:
    """Pages in random order, of random queries, without clicks; every second one is shorter by one."""
    rng = np.random.default_rng(seed)
    names = [f"d{i}" for i in range(queries * docs)]
    pairs = Pairs(tuple(f"q{q}" for q in range(queries)), np.arange(queries + 1) * docs, Strings.of(names))
    lengths = length - np.arange(pages) % 2 if length > 1 else np.full(pages, length)
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    orders = rng.permuted(np.tile(np.arange(docs), (pages, 1)), axis=1)
    shown = np.arange(docs) < lengths[:, None]
    pair = (rng.integers(0, queries, pages)[:, None] * docs + orders)[shown]
    position = np.arange(ptr[-1]) - np.repeat(ptr[:-1], lengths) + 1
    return ClickLog(pairs, pair, position, np.zeros(ptr[-1], bool), ptr)


def known_models(pairs: Pairs, length: int, seed: int) -> dict[str, ClickModel]:
    """One model of each kind with parameters that are not symmetric."""
    rng = np.random.default_rng(seed)
    a, s = rng.uniform(0.1, 0.8, len(pairs)), rng.uniform(0.2, 0.8, len(pairs))
    seen = 1.0 / np.arange(1, length + 1)
    places = np.arange(length)
    by_distance = 1.0 / np.maximum(places[:, None] + 1 - places[None, :], 1) ** 0.5
    return {
        "pbm": PositionBased(pairs, a, 0.4, by_position=seen),
        "trust": TrustBased(pairs, a, 0.4, slope=seen, offset=0.2 * seen * (1 - seen)),
        "cascade": Cascade(pairs, a, 0.4),
        "dcm": DependentClick(pairs, a, 0.4, by_position=np.linspace(0.9, 0.3, length)),
        "dbn": DynamicBayesian(pairs, a, 0.4, onward=0.8, satisfaction=s),
        "sdbn": SimplifiedDynamicBayesian(pairs, a, 0.4, satisfaction=s),
        "ubm": UserBrowsing(pairs, a, 0.4, by_distance=by_distance),
    }


def page_probability(model: ClickModel, log: ClickLog, page: int, clicks: tuple[bool, ...]) -> float:
    """P(clicks of a page): the sum over all latent states, which are drawn out one by one."""
    rows = np.arange(log.bounds[page], log.bounds[page + 1])
    a = model.attraction[log.pair[rows]]
    if isinstance(model, PositionBased):
        return _independent([x * y for x, y in zip(a, model.by_position, strict=False)], clicks)
    if isinstance(model, TrustBased):
        rates = [x * h + o for x, h, o in zip(a, model.slope, model.offset, strict=False)]
        return _independent(rates, clicks)
    if isinstance(model, UserBrowsing):
        return _browsing(model, a, clicks)
    return _chain(model, log, rows, clicks)


def _independent(rates: list[float], clicks: tuple[bool, ...]) -> float:
    return float(np.prod([p if click else 1 - p for p, click in zip(rates, clicks, strict=True)]))


def _browsing(model: UserBrowsing, a: Floats, clicks: tuple[bool, ...]) -> float:
    """Sum over examined or not at each place."""
    total = 0.0
    for looked in product((True, False), repeat=len(clicks)):
        p, last = 1.0, 0
        for place, (look, click) in enumerate(zip(looked, clicks, strict=True)):
            seen = model.by_distance[place, last]
            p *= seen if look else 1 - seen
            p *= (a[place] if click else 1 - a[place]) if look else float(not click)
            last = place + 1 if click else last
        total += p
    return total


def _chain(model: ClickModel, log: ClickLog, rows: NDArray[np.int64], clicks: tuple[bool, ...]) -> float:
    """Sum over the number of examined documents, and over satisfied or not after every click."""
    a, n = model.attraction[log.pair[rows]], len(clicks)
    stay, onward = _stays(model, log, rows)
    total = 0.0
    for examined in range(1, n + 1):
        if any(clicks[examined:]):
            continue
        p = 1.0
        for place in range(examined):
            p *= a[place] if clicks[place] else 1 - a[place]
            goes_on = onward * (stay[place] if clicks[place] else 1.0)
            if place < examined - 1:
                p *= goes_on
            elif examined < n:
                p *= 1 - goes_on
        total += p
    return total


def _stays(model: ClickModel, log: ClickLog, rows: NDArray[np.int64]) -> tuple[Floats, float]:
    if isinstance(model, Cascade):
        return np.zeros(len(rows)), 1.0
    if isinstance(model, DependentClick):
        return model.by_position[: len(rows)], 1.0
    assert isinstance(model, DynamicBayesian)
    return 1 - model.satisfaction[log.pair[rows]], model.onward
