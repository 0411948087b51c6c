"""Classifiers that tell relevance labels apart: AdaBoost.MH, the Crammer–Singer machine, and McRank."""

from __future__ import annotations

from topkit.rankers.multiclass.boosted import BoostedProducts, BoostedTrees
from topkit.rankers.multiclass.mcrank import ClassTrees, McRank
from topkit.rankers.multiclass.svm import LinearClasses

__all__ = ["BoostedProducts", "BoostedTrees", "ClassTrees", "LinearClasses", "McRank"]
