"""SortNet: a neural comparator of two documents that sorts."""

from __future__ import annotations

from topkit.rankers.sortnet.comparator import Comparator
from topkit.rankers.sortnet.method import SortNet

__all__ = ["Comparator", "SortNet"]
