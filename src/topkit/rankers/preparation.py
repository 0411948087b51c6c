"""How training data becomes model input, and where a model comes from.

:class:`Preparation` selects and normalises features, the same way in training and in scoring, and checks that
data matches the training data. :func:`provenance` records the data and the versions a model was made with.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from topkit.data import Dataset, InputError, normalise
from topkit.data.normalise import NORMALISATIONS
from topkit.scorers import Model
from topkit.version import __version__

NORMALISATION_NAMES = ("none", *NORMALISATIONS)
"""Names of the query-wise normalisations that a preparation can apply."""
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
        return chosen if self.normalisation == "none" else normalise(chosen, self.normalisation)

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
        columns = values["columns"]
        preparation = cls(
            str(values["normalisation"]),
            tuple(str(name) for name in values["names"]),
            bool(values["named"]),
            None if columns is None else tuple(int(column) for column in columns),
        )
        if preparation.normalisation not in NORMALISATION_NAMES:
            raise ValueError(f"unknown normalisation {preparation.normalisation!r}")
        return preparation

    @property
    def width(self) -> int:
        """The number of features that the model sees."""
        return len(self.names if self.columns is None else self.columns)


def fingerprint(data: Dataset) -> str:
    """SHA-256 of features, labels, queries and kind of truth; it does not depend on the file format.

    >>> a = Dataset.build([[1.0], [0.5]], [1, 0], ["q", "q"])
    >>> fingerprint(a) == fingerprint(Dataset.build([[1.0], [0.5]], [0, 1], ["q", "q"]))
    False
    """
    digest = hashlib.sha256()
    digest.update(repr((data.X.shape, str(data.truth), data.qids)).encode("utf-8", "surrogateescape"))
    for array in (data.X, data.y, data.ptr):
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()


def describe(data: Dataset) -> dict[str, Any]:
    """The size, kind of truth and fingerprint of a data set."""
    return {
        "sha256": fingerprint(data),
        "queries": data.n_queries,
        "documents": len(data),
        "features": data.n_features,
        "truth": str(data.truth),
    }


def provenance(
    model: Model,
    train: Mapping[str, Any],
    valid: Dataset | None,
    preferences: int | None = None,
    clicks: bool = False,
) -> dict[str, Any]:
    """The data and the versions that a model was made with; ``train`` comes from :func:`describe`."""
    from importlib.metadata import version

    return {
        "train": dict(train),
        "valid": None if valid is None else describe(valid),
        "preferences": preferences,
        "clicks": clicks,
        "versions": {
            "python": platform.python_version(),
            "topkit": __version__,
            **{package: version(package) for package in ("numpy", *model.requires)},
        },
    }


def _abbreviated(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN_NAMES]) + (f", … {names[-1]}" if len(names) > SHOWN_NAMES else "")
