"""The importance of features: from the formula of a model where it has one, else by shuffling features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topkit.compute import Floats, Ints, Report, silent
from topkit.data import Dataset, InputError
from topkit.data.table import Table

if TYPE_CHECKING:
    from topkit.rankers.learner import Learner


@dataclass(frozen=True)
class Importances(Mapping[str, float]):
    """Feature → importance, in the order of the features.

    >>> print(Importances("absolute weight", {"bm25": 0.5, "age": 2.0}))
    feature  importance
    age          2.0000
    bm25         0.5000
    importance: absolute weight
    """

    meaning: str
    """What the numbers are: importances of different meanings cannot be compared."""
    values_by_name: Mapping[str, float]

    def __getitem__(self, feature: str) -> float:
        return self.values_by_name[feature]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)

    def table(self, many: int | None = None) -> Table:
        """The features, most important first; ``many`` limits their number."""
        rows = sorted(self.items(), key=lambda item: -item[1])[:many]
        return Table(("feature", "importance"), rows, [f"importance: {self.meaning}"])

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with the columns feature and importance, most important first."""
        return self.table().to_frame(backend)

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


CONTRIBUTIONS = "mean distance of its contribution from the mean of the query"
PERMUTATION = "loss of {metric} when it is shuffled within queries"


def feature_importances(ranker: Learner, data: Dataset | None = None, seed: int = 0) -> Importances:
    """How important each feature is to a fitted ranker.

    With data, for linear models, boosted trees and boosted steps, it is exact: the mean over documents of
    |c − mean of c in the query|, where c is what the feature adds to the score. A contribution that is the
    same for all documents of a query does not change their order. Other models have no such formula: then it
    is the loss of the ranker's metric when the feature is shuffled within each query (seeded).

    Without data it is what the model states: absolute weights, the gain of the splits, or the heights of the
    steps. Absolute weights can be compared only if the features have the same scale.
    """
    model, preparation = ranker.fitted()
    if data is None:
        stated = model.weights_of_features(preparation.width)
        if stated is None:
            raise InputError(
                f"the ranker {ranker.name!r} has no formula for the importance of features",
                "pass data, such as the validation data: importances are then measured on it",
            )
        meaning, weights = stated
        values = preparation.spread(weights)
    else:
        contributions = ranker.contributions(data)
        if contributions is None:
            meaning = PERMUTATION.format(metric=ranker.common.metric)
            values = permutation_importances(ranker, data, seed)
        else:
            meaning = CONTRIBUTIONS
            values = np.abs(centred(contributions, data.ptr)).mean(axis=0)
    assert values is not None  # noqa: S101 - spread returns None only for None
    return Importances(meaning, dict(zip(preparation.names, map(float, values), strict=True)))


def centred(values: Floats, ptr: Ints) -> Floats:
    """Values per document minus their mean in the query; columns are independent."""
    lengths = np.diff(ptr)
    sums = np.add.reduceat(values, ptr[:-1], axis=0)
    means = sums / lengths.reshape(-1, *(1,) * (values.ndim - 1))
    return values - np.repeat(means, lengths, axis=0)


def permutation_importances(ranker: Learner, data: Dataset, seed: int = 0, report: Report = silent) -> Floats:
    """For each feature, how much the ranker's metric falls when its values are shuffled within queries."""
    intact = ranker.measure_on(data)
    shuffled = shuffled_rows(data, np.random.default_rng(seed))
    losses = np.zeros(data.n_features)
    for column in range(data.n_features):
        losses[column] = intact - ranker.measure_on(with_shuffled(data, column, shuffled))
        report("shuffling features", column + 1, data.n_features, float("nan"))
    return losses


def shuffled_rows(data: Dataset, rng: np.random.Generator) -> NDArray[np.intp]:
    """Row numbers in a random order within each query."""
    return np.lexsort((rng.random(len(data)), data.query_index))


def with_shuffled(data: Dataset, column: int, rows: NDArray[np.intp]) -> Dataset:
    """The data with the values of one feature in another order."""
    X = data.X.copy()
    X[:, column] = X[rows, column]
    return data.with_features(X, data.feature_names)
