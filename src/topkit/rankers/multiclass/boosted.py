"""Boosted classifiers as values: sums of trees or of products of thresholds, with a score for each class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from topkit.compute import thread_count, thread_map
from topkit.data import InputError
from topkit.scorers import Floats, Parts

Int32 = NDArray[np.int32]
Float32 = NDArray[np.float32]
Ints = NDArray[np.int64]

ROWS = 1 << 12
"""Documents worth a thread of their own."""


@dataclass(frozen=True)
class BoostedTrees:
    """f(x) = Σ_t α_t·(the votes of the leaf of tree t that x falls into), one number a class.

    x goes right where x > threshold; a missing feature goes left.
    """

    kind: ClassVar[str] = "boosted-trees"
    feature: Int32
    threshold: Float32
    """One a split."""
    children: Int32
    """(left, right) of each split: another split, or −1 − ℓ for leaf ℓ."""
    root: Int32
    """The first split of each tree."""
    values: Floats
    """α times the votes of each leaf: leaves × classes."""
    total: Floats
    """Σ α of the first trees, one number a tree."""

    @property
    def rounds(self) -> int:
        return len(self.root)

    @property
    def columns(self) -> int:
        return int(self.values.shape[1])

    def outputs(self, X: Float32, stages: Sequence[int]) -> Floats:
        """f after so many rounds, for each of the rising ``stages``: stages × documents × classes."""
        from topkit.rankers.multiclass.outputs import kernels

        check_width(self.feature, X)
        tree = (self.feature, self.threshold, self.children, self.root, self.values)
        return _by_rows(lambda *rest: kernels.tree_outputs(X, *tree, *rest), X, stages, self.columns)

    def first(self, rounds: int) -> BoostedTrees:
        """The classifier after its first rounds."""
        splits = int(self.root[rounds]) if rounds < self.rounds else len(self.feature)
        leaves = -int(self.children[:splits].min(initial=0))
        return BoostedTrees(
            self.feature[:splits], self.threshold[:splits], self.children[:splits], self.root[:rounds],
            self.values[:leaves], self.total[:rounds],
        )  # fmt: skip

    def parts(self) -> Parts:
        names = ("feature", "threshold", "children", "root", "values", "total")
        return Parts(arrays={name: getattr(self, name) for name in names})

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        arrays = parts.arrays
        model = cls(
            np.ascontiguousarray(arrays["feature"], np.int32),
            np.ascontiguousarray(arrays["threshold"], np.float32),
            np.ascontiguousarray(arrays["children"], np.int32),
            np.ascontiguousarray(arrays["root"], np.int32),
            np.ascontiguousarray(arrays["values"], np.float64),
            np.ascontiguousarray(arrays["total"], np.float64),
        )
        splits, leaves = len(model.feature), len(model.values)
        own = np.arange(splits)[:, None]
        inside = (model.children >= -leaves) & (model.children < splits)
        forward = (model.children < 0) | (model.children > own)  # so that no walk goes round for ever
        if model.children.shape != (splits, 2) or not (inside & forward).all() or (model.feature < 0).any():
            raise ValueError("the splits of the trees do not fit together")
        if model.threshold.shape != (splits,) or not ((model.root >= 0) & (model.root < splits)).all():
            raise ValueError("a tree begins with a split, and a split has one threshold")
        return model


@dataclass(frozen=True)
class BoostedProducts:
    """f(x) = Σ_t value_t·Π_j φ_tj(x), φ = +1 where x > threshold and −1 elsewhere or where it is missing."""

    kind: ClassVar[str] = "boosted-products"
    feature: Int32
    threshold: Float32
    """One a term."""
    bounds: Int32
    """The terms of product t are bounds[t]:bounds[t + 1]."""
    values: Floats
    """α times the votes of each product: products × classes."""
    total: Floats
    """Σ α of the first products, one number a product."""

    @property
    def rounds(self) -> int:
        return len(self.values)

    @property
    def columns(self) -> int:
        return int(self.values.shape[1])

    def outputs(self, X: Float32, stages: Sequence[int]) -> Floats:
        """f after so many rounds, for each of the rising ``stages``: stages × documents × classes."""
        from topkit.rankers.multiclass.outputs import kernels

        check_width(self.feature, X)
        product = (self.feature, self.threshold, self.bounds, self.values)
        return _by_rows(lambda *rest: kernels.product_outputs(X, *product, *rest), X, stages, self.columns)

    def first(self, rounds: int) -> BoostedProducts:
        """The classifier after its first rounds."""
        terms = int(self.bounds[rounds])
        return BoostedProducts(
            self.feature[:terms], self.threshold[:terms], self.bounds[: rounds + 1], self.values[:rounds],
            self.total[:rounds],
        )  # fmt: skip

    def parts(self) -> Parts:
        names = ("feature", "threshold", "bounds", "values", "total")
        return Parts(arrays={name: getattr(self, name) for name in names})

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        arrays = parts.arrays
        model = cls(
            np.ascontiguousarray(arrays["feature"], np.int32),
            np.ascontiguousarray(arrays["threshold"], np.float32),
            np.ascontiguousarray(arrays["bounds"], np.int32),
            np.ascontiguousarray(arrays["values"], np.float64),
            np.ascontiguousarray(arrays["total"], np.float64),
        )
        rising = (np.diff(model.bounds) >= 0).all() and model.bounds[0] == 0
        if not rising or model.bounds[-1] != len(model.feature) or len(model.bounds) != model.rounds + 1:
            raise ValueError("the terms of the products do not fit together")
        if model.threshold.shape != model.feature.shape or (model.feature < 0).any():
            raise ValueError("a term has one feature and one threshold")
        return model


Boosted = BoostedTrees | BoostedProducts


def check_width(feature: Int32, X: Float32) -> None:
    """Raise unless the data has every feature that a model asks for: kernels do not look."""
    if feature.max(initial=-1) >= X.shape[1]:
        raise InputError(f"the model asks for feature {feature.max() + 1}, the data has {X.shape[1]}")


def rounded_down(thresholds: Floats) -> Float32:
    """The largest single-precision numbers that are not above: x > θ is the same for every single x."""
    near = thresholds.astype(np.float32)
    return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near).astype(np.float32)


def _by_rows(work: Callable[..., None], X: Float32, stages: Sequence[int], columns: int) -> Floats:
    """Outputs of all rows, in runs of rows that threads share."""
    n, wanted = len(X), np.asarray(stages, np.int64)
    out = np.zeros((len(wanted), n, columns))
    if len(wanted) == 0 or wanted[-1] == 0:
        return out
    pieces = min(thread_count(), max(1, n // ROWS))
    cuts = np.linspace(0, n, pieces + 1).astype(int).tolist()
    thread_map(lambda run: work(wanted, run[0], run[1], out), list(pairwise(cuts)))
    return out
