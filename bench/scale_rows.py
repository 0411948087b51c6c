"""Rows of the page of ratios: data larger than memory, shares of fits, peaks of memory, and growth."""

from __future__ import annotations

from collections.abc import Callable

from bench.growth import WORK, Growth, exponent, times
from bench.memory import AIMS, multiples
from bench.profiles import FIT_AIM, fits, large
from bench.ship_evaluation import ratios
from bench.ship_split import speed_up
from bench.table import Row

GROWTH_AIM = 1.2
"""The largest exponent that still is n log n rather than n²."""


def growth(work: Growth) -> Callable[[], float]:
    """The exponent of a kind of work."""
    return lambda: exponent(work.sizes, times(work))


def peak(name: str) -> Callable[[], float]:
    """The peak of a step on 10,000,000 documents over their features."""
    return lambda: multiples()[name]


ROWS = [
    Row("out of core / in memory: an evaluation, computing thread",
        lambda: ratios()["out of core, losses kept"][0], 1.5, True),
    Row("Dask, a core each: two workers / one", lambda: speed_up(2, over_one_worker=True), 1.8, slow=True),
    Row("Dask, a core each: two workers / one process", lambda: speed_up(2, over_one_worker=False), 1.5,
        slow=True),
    Row("largest share of a fit outside the method: MQ2008", fits, FIT_AIM, True, "", slow=True),
    Row("largest share of a fit outside the method: 1,200,000 × 46", large, FIT_AIM, True, "", slow=True),
    *(
        Row(f"peak memory / features, 10,000,000 × 46: {name}", peak(name), aim, True, slow=True)
        for name, aim in AIMS.items()
    ),
    *(
        Row(f"growth exponent: {work.name}", growth(work), GROWTH_AIM, True, "", slow=True)
        for work in WORK
    ),
]  # fmt: skip
