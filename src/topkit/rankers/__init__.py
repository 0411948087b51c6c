"""Rankers: methods that learn an order from data, by name, with one way to fit, rank, save and load."""

from __future__ import annotations

from topkit.rankers.by_name import Common, load_ranker, parse_settings, ranker, settings_of, space_of
from topkit.rankers.calibrated import calibrate_scores
from topkit.rankers.clicks.events import Clicks
from topkit.rankers.clicks.method import continue_training
from topkit.rankers.contract import Job, Method, Ranker
from topkit.rankers.learner import Learner
from topkit.rankers.registry import MODELS, RANKERS
from topkit.scorers import OrderModel, ScoreModel

__all__ = [
    "MODELS",
    "RANKERS",
    "Clicks",
    "Common",
    "Job",
    "Learner",
    "Method",
    "OrderModel",
    "Ranker",
    "ScoreModel",
    "calibrate_scores",
    "continue_training",
    "load_ranker",
    "parse_settings",
    "ranker",
    "settings_of",
    "space_of",
]
