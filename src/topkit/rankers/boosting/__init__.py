"""Boosting: RankBoost on pairs, AdaRank on queries, and FocusedBoost for top-k truth."""

from __future__ import annotations

from topkit.rankers.boosting.adarank import AdaRank
from topkit.rankers.boosting.focused import FocusedBoost
from topkit.rankers.boosting.rankboost import RankBoost
from topkit.rankers.boosting.steps import Steps

__all__ = ["AdaRank", "FocusedBoost", "RankBoost", "Steps"]
