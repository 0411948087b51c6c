"""Fusion by pairs of documents."""

from topkit.fusion.pairs.condorcet import condorcet
from topkit.fusion.pairs.kemeny import kemeny, kemeny_order, kemeny_score
from topkit.fusion.pairs.support import Depth, in_cut, pair_support, with_rest

__all__ = [
    "Depth",
    "condorcet",
    "in_cut",
    "kemeny",
    "kemeny_order",
    "kemeny_score",
    "pair_support",
    "with_rest",
]
