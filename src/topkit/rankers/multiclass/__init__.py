"""Classifiers of relevance labels as rankers: AdaBoost.MH, the Crammer–Singer machine, and McRank."""

from __future__ import annotations

from topkit.rankers.multiclass.adaboost_mh import AdaBoostMH
from topkit.rankers.multiclass.boosted import BoostedProducts, BoostedTrees
from topkit.rankers.multiclass.mcrank import ClassTrees, McRank
from topkit.rankers.multiclass.mcsvm import McSVM
from topkit.rankers.multiclass.svm import LinearClasses

__all__ = ["AdaBoostMH", "BoostedProducts", "BoostedTrees", "ClassTrees", "LinearClasses", "McRank", "McSVM"]
