"""Unbiased learning from click logs."""

from __future__ import annotations

from topkit.rankers.unbiased.training import ESTIMATORS, UnbiasedClicks, click_labels

__all__ = ["ESTIMATORS", "UnbiasedClicks", "click_labels"]
