"""Interleaving: one page of two rankers, and clicks that say which of them users prefer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from topkit.clicks.interleaving.optimised import optimised
from topkit.clicks.interleaving.outcome import Interleaved, Preference, interleaving_test
from topkit.clicks.interleaving.probabilistic import probabilistic
from topkit.clicks.interleaving.team_draft import team_draft
from topkit.data import InputError
from topkit.data.settings import lookup

INTERLEAVINGS: dict[str, Callable[..., Interleaved]] = {
    "team-draft": team_draft,
    "probabilistic": probabilistic,
    "optimised": optimised,
}
"""Name → function of the two rankings, the length of the page and a random number generator."""

__all__ = ["INTERLEAVINGS", "Interleaved", "Preference", "interleave", "interleaving_test"]


def interleave(
    a: Sequence[str],
    b: Sequence[str],
    method: str = "team-draft",
    *,
    length: int = 10,
    rng: np.random.Generator | int = 0,
) -> Interleaved:
    """One page of the documents of two rankings, best first.

    ``rng`` is a generator, so that pages differ, or a seed. :meth:`Interleaved.outcome` turns the clicks on
    the page into a number, and :func:`interleaving_test` the numbers of many pages into a verdict.

    >>> page = interleave(["x", "y"], ["y", "x"], length=2, rng=0)
    >>> page.docs, page.outcome([True, False])
    (('y', 'x'), -1.0)
    """
    make = lookup(INTERLEAVINGS, method, "way to interleave")
    if length < 1:
        raise InputError(f"length must be at least 1, got {length}")
    for ranking in (a, b):
        if len(set(ranking)) != len(ranking):
            raise InputError("a document occurs twice in a ranking", "keep its first place")
    generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)
    return make(list(a), list(b), length, generator)
