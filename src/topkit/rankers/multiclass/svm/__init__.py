"""The multi-class support vector machine of Crammer and Singer."""

from __future__ import annotations

from topkit.rankers.multiclass.svm.model import LinearClasses
from topkit.rankers.multiclass.svm.solver import Limits, crammer_singer, svm_path

__all__ = ["Limits", "LinearClasses", "crammer_singer", "svm_path"]
