"""What a click model is: P(click) of every document of a page, fitted to a log, and able to simulate one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from topkit.clicks.log import ClickLog
from topkit.clicks.pairs import Pairs
from topkit.compute import Bools, Floats, Trace

FLOOR = 1e-6
"""Smallest probability of an event in a likelihood: one impossible event does not rule a model out."""


@dataclass(frozen=True, eq=False, repr=False)
class ClickModel(ABC):
    """A fitted model; ``attraction`` is P(click | examined) of each pair."""

    name: ClassVar[str]
    pairs: Pairs
    attraction: Floats
    average: float
    """The attraction of documents that the model has not seen."""
    trace: Trace = field(default_factory=lambda: Trace(1))
    """The objective of every step of the fit: the log-likelihood per impression, with smoothing."""

    @abstractmethod
    def conditional(self, log: ClickLog) -> Floats:
        """P(click) of each row given the clicks above it on its page."""

    @abstractmethod
    def marginal(self, log: ClickLog) -> Floats:
        """P(click) of each row, before anything is known about the page."""

    @abstractmethod
    def draw(self, log: ClickLog, rng: np.random.Generator) -> Bools:
        """Random clicks on the pages of a log; its own clicks are ignored."""

    def examination(self, positions: int) -> Floats | None:
        """P(examined) of each position if it does not depend on documents and clicks; None if it does."""
        return None

    def attractions(self, log: ClickLog) -> Floats:
        """The attraction of each row of a log; the average for documents that the model has not seen."""
        place = self.pairs.find(log.pairs)
        of_pairs = np.where(place >= 0, self.attraction[place], self.average)
        values: Floats = of_pairs[log.pair]
        return values

    def simulate(self, log: ClickLog, seed: int = 0) -> ClickLog:
        """The pages of a log with clicks drawn from the model."""
        return log.with_clicks(self.draw(log, np.random.default_rng(seed)))

    def __repr__(self) -> str:
        return f"<{self.name} click model of {len(self.pairs):,} documents, {self.trace.steps} steps>"


class IndependentClicks(ClickModel):
    """A model in which the clicks of a page are independent of each other."""

    def marginal(self, log: ClickLog) -> Floats:
        return self.conditional(log)

    def draw(self, log: ClickLog, rng: np.random.Generator) -> Bools:
        return rng.random(len(log.pair)) < self.conditional(log)
