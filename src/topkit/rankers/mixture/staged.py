"""Models that score documents at several stages of training: after each round, or for each penalty."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from topkit.compute import Floats
from topkit.data import Dataset
from topkit.scorers import Parts


class Staged(ABC):
    """A classifier (one score per class) or a ranker (one score), usable at each stage of its training."""

    boosted: ClassVar[bool] = False
    """Whether a stage is a number of rounds of boosting."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """The name of the model's class in ``MODELS``, for loading."""

    @property
    @abstractmethod
    def rounds(self) -> int:
        """Number of stages."""

    @property
    @abstractmethod
    def columns(self) -> int:
        """Scores per document: the number of classes, or 1 for a ranker."""

    @abstractmethod
    def outputs(self, data: Dataset, stages: Sequence[int]) -> Floats:
        """Scores after each of the rising ``stages``: stages × documents × columns."""

    @abstractmethod
    def first(self, rounds: int) -> Staged:
        """The model with its first rounds only."""

    @abstractmethod
    def parts(self) -> Parts:
        """The model taken apart for saving."""

    @abstractmethod
    def check_features(self, features: int) -> None:
        """Raise ValueError if the model cannot score data with this many features."""

    def reach(self, rounds: int) -> float:
        """A bound on |score| after this many rounds; 0 if there is no bound."""
        return 0.0


@dataclass(frozen=True)
class RankerScores(Staged):
    """A ranker's trained model as a model with one stage and one column."""

    model: Any

    @property
    def kind(self) -> str:
        return str(self.model.kind)

    @property
    def rounds(self) -> int:
        return 1

    @property
    def columns(self) -> int:
        return 1

    def outputs(self, data: Dataset, stages: Sequence[int]) -> Floats:
        scores: Floats = self.model.score(data)
        return scores[None, :, None]

    def first(self, rounds: int) -> RankerScores:
        return self

    def parts(self) -> Parts:
        parts: Parts = self.model.parts()
        return parts

    def check_features(self, features: int) -> None:
        self.model.check_features(features)
