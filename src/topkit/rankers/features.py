"""Features as a ranker sees them: a chosen subset, normalised within each query, checked against training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from topkit.data import Dataset, InputError, normalise
from topkit.data.normalise import NORMALISATIONS

NORMALISATION_NAMES = ("none", *NORMALISATIONS)


@dataclass(frozen=True)
class Preparation:
    """From raw features to those a model is given: the same in training and in scoring."""

    normalisation: str
    names: tuple[str, ...]
    """Feature names of the training data, in order."""
    named: bool
    """Whether the training data had names of its own; else they are LETOR's numbers."""
    columns: tuple[int, ...] | None = None
    """The chosen columns, or None for all."""

    @classmethod
    def of(cls, data: Dataset, features: Sequence[str | int] | None, normalisation: str) -> Preparation:
        """For training data, the chosen features (by name, or by LETOR number) and a normalisation."""
        if normalisation not in NORMALISATION_NAMES:
            raise InputError(
                f"unknown normalisation {normalisation!r}", f"choose one of {', '.join(NORMALISATION_NAMES)}"
            )
        names = data.names_of_features()
        columns = None
        if features is not None:
            place = {name: i for i, name in enumerate(names)}
            missing = [str(name) for name in features if str(name) not in place]
            if missing:
                raise InputError(f"the data has no feature {missing[0]!r}", f"it has {_shortly(names)}")
            columns = tuple(place[str(name)] for name in features)
            if len(set(columns)) != len(columns) or not columns:
                raise InputError("the chosen features must be different ones, at least one")
        return cls(normalisation, names, data.feature_names is not None, columns)

    def __call__(self, data: Dataset) -> Dataset:
        """The data set with prepared features; an error if it is not the data the ranker was trained for."""
        if data.n_features != len(self.names):
            raise InputError(
                f"the ranker was trained on {len(self.names)} features, the data has {data.n_features}",
                "give data made by the same feature extraction",
            )
        if self.named and data.feature_names is not None and data.feature_names != self.names:
            first = next(i for i, name in enumerate(self.names) if name != data.feature_names[i])
            raise InputError(
                f"feature {first + 1} is {data.feature_names[first]!r} in the data "
                f"but was {self.names[first]!r} in training",
                "give the features in the order of training",
            )
        chosen = data if self.columns is None else data.features(self.columns)
        return chosen if self.normalisation == "none" else normalise(chosen, self.normalisation)


def _shortly(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f", … {names[-1]}" if len(names) > 8 else "")
