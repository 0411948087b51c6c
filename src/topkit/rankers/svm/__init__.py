"""Support vector machines: RankSVM, SVM-MAP, and FocusedSVM for top-k truth."""

from __future__ import annotations

from topkit.rankers.svm.focused import FocusedSVM
from topkit.rankers.svm.ranksvm import RankSVM
from topkit.rankers.svm.svmmap import SvmMap

__all__ = ["FocusedSVM", "RankSVM", "SvmMap"]
