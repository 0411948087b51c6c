"""Scorers: functions from features to scores, each with the way it is fitted to any loss."""

from __future__ import annotations

from topkit.compute import Report, silent
from topkit.scorers.linear import LinearScorer
from topkit.scorers.mlp import NeuralScorer
from topkit.scorers.model import Floats, Model, Objective, Parts, Problem
from topkit.scorers.network import Linear, Network
from topkit.scorers.settings import Space, Span, check
from topkit.scorers.trees import Trees, TreeScorer

SCORERS: dict[str, type[LinearScorer] | type[NeuralScorer] | type[TreeScorer]] = {
    "linear": LinearScorer,
    "mlp": NeuralScorer,
    "trees": TreeScorer,
}
"""Name → how scores come from features, and how that is fitted; the fields of each are its settings."""

__all__ = [
    "SCORERS",
    "Floats",
    "Linear",
    "LinearScorer",
    "Model",
    "Network",
    "NeuralScorer",
    "Objective",
    "Parts",
    "Problem",
    "Report",
    "Space",
    "Span",
    "TreeScorer",
    "Trees",
    "check",
    "silent",
]
