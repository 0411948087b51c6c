"""Preparation: from the features of a data set to the input of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from topkit.compute import Floats
from topkit.data import Dataset, InputError
from topkit.data.normalise import AUGMENTED, FEATURE_FORMS, with_form

SHOWN_NAMES = 8
"""Feature names that an error message lists."""


@dataclass(frozen=True)
class Preparation:
    """From raw features to the input of a model."""

    normalisation: str
    names: tuple[str, ...]
    """Feature names of the training data, in order."""
    named: bool
    """Whether the training data named its features; otherwise the names are LETOR's numbers."""
    columns: tuple[int, ...] | None = None
    """The selected columns; None selects all."""

    @classmethod
    def of(cls, data: Dataset, features: Sequence[str | int] | None, normalisation: str) -> Preparation:
        """The preparation for training data; ``features`` are names or LETOR numbers, None selects all."""
        names = data.names_of_features()
        columns = None
        if features is not None:
            place = {name: i for i, name in enumerate(names)}
            missing = [str(name) for name in features if str(name) not in place]
            if missing:
                raise InputError(f"the data has no feature {missing[0]!r}", f"it has {_abbreviated(names)}")
            columns = tuple(place[str(name)] for name in features)
            if len(set(columns)) != len(columns) or not columns:
                raise InputError("the setting 'features' must name at least one feature, and each only once")
        return cls(normalisation, names, data.feature_names is not None, columns)

    def __call__(self, data: Dataset) -> Dataset:
        """The data set with prepared features; InputError if its features are not those of training."""
        check_is_dataset(data, "data")
        if data.n_features != len(self.names):
            raise InputError(
                f"the ranker was trained on {len(self.names)} features, the data has {data.n_features}",
                "use data from the same feature extraction",
            )
        if self.named and data.feature_names is not None and data.feature_names != self.names:
            first = next(i for i, name in enumerate(self.names) if name != data.feature_names[i])
            raise InputError(
                f"feature {first + 1} is {data.feature_names[first]!r} in the data "
                f"but was {self.names[first]!r} in training",
                "put the features in the order of training",
            )
        chosen = data if self.columns is None else data.features(self.columns)
        return with_form(chosen, self.normalisation)

    def to_dict(self) -> dict[str, Any]:
        """The preparation as it is written to a model file."""
        return {
            "normalisation": self.normalisation,
            "names": self.names,
            "named": self.named,
            "columns": self.columns,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The preparation of a model file; KeyError, TypeError or ValueError if it is inconsistent."""
        normalisation, names, named, columns = (
            values[key] for key in ("normalisation", "names", "named", "columns")
        )
        if normalisation not in FEATURE_FORMS:
            raise ValueError(f"unknown normalisation {normalisation!r}")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("the names of the features must be a list of texts")
        if not isinstance(named, bool):
            raise ValueError("'named' must be true or false")
        if columns is not None:
            if not columns or len(set(columns)) != len(columns):
                raise ValueError("the selected columns must be different, and at least one")
            for column in columns:
                if type(column) is not int or not 0 <= column < len(names):
                    raise ValueError(f"the selected column {column!r} is not one of {len(names)}")
            columns = tuple(columns)
        return cls(normalisation, tuple(names), named, columns)

    def spread(self, values: Floats | None) -> Floats | None:
        """Values whose last axis is the model's features, for all features of the data; 0 if not selected."""
        if values is None or self.columns is None:
            return values
        wide = np.zeros((*values.shape[:-1], len(self.names)))
        wide[..., list(self.columns)] = values
        return wide

    @property
    def width(self) -> int:
        """The number of features that the model sees."""
        features = len(self.names if self.columns is None else self.columns)
        return 2 * features if self.normalisation == AUGMENTED else features


def check_is_dataset(data: object, what: str) -> None:
    """InputError if this is not a :class:`~topkit.data.Dataset`."""
    if not isinstance(data, Dataset):
        raise InputError(
            f"{what}: expected a Dataset, got {type(data).__name__}", "make one with Dataset.build(X, y, qid)"
        )


def _abbreviated(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN_NAMES]) + (f", … {names[-1]}" if len(names) > SHOWN_NAMES else "")
