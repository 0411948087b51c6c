"""Fitting θ: the mean distance of lists of any lengths under the Mallows model, and its inverse."""

from __future__ import annotations

from dataclasses import dataclass

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

    def _tables(self, theta: Floats) -> tuple[Floats, Floats]:
        """log [j]! and Σ_{i≤j} mean_variable(i), ranker × j."""
        j = np.arange(1, int(max(self.depths.max(), self.lengths.max())) + 1)
        zero = np.zeros((len(theta), 1))
        logs = np.cumsum(log_q_number(j[None, :], theta[:, None]), axis=1)
        means = np.cumsum(mean_variable(j[None, :], theta[:, None]), axis=1)
        return np.hstack([zero, logs]), np.hstack([zero, means])

    def _terms(self, theta: Floats) -> tuple[Floats, Floats]:
        """log weight and mean distance of every overlap z: query × ranker × z."""
        from scipy.special import gammaln

        n, d = self.pools[:, None, None], self.depths[:, None, None]
        length = self.lengths[:, :, None]
        least = np.maximum(0, length - (n - d))
        span = int((np.minimum(d, length) - least).max()) + 1
        z = least + np.arange(span)
        valid = z <= np.minimum(d, length)
        z = np.where(valid, z, least)
        r, s = d - z, length - z
        m = np.minimum(r, s)
        constant = (r * s - m * (m - 1) / 2).astype(np.float64)
        logs, means = self._tables(theta)
        who = np.arange(len(theta))[None, :, None]
        log_weight = (
            gammaln(n - d + 1.0)
            - gammaln(n - d - s + 1.0)
            + theta[None, :, None] * constant
            + logs[who, length]
            - logs[who, s]
            + logs[who, d]
            - logs[who, z]
            - logs[who, r]
        )
        mean = constant + means[who, length] - means[who, s] + means[who, d] - means[who, z] - means[who, r]
        return np.where(valid, log_weight, -np.inf), mean

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

    def solve(self, distance: Floats, tolerance: float = 1e-7) -> Floats:
        """θ ≤ 0 of each ranker with this summed distance (E_θ rises with θ); 0 if chance would do as well.

        Bisection, started from a bracket that doubles from a small |θ|.
        """
        low = np.full(len(distance), -1e-3)
        while (short := (self.mean_distance(low) > distance) & (low > -LIMIT)).any():
            low = np.where(short, np.maximum(2 * low, -LIMIT), low)
        high = np.where(low < -1e-3, low / 2, 0.0)
        while (high - low).max() > tolerance:
            middle = (low + high) / 2
            above = self.mean_distance(middle) > distance
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        chance = self.mean_distance(np.zeros(len(distance))) <= distance
        return np.where(chance, 0.0, (low + high) / 2)
