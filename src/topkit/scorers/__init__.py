"""Scorers: functions from features to scores, each with a way to fit it to any loss."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from topkit.compute import Floats, Report, Trace, silent
from topkit.data.settings import Space, Span
from topkit.scorers.linear import Linear, LinearScorer
from topkit.scorers.mlp import NeuralScorer
from topkit.scorers.model import Evaluate, Job, Model, OrderModel, Parts, ScoreModel
from topkit.scorers.network import Network
from topkit.scorers.trees import Trees, TreeScorer


@runtime_checkable
class Scorer(Protocol):
    """What ``tk.ranker(name, scorer=…)`` accepts in addition to the names in ``SCORERS``."""

    @property
    def normalisation(self) -> str:
        """The default query-wise normalisation of the features: a name or ``none``."""
        ...

    def fit(self, job: Job, objective: Any) -> tuple[Model, list[Trace]]:
        """Minimise ``objective(scores) → (value, gradient)``; the model, and the trace of each fit."""
        ...


SCORERS: dict[str, type[LinearScorer] | type[NeuralScorer] | type[TreeScorer]] = {
    "linear": LinearScorer,
    "mlp": NeuralScorer,
    "trees": TreeScorer,
}
"""Name → scorer; its fields are its settings."""

__all__ = [
    "SCORERS",
    "Evaluate",
    "Floats",
    "Job",
    "Linear",
    "LinearScorer",
    "Model",
    "Network",
    "NeuralScorer",
    "OrderModel",
    "Parts",
    "Report",
    "ScoreModel",
    "Scorer",
    "Space",
    "Span",
    "TreeScorer",
    "Trees",
    "silent",
]
