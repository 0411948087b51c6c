"""Plain twins of the losses: loops over documents and pairs, written from the formulas, for one query."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats
from topkit.losses import Objective

PHI: dict[str, Callable[[float], float]] = {
    "hinge": lambda m: max(0.0, 1 - m),
    "squared-hinge": lambda m: max(0.0, 1 - m) ** 2,
    "exponential": lambda m: math.exp(-m),
    "logistic": lambda m: float(np.logaddexp(0, -m)),
    "sigmoid": lambda m: 1 - 1 / (1 + math.exp(-m)),
    "fidelity": lambda m: 1 - math.sqrt(1 / (1 + math.exp(-m))),
}

DPHI: dict[str, Callable[[float], float]] = {
    "hinge": lambda m: -1.0 if m < 1 else 0.0,
    "squared-hinge": lambda m: -2 * max(0.0, 1 - m),
    "exponential": lambda m: -math.exp(-m),
    "logistic": lambda m: -1 / (1 + math.exp(m)),
    "sigmoid": lambda m: -math.exp(-m) / (1 + math.exp(-m)) ** 2,
    "fidelity": lambda m: -0.5 * math.sqrt(1 / (1 + math.exp(-m))) * (1 - 1 / (1 + math.exp(-m))),
}


def membership(y: Floats, k: int) -> Floats:
    """How far each document is in the top k: ties at the border share the places left."""
    if k >= len(y):
        return np.ones(len(y))
    border = np.sort(y)[::-1][k - 1]
    above, tied = (y > border).sum(), (y == border).sum()
    return np.where(y > border, 1.0, np.where(y == border, (k - above) / tied, 0.0))


def pair_weights(y: Floats, pairs: str, k: int) -> Floats:
    """Matrix of the weight of the pair (u better than v)."""
    inside = membership(y, k)
    ordered = (y[:, None] > y[None, :]).astype(float)
    if pairs == "all":
        return ordered
    if pairs == "topk":
        return ordered * inside[:, None]
    return ordered * inside[:, None] * (1 - inside[None, :])


def pairwise(name: str, s: Floats, weights: Floats) -> tuple[float, Floats]:
    value, gradient = 0.0, np.zeros(len(s))
    for u in range(len(s)):
        for v in range(len(s)):
            if weights[u, v]:
                m = float(s[u] - s[v])
                value += weights[u, v] * PHI[name](m)
                gradient[u] += weights[u, v] * DPHI[name](m)
                gradient[v] -= weights[u, v] * DPHI[name](m)
    return value, gradient


def softmax(x: Floats) -> Floats:
    e = np.exp(x - x.max())
    shares: Floats = e / e.sum()
    return shares


def listnet(s: Floats, psi: Floats) -> float:
    return float(-(softmax(psi) * np.log(softmax(s))).sum())


def listmle(s: Floats, y: Floats, k: int) -> float:
    """Labels all different: the i-th best is chosen from those not above it, for i ≤ k."""
    order = np.argsort(-y)
    ranked = s[order]
    return float(sum(np.log(np.exp(ranked[i:]).sum()) - ranked[i] for i in range(min(k, len(s)))))


def rankcosine(s: Floats, psi: Floats) -> float:
    return float(0.5 * (1 - psi @ s / (np.linalg.norm(psi) * np.linalg.norm(s))))


def psi(y: Floats, k: int, epsilon: float) -> Floats:
    inside = membership(y, k)
    return inside * y + (1 - inside) * epsilon


def dcg(gains: Floats, k: int | None = None) -> float:
    depth = len(gains) if k is None else min(k, len(gains))
    return float(sum(gains[i] / math.log2(i + 2) for i in range(depth)))


def soft_ndcg(s: Floats, y: Floats, sigma: float, k: int | None = None) -> float:
    """Scores all different."""
    gains = 2.0**y - 1
    rank = np.argsort(np.argsort(-s))
    depth = len(s) if k is None else k
    discount = np.where(rank < depth, 1 / np.log2(rank + 2.0), 0)
    near = np.exp(-((s[:, None] - s[None, :]) ** 2) / sigma)
    h = near / near.sum(axis=1, keepdims=True)
    return 1 - float(gains @ h @ discount) / dcg(np.sort(gains)[::-1], k)


def lambdarank(s: Floats, y: Floats, k: int | None = None) -> float:
    """Scores all different."""
    gains = 2.0**y - 1
    ideal = dcg(np.sort(gains)[::-1], k)
    if ideal == 0:
        return 0.0
    rank = np.argsort(np.argsort(-s))
    depth = len(s) if k is None else k
    discount = np.where(rank < depth, 1 / np.log2(rank + 2.0), 0)
    value = 0.0
    for u in range(len(s)):
        for v in range(len(s)):
            if y[u] > y[v]:
                swap = abs((gains[u] - gains[v]) * (discount[u] - discount[v])) / ideal
                value += swap * PHI["logistic"](float(s[u] - s[v]))
    return value


def ragged(seed: int, truth: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Scores, labels and bounds of lists of 1, 2, 7, 12, 3, 1 and 20 documents."""
    rng = np.random.default_rng(seed)
    lengths = [1, 2, 7, 12, 3, 1, 20]
    n = sum(lengths)
    labels = {
        "graded": rng.integers(0, 4, n).astype(float),
        "order": np.concatenate([rng.permutation(length) + 1.0 for length in lengths]),
        "real": rng.uniform(0, 3, n).round(1),
    }[truth]
    return rng.normal(size=n), labels, np.concatenate([[0], np.cumsum(lengths)])


def differences(objective: Objective, s: NDArray[np.float64], step: float = 1e-5) -> NDArray[np.float64]:
    """Central differences of the value in every score."""
    found = np.empty(len(s))
    for i in range(len(s)):
        up, down = s.copy(), s.copy()
        up[i] += step
        down[i] -= step
        found[i] = (objective(up)[0] - objective(down)[0]) / (2 * step)
    return found
