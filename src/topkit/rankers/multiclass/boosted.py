"""Boosted classifiers: sums of trees, or of products of thresholds, with one score per class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from topkit.compute import Floats, Floats32, Ints, Ints32, row_chunks, thread_map
from topkit.data import Dataset, InputError
from topkit.rankers.mixture.staged import Staged
from topkit.scorers import Parts

Int32 = Ints32
Float32 = Floats32

ROWS_PER_THREAD = 1 << 12
"""Documents that justify a thread; each goes through every tree."""


@dataclass(frozen=True)
class Boosted(Staged):
    """f(x) = Σ_t α_t·h_t(x), one number per class; h compares features with thresholds."""

    boosted: ClassVar[bool] = True

    feature: Int32
    """The feature of each comparison."""
    threshold: Float32
    """The threshold of each comparison; a missing feature counts as not above it."""
    values: Floats
    """α times the votes (±1) of each leaf or product: leaves or products × classes."""
    total: Floats
    """Σ α of the first rounds, one number per round."""

    @property
    def columns(self) -> int:
        """Number of classes."""
        return int(self.values.shape[1])

    def outputs(self, data: Dataset, stages: Sequence[int]) -> Floats:
        """f after each of the rising numbers of rounds in ``stages``: stages × documents × classes."""
        rounds = np.asarray(stages, np.int64)
        out = np.zeros((len(rounds), len(data), self.columns))
        if self.feature.max(initial=-1) >= data.n_features:
            raise InputError(
                f"the model uses feature {self.feature.max() + 1}, the data has {data.n_features} features"
            )
        if len(rounds) and rounds[-1] > 0:
            work = self._outputs_of_rows
            thread_map(lambda rows: work(data.X, rounds, *rows, out), row_chunks(len(data), ROWS_PER_THREAD))
        return out

    @abstractmethod
    def _outputs_of_rows(self, X: Float32, stages: Ints, first: int, last: int, out: Floats) -> None:
        """Fill ``out`` for the rows first:last; kernels do not check the features."""

    def reach(self, rounds: int) -> float:
        """Σ α of these rounds bounds |f|."""
        return float(self.total[rounds - 1]) if len(self.total) else 0.0

    def parts(self) -> Parts:
        return Parts(arrays={field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        """The classifier put together again; ValueError if its arrays are inconsistent."""
        model = cls(**{field.name: _array_of(parts, field.name) for field in fields(cls)})
        if model.threshold.shape != model.feature.shape or (model.feature < 0).any():
            raise ValueError("each comparison needs one feature and one threshold")
        if model.total.shape != (model.rounds,) or not model.columns:
            raise ValueError("each round needs the sum of its coefficients, and there must be a class")
        model.check_structure()
        return model

    def check_features(self, features: int) -> None:
        if self.feature.max(initial=-1) >= features:
            raise ValueError(f"the trees use feature {self.feature.max() + 1} of {features}")

    @abstractmethod
    def check_structure(self) -> None:
        """Raise ValueError if indices point outside the arrays: kernels do not check them."""


def _array_of(parts: Parts, name: str) -> Any:
    """An array of a model file in its type; ValueError if it is anything else."""
    if name == "children":
        pairs = parts.arrays[name]
        if pairs.dtype.kind not in "iu" or pairs.ndim != 2:
            raise ValueError("each split needs two children")
        return np.ascontiguousarray(pairs, np.int32)
    if name == "threshold":
        with np.errstate(over="ignore"):
            return parts.thresholds(name).astype(np.float32)
    if name in ("values", "total"):
        return parts.floats(name, 2 if name == "values" else 1)
    return parts.integers(name).astype(np.int32)


@dataclass(frozen=True)
class BoostedTrees(Boosted):
    """h_t(x) are the votes of the leaf of tree t that x falls into; x goes right where x > threshold."""

    kind: ClassVar[str] = "boosted-trees"
    children: Int32
    """(left, right) of each split: another split, or −1 − ℓ for leaf ℓ."""
    root: Int32
    """The first split of each tree."""

    @property
    def rounds(self) -> int:
        return len(self.root)

    def _outputs_of_rows(self, X: Float32, stages: Ints, first: int, last: int, out: Floats) -> None:
        from topkit.rankers.multiclass.kernels.outputs import tree_outputs

        tree = (self.feature, self.threshold, self.children, self.root, self.values)
        tree_outputs(X, *tree, stages, first, last, out)

    def first(self, rounds: int) -> BoostedTrees:
        """The classifier after its first rounds."""
        splits = int(self.root[rounds]) if rounds < self.rounds else len(self.feature)
        leaves = -int(self.children[:splits].min(initial=0))
        return BoostedTrees(
            self.feature[:splits], self.threshold[:splits], self.values[:leaves], self.total[:rounds],
            self.children[:splits], self.root[:rounds],
        )  # fmt: skip

    def check_structure(self) -> None:
        splits, leaves = len(self.feature), len(self.values)
        if self.children.shape != (splits, 2):
            raise ValueError("each split needs two children")
        inside = (self.children >= -leaves) & (self.children < splits)
        # A child comes after its parent, so that no walk through a tree is endless.
        forward = (self.children < 0) | (self.children > np.arange(splits)[:, None])
        if not (inside & forward).all():
            raise ValueError("the splits of the trees are inconsistent")
        if not ((self.root >= 0) & (self.root < splits)).all():
            raise ValueError("each tree must start with a split")
        if (np.diff(self.root) <= 0).any():
            raise ValueError("the trees must follow each other")


@dataclass(frozen=True)
class BoostedProducts(Boosted):
    """h_t(x) = votes_t·Π_j φ_tj(x), with φ = +1 where x > threshold and −1 elsewhere."""

    kind: ClassVar[str] = "boosted-products"
    bounds: Int32
    """The terms of product t are bounds[t]:bounds[t + 1]."""

    @property
    def rounds(self) -> int:
        return len(self.values)

    def _outputs_of_rows(self, X: Float32, stages: Ints, first: int, last: int, out: Floats) -> None:
        from topkit.rankers.multiclass.kernels.outputs import product_outputs

        product_outputs(X, self.feature, self.threshold, self.bounds, self.values, stages, first, last, out)

    def first(self, rounds: int) -> BoostedProducts:
        """The classifier after its first rounds."""
        terms = int(self.bounds[rounds])
        return BoostedProducts(
            self.feature[:terms], self.threshold[:terms], self.values[:rounds], self.total[:rounds],
            self.bounds[: rounds + 1],
        )  # fmt: skip

    def check_structure(self) -> None:
        bounds = self.bounds
        if len(bounds) != self.rounds + 1 or bounds[0] != 0 or bounds[-1] != len(self.feature):
            raise ValueError("each product needs its terms")
        if (np.diff(bounds) < 0).any():
            raise ValueError("the terms of the products are inconsistent")


def rounded_down(thresholds: Floats) -> Float32:
    """The largest single-precision numbers that are not above; x > θ is unchanged for single-precision x."""
    near = thresholds.astype(np.float32)
    return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near).astype(np.float32)
