"""Thresholds between the values of a feature; over data in pieces, without sorting all of it in one place.

In pieces, order statistics are found by counting: 32-bit keys whose order is that of the values are narrowed
by 8 bits per pass, so four passes find any quantile exactly. The result is that of :func:`borders_of`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Floats32, Ints
from topkit.rankers.pieces import Pieces

Column = Floats32
Keys = NDArray[np.uint32]

PASSES = 4
"""Passes of 8 bits that find a key of 32 bits."""
SIGN = np.uint32(1 << 31)

Facts = tuple[Ints, list[Column]]
"""For each feature: the number of known values, and its smallest distinct values."""


def borders_of(column: Column, most: int) -> Floats:
    """Thresholds between the values of a feature: all of them, or at most ``most``.

    Then half are evenly spaced in the values, which suits spread-out features, and half in the ranks, which
    suits features with crowded values.
    """
    known = np.sort(column[~np.isnan(column)])
    first = np.empty(len(known), np.bool_)
    first[:1] = True
    np.not_equal(known[1:], known[:-1], out=first[1:])
    values = known[first].astype(np.float64)
    between = (values[1:] + values[:-1]) / 2
    if len(between) <= most:
        return between
    lower, upper, share = quantile_ranks(len(known), most)
    targets = targets_of(known[lower], known[upper], share, values[0], values[-1], most)
    places = np.searchsorted(between, targets)
    borders: Floats = between[np.unique(np.minimum(places, len(between) - 1))]
    return borders


def quantile_ranks(count: int, most: int) -> tuple[Ints, Ints, Floats]:
    """The ranks on both sides of each quantile, and how far the quantile is from the lower to the upper."""
    half = most // 2
    position = np.arange(1, half + 1) / (half + 1) * (count - 1)
    lower = np.floor(position).astype(np.int64)
    return lower, np.minimum(lower + 1, count - 1), position - lower


def targets_of(
    lower: NDArray[Any], upper: NDArray[Any], share: Floats, smallest: float, largest: float, most: int
) -> Floats:
    """Where thresholds should be: at quantiles, and evenly spaced from the smallest to the largest value."""
    below = lower.astype(np.float64)
    by_rank = below + (upper.astype(np.float64) - below) * share
    by_value = np.linspace(smallest, largest, most - most // 2 + 2)[1:-1]
    return np.concatenate([by_rank, by_value])


# -- in pieces -----------------------------------------------------------------------------------------------
def borders_in_pieces(pieces: Pieces, most: int) -> Floats:
    """The borders of every feature, as rows of ``most`` numbers with NaN where there are fewer."""
    counts, distinct = pieces.reduce(partial(merged_facts, most), column_facts, most)
    borders = np.full((len(counts), most), np.nan)
    many = []
    for f, values in enumerate(distinct):
        if len(values) <= most + 1:
            wide = values.astype(np.float64)
            borders[f, : max(len(wide) - 1, 0)] = (wide[1:] + wide[:-1]) / 2
        else:
            many.append(f)
    if not many:
        return borders
    features = np.array(many)
    ranks = [quantile_ranks(int(counts[f]), most) for f in many]
    wanted = np.array(
        [[*lower, *upper, 0, counts[f] - 1] for f, (lower, upper, _) in zip(many, ranks, strict=True)]
    )
    quantiles = order_statistics(pieces, features, wanted)
    half = most // 2
    targets = np.array(
        [
            targets_of(row[:half], row[half : 2 * half], share, row[-2], row[-1], most)
            for row, (_, _, share) in zip(quantiles, ranks, strict=True)
        ]
    )
    around = pieces.reduce(merged_neighbours, neighbours, features, targets)
    for f, target, near in zip(many, targets, around, strict=True):
        of_feature = np.unique(_next_midpoints(target, near))
        borders[f, : len(of_feature)] = of_feature
    return borders


def column_facts(state: object, X: Floats32, most: int) -> Facts:
    """The number of known values of each feature, and up to most + 2 of its smallest distinct values."""
    counts, distinct = np.zeros(X.shape[1], np.int64), []
    for f in range(X.shape[1]):
        values = X[:, f][~np.isnan(X[:, f])]
        counts[f] = len(values)
        distinct.append(np.unique(values)[: most + 2])
    return counts, distinct


def merged_facts(most: int, first: Facts, second: Facts) -> Facts:
    """The facts of two pieces together; a list of most + 2 values only says that there are too many."""
    return first[0] + second[0], [
        np.union1d(a, b)[: most + 2] for a, b in zip(first[1], second[1], strict=True)
    ]


def order_statistics(pieces: Pieces, features: Ints, ranks: Ints) -> Floats:
    """The values with the given ranks (from 0) in each feature: one row of ranks per feature."""
    low = np.zeros(ranks.shape, np.uint64)
    for number in range(PASSES):
        width = np.uint64(1 << (8 * (PASSES - 1 - number)))
        pivots = low[..., None] + np.arange(1, 256, dtype=np.uint64) * width
        below = pieces.total(counts_below, features, pivots.astype(np.uint32))
        low += (below <= ranks[..., None]).sum(axis=-1).astype(np.uint64) * width
    return value_of_key(low.astype(np.uint32)).astype(np.float64)


def counts_below(state: object, X: Floats32, features: Ints, pivots: Keys) -> Ints:
    """How many known values of each feature have keys below each pivot."""
    counts = np.empty(pivots.shape, np.int64)
    for row, f in enumerate(features):
        column = X[:, f]
        keys = np.sort(key_of_value(column[~np.isnan(column)]))
        counts[row] = np.searchsorted(keys, pivots[row])
    return counts


def key_of_value(values: Column) -> Keys:
    """Keys whose order is that of the values; both zeros have one key."""
    bits = (values + np.float32(0.0)).view(np.uint32)
    keys: Keys = np.where(bits & SIGN, ~bits, bits | SIGN)
    return keys


def value_of_key(keys: Keys) -> Column:
    """The values of keys."""
    values: Column = np.where(keys & SIGN, keys ^ SIGN, ~keys).astype(np.uint32).view(np.float32)
    return values


def neighbours(state: object, X: Floats32, features: Ints, targets: Floats) -> Floats:
    """The two largest distinct values up to each target, and the two smallest above it; ±∞ if missing."""
    near = np.empty((*targets.shape, 4))
    for row, f in enumerate(features):
        column = X[:, f]
        values = np.unique(column[~np.isnan(column)]).astype(np.float64)
        padded = np.concatenate([[-np.inf, -np.inf], values, [np.inf, np.inf]])
        above = np.searchsorted(values, targets[row], side="right") + 2
        near[row] = np.stack(
            [padded[above - 2], padded[above - 1], padded[above], padded[above + 1]], axis=-1
        )
    return near


def merged_neighbours(first: Floats, second: Floats) -> Floats:
    """The neighbours in two pieces together."""
    below = np.concatenate([first[..., :2], second[..., :2]], axis=-1)
    above = np.concatenate([first[..., 2:], second[..., 2:]], axis=-1)
    last, first = below.max(axis=-1), above.min(axis=-1)
    second_last = np.where(below < last[..., None], below, -np.inf).max(axis=-1)
    second = np.where(above > first[..., None], above, np.inf).min(axis=-1)
    return np.stack([second_last, last, first, second], axis=-1)


def _next_midpoints(targets: Floats, near: Floats) -> Floats:
    """The first midpoint of two neighbouring values that is not below each target, or the last midpoint."""
    second_last, last, first, second = near.T
    middle, following = (last + first) / 2, (first + second) / 2
    midpoints = np.where(middle >= targets, middle, np.where(np.isfinite(second), following, middle))
    before = (second_last + last) / 2
    borders: Floats = np.where(np.isfinite(first), np.where(np.isfinite(last), midpoints, following), before)
    return borders
