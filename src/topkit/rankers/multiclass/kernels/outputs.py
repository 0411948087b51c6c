"""Numba kernels: scores of boosted classifiers after chosen rounds."""

from __future__ import annotations

import numpy as np

from topkit.compute import Floats, Floats32, Ints, Ints32
from topkit.compute.jit import njit
from topkit.compute.kernel_options import KERNEL

BLOCK = 64
"""Documents per block: a block and the classifier fit into the first-level cache."""


@njit(**KERNEL)
def tree_outputs(
    X: Floats32,
    feature: Ints32,
    threshold: Floats32,
    children: Ints32,
    root: Ints32,
    values: Floats,
    stages: Ints,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """out[s, i] = the sum of the values of the first ``stages[s]`` trees for row i."""
    K = values.shape[1]
    for start in range(first, last, BLOCK):
        size = min(BLOCK, last - start)
        total = np.zeros((BLOCK, K))
        stage = 0
        for t in range(stages[-1]):
            for j in range(size):
                node = root[t]
                while node >= 0:
                    above = X[start + j, feature[node]] > threshold[node]
                    node = children[node, 1 if above else 0]
                for c in range(K):
                    total[j, c] += values[-1 - node, c]
            while stage < len(stages) and stages[stage] == t + 1:
                for j in range(size):
                    for c in range(K):
                        out[stage, start + j, c] = total[j, c]
                stage += 1


@njit(**KERNEL)
def product_outputs(
    X: Floats32, feature: Ints32, threshold: Floats32,
    bounds: Ints32, values: Floats, stages: Ints, first: int, last: int, out: Floats,
) -> None:  # fmt: skip
    """out[s, i] = the sum of parity·value over the first ``stages[s]`` products, for row i.

    Features of a block are stored column by column, so that one instruction compares many documents.
    """
    K, features = values.shape[1], X.shape[1]
    columns = np.zeros((features, BLOCK), np.float32)
    parity = np.empty(BLOCK, np.float32)
    for start in range(first, last, BLOCK):
        size = min(BLOCK, last - start)
        for j in range(size):
            for f in range(features):
                columns[f, j] = X[start + j, f]
        total = np.zeros((K, BLOCK))
        stage = 0
        for t in range(stages[-1]):
            for j in range(BLOCK):
                parity[j] = 1.0
            for term in range(bounds[t], bounds[t + 1]):
                column, cut = columns[feature[term]], threshold[term]
                for j in range(BLOCK):
                    parity[j] = parity[j] if column[j] > cut else -parity[j]
            for c in range(K):
                value = values[t, c]
                for j in range(BLOCK):
                    total[c, j] += value * parity[j]
            while stage < len(stages) and stages[stage] == t + 1:
                for j in range(size):
                    for c in range(K):
                        out[stage, start + j, c] = total[c, j]
                stage += 1
