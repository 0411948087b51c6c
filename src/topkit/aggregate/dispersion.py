"""Fitting θ: the mean distance of lists of any lengths under the Mallows model, and its inverse."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from topkit.aggregate.mallows import log_q_number, mean_variable

Floats = NDArray[np.float64]
LIMIT = 20.0
"""|θ| stops here: a ranker that always agrees would have it infinite."""


@dataclass(frozen=True)
class ListLaw:
    """The law of each ranker's lists around a centre that orders the first ``depth`` documents of a pool.

    ranker i's list for query q has ``lengths[q, i]`` of ``pools[q]`` documents. Summed over the number z of
    documents it shares with the centre, with d = depth, l = length, r = d − z, s = l − z, m = min(r, s):

        Z(θ) = Σ_z (n−d)!/(n−d−s)! · e^{θ(rs − m(m−1)/2)} · [l]!/[s]! · [d]!/([z]! [r]!)

    where [j]! = [1]···[j] are q-factorials, from the common items' order and the Gaussian binomial of the
    private items' places. For depth = n only z = l remains and Z is that of top-l lists (Kendall if l = n).
    """

    pools: NDArray[np.int64]
    lengths: NDArray[np.int64]
    depths: NDArray[np.int64]

    @cached_property
    def _overlaps(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Floats, Floats]:
        """z, r, s (query × ranker × z), the distance's constant, and the log count of lists; −inf for no z."""
        from scipy.special import gammaln

        n, d = self.pools[:, None, None], self.depths[:, None, None]
        length = self.lengths[:, :, None]
        least = np.maximum(0, length - (n - d))
        most = np.minimum(d, length)
        z = least + np.arange(int((most - least).max()) + 1)
        valid = z <= most
        z = np.where(valid, z, least)
        r, s = d - z, length - z
        m = np.minimum(r, s)
        count = np.where(valid, gammaln(n - d + 1.0) - gammaln(n - d - s + 1.0), -np.inf)
        return z, r, s, (r * s - m * (m - 1) / 2).astype(np.float64), count

    def _terms(self, theta: Floats) -> tuple[Floats, Floats]:
        """log weight and mean distance of every overlap z: query × ranker × z."""
        z, r, s, constant, count = self._overlaps
        j = np.arange(1, int(max(self.depths.max(), self.lengths.max())) + 1)
        zero = np.zeros((len(theta), 1))
        logs = np.hstack([zero, np.cumsum(log_q_number(j[None, :], theta[:, None]), axis=1)])
        means = np.hstack([zero, np.cumsum(mean_variable(j[None, :], theta[:, None]), axis=1)])
        row = np.arange(len(theta))[None, :, None] * logs.shape[1]
        where = [row + part for part in (s, z, r)]
        whole = row + self.lengths[:, :, None], row + self.depths[:, None, None]

        def combined(table: Floats) -> Floats:
            """Of [l]!/[s]! · [d]!/([z]! [r]!), in whichever table."""
            flat = table.ravel()
            outer = flat[whole[0]] + flat[whole[1]]
            return np.asarray(outer - flat[where[0]] - flat[where[1]] - flat[where[2]])

        return count + theta[None, :, None] * constant + combined(logs), constant + combined(means)

    def log_normaliser(self, theta: Floats) -> Floats:
        """Σ_q log Z(θ_i) of each ranker."""
        from scipy.special import logsumexp

        log_weight, _ = self._terms(theta)
        total: Floats = logsumexp(log_weight, axis=2).sum(axis=0)
        return total

    def mean_distance(self, theta: Floats) -> Floats:
        """Σ_q E_θ(D) of each ranker."""
        log_weight, mean = self._terms(theta)
        p = np.exp(log_weight - log_weight.max(axis=2, keepdims=True))
        total: Floats = ((p * mean).sum(axis=2) / p.sum(axis=2)).sum(axis=0)
        return total

    def solve(self, distance: Floats, near: Floats | None = None, tolerance: float = 1e-8) -> Floats:
        """θ ≤ 0 of each ranker with this summed distance (E_θ rises with θ); 0 if chance would do as well.

        False position with the Illinois rule, in a bracket that widens around ``near``; it stops when E_θ is
        right to ``tolerance``, relative to the distance under chance.
        """
        chance = self.mean_distance(np.zeros(len(distance)))
        guess = np.full(len(distance), -0.05) if near is None else near
        low, high = np.minimum(1.25 * guess, -1e-3), np.minimum(0.8 * guess, 0.0)
        below, above = self.mean_distance(low) - distance, self.mean_distance(high) - distance
        while (short := (below > 0) & (low > -LIMIT)).any():
            high, above = np.where(short, low, high), np.where(short, below, above)
            low = np.where(short, np.maximum(4 * low, -LIMIT), low)
            below = self.mean_distance(low) - distance
        while (short := (above < 0) & (high < 0)).any():
            low, below = np.where(short, high, low), np.where(short, above, below)
            high = np.where(short, np.where(high > -1e-4, 0.0, high / 4), high)
            above = self.mean_distance(high) - distance
        close = tolerance * np.maximum(chance, 1.0)
        theta = np.where(np.abs(below) < np.abs(above), low, high)
        for _ in range(100):
            open_ends = (below < -close) & (above > close) & (high - low > 1e-12)
            if not open_ends.any():
                break
            slope = np.where(open_ends, above - below, 1.0)
            theta = np.where(open_ends, (low * above - high * below) / slope, theta)
            value = self.mean_distance(theta) - distance
            left = open_ends & (value < 0)
            right = open_ends & ~left
            low, high = np.where(left, theta, low), np.where(right, theta, high)
            # Illinois: an end that stays has its value halved, so that it moves next time.
            below, above = (
                np.where(left, value, np.where(right, below / 2, below)),
                np.where(right, value, np.where(left, above / 2, above)),
            )
        return np.where(distance >= chance, 0.0, theta)
