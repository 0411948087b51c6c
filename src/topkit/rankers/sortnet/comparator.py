"""The comparator network: two documents in, two outputs, exactly symmetric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from topkit.compute import Floats, Ints, over_queries
from topkit.data import Dataset
from topkit.rankers.sortnet.sorting import Compare, canonical_order, cyclic_share, merge_sort
from topkit.scorers import OrderModel, Parts
from topkit.scorers.model import filled

ARRAYS = ("v", "v_dual", "b", "w", "w_dual")
"""The arrays of a comparator, in a file and in a vector."""


@dataclass(frozen=True)
class Pairs:
    """Pairs of rows (better, worse) with weights; the pairs of query q are ``starts[q]:starts[q+1]``."""

    better: Ints
    worse: Ints
    weight: Floats
    starts: Ints

    def __len__(self) -> int:
        return len(self.better)


@dataclass(frozen=True)
class Comparator(OrderModel):
    """One hidden layer of neurons in dual pairs that share their weights.

        h_i(x, y) = a(v_i·x + v'_i·y + b_i),  a(t) = t/√(1 + t²),  its dual h'_i(x, y) = h_i(y, x)
        N≻(x, y) = σ(Σ w_i h_i + w'_i h'_i + c),  N≺(x, y) = σ(Σ w'_i h_i + w_i h'_i + c)

    so that N≻(x, y) = N≺(y, x). x is preferred to y where N≻ > N≺. The preference need not be transitive, so
    the model sorts but has no score; ``cyclic`` is the share of cycles among triples of documents.
    """

    kind: ClassVar[str] = "comparator"
    v: Floats
    """Hidden neurons × features: weights of the first document."""
    v_dual: Floats
    """The same for the second document."""
    b: Floats
    w: Floats
    w_dual: Floats
    bias: float
    cyclic: float = 0.0

    @classmethod
    def random(cls, features: int, hidden: int, seed: int) -> Comparator:
        """Small random weights."""
        rng = np.random.default_rng(seed)
        scale = 1.0 / np.sqrt(2 * max(features, 1))
        return cls(
            rng.normal(scale=scale, size=(hidden, features)),
            rng.normal(scale=scale, size=(hidden, features)),
            np.zeros(hidden),
            rng.normal(scale=1.0 / np.sqrt(2 * hidden), size=hidden),
            rng.normal(scale=1.0 / np.sqrt(2 * hidden), size=hidden),
            0.0,
        )

    def halves(self, X: Floats) -> tuple[Floats, Floats]:
        """The contribution of each document to the hidden layer, as first and as second of a pair."""
        from topkit.rankers.sortnet import kernels

        P, Q = np.empty((len(X), len(self.b))), np.empty((len(X), len(self.b)))
        kernels.project(X, self.v, P)
        kernels.project(X, self.v_dual, Q)
        return P, Q

    def outputs(self, X: Floats, first: Ints, second: Ints) -> Floats:
        """N≻ and N≺ of pairs of rows of X, two columns."""
        outputs: Floats = 1.0 / (1.0 + np.exp(-self._raw_outputs(*self.halves(X), first, second)))
        return outputs

    def _raw_outputs(self, P: Floats, Q: Floats, first: Ints, second: Ints) -> Floats:
        """Both outputs before the last sigmoid, two columns."""
        from topkit.rankers.sortnet import kernels

        out = np.empty((len(first), 2))
        kernels.pair_outputs(P, Q, self.b, self.w, self.w_dual, self.bias, first, second, out)
        return out

    def compare(self, X: Floats) -> Compare:
        """A function that compares rows of X: above 0 where the first of a pair is preferred."""
        P, Q = self.halves(X)

        def differences(first: Ints, second: Ints) -> Floats:
            outputs = self._raw_outputs(P, Q, first, second)
            return outputs[:, 0] - outputs[:, 1]

        return differences

    def order(self, data: Dataset) -> Ints:
        """Rows of each query, best first, by merge sort from an order that depends only on the features."""
        X = filled(data.X)
        return merge_sort(self.compare(X), data.ptr, canonical_order(X, data.ptr))[0]

    def intransitivity(self, data: Dataset, triples: int = 20_000, seed: int = 0) -> float:
        """The share of cycles (x over y over z over x) among random triples of documents of one query."""
        return cyclic_share(self.compare(filled(data.X)), data.ptr, triples, seed)

    def error(self, X: Floats, ptr: Ints, pairs: Pairs) -> tuple[float, Floats]:
        """Σ (1 − N≻)² + N≺² over pairs, and its gradient in :meth:`vector`."""
        from topkit.rankers.sortnet import kernels

        P, Q = self.halves(X)
        H, queries = len(self.b), len(ptr) - 1
        values, slopes = np.zeros(queries), np.zeros((queries, 3 * H + 1))
        dP, dQ = np.zeros_like(P), np.zeros_like(Q)
        parts = (pairs.better, pairs.worse, pairs.weight, pairs.starts)

        def work(a: int, z: int) -> None:
            network = (P, Q, self.b, self.w, self.w_dual, self.bias)
            kernels.pair_errors(*network, *parts, a, z, values, slopes, dP, dQ)

        over_queries(work, ptr)
        gradient = np.concatenate([(dP.T @ X).ravel(), (dQ.T @ X).ravel(), slopes.sum(axis=0)])
        return float(values.sum()), gradient

    def vector(self) -> Floats:
        """All weights as one vector."""
        parts = (self.v.ravel(), self.v_dual.ravel(), self.b, self.w, self.w_dual, [self.bias])
        return np.concatenate(parts)

    def with_vector(self, vector: Floats) -> Comparator:
        """A comparator of the same shape with other weights."""
        hidden, features = self.v.shape
        cuts = np.cumsum([hidden * features, hidden * features, hidden, hidden, hidden])
        v, v_dual, b, w, w_dual, bias = np.split(np.asarray(vector, np.float64), cuts)
        shape = (hidden, features)
        return Comparator(v.reshape(shape), v_dual.reshape(shape), b, w, w_dual, float(bias[0]))

    @property
    def remark(self) -> str:
        """One line for the user after training."""
        return f"{self.cyclic:.3%} of triples form a cycle"

    def parts(self) -> Parts:
        arrays = {name: getattr(self, name) for name in ARRAYS}
        return Parts({"bias": self.bias, "cyclic": self.cyclic}, arrays)

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        v, v_dual = parts.floats("v", 2), parts.floats("v_dual", 2)
        b, w, w_dual = (parts.floats(name) for name in ("b", "w", "w_dual"))
        if v.shape != v_dual.shape or len(v) != len(b):
            raise ValueError("each hidden neuron needs weights for both documents")
        if not w.shape == w_dual.shape == b.shape:
            raise ValueError("each hidden neuron needs a bias and two output weights")
        return cls(v, v_dual, b, w, w_dual, parts.number("bias"), parts.number("cyclic"))

    def check_features(self, features: int) -> None:
        if self.v.shape[1] != features:
            raise ValueError(f"expected weights of {features} features, got {self.v.shape[1]}")
