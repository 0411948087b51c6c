"""Fitting θ: the mean distance of lists of any length under the Mallows model, and its inverse."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats

LIMIT = 20.0
"""Largest |θ|: that of a ranker that always agrees would be infinite."""


@dataclass(frozen=True)
class ListLaw:
    """The distribution of the lists of each ranker around a centre of ``depth`` documents of a pool.

    The list of ranker i for query q has ``lengths[q, i]`` of ``pools[q]`` documents. Summed over the number z
    of documents it shares with the centre, with d = depth, l = length, r = d − z, s = l − z, m = min(r, s):

        Z(θ) = Σ_z (n−d)!/(n−d−s)! · e^{θ(rs − m(m−1)/2)} · [l]!/[s]! · [d]!/([z]! [r]!)

    where [j]! = [1]···[j] are q-factorials: the order of the common items, and the Gaussian binomial of the
    places of the others. For depth = n only z = l remains and Z is that of top-l lists (Kendall if l = n).
    """

    pools: NDArray[np.int64]
    lengths: NDArray[np.int64]
    depths: NDArray[np.int64]

    @cached_property
    def _room(self) -> tuple[Floats, Floats, Floats]:
        """log j! up to the largest pool, and scratch space for the kernels."""
        from scipy.special import gammaln

        longest = int(max(self.depths.max(initial=0), self.lengths.max(initial=0)))
        largest = int(self.pools.max(initial=0))
        return gammaln(np.arange(largest + 1) + 1.0), np.empty((3, longest + 1)), np.empty((3, longest + 1))

    def _law(self, theta: Floats) -> Floats:
        """Ranker × (log normaliser, mean, variance), each summed over queries."""
        from topkit.fusion.mallows.kernels import law

        columns = np.ascontiguousarray(self.lengths.T)
        rows = [
            law.list_law(each, law.Lists(self.pools, self.depths, lengths, *self._room))
            for each, lengths in zip(theta.tolist(), columns, strict=True)
        ]
        return np.array(rows)

    def log_normaliser(self, theta: Floats) -> Floats:
        """Σ_q log Z(θ_i) of each ranker."""
        return self._law(theta)[:, 0]

    def mean_distance(self, theta: Floats) -> Floats:
        """Σ_q E_θ(D) of each ranker."""
        return self._law(theta)[:, 1]

    def solve(self, distance: Floats, near: Floats | None = None) -> Floats:
        """θ ≤ 0 of each ranker with this summed distance (E_θ increases with θ); 0 if it is not below chance.

        Newton's method from ``near``, within a bracket: dE_θ(D)/dθ is the variance of D.
        """
        from topkit.fusion.mallows.kernels import law

        starts = np.full(len(distance), -0.05) if near is None else near
        columns = np.ascontiguousarray(self.lengths.T)
        lists = [law.Lists(self.pools, self.depths, lengths, *self._room) for lengths in columns]
        each = zip(distance.tolist(), starts.tolist(), lists, strict=True)
        return np.array([law.solve_theta(d, start, LIMIT, lengths) for d, start, lengths in each])
